package llm

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// maxCalls bounds the tool calls of one answer.
const maxCalls = 512

// pieceCost counts a piece that says nothing, so that no endpoint can send such
// pieces for ever.
const pieceCost = 16

// maxCallName bounds the name of a call, in bytes; no tool is offered under one nearly as long.
const maxCallName = 1 << 10

// callDelta is a piece of a tool call as an endpoint streams it.
type callDelta struct {
	index     int
	hasIndex  bool
	id, name  string
	arguments string
	badText   bool   // the arguments held bytes that are not text
	object    bool   // the arguments were an object without members
	extra     string // the vendor's members of the call, as a JSON object
}

// building is a tool call that may not be complete.
type building struct {
	index    int
	hasIndex bool
	id, name string
	pieces   string // of the name, all of them, as far as they can still be of use
	args     strings.Builder
	braces   braces // of args
	extra    extras
	object   bool // an object without members stood for the arguments
	badText  bool
	tooLong  bool
	mixed    bool // pieces of different calls cannot be told apart
}

// assembler puts the pieces of tool calls together. Endpoints differ in what
// they send: no index, one index for all calls, one that grows within a call, no
// id, one id for all, the name in every piece, in several, or last. What belongs
// together is decided by id and index, then by one of them, then by place, and
// where that leaves doubt the call is marked unusable.
type assembler struct {
	known   map[string]bool // names of the tools offered
	longest int             // of these names, in bytes
	calls   []*building
	dropped int      // pieces of calls beyond maxCalls, or calls with arguments and no name
	size    int      // what all pieces cost, in bytes
	twice   []string // names that stand in one object twice, in words
	tooMuch bool     // members of vendors were dropped
}

func newAssembler(tools []Tool) *assembler {
	a := &assembler{known: make(map[string]bool, len(tools))}
	for _, t := range tools {
		a.known[t.Name] = true
		a.longest = max(a.longest, len(t.Name))
	}
	return a
}

// add takes the next piece.
func (a *assembler) add(d callDelta) {
	a.size += pieceCost + len(d.id) + len(d.name) + len(d.arguments) + len(d.extra)
	if a.repeated(d) {
		return
	}
	c := a.owner(d)
	if c == nil {
		if len(a.calls) >= maxCalls {
			a.dropped++
			return
		}
		c = &building{index: d.index, hasIndex: d.hasIndex, id: d.id}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = d.id
	}
	if !c.hasIndex {
		c.index, c.hasIndex = d.index, d.hasIndex
	}
	before := c.name
	a.mergeName(c, d.name)
	// A name that becomes another tool's when its arguments have begun is in doubt.
	c.mixed = c.mixed || a.known[before] && c.name != before && c.braces.begun
	c.badText = c.badText || d.badText
	c.object = c.object || d.object
	if d.extra != "" {
		c.extra.addObject([]byte(d.extra))
	}
	if c.args.Len()+len(d.arguments) > maxArguments+1 {
		c.tooLong = true
		return
	}
	c.args.WriteString(d.arguments)
	c.braces.feed(d.arguments)
}

// repeated tells whether the piece is a whole call that stands there already:
// some servers send the finished calls once more at the end.
func (a *assembler) repeated(d callDelta) bool {
	if d.id == "" || d.name == "" || d.arguments == "" {
		return false
	}
	for _, c := range a.calls {
		if c.id == d.id && c.name == d.name && c.braces.complete() && c.args.String() == d.arguments {
			return true
		}
	}
	return false
}

// owner is the call a piece continues, nil if it starts one.
func (a *assembler) owner(d callDelta) *building {
	c := a.candidate(d)
	switch {
	case c == nil:
		return nil
	case d.id != "" && d.id == c.id:
		// Some servers use one id for all calls. Behind a whole object there
		// can only be another call, or more of the same call's name.
		if d.name != "" && c.name != "" && c.braces.complete() && !(strings.TrimSpace(d.arguments) == "" && a.sameName(c, d.name)) {
			return nil
		}
		return c
	case d.id != "" && c.id != "":
		// Another id is another call, unless a server makes up an id for
		// every piece: then there is no name, and the arguments so far are
		// half an object.
		if d.name == "" && d.arguments != "" && c.braces.half() {
			return c
		}
		return nil
	case d.name == "" || c.name == "" && strings.TrimSpace(d.arguments) == "":
		return c // a name may come last
	case c.braces.complete():
		// The same.
		if strings.TrimSpace(d.arguments) == "" && a.sameName(c, d.name) {
			return c
		}
		return nil
	case a.known[c.name] && a.known[d.name] && d.name != c.name && !a.known[c.pieces+d.name] && !strings.HasPrefix(d.name, c.name):
		if !c.braces.begun {
			return nil
		}
		c.mixed = true
	}
	return c
}

// sameName tells whether a piece says a call's name once more, or makes it the name of a tool.
func (a *assembler) sameName(c *building, piece string) bool {
	return piece == c.name || !a.known[c.name] && a.known[c.pieces+piece]
}

// candidate is the latest call with the piece's id and index, else the one that
// its index or its id alone leads to, else the last call where that has no index
// to compare.
func (a *assembler) candidate(d callDelta) *building {
	var byID, byIndex *building
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		sameID := d.id != "" && c.id == d.id
		sameIndex := d.hasIndex && c.hasIndex && c.index == d.index
		switch {
		case sameID && (sameIndex || !d.hasIndex || !c.hasIndex):
			return c
		case sameID && byID == nil:
			byID = c
		case sameIndex && byIndex == nil:
			byIndex = c
		}
	}
	switch {
	case byIndex != nil && (byID == nil || byIndex.id == ""):
		return byIndex
	case byID != nil && (d.name == "" && byID.name != "" && !byID.braces.complete() || byIndex != nil && !byID.braces.complete()):
		return byID // its index grows with each piece, or is the same for all calls
	case byID != nil || len(a.calls) == 0:
		return nil
	}
	last := a.calls[len(a.calls)-1]
	if d.hasIndex && last.hasIndex || d.id != "" && d.name != "" {
		return nil
	}
	return last
}

// mergeName adds a piece of a name: nothing new where the name is repeated, the
// rest where it is split.
func (a *assembler) mergeName(c *building, piece string) {
	if piece == "" || piece == c.name && a.known[piece] {
		return
	}
	if len(c.pieces) <= a.longest {
		c.pieces += piece
	}
	switch {
	case a.known[c.pieces]:
		c.name = c.pieces
	case a.known[piece] && strings.HasPrefix(piece, c.name):
		c.name = piece
	case a.known[c.name] || piece == c.name:
	case len(c.name) < maxCallName:
		c.name += piece
	}
}

// braces follows how far an object has come while it grows, for telling whether more of it can come. What may run is
// checked in another way.
type braces struct {
	begun             bool // there is anything but blanks
	depth             int
	inText, escaped   bool
	closed, different bool // the object has ended; it is none, or there is more behind it
}

func (b *braces) feed(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case b.inText && b.escaped:
			b.escaped = false
		case b.inText:
			b.escaped, b.inText = c == '\\', c != '"'
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case b.closed || !b.begun && c != '{':
			b.begun, b.different = true, true
		case c == '{' || c == '[':
			b.begun = true
			b.depth++
		case c == '}' || c == ']':
			b.depth--
			b.closed = b.depth == 0
		case c == '"':
			b.inText = true
		}
	}
}

// complete tells whether there is one object and nothing else.
func (b *braces) complete() bool { return b.closed && !b.different }

// half tells whether there is the beginning of an object.
func (b *braces) half() bool { return b.begun && !b.closed && !b.different }

// finish checks every call and gives it an id that no other call of the answer
// has. cut says that the answer ended at a limit, so that a call without
// arguments may have lost them.
func (a *assembler) finish(cut bool) []ToolCall {
	var out []ToolCall
	used := map[string]bool{}
	for i, c := range a.calls {
		raw := c.args.String()
		name := strings.TrimSpace(c.name)
		if name == "" {
			if s := strings.TrimSpace(raw); s != "" && s != "{}" && s != "null" { // else a call that never was
				a.dropped++
			}
			continue
		}
		if c.object && strings.TrimSpace(raw) == "" {
			raw = "{}"
		}
		t := ToolCall{ID: c.id, Name: name, Raw: raw, Extra: c.extra.object()}
		a.tooMuch = a.tooMuch || c.extra.over
		switch {
		case c.mixed:
			t.Problem = "The pieces of several tool calls were mixed and cannot be told apart." + resend
		case c.tooLong:
			t.Problem = fmt.Sprintf("The arguments are longer than %d bytes.", maxArguments) + resend
		case c.badText:
			t.Problem = "The arguments are not valid Unicode text." + resend
		default:
			var twice string
			t.Arguments, twice, t.Problem = completeObject(raw, cut && i == len(a.calls)-1)
			if twice != "" {
				a.twice = append(a.twice, fmt.Sprintf("%s in the arguments of %s", twice, name))
			}
		}
		if t.ID == "" || used[t.ID] {
			t.ID = "call_" + rand.Text()[:24]
		}
		used[t.ID] = true
		out = append(out, t)
	}
	return out
}
