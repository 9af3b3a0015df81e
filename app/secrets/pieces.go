package secrets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Pieces returns the bytes of a model's answer, a stream of events or one object of JSON,
// with labels in place of known values that come in pieces: spread over the strings that
// stand in the same place of several events. Everything else stays byte for byte; a value
// that stands in one piece is left to Redact.
func (r *Redactor) Pieces(raw []byte) []byte {
	if r.values.Load() == nil {
		return raw
	}
	channels := map[string]*channel{}
	var order []*channel
	for at := 0; at < len(raw); {
		end := len(raw)
		if n := bytes.IndexByte(raw[at:], '\n'); n >= 0 {
			end = at + n
		}
		line := raw[at:end]
		if begin := bytes.IndexByte(line, '{'); begin >= 0 {
			for _, p := range stringsOf(line[begin:]) {
				c := channels[p.path]
				if c == nil {
					c = &channel{}
					channels[p.path] = c
					order = append(order, c)
				}
				p.start, p.end = p.start+at+begin, p.end+at+begin
				c.pieces = append(c.pieces, p)
				c.size += len(p.text)
			}
		}
		at = end + 1
	}
	swaps := map[int]piece{} // by where the piece begins
	for _, c := range order {
		c.mask(r, swaps)
	}
	if len(swaps) == 0 {
		return raw
	}
	var out bytes.Buffer
	last := 0
	for _, start := range slices.Sorted(maps.Keys(swaps)) {
		p := swaps[start]
		out.Write(raw[last:start])
		text, err := json.Marshal(p.text)
		if err != nil {
			text = []byte(`""`) // a string can always be written; without it nothing leaks
		}
		out.Write(text)
		last = p.end
	}
	out.Write(raw[last:])
	return out.Bytes()
}

// piece is one string of one event.
type piece struct {
	path       string
	text       string // decoded
	start, end int    // of the literal, quotes included
}

// channel is what stands in one place of all events, one after another.
type channel struct {
	pieces []piece
	size   int
}

// mask puts into swaps the pieces that change when known values are taken out of the whole.
func (c *channel) mask(r *Redactor, swaps map[int]piece) {
	if len(c.pieces) < 2 {
		return
	}
	var whole strings.Builder
	whole.Grow(c.size)
	for _, p := range c.pieces {
		whole.WriteString(p.text)
	}
	if r.Known(whole.String()) == whole.String() {
		return
	}
	s := r.Stream()
	for i, p := range c.pieces {
		was := p.text
		p.text = s.Push(p.text)
		if i == len(c.pieces)-1 {
			p.text += s.Rest()
		}
		if p.text != was {
			swaps[p.start] = p
		}
	}
}

// stringsOf finds the strings of an object of JSON, each with the place where it stands:
// names and positions, and for a call of a tool its index, under which it goes on in other events.
// What is broken ends it.
func stringsOf(object []byte) (out []piece) {
	s := scanner{dec: json.NewDecoder(bytes.NewReader(object)), raw: object}
	s.dec.UseNumber()
	_ = s.value("") // what was found until it broke
	return s.found
}

type scanner struct {
	dec   *json.Decoder
	raw   []byte
	found []piece
	depth int
}

// deepest is how many values may stand in each other.
const deepest = 50

func (s *scanner) value(path string) error {
	before := int(s.dec.InputOffset())
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	switch v := t.(type) {
	case string:
		end := int(s.dec.InputOffset())
		if at := bytes.IndexByte(s.raw[before:end], '"'); at >= 0 {
			s.found = append(s.found, piece{path, v, before + at, end})
		}
	case json.Delim:
		if s.depth++; s.depth > deepest {
			return io.ErrUnexpectedEOF
		}
		defer func() { s.depth-- }()
		if v == '[' {
			return s.list(path)
		}
		return s.object(path)
	}
	return nil
}

func (s *scanner) list(path string) error {
	for i := 0; s.dec.More(); i++ {
		if err := s.value(fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

func (s *scanner) object(path string) error {
	from, index := len(s.found), ""
	for s.dec.More() {
		t, err := s.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if name != "index" {
			if err := s.value(path + "." + name); err != nil {
				return err
			}
			continue
		}
		t, err = s.dec.Token()
		if err != nil {
			return err
		}
		if n, ok := t.(json.Number); ok {
			index = "#" + n.String()
		} else if d, ok := t.(json.Delim); ok && d != 0 {
			return io.ErrUnexpectedEOF // nobody's form
		}
	}
	if index != "" { // the number of a call, wherever it stands in the list of this event
		list := path
		if at := strings.LastIndexByte(path, '['); at >= 0 {
			list = path[:at]
		}
		for i := from; i < len(s.found); i++ {
			s.found[i].path = list + index + s.found[i].path[len(path):]
		}
	}
	_, err := s.dec.Token()
	return err
}
