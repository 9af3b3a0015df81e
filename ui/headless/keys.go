package headless

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// press is what one key does.
type press int

const (
	nothing press = iota
	letter
	enter
	closeInput // Ctrl+D
	back
	erase
	left
	right
	home
	end
	clearLine
	clearWord
	clearRest
	pasteBegins
	pasteEnds
)

// escapeTime is how long the rest of an escape sequence may take; the Escape key alone
// sends the same first byte.
const escapeTime = 50 * time.Millisecond

type key struct {
	press  press
	letter rune
	pasted bool
}

// key waits for the next key.
func (t *terminal) key(ctx context.Context) (key, error) {
	for {
		if k, n := decodeKey(t.pending); n > 0 {
			t.pending = t.pending[n:]
			switch k.press {
			case pasteBegins, pasteEnds:
				t.pasting = k.press == pasteBegins
			}
			k.pasted = t.pasting
			return k, nil
		}
		limit := time.Duration(-1)
		if len(t.pending) > 0 {
			limit = escapeTime
		}
		b, err := t.src.next(ctx, limit)
		if err != nil {
			return key{}, err
		}
		if b == nil {
			t.pending = nil // Escape alone, or the torn piece of a character
			return key{}, nil
		}
		t.pending = append(t.pending, b...)
	}
}

// decodeKey reads one key from the front of b and says how many bytes it takes; none
// where b is not yet the whole of it.
func decodeKey(b []byte) (key, int) {
	if len(b) == 0 {
		return key{}, 0
	}
	if b[0] == 0x1b {
		return escape(b)
	}
	if !utf8.FullRune(b) {
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if p := control(r); p != nothing {
		return key{press: p}, n
	}
	if r == utf8.RuneError && n == 1 || !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && r != '\t' {
		return key{}, n
	}
	return key{press: letter, letter: r}, n
}

func control(r rune) press {
	switch r {
	case '\r', '\n':
		return enter
	case 0x01:
		return home
	case 0x04:
		return closeInput
	case 0x05:
		return end
	case 0x08, 0x7f:
		return back
	case 0x0b:
		return clearRest
	case 0x15:
		return clearLine
	case 0x17:
		return clearWord
	}
	return nothing
}

// escape reads a control sequence (ECMA-48, section 5.4): ESC [, parameters, one final
// byte; or ESC O and one byte.
func escape(b []byte) (key, int) {
	if len(b) < 2 {
		return key{}, 0
	}
	if b[1] != '[' && b[1] != 'O' {
		return key{}, 1
	}
	i := 2 + bytes.IndexFunc(b[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if i < 2 {
		if len(b) > 32 {
			return key{}, len(b) // no sequence is that long
		}
		return key{}, 0
	}
	return key{press: sequence(string(b[2 : i+1]))}, i + 1
}

func sequence(s string) press {
	switch strings.TrimPrefix(s, "1;") {
	case "200~":
		return pasteBegins
	case "201~":
		return pasteEnds
	case "3~":
		return erase
	case "D":
		return left
	case "C":
		return right
	case "H", "1~", "7~":
		return home
	case "F", "4~", "8~":
		return end
	}
	return nothing
}
