package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// listLimit bounds the reading of all pages of one list.
const listLimit = 30 * time.Second

// maxListBytes is the size of the pages of one list, in bytes, after which no further one is read.
const maxListBytes = 16 << 20

// rereadPause is the least time between two readings of lists that the server
// made necessary.
const rereadPause = time.Second

// lists is what a server offers. Slices are replaced, never changed.
type lists struct {
	tools     []Tool
	index     map[string]int // of tools, by name
	prompts   []Prompt
	resources []Resource
	templates []Template
	known     map[string]bool      // lists that have been read
	stale     map[string]bool      // lists that have changed since
	changes   map[string]int       // how often a list read before was made worthless
	until     map[string]time.Time // when a list is out of date; not there = only when the server says so
	problems  map[string][]Problem
	failure   error // why the tools could not be read last
}

// capabilities is what a server declared.
type capabilities struct {
	tools, prompts, resources, completions, subscribe bool
	toolsChanged, promptsChanged, resourcesChanged    bool
	logging                                           bool
	taskCalls                                         bool // tools/call as a task (MCP 2025-11-25)
}

func readCapabilities(raw json.RawMessage) capabilities {
	m, _ := fields(raw)
	flag := func(group, name string) bool {
		g, _ := fields(m[group])
		b := boolean(g[name])
		return b != nil && *b
	}
	tasks, _ := fields(m["tasks"])
	requests, _ := fields(tasks["requests"])
	taskTools, _ := fields(requests["tools"])
	return capabilities{
		taskCalls: !absent(taskTools["call"]),
		tools:     !absent(m["tools"]), prompts: !absent(m["prompts"]), resources: !absent(m["resources"]),
		completions: !absent(m["completions"]), logging: !absent(m["logging"]),
		subscribe:    flag("resources", "subscribe"),
		toolsChanged: flag("tools", "listChanged"), promptsChanged: flag("prompts", "listChanged"),
		resourcesChanged: flag("resources", "listChanged"),
	}
}

// page is one list read to its end, or as far as it could be.
type page struct {
	entries  []json.RawMessage
	problems []Problem
	ttl      lifetime
}

// readPages reads a list page by page. With an error there is nothing to
// replace an older list with; entries read until then are returned all the
// same. A list the server declared but does not know is empty.
func (c *Connection) readPages(ctx context.Context, l *live, kind, method, member string) (page, error) {
	ctx, cancel := patience.WithTimeoutCause(ctx, listLimit, unanswered(listLimit))
	defer cancel()
	var p page
	problem := func(format string, args ...any) {
		p.problems = append(p.problems, Problem{Item: kind, Message: sentence(fmt.Sprintf(format, args...))})
	}
	var cursor json.RawMessage
	size, again := 0, false
	seen := map[string]bool{}
	for n := 1; ; n++ {
		req := session.Request{Method: method}
		if cursor != nil {
			req.Params = []wire.Member{{Name: "cursor", Value: cursor}}
		}
		reply := l.session.Do(ctx, req)
		if reply.Err != nil {
			if rpc := new(wire.Error); errors.As(reply.Err, &rpc) && rpc.Code == wire.CodeMethodNotFound && n == 1 {
				problem("the server declares this list, but does not know the request %s", method)
				return p, nil
			}
			if n > 1 && !again && badCursor(reply.Err) {
				// What a cursor that fails belonged to is no more: all is read anew, once.
				p, cursor, size, n, again = page{}, nil, 0, 0, true
				clear(seen)
				continue
			}
			err := reply.Err
			if ctx.Err() != nil {
				err = context.Cause(ctx) // which says who ended it
			}
			problem("page %d could not be read: %s", n, short(err.Error(), 1000))
			return p, err
		}
		m, ok := fields(reply.Result)
		entries, isArray := array(m[member])
		if !ok || !isArray {
			problem("page %d holds no list of %s", n, member)
			if n == 1 && !absent(m[member]) {
				return p, fmt.Errorf("the answer to %s holds no list", method)
			}
		}
		p.entries = append(p.entries, entries...)
		size += len(reply.Result)
		p.ttl.take(m["ttlMs"])
		next := m["nextCursor"]
		if absent(next) {
			return p, nil
		}
		if why := lastPage(next, seen[str(next)], n, len(p.entries), size); why != "" {
			problem("%s", why)
			return p, nil
		}
		seen[str(next)] = true
		cursor = next
	}
}

// lastPage says why no page is read after the nth, although the server gave a cursor; ""
// where one is. entries and size (in bytes) are those of all pages so far.
func lastPage(cursor json.RawMessage, seen bool, n, entries, size int) string {
	switch {
	case cursor[0] != '"':
		return fmt.Sprintf("page %d ends with a cursor that is no text; what follows was left out", n)
	case len(cursor) > 64<<10:
		return fmt.Sprintf("page %d ends with a cursor of %d bytes; what follows was left out", n, len(cursor))
	case seen:
		return fmt.Sprintf("the server gave the cursor %s twice; what follows was left out", short(string(cursor), 60))
	case n >= MaxPages:
		return fmt.Sprintf("it has more than %d pages; what follows was left out", MaxPages)
	case size > maxListBytes:
		return fmt.Sprintf("it is larger than %d MiB; the pages after the %dth were not read", maxListBytes>>20, n)
	case entries > MaxItems:
		return fmt.Sprintf("it has more than %d entries; the pages after the %dth were not read", MaxItems, n)
	}
	return ""
}

// collect reads entries, drops those that cannot be offered one by one, and
// keeps the first of several with one name.
func collect[T any](p page, item string, read func(json.RawMessage) entry[T]) ([]T, []Problem) {
	problems := slices.Clone(p.problems)
	var out []T
	seen := map[string]string{}
	var left []json.RawMessage
	for i, raw := range p.entries {
		if len(out) >= MaxItems {
			left = append(left, raw)
			continue
		}
		e := read(raw)
		label := fmt.Sprintf("%s %q", item, short(e.key, 100))
		if e.key == "" {
			label = fmt.Sprintf("%s number %d", item, i+1)
		}
		before, twice := seen[e.key]
		switch {
		case e.dropped != "":
			problems = append(problems, Problem{label, sentence("It was left out: " + e.dropped)})
			continue
		case twice && before == string(raw):
			problems = append(problems, Problem{label, "It stands in the list twice; one was left out."})
			continue
		case twice:
			problems = append(problems, Problem{label, "It stands in the list twice with different definitions; the first was kept."})
			continue
		case e.note != "":
			problems = append(problems, Problem{label, sentence("It was corrected: " + e.note)})
		}
		seen[e.key] = string(raw)
		out = append(out, e.value)
	}
	if len(left) > 0 {
		problems = append(problems, leftOut(item, left))
	}
	const most = 200
	if n := len(problems) - most; n > 0 {
		problems = append(problems[:most:most], Problem{item, fmt.Sprintf("There are %d more problems of this kind.", n)})
	}
	return out, problems
}

// leftOut names the entries of a list that is too long.
func leftOut(item string, entries []json.RawMessage) Problem {
	const most = 100
	var names []string
	for _, raw := range entries[:min(len(entries), most)] {
		m, _ := fields(raw)
		for _, member := range []string{"name", "uri", "uriTemplate"} {
			if name := str(m[member]); name != "" {
				names = append(names, short(name, 100))
				break
			}
		}
	}
	more := ""
	if len(entries) > most {
		more = ", …"
	}
	return Problem{item, fmt.Sprintf("Only the first %d are kept; %d were left out: %s%s.", MaxItems, len(entries), strings.Join(names, ", "), more)}
}

// readTools reads the tools anew and observes whether they changed. On an error
// a list read before stays.
func (c *Connection) readTools(ctx context.Context, l *live) error {
	select {
	case l.reading <- struct{}{}:
		defer func() { <-l.reading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c.mu.Lock()
	declared := c.caps.tools
	delete(c.lists.stale, "tools")
	c.mu.Unlock()
	var p page
	var err error
	if declared {
		p, err = c.readPages(ctx, l, "tools", "tools/list", "tools")
	}
	tools, problems := collect(p, "tool", toolReader(c.cfg.transport() != TransportStdio))
	c.mu.Lock()
	known := c.lists.known["tools"]
	c.setProblems("tools", problems)
	c.lists.failure = err
	if err != nil && known {
		c.markStale("tools")
		c.delayUntil("tools")
		c.mu.Unlock()
		c.note("warning", "", "the tools could not be read again; the list read before stays: "+err.Error())
		return err
	}
	changed := !slices.EqualFunc(c.lists.tools, tools, func(a, b Tool) bool {
		return a.Name == b.Name && a.Definition == b.Definition
	})
	c.lists.tools = tools
	c.lists.index = make(map[string]int, len(tools))
	for i, t := range tools {
		c.lists.index[t.Name] = i
	}
	c.setKnown("tools")
	c.setUntil("tools", p.ttl, c.caps.toolsChanged)
	c.mu.Unlock()
	if known && changed {
		c.events.put(ListChanged{Server: c.cfg.ID, Kind: "tools"})
	}
	for _, pr := range problems {
		c.note("warning", "", pr.Item+": "+pr.Message)
	}
	return err
}

// setProblems, setKnown and markStale need c.mu.
func (c *Connection) setProblems(kind string, p []Problem) {
	if c.lists.problems == nil {
		c.lists.problems = map[string][]Problem{}
	}
	c.lists.problems[kind] = p
}

func (c *Connection) setKnown(kind string) {
	if c.lists.known == nil {
		c.lists.known = map[string]bool{}
	}
	c.lists.known[kind] = true
}

func (c *Connection) markStale(kind string) {
	if c.lists.stale == nil {
		c.lists.stale = map[string]bool{}
	}
	c.lists.stale[kind] = true
}

// mark says that the server changed a list; the refresher reads it again. It is
// called where messages are read, and only queues.
func (c *Connection) mark(kind string) {
	c.mu.Lock()
	c.markStale(kind)
	switch kind {
	case "prompts":
		c.forgetLists("prompts")
	case "resources":
		c.forgetLists("resources", "templates")
	}
	l := c.live
	c.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// refresher reads changed lists again, at most once a second. It ends with the
// context.
func (c *Connection) refresher(ctx context.Context, l *live) {
	// What the server announced while it was being started.
	c.mu.Lock()
	if len(c.lists.stale) > 0 {
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
	c.mu.Unlock()
	pause := time.NewTimer(rereadPause)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		}
		c.reread(ctx, l)
		pause.Reset(rereadPause)
	}
}

// reread reads the lists that have changed, if they had been read before.
func (c *Connection) reread(ctx context.Context, l *live) {
	c.mu.Lock()
	var kinds []string
	for _, kind := range []string{"tools", "prompts", "resources"} {
		if c.lists.stale[kind] {
			kinds = append(kinds, kind)
		}
	}
	c.mu.Unlock()
	for _, kind := range kinds {
		switch kind {
		case "tools":
			_ = c.readTools(ctx, l) // its failure is in the log and among the problems
		default:
			// Read when they are next asked for; whoever shows them is told.
			c.mu.Lock()
			delete(c.lists.stale, kind) // before that is told: a further change is told again
			c.mu.Unlock()
			c.events.put(ListChanged{Server: c.cfg.ID, Kind: kind})
		}
	}
}

// Tools returns the server's tools in its order: all pages, as last read. If the
// time the server gave for them has passed, they are read again meanwhile, and
// [ListChanged] tells of what is new. The slice must not be changed.
func (c *Connection) Tools() []Tool {
	c.renewExpired()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists.tools
}

// Problems returns what was left out of the lists of these kinds ("tools", "prompts", "resources",
// "templates") or corrected in them; of all lists where none is named.
func (c *Connection) Problems(kinds ...string) []Problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Problem
	if len(kinds) == 0 {
		kinds = []string{"tools", "prompts", "resources", "templates"}
	}
	for _, kind := range kinds {
		out = append(out, c.lists.problems[kind]...)
	}
	return out
}

// Prompts returns the server's prompts, all pages.
func (c *Connection) Prompts(ctx context.Context) ([]Prompt, error) {
	return readList(ctx, c, listSpec[Prompt]{
		kind: "prompts", item: "prompt", method: "prompts/list", member: "prompts", read: readPrompt,
		declared: func(k capabilities) (bool, bool) { return k.prompts, k.promptsChanged },
		kept:     &c.lists.prompts,
	})
}

// Resources returns the server's resources, all pages.
func (c *Connection) Resources(ctx context.Context) ([]Resource, error) {
	return readList(ctx, c, listSpec[Resource]{
		kind: "resources", item: "resource", method: "resources/list", member: "resources", read: readResource,
		declared: func(k capabilities) (bool, bool) { return k.resources, k.resourcesChanged },
		kept:     &c.lists.resources,
	})
}

// Templates returns the server's resource templates, all pages.
func (c *Connection) Templates(ctx context.Context) ([]Template, error) {
	return readList(ctx, c, listSpec[Template]{
		kind: "templates", item: "template", method: "resources/templates/list", member: "resourceTemplates", read: readTemplate,
		declared: func(k capabilities) (bool, bool) { return k.resources, k.resourcesChanged },
		kept:     &c.lists.templates,
	})
}

// listSpec describes a list that is read when it is asked for.
type listSpec[T any] struct {
	kind, item, method, member string
	read                       func(json.RawMessage) entry[T]
	declared                   func(capabilities) (offered, announced bool)
	kept                       *[]T
}

// readList returns a list: as read before where that is within the time the server
// gave for it, or where it announces changes and has announced none; else read now. An older list stays where a new one
// cannot be read.
func readList[T any](ctx context.Context, c *Connection, s listSpec[T]) ([]T, error) {
	l, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	offered, announced := s.declared(c.caps)
	usable := c.lists.known[s.kind] && c.fresh(s.kind, announced)
	kept, changes := *s.kept, c.lists.changes[s.kind]
	c.mu.Unlock()
	if !offered {
		return nil, nil
	}
	if usable {
		return kept, nil
	}
	p, err := c.readPages(ctx, l, s.kind, s.method, s.member)
	values, problems := collect(p, s.item, s.read)
	c.mu.Lock()
	defer c.mu.Unlock()
	current := c.lists.changes[s.kind] == changes // else it is of before a change, or of another session
	if current {
		c.setProblems(s.kind, problems)
	}
	if err != nil {
		if len(kept) > 0 {
			return kept, nil
		}
		return nil, fmt.Errorf("the %s of server %q could not be read: %w", s.kind, c.cfg.ID, err)
	}
	if current {
		*s.kept = values
		c.setKnown(s.kind)
		c.setUntil(s.kind, p.ttl, announced)
	}
	return values, nil
}

// Refresh reads the tools again now, and the other lists when they are next
// asked for.
func (c *Connection) Refresh(ctx context.Context) error {
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.forgetLists("prompts", "resources", "templates")
	c.mu.Unlock()
	if err := c.readTools(ctx, l); err != nil {
		return fmt.Errorf("the tools of server %q could not be read again: %w", c.cfg.ID, err)
	}
	return nil
}
