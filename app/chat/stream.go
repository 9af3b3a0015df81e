package chat

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"steward/app/clean"
	"steward/storage"
)

// storeEvery is how often a growing answer is stored.
const storeEvery = 500 * time.Millisecond

// A text longer than smallText bytes is stored again only when an eighth has come to it,
// so that all it costs to store is a multiple of its size, however slowly it comes.
const smallText = 64 << 10

// maxHeld is how much of a text is held back at most, in bytes: a model that
// writes blanks without end must not cost more with each of them.
const maxHeld = 4 << 10

// cleaner cleans a text that arrives in pieces, so that the pieces it gives add
// up to the whole text cleaned. It holds back an end that the next piece could
// change: blank space, and characters that work together with their neighbours.
type cleaner struct{ held string }

func (c *cleaner) push(delta string) string {
	c.held += delta
	n := safeEnd(c.held)
	if n == 0 && len(c.held) > maxHeld {
		_, last := utf8.DecodeLastRuneInString(c.held)
		n = len(c.held) - last
	}
	out := clean.Clean(c.held[:n])
	c.held = c.held[n:]
	return out
}

func (c *cleaner) rest() string {
	out := clean.Clean(c.held)
	c.held = ""
	return out
}

// safeEnd is the last place where s can be cut: behind a character that stands
// by itself, or before blank space.
func safeEnd(s string) int {
	for end := len(s); end > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:end])
		if standsAlone(r) {
			return end
		}
		end -= n
		if !unicode.IsSpace(r) || end == 0 {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(s[:end]); unicode.IsLetter(before) {
			return end
		}
	}
	return 0
}

func standsAlone(r rune) bool {
	switch {
	case r > ' ' && r < 0x7f:
		return true
	case r < 0x2e80:
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) ||
		r >= 0x3001 && r <= 0x3029 || r >= 0xff01 && r <= 0xff60
}

// saver stores a growing answer: a short one never later than storeEvery after something
// new has come, and not more often than that; see smallText for a long one. Its timer is
// its own; close ends it.
type saver struct {
	store *storage.DB
	put   func(*storage.Tx, storage.Message) error

	mu      sync.Mutex
	msg     storage.Message
	text    strings.Builder
	thought strings.Builder
	stored  int // bytes, the last time
	timer   *time.Timer
	closed  bool
}

func newSaver(store *storage.DB, msg storage.Message, put func(*storage.Tx, storage.Message) error) *saver {
	return &saver{store: store, msg: msg, put: put}
}

func (s *saver) add(text, thought string) {
	if text == "" && thought == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text)
	s.thought.WriteString(thought)
	if s.timer == nil && !s.closed {
		s.timer = time.AfterFunc(storeEvery, s.save)
	}
}

// describe sets what is stored beside the text from now on.
func (s *saver) describe(meta json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.msg.Meta = meta
}

func (s *saver) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = nil
	if s.closed {
		return
	}
	size := s.text.Len() + s.thought.Len()
	if s.stored > smallText && size < s.stored+s.stored/8 {
		return // what comes next tries again; the end of the answer stores all
	}
	s.stored = size
	msg := s.msg
	msg.Text, msg.Reasoning = s.text.String(), s.thought.String()
	s.store.Later(func(tx *storage.Tx) error { return s.put(tx, msg) })
}

// close ends the timer; nothing is stored by it afterwards.
func (s *saver) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
