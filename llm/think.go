package llm

import "strings"

// marker is a pair of marks some models put around their reasoning inside the
// text of the answer.
type marker struct{ open, close, skip string }

// markers are tried in order; skip may stand behind close and is not text.
var markers = [...]marker{
	{open: "<think>", close: "</think>"},
	{open: "<thinking>", close: "</thinking>"},
	{open: "<thought>", close: "</thought>"},
	{open: "<|channel>thought", close: "<channel|>"},
	{open: "<|channel|>analysis<|message|>", close: "<|end|>", skip: "<|start|>assistant<|channel|>final<|message|>"},
}

const blank = " \t\r\n"

// maxBlank is how many bytes of blanks are held back at most: a model that writes
// them without end must not cost more with each of them.
const maxBlank = 4 << 10

// thinkSplitter separates reasoning from text. Only a mark at the very start of
// the answer counts: later ones are text the model writes about. It does not
// matter how the answer is cut into pieces.
type thinkSplitter struct {
	text, reasoning func(string)

	state splitState
	held  string // not decided yet
	began bool   // reasoning has been handed out
	mark  marker
}

type splitState int

const (
	splitStart  splitState = iota // nothing but blanks so far
	splitInside                   // in reasoning
	splitBehind                   // behind reasoning, before the text
	splitText
)

// add takes the next piece.
func (s *thinkSplitter) add(piece string) {
	if piece == "" {
		return
	}
	if s.state == splitText {
		s.text(piece)
		return
	}
	s.held += piece
	for s.step() {
	}
}

// step decides as much as can be decided and tells whether to go on.
func (s *thinkSplitter) step() bool {
	switch s.state {
	case splitStart:
		return s.start()
	case splitInside:
		return s.inside()
	case splitBehind:
		rest := strings.TrimLeft(s.held, blank)
		if s.mark.skip != "" && strings.HasPrefix(rest, s.mark.skip) {
			s.held, s.mark.skip = rest[len(s.mark.skip):], ""
			return true
		}
		if rest == "" {
			s.held = ""
			return false
		}
		if s.mark.skip != "" && strings.HasPrefix(s.mark.skip, rest) {
			s.held = rest
			return false
		}
		s.state, s.held = splitText, ""
		s.text(rest)
	}
	return false
}

func (s *thinkSplitter) start() bool {
	rest := strings.TrimLeft(s.held, blank)
	if rest == "" && len(s.held) <= maxBlank {
		return false
	}
	wait := false
	for _, m := range markers {
		if strings.HasPrefix(rest, m.open) {
			s.state, s.mark, s.held = splitInside, m, rest[len(m.open):]
			return true
		}
		wait = wait || rest != "" && strings.HasPrefix(m.open, rest)
	}
	if !wait {
		held := s.held
		s.state, s.held = splitText, ""
		s.text(held)
	}
	return false
}

func (s *thinkSplitter) inside() bool {
	if !s.began {
		s.held = strings.TrimLeft(s.held, blank)
	}
	if i := strings.Index(s.held, s.mark.close); i >= 0 {
		if thought := strings.TrimRight(s.held[:i], blank); thought != "" {
			s.reasoning(thought)
		}
		s.state, s.held = splitBehind, s.held[i+len(s.mark.close):]
		return true
	}
	keep := len(s.held)
	for n := min(len(s.mark.close)-1, len(s.held)); n > 0; n-- {
		if strings.HasSuffix(s.held, s.mark.close[:n]) {
			keep = len(s.held) - n
			break
		}
	}
	thought := strings.TrimRight(s.held[:keep], blank)
	if s.began && keep-len(thought) > maxBlank {
		thought = s.held[:keep]
	}
	if thought != "" {
		s.reasoning(thought)
		s.held, s.began = s.held[len(thought):], true
	}
	return false
}

// end hands out what was held back.
func (s *thinkSplitter) end() {
	held := s.held
	s.held = ""
	switch s.state {
	case splitStart, splitText:
		if held != "" {
			s.text(held)
		}
	case splitInside:
		if held = strings.TrimRight(held, blank); held != "" {
			s.reasoning(held)
		}
	case splitBehind:
		if held = strings.Trim(held, blank); held != "" {
			s.text(held)
		}
	}
}
