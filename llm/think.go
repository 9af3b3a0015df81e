package llm

import "strings"

// marker is a pair of marks some models put around their reasoning inside the
// text of the answer. Letters in them may be capitals or small.
type marker struct {
	open, close string
	answer      string // may stand between close and the text
	tail        string // may stand at the end of the text
}

// markers are the pairs by which an answer may begin. Those without close begin
// the text itself.
var markers = [...]marker{
	{open: "<think>", close: "</think>"},
	{open: "<thinking>", close: "</thinking>"},
	{open: "<thought>", close: "</thought>"},
	{open: "<thoughts>", close: "</thoughts>"},
	{open: "<reasoning>", close: "</reasoning>"},
	{open: "<antthinking>", close: "</antthinking>"},
	{open: "<seed:think>", close: "</seed:think>"},
	{open: "[think]", close: "[/think]"},
	{open: "◁think▷", close: "◁/think▷"},
	{open: "<|begin_of_thought|>", close: "<|end_of_thought|>", answer: "<|begin_of_solution|>", tail: "<|end_of_solution|>"},
	{open: "<|start_thinking|>", close: "<|end_thinking|>", answer: "<|start_response|>", tail: "<|end_response|>"},
	{open: "<|channel>thought", close: "<channel|>"},
	{open: "<|channel|>analysis<|message|>", close: "<|end|>", answer: finalChannel, tail: "<|return|>"},
	{open: "<|start|>assistant<|channel|>analysis<|message|>", close: "<|end|>", answer: finalChannel, tail: "<|return|>"},
	{open: "<|channel|>final<|message|>", tail: "<|return|>"},
	{open: finalChannel, tail: "<|return|>"},
}

const finalChannel = "<|start|>assistant<|channel|>final<|message|>"

const blank = " \t\r\n"

// maxBlank is how many bytes of blanks are held back at most: a model that writes
// them without end must not cost more with each of them.
const maxBlank = 4 << 10

// thinkSplitter separates reasoning from text. Only a mark at the very start of
// the answer counts, or one directly behind the end of other reasoning: later
// ones are text the model writes about. It does not matter how the answer is cut
// into pieces.
type thinkSplitter struct {
	text, reasoning func(string)

	state splitState
	held  string // not decided yet
	began bool   // something of this reasoning has been handed out
	gave  bool   // something of any
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
	if s.state == splitText && s.mark.tail == "" {
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
	case splitStart, splitBehind:
		return s.outside()
	case splitInside:
		return s.inside()
	}
	if s.mark.tail == "" || s.held == "" {
		return false
	}
	// The tail counts only where nothing follows it.
	keep := len(s.held)
	if i := strings.LastIndexByte(s.held, s.mark.tail[0]); i >= 0 && prefixFold(s.mark.tail, s.held[i:]) {
		keep = i
		if j := strings.LastIndexByte(s.held[:i], s.mark.tail[0]); j >= 0 && prefixFold(s.mark.tail, s.held[j:]) {
			keep = j // its first letter stands in it twice
		}
	}
	if keep > 0 {
		s.text(s.held[:keep])
	}
	s.held = s.held[keep:]
	return false
}

// outside looks for a mark at the start of the answer or behind reasoning.
func (s *thinkSplitter) outside() bool {
	rest := strings.TrimLeft(s.held, blank)
	behind := s.state == splitBehind
	if rest == "" && (behind || len(s.held) <= maxBlank) {
		if behind {
			s.held = ""
		}
		return false
	}
	if a := s.mark.answer; behind && a != "" && prefixFold(rest, a) {
		s.begin(rest[len(a):])
		return true
	}
	wait := behind && prefixFold(s.mark.answer, rest) // rest is not empty there
	for _, m := range markers {
		if prefixFold(rest, m.open) {
			s.mark, s.began = m, false
			if m.close == "" {
				s.begin(rest[len(m.open):])
			} else {
				s.state, s.held = splitInside, rest[len(m.open):]
			}
			return true
		}
		wait = wait || rest != "" && prefixFold(m.open, rest)
	}
	if wait {
		return false
	}
	if behind {
		s.begin(rest)
	} else {
		s.begin(s.held)
	}
	return true
}

// begin begins the text.
func (s *thinkSplitter) begin(text string) {
	s.state, s.held = splitText, ""
	switch {
	case text == "":
	case s.mark.tail == "":
		s.text(text)
	default:
		s.held = text
	}
}

func (s *thinkSplitter) inside() bool {
	if !s.began {
		s.held = strings.TrimLeft(s.held, blank)
	}
	if i := indexFold(s.held, s.mark.close); i >= 0 {
		s.think(strings.TrimRight(s.held[:i], blank))
		s.state, s.held = splitBehind, s.held[i+len(s.mark.close):]
		return true
	}
	keep := len(s.held)
	for n := min(len(s.mark.close)-1, len(s.held)); n > 0; n-- {
		if prefixFold(s.held[len(s.held)-n:], s.mark.close[:n]) {
			keep = len(s.held) - n
			break
		}
	}
	thought := strings.TrimRight(s.held[:keep], blank)
	if s.began && keep-len(thought) > maxBlank {
		thought = s.held[:keep]
	}
	s.think(thought)
	s.held = s.held[len(thought):]
	return false
}

// think hands out reasoning.
func (s *thinkSplitter) think(thought string) {
	if thought == "" {
		return
	}
	if s.gave && !s.began {
		thought = "\n\n" + thought
	}
	s.began, s.gave = true, true
	s.reasoning(thought)
}

// end hands out what was held back.
func (s *thinkSplitter) end() {
	held := s.held
	s.held = ""
	switch s.state {
	case splitStart:
		if held != "" {
			s.text(held)
		}
	case splitText:
		if held != "" && !(len(held) == len(s.mark.tail) && prefixFold(held, s.mark.tail)) {
			s.text(held)
		}
	case splitInside:
		s.think(strings.TrimRight(held, blank))
	case splitBehind:
		if held = strings.Trim(held, blank); held != "" {
			s.text(held)
		}
	}
}

// prefixFold tells whether s begins with prefix, whether its letters (a to z) are capitals or small.
func prefixFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

// indexFold is where sub begins in s, as prefixFold compares; sub does not begin with a letter.
func indexFold(s, sub string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], sub[0])
		if i < 0 {
			return -1
		}
		if from += i; prefixFold(s[from:], sub) {
			return from
		}
		from++
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
