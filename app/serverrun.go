package app

import (
	"context"
	"fmt"

	"steward/app/clean"
	"steward/app/config"
	"steward/app/event"
	"steward/mcphost"
)

// shownConnection is the connection whose log is shown: that of the server's own start,
// also where it has failed.
func (a *App) shownConnection(name string) *mcphost.Connection {
	var found *mcphost.Connection
	for _, c := range a.host.Connections() {
		if c.Server() == name && (found == nil || len(c.Config().Roots) < len(found.Config().Roots)) {
			found = c
		}
	}
	return found
}

// ServerLog gives the newest lines of a server's log, oldest first; of one that has
// failed, too.
func (a *App) ServerLog(name string) []LogLine {
	c := a.shownConnection(name)
	if c == nil {
		return nil
	}
	var out []LogLine
	for _, l := range c.Log() {
		out = append(out, LogLine{Time: l.Time, Kind: l.Kind, Level: clean.Line(l.Level, 20), Text: clean.Clean(l.Text)})
	}
	return out
}

// ServerStderr gives what is kept of the program's standard error, cleaned.
func (a *App) ServerStderr(name string) string {
	if c := a.shownConnection(name); c != nil {
		return clean.Clean(c.Stderr())
	}
	return ""
}

// ServerFrames gives the newest messages on the wire, oldest first.
func (a *App) ServerFrames(name string) []Frame {
	c := a.shownConnection(name)
	if c == nil {
		return nil
	}
	var out []Frame
	for _, f := range c.Frames() {
		out = append(out, Frame{Time: f.Time, Direction: f.Direction, Bytes: f.Bytes, Length: int64(f.Size)})
	}
	return out
}

// StartServer starts a server that was reviewed and waits for it, within ctx. One whose
// start has failed before is tried again.
func (a *App) StartServer(ctx context.Context, name string) error {
	a.board.release()
	if e := a.servers.entry(name); e != nil && e.started() == nil {
		select {
		case <-e.done:
			if err := a.StopServer(ctx, name); err != nil {
				return err
			}
		default:
		}
	}
	_, err := a.servers.oneReviewed(ctx, name)
	a.changedServer(name)
	return err
}

// RestartServer ends a server's connections and starts it again; calls in flight end as
// unknown. It waits for the start, within ctx.
func (a *App) RestartServer(ctx context.Context, name string) error {
	if err := a.StopServer(ctx, name); err != nil {
		return err
	}
	return a.StartServer(ctx, name)
}

// StopServer ends a server's connections; it starts again when it is needed.
func (a *App) StopServer(ctx context.Context, name string) error {
	if _, ok := config.Find(a.servers.now().servers, name); !ok {
		return a.servers.unknown(name)
	}
	err := a.servers.drop(ctx, func(n string, _ []string) bool { return n == name })
	a.changedServer(name)
	if err != nil {
		return fmt.Errorf("the server %s could not be ended in time: %w", reveal(name), err)
	}
	return nil
}

// changedServer tells that something about a server differs from before.
func (a *App) changedServer(name string) {
	a.forgetFacts(name)
	a.bus.Publish(event.ServersChanged{Server: name})
}

// SetToolEnabled switches a tool on or off for every conversation that says nothing else.
func (a *App) SetToolEnabled(ctx context.Context, server, tool string, on bool) error {
	return a.changeTools(ctx, server, tool, map[string]any{"change": "tool switched", "on": on}, func(t *toolChoices) { set(t.Off, server, tool, !on) })
}

// SetToolReadOnly marks a tool, as it is defined now, as one that changes nothing. The
// server must be running, so that it is known how the tool is defined.
func (a *App) SetToolReadOnly(ctx context.Context, server, tool string, on bool) error {
	what := map[string]any{"change": "tool marked as reading only", "on": on}
	if !on {
		return a.changeTools(ctx, server, tool, what, func(t *toolChoices) { set(t.ReadOnly, server, tool, "") })
	}
	conn := a.servers.entry(server).started()
	if conn == nil {
		return &Message{Key: "server_not_running", Args: args("server", reveal(server), "detail", "The server "+reveal(server)+" is not running. Start it first, so that the tool can be marked as it is defined now.")}
	}
	for _, t := range conn.Tools() {
		if t.Name == tool {
			return a.changeTools(ctx, server, tool, what, func(c *toolChoices) { set(c.ReadOnly, server, tool, t.Definition) })
		}
	}
	return &Message{Key: "tool_unknown", Args: args("server", server, "tool", tool, "tools", toolNames(conn.Tools()))}
}

// SetToolTwice makes approvals of a tool ask for its name to be typed, or no longer.
func (a *App) SetToolTwice(ctx context.Context, server, tool string, on bool) error {
	return a.changeTools(ctx, server, tool, map[string]any{"change": "name of the tool asked for", "on": on}, func(t *toolChoices) { set(t.Twice, server, tool, on) })
}

// ToolTwice says whether an approval of this tool asks for its name to be typed. It
// answers at once.
func (a *App) ToolTwice(server, tool string) bool {
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	return a.desk.tools.Twice[server][tool]
}
