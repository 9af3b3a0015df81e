package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/app/config"
	"steward/mcphost"
)

// Servers lists what is configured, in the file's order, with what cannot be used. It
// starts nothing and waits for no server; what it does not know yet (counts, latency) is
// found out meanwhile and told as a ServersChanged event.
func (a *App) Servers(ctx context.Context) ([]ServerStatus, error) {
	a.board.release()
	a.watched()
	list := a.servers.now()
	out := []ServerStatus{}
	for _, c := range list.servers {
		s, err := a.status(ctx, list, c)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	for _, p := range list.problems {
		if _, usable := config.Find(list.servers, p.Server); !usable && !slices.ContainsFunc(out, func(s ServerStatus) bool { return s.Name == p.Server }) {
			out = append(out, unusable(list, p.Server))
		}
	}
	return out, list.err
}

func unusable(list serverList, name string) ServerStatus {
	s := ServerStatus{Name: name, State: ServerUnusable, Tools: -1, Prompts: -1, Resources: -1, Templates: -1, Editable: list.source != sourceFile, Problems: problemsOf(list, name)}
	s.Error = strings.Join(s.Problems, "\n")
	return s
}

func problemsOf(list serverList, name string) []string {
	var out []string
	for _, p := range list.problems {
		if p.Server == name {
			p.Server = "" // it is said already
			out = append(out, clean.Clean(p.String()))
		}
	}
	return out
}

// status puts together what is known of one server without asking it.
func (a *App) status(ctx context.Context, list serverList, c config.Server) (ServerStatus, error) {
	s := ServerStatus{
		Name: c.Name, Transport: c.Transport, Roots: len(c.Roots) - len(list.refused[c.Name]), Enabled: !c.Disabled, Sampling: c.Sampling, State: ServerIdle,
		Tools: -1, Prompts: -1, Resources: -1, Templates: -1,
		Editable: list.source != sourceFile, BuiltIn: list.isBuiltIn(c), Problems: problemsOf(list, c.Name),
	}
	s.Address = commandLine(c)
	if c.Command == "" {
		s.Address = reveal(masked(c)(c.URL))
	}
	state := reviewedNow
	if !list.listed(c.Name) {
		var err error
		if state, _, err = configReviewed(ctx, a.db, c); err != nil {
			return s, err
		}
	}
	s.Reviewed = state == reviewedNow
	s.SignIn = a.serverSignIn(c.Name)
	e := a.servers.entry(c.Name)
	switch {
	case c.Disabled:
		s.State = ServerDisabled
	case e != nil:
		a.running(&s, e)
	case !s.Reviewed:
		s.State = ServerUnreviewed
	}
	return s, nil
}

// running fills in how a server that was started stands.
func (a *App) running(s *ServerStatus, e *serverEntry) {
	s.Since = e.since
	select {
	case <-e.done:
	default:
		s.State = string(mcphost.StateStarting)
		return
	}
	if e.err != nil {
		s.fail(e.err)
		return
	}
	conn := e.conn
	info := conn.Info()
	s.State, s.Protocol = string(conn.State()), clean.Line(conn.Protocol(), 40)
	s.Title = strings.TrimSpace(a.line(cmp.Or(info.Title, info.Name)) + " " + a.line(info.Version))
	if err := conn.Err(); err != nil {
		s.fail(err)
	}
	s.Tools = len(conn.Tools())
	if s.State != string(mcphost.StateReady) {
		return
	}
	if k, ok := a.facts(s.Name, conn); ok {
		s.know(k)
	}
}

func (s *ServerStatus) know(k serverKnown) {
	s.Prompts, s.Resources, s.Templates, s.Pending, s.New, s.Latency = k.prompts, k.resources, k.templates, k.pending, k.fresh, k.latency
}

func (d *ServerDetail) know(k serverKnown) {
	d.ServerStatus.know(k)
	d.ServerOffers = k.offers
}

// fail words why a server does not run.
func (s *ServerStatus) fail(err error) {
	s.State, s.Error = string(mcphost.StateFailed), clean.Clean(err.Error())
	s.SignIn.Needed = s.SignIn.Needed || signInNeeded(err)
	var start *mcphost.StartError
	if errors.As(err, &start) {
		s.Error, s.Hint, s.Output = sentenceCase(clean.Clean(start.Message)), clean.Clean(start.Hint), clean.Clean(strings.TrimSpace(start.Stderr))
	}
}

// sentenceCase begins a sentence with a capital where it begins with an article, a pronoun or a preposition; names stay as they are.
func sentenceCase(s string) string {
	for _, article := range []string{"the ", "a ", "an ", "it ", "its ", "at "} {
		if strings.HasPrefix(s, article) {
			return strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// Server gives all about one server, which is not started. What a running server must be
// asked for is asked once, and again when it says that it changed or with
// [App.RefreshServer]. The first time that is waited for, within ctx and for at most two
// seconds; see ServerOffers.Known. What fails stands in OfferError.
func (a *App) Server(ctx context.Context, name string) (ServerDetail, error) {
	return a.serverWith(ctx, name, a.factsWait)
}

// ServerNow is [App.Server] that never waits for the server.
func (a *App) ServerNow(ctx context.Context, name string) (ServerDetail, error) {
	return a.serverWith(ctx, name, func(_ context.Context, name string, conn *mcphost.Connection) (serverKnown, bool) {
		return a.facts(name, conn)
	})
}

func (a *App) serverWith(ctx context.Context, name string, facts func(context.Context, string, *mcphost.Connection) (serverKnown, bool)) (ServerDetail, error) {
	a.board.release()
	a.watched()
	list := a.servers.now()
	c, ok := config.Find(list.servers, name)
	if !ok {
		if len(problemsOf(list, name)) == 0 {
			return ServerDetail{}, a.servers.unknown(name)
		}
		return ServerDetail{ServerStatus: unusable(list, name)}, nil
	}
	s, err := a.status(ctx, list, c)
	if err != nil {
		return ServerDetail{}, err
	}
	shown, inFile := HideSecrets(c)
	d := ServerDetail{ServerStatus: s, Entry: shown, InFile: inFile, Log: a.ServerLog(name), Stderr: a.ServerStderr(name), Frames: a.ServerFrames(name)}
	e := a.servers.entry(name)
	d.Doctor = a.doctorOf(list, c, e)
	conn := e.started()
	if conn == nil || conn.State() != mcphost.StateReady {
		return d, nil
	}
	if level, logs := conn.LogLevel(); logs {
		d.LogLevel = level
	}
	d.Instructions = clean.Clean(a.secrets.Redactor().Redact(conn.Info().Instructions))
	if d.ServerTools, err = a.serverTools(ctx, conn); err != nil {
		return d, err
	}
	if k, ok := facts(ctx, name, conn); ok {
		d.know(k)
	}
	for _, p := range conn.Problems() {
		d.Problems = append(d.Problems, a.line(p.Item+": "+p.Message))
	}
	return d, nil
}

// doctorOf says what is known of a server without starting or asking it.
func (a *App) doctorOf(list serverList, c config.Server, e *serverEntry) []Check {
	checks := []Check{a.configCheck(c)}
	if e == nil {
		return checks
	}
	select {
	case <-e.done:
	default:
		return checks
	}
	if e.err != nil {
		return append(checks, a.startChecks(c, a.launch(c.Name), e.err)...)
	}
	if err := e.conn.Err(); err != nil {
		return append(checks, a.startChecks(c, e.conn.Launch(), err)...)
	}
	if c, ok := a.signInCheck(c.Name); ok {
		checks = append(checks, c)
	}
	return append(append(checks, a.startedChecks(c, e.conn, e.conn.StderrFlood())...), a.toolsCheck(e.conn, nil))
}

// serverTools lists a server's tools with what the person has set for each.
func (a *App) serverTools(ctx context.Context, conn *mcphost.Connection) ([]ServerTool, error) {
	name := conn.Server()
	states, err := a.gate.ToolStates(ctx, conn)
	if err != nil {
		return nil, err
	}
	rules, err := a.db.Rules(ctx)
	if err != nil {
		return nil, err
	}
	grants, err := a.Grants(ctx)
	if err != nil {
		return nil, err
	}
	out := []ServerTool{}
	for _, t := range conn.Tools() {
		s := ServerTool{State: states[t.Name], Claims: a.gate.Claims(t), Output: t.OutputSchema, AppOnly: t.AppOnly}
		_, s.Icon = t.Icon()
		a.desk.mu.Lock()
		s.SwitchedOn = !a.desk.tools.Off[name][t.Name]
		s.Twice = a.desk.tools.Twice[name][t.Name]
		s.ReadOnly = t.Definition != "" && a.desk.tools.ReadOnly[name][t.Name] == t.Definition
		a.desk.mu.Unlock()
		s.Tool = offeredTool(name, t, s.State == "same" && s.SwitchedOn && !t.AppOnly)
		s.Permission, s.Rule = permissionOf(rules, name, t.Name, t.Definition)
		for _, g := range grants {
			if g.Server == name && g.Tool == t.Name {
				s.Grants = append(s.Grants, g)
			}
		}
		out = append(out, s)
	}
	return out, nil
}
