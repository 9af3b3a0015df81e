package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"steward/app/clean"
	"steward/app/config"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// serverWait is how long a turn waits for servers that are still starting. Those that
// are slower join in a later round.
const serverWait = 15 * time.Second

// serversName is the list of servers in the data folder.
const serversName = "servers.json"

// Where a list of servers comes from.
const (
	sourceFile    = "file"     // named for this run, counted as reviewed
	sourceFolder  = "folder"   // the data folder's servers.json
	sourceBuiltIn = "built-in" // the demo server, where there is no list at all
)

// serverList is what is configured, before anything is started.
type serverList struct {
	source   string
	path     string // the file it was read from; "" for the built-in one
	servers  []config.Server
	problems []config.Problem
	err      error                       // the file cannot be read as a whole
	refused  map[string][]config.Problem // by server: folders of its entry that are not shared; among problems as well
	builtIn  config.Server               // the demo server; no name where there is none
}

// listed says whether a server counts as reviewed as it is first seen: it stands in a file
// given for this run, or it is the demo server, which is this program.
func (l serverList) listed(name string) bool {
	if l.source != sourceFolder {
		return true
	}
	c, ok := config.Find(l.servers, name)
	return ok && l.isBuiltIn(c)
}

func (l serverList) isBuiltIn(c config.Server) bool {
	return l.builtIn.Name != "" && c.Name == l.builtIn.Name && c.Hash() == l.builtIn.Hash()
}

// readServers finds the list. A folder's file that cannot be read is kept as an error
// in the list, so that everything else stays usable; a file named by the person is not
// passed over like that.
func readServers(ctx context.Context, o Options, dir string) (serverList, error) {
	l, err := listServers(o, dir)
	l.lookAtRoots(ctx, dir)
	return l, err
}

func listServers(o Options, dir string) (serverList, error) {
	if o.ServersFile != "" {
		path, err := filepath.Abs(o.ServersFile)
		if err != nil {
			return serverList{}, fmt.Errorf("the servers file %s cannot be found: %w", o.ServersFile, err)
		}
		l := serverList{source: sourceFile, path: path}
		l.servers, l.problems, err = config.ReadServers(path)
		return l, err
	}
	l := serverList{source: sourceFolder, path: filepath.Join(dir, serversName)}
	if len(o.DemoServer) > 0 {
		l.builtIn = config.Server{Name: DemoServerName, Transport: config.Stdio, Command: o.DemoServer[0], Args: o.DemoServer[1:], Sampling: true}
	}
	l.servers, l.problems, l.err = config.ReadServers(l.path)
	if !errors.Is(l.err, fs.ErrNotExist) {
		return l, nil
	}
	l.err = nil
	if len(o.DemoServer) == 0 {
		return l, nil
	}
	return serverList{source: sourceBuiltIn, servers: []config.Server{l.builtIn}, builtIn: l.builtIn}, nil
}

// servers starts what is configured and knows what became of it. Its goroutines belong
// to it; close ends them.
type servers struct {
	list    serverList
	host    *mcphost.Host
	journal *journal.Journal
	tell    func(event.Event)
	changed func(server string)
	expand  func(ctx context.Context, text string) (string, error) // ${secret:NAME}
	learn   func(label, value string)
	// reviewed says of the folder's own servers whether this one may start by itself:
	// as it is configured now, a person has reviewed it. Nil: all may.
	reviewed func(ctx context.Context, c config.Server) (reviewState, error)
	data     string   // the data folder, of which nothing is shared
	roots    []string // shared in this run with every server
	limits   limits
	// sampling says which servers are told that they may ask for the model. Nil: all.
	sampling func(server string) bool
	env      func(string) (string, bool)

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	reading sync.Mutex // held while a list is read and taken over
	mu      sync.Mutex
	entries map[string]*serverEntry
	slow    map[string]bool          // told as slow already
	told    map[string]string        // the review each server was last told about
	waited  map[string]chan struct{} // by set of folders: closed when a turn has waited for the start
}

type limits struct {
	start, tool   time.Duration
	proxy, caFile string
}

// serverEntry is one server's start: done is closed when it is over.
type serverEntry struct {
	config config.Server
	roots  []string // shared by a conversation, beside those of the server and of the run
	since  time.Time
	given  []string // all folders of the connection; guarded by servers.mu
	done   chan struct{}
	conn   *mcphost.Connection
	err    error
}

// reviewState says how a server's configuration stands to what a person has reviewed.
type reviewState int

const (
	reviewedNever reviewState = iota
	reviewedOther             // it was reviewed, with another configuration
	reviewedNow
)

// startReviewed begins to start those of the named servers, or of all, that a person has
// reviewed as they are configured now. A program that nobody has looked at is not run
// because somebody asked a model something; it is told instead. It may be called again.
func (s *servers) startReviewed(ctx context.Context, names ...string) {
	s.startReviewedWith(ctx, nil, names...)
}

func (s *servers) startReviewedWith(ctx context.Context, roots []string, names ...string) {
	for _, c := range s.now().servers {
		if c.Disabled || !named(names, c.Name) {
			continue
		}
		if err := s.mayStart(ctx, c); err != nil {
			if s.firstTime(c.Name, err.Error()) {
				s.tell(event.Notice{Kind: "server_unreviewed", Server: c.Name, Message: err.Error()})
			}
			continue
		}
		s.startWith(roots, c.Name)
	}
}

// mayStart says why a server is not started without its being asked for by name: a
// sentence with what to do.
func (s *servers) mayStart(ctx context.Context, c config.Server) error {
	if s.reviewed == nil {
		return nil
	}
	state, err := s.reviewed(ctx, c)
	name := reveal(c.Name)
	why := "nobody has reviewed it yet"
	switch {
	case err != nil:
		why = "it cannot be told whether it was reviewed (" + err.Error() + ")"
	case state == reviewedNow:
		return nil
	case state == reviewedOther:
		why = "its settings have changed since it was reviewed"
	}
	return &Message{Key: "server_unreviewed", Args: args("server", name, "detail",
		fmt.Sprintf("The server %s was not started, because %s. Read what it runs and offers with: steward servers review %s; then: steward servers trust %s", name, why, quoteArg(name), quoteArg(name)))}
}

// start begins to start the named servers, or all that are not disabled, reviewed or not:
// for what a person has asked by name, and for looking at servers. It returns at once and
// may be called again.
func (s *servers) start(names ...string) { s.startWith(nil, names...) }

func (s *servers) startWith(roots []string, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.list.servers {
		key := entryKey(c.Name, roots)
		if c.Disabled || s.entries[key] != nil || !named(names, c.Name) || s.ctx.Err() != nil {
			continue
		}
		e := &serverEntry{config: c, roots: roots, since: time.Now(), done: make(chan struct{})}
		s.entries[key] = e
		s.wg.Add(1)
		go s.connect(e)
	}
}

func named(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return len(names) == 0
}

func (s *servers) connect(e *serverEntry) {
	defer s.wg.Done()
	defer func() {
		close(e.done)
		if s.ctx.Err() == nil {
			s.changed(e.config.Name) // who was told of its state could not use it before now
		}
	}()
	cfg, err := s.resolve(e.config)
	cfg.Roots = unique(slices.Concat(cfg.Roots, e.roots))
	s.mu.Lock()
	e.given = cfg.Roots
	wanted := s.entries[entryKey(e.config.Name, e.roots)] == e
	s.mu.Unlock()
	if !wanted {
		err = mcphost.ErrClosed
	}
	tried := err == nil
	if tried {
		e.conn, err = s.host.Connect(s.ctx, cfg)
	}
	e.err = err
	if s.ctx.Err() != nil {
		return
	}
	if s.dropped(e) {
		s.abandon(e)
		return
	}
	if err != nil {
		var start *mcphost.StartError
		if !errors.As(err, &start) { // a start error was observed by the host already
			s.tell(event.Server{Server: e.config.Name, State: string(mcphost.StateFailed), Error: err.Error()})
		}
		s.tell(event.Notice{Kind: "server_failed", Server: e.config.Name, Message: err.Error()})
	}
	s.record(e, cfg, tried)
}

// wait returns when no server is starting any more, or after limit. Servers that are
// still starting then are told once.
func (s *servers) wait(ctx context.Context, limit time.Duration) {
	s.waitFor(ctx, s.all(), limit)
}

func (s *servers) waitFor(ctx context.Context, entries []*serverEntry, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for _, e := range entries {
		select {
		case <-e.done:
			continue
		default:
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return
		case <-timer.C:
			s.tellSlow(entries, limit)
			return
		}
	}
}

// waitOnce waits once for each set of folders, and again when servers were ended since, so
// that a slow server holds up one request. Those who come meanwhile wait as well.
func (s *servers) waitOnce(ctx context.Context, roots []string, limit time.Duration) {
	key := entryKey("", roots)
	s.mu.Lock()
	over := s.waited[key]
	first := over == nil
	if first {
		if s.waited == nil {
			s.waited = map[string]chan struct{}{}
		}
		over = make(chan struct{})
		s.waited[key] = over
	}
	s.mu.Unlock()
	if first {
		defer close(over)
		s.waitFor(ctx, s.allWith(roots), limit)
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// firstTime says whether a server's state is told for the first time.
func (s *servers) firstTime(server, state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[server] == state {
		return false
	}
	s.told[server] = state
	return true
}

func (s *servers) tellSlow(entries []*serverEntry, limit time.Duration) {
	for _, e := range entries {
		select {
		case <-e.done:
			continue
		default:
		}
		s.mu.Lock()
		told := s.slow[e.config.Name]
		s.slow[e.config.Name] = true
		s.mu.Unlock()
		if !told {
			s.tell(event.Notice{Kind: "server_slow", Server: e.config.Name, Message: s.slowSentence(e.config.Name, limit)})
		}
	}
}

// slowSentence says that a server is still starting, and what it writes meanwhile: it may be
// downloading what it runs.
func (s *servers) slowSentence(name string, limit time.Duration) string {
	for _, c := range s.host.Connections() {
		if c.Server() != name {
			continue
		}
		lines := strings.Split(strings.TrimSpace(c.Stderr()), "\n")
		if last := clean.Line(lines[len(lines)-1], 200); last != "" {
			return fmt.Sprintf("The server %s is still starting after %s, and last wrote “%s”. The turn goes on without it; it joins as soon as it is ready.", reveal(name), limit, last)
		}
	}
	return fmt.Sprintf("The server %s is still starting after %s. The turn goes on without it; it joins as soon as it is ready.", reveal(name), limit)
}

// all returns the entries in the list's order.
func (s *servers) all() []*serverEntry { return s.allWith(nil) }

func (s *servers) allWith(roots []string) []*serverEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*serverEntry
	for _, c := range s.list.servers {
		if e := s.entries[entryKey(c.Name, roots)]; e != nil {
			out = append(out, e)
		}
	}
	return out
}

// ready returns the connections that can be used now, in the list's order.
func (s *servers) ready() []*mcphost.Connection { return s.readyWith(nil) }

func (s *servers) readyWith(roots []string) []*mcphost.Connection {
	var out []*mcphost.Connection
	for _, e := range s.allWith(roots) {
		select {
		case <-e.done:
			if e.err == nil && e.conn.State() == mcphost.StateReady {
				out = append(out, e.conn)
			}
		default:
		}
	}
	return out
}

// oneReviewed is one for a server that is to be used, not looked at.
func (s *servers) oneReviewed(ctx context.Context, name string) (*mcphost.Connection, error) {
	return s.oneReviewedWith(ctx, nil, name)
}

func (s *servers) oneReviewedWith(ctx context.Context, roots []string, name string) (*mcphost.Connection, error) {
	if c, ok := config.Find(s.now().servers, name); ok && !c.Disabled {
		if err := s.mayStart(ctx, c); err != nil {
			return nil, err
		}
	}
	return s.oneWith(ctx, roots, name)
}

// one starts a server, reviewed or not, and waits for it, for as long as its own start may
// take. The error says what is wrong or which names there are.
func (s *servers) one(ctx context.Context, name string) (*mcphost.Connection, error) {
	return s.oneWith(ctx, nil, name)
}

func (s *servers) oneWith(ctx context.Context, roots []string, name string) (*mcphost.Connection, error) {
	c, ok := config.Find(s.now().servers, name)
	if !ok {
		return nil, s.unknown(name)
	}
	if c.Disabled {
		return nil, &Message{Key: "server_disabled", Args: args("server", name)}
	}
	s.startWith(roots, name)
	s.mu.Lock()
	e := s.entries[entryKey(name, roots)]
	s.mu.Unlock()
	if e == nil { // removed or switched off just now, or the program ends
		return nil, s.unknown(name)
	}
	select {
	case <-e.done:
		return e.conn, e.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, &Message{Key: "server_stopped", Args: args("server", reveal(name), "detail", fmt.Sprintf("The start of the server %s was given up, because you stopped it.", reveal(name))), Err: ctx.Err()}
		}
		return nil, fmt.Errorf("the start of the server %s was given up: %w", name, context.Cause(ctx))
	}
}

// unknown says that there is no such server, why, and what there is.
func (s *servers) unknown(name string) error {
	list := s.now()
	if list.err != nil {
		return list.err
	}
	for _, p := range list.problems {
		if p.Server == name {
			return &Message{Key: "server_unusable", Args: args("server", name, "detail", p.String())}
		}
	}
	if len(list.servers) == 0 {
		return &Message{Key: "no_servers", Args: args("server", name, "file", list.path)}
	}
	names := make([]string, len(list.servers))
	for i, c := range list.servers {
		names[i] = c.Name
	}
	return &Message{Key: "server_unknown", Args: args("server", name, "servers", strings.Join(names, ", "))}
}

// close ends what is still starting. Connections belong to the host.
func (s *servers) close() {
	s.stop()
	s.wg.Wait()
}

func isFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return config.Unreadable("the folder", path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s cannot be shared because it is not a folder", path)
	}
	return nil
}
