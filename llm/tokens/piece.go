package tokens

import (
	"unicode"
	"unicode/utf8"
)

// A text is cut into pieces before pairs are joined, so that no token reaches over a word. The
// pieces are those of o200k_base's expression:
//
//	[^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?     U: \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
//	[^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?     L: \p{Ll}\p{Lm}\p{Lo}\p{M}
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// It is written out here because Go's expressions cannot look ahead.

// kind is what counts of a character.
type kind uint8

const (
	upper  kind = iota // Lu, Lt
	lower              // Ll
	either             // Lm, Lo, M: as good as both
	number
	newline
	space
	other
)

func kindOf(r rune) kind {
	switch {
	case r >= 'a' && r <= 'z':
		return lower
	case r >= 'A' && r <= 'Z':
		return upper
	case r >= '0' && r <= '9':
		return number
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return space
	case r < 0x80:
		return other
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.In(r, unicode.L, unicode.M):
		return either
	case unicode.Is(unicode.N, r):
		return number
	}
	return other
}

func next(text string) (kind, int) {
	r, n := utf8.DecodeRuneInString(text)
	return kindOf(r), n
}

// run is the length of the characters at the beginning of text that are of such a kind.
func run(text string, of func(kind) bool) int {
	end := 0
	for end < len(text) {
		k, n := next(text[end:])
		if !of(k) {
			break
		}
		end += n
	}
	return end
}

func canBeUpper(k kind) bool { return k == upper || k == either }
func canBeLower(k kind) bool { return k == lower || k == either }
func isSpace(k kind) bool    { return k == space || k == newline }

// piece is the length of the first piece of a text that is not empty.
func piece(text string) int {
	first, n := next(text)
	if end := wordIn(text, first, n); end > 0 {
		return end
	}
	switch {
	case first == number:
		return numbers(text)
	case isSpace(first) && !(text[0] == ' ' && signs(text[1:]) > 0):
		return spaces(text)
	case text[0] == ' ':
		return 1 + signs(text[1:])
	}
	return max(signs(text), n)
}

// wordIn is a word with a sign before it, if it has one.
func wordIn(text string, first kind, n int) int {
	_, mark := utf8.DecodeRuneInString(text)
	signed := first == space || first == other || first == either && isMark(text)
	for _, match := range []func(string) int{mixed, capitals} {
		if signed {
			if end := match(text[mark:]); end > 0 {
				return suffixed(text, mark+end)
			}
		}
		if first == upper || first == lower || first == either {
			if end := match(text); end > 0 {
				return suffixed(text, end)
			}
		}
	}
	return 0
}

// isMark says whether a text begins with a mark (M), which counts as a letter, and as none.
func isMark(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.M, r)
}

// mixed is U*L+.
func mixed(text string) int {
	up := run(text, canBeUpper)
	if k, _ := next(text[up:]); up < len(text) && k == lower {
		return up + run(text[up:], canBeLower)
	}
	for up > 0 { // give back what can be both
		_, n := utf8.DecodeLastRuneInString(text[:up])
		up -= n
		if k, _ := next(text[up:]); k == either {
			return up + run(text[up:], canBeLower)
		}
	}
	return 0
}

// capitals is U+L*.
func capitals(text string) int {
	up := run(text, canBeUpper)
	if up == 0 {
		return 0
	}
	return up + run(text[up:], canBeLower)
}

// suffixed adds one of the endings 's, 't, 're, 've, 'm, 'll and 'd, in whatever case.
func suffixed(text string, end int) int {
	rest := text[end:]
	if len(rest) < 2 || rest[0] != '\'' {
		return end
	}
	low := func(i int) byte {
		if i < len(rest) && rest[i] >= 'A' && rest[i] <= 'Z' {
			return rest[i] + 'a' - 'A'
		}
		if i < len(rest) {
			return rest[i]
		}
		return 0
	}
	switch a, b := low(1), low(2); {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return end + 2
	case (a == 'r' || a == 'v') && b == 'e', a == 'l' && b == 'l':
		return end + 3
	case len(rest) > 2 && rest[1:3] == "ſ": // the long s
		return end + 3
	}
	return end
}

// numbers is \p{N}{1,3}.
func numbers(text string) int {
	end := 0
	for range 3 {
		k, n := next(text[end:])
		if end == len(text) || k != number {
			break
		}
		end += n
	}
	return end
}

// signs is [^\s\p{L}\p{N}]+[\r\n/]*. Marks are signs here.
func signs(text string) int {
	end := 0
	for end < len(text) {
		k, n := next(text[end:])
		if k != other && !(k == either && isMark(text[end:])) {
			break
		}
		end += n
	}
	if end == 0 {
		return 0
	}
	for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
		end++
	}
	return end
}

// spaces is \s*[\r\n]+, else \s+(?!\S), else \s+.
func spaces(text string) int {
	end := run(text, isSpace)
	for i := end; i > 0; i-- {
		if text[i-1] == '\r' || text[i-1] == '\n' {
			return i
		}
	}
	if end == len(text) {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(text[:end])
	if end > last {
		return end - last // the last one belongs to what follows
	}
	return end
}
