package app

import (
	"context"
	"errors"
	"fmt"

	"steward/app/config"
	"steward/mcphost"
)

// Diagnosis is what was found about one server; the JSON form is read by other programs.
type Diagnosis struct {
	Server   string  `json:"server"`
	OK       bool    `json:"ok"`
	State    string  `json:"state"` // ready, failed, disabled or unusable
	Protocol string  `json:"protocol"`
	Checks   []Check `json:"checks"`
}

// Check is one thing that was looked at. Check is config, program, start, sign-in,
// protocol, tools or review.
type Check struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// The checks, in the order in which a server comes up.
const (
	checkConfig   = "config"
	checkProgram  = "program"
	checkStart    = "start"
	checkSignIn   = "sign-in"
	checkProtocol = "protocol"
	checkTools    = "tools"
	checkReview   = "review"
)

// Doctor starts one server, or all, and explains each. What keeps the list of servers
// as a whole from being read is the error.
func (a *App) Doctor(ctx context.Context, server string) ([]Diagnosis, error) {
	a.board.release()
	list := a.servers.now()
	if list.err != nil {
		return nil, list.err
	}
	out := []Diagnosis{}
	for _, c := range list.servers {
		if server == "" || c.Name == server {
			out = append(out, Diagnosis{Server: c.Name})
		}
	}
	if server == "" {
		a.servers.start()
	}
	for i := range out {
		a.diagnose(ctx, &out[i])
	}
	for _, p := range list.problems {
		if server != "" && p.Server != server {
			continue
		}
		if _, usable := config.Find(list.servers, p.Server); !usable {
			out = append(out, Diagnosis{Server: p.Server, State: "unusable", Checks: []Check{{checkConfig, false, p.Message, p.Hint}}})
		}
	}
	if server != "" && len(out) == 0 {
		return nil, a.servers.unknown(server)
	}
	return out, ctx.Err()
}

func (a *App) diagnose(ctx context.Context, d *Diagnosis) {
	c, _ := config.Find(a.servers.now().servers, d.Server)
	d.Checks = append(d.Checks, a.configCheck(c))
	if c.Disabled {
		d.OK, d.State = true, "disabled"
		return
	}
	conn, err := a.servers.one(ctx, d.Server)
	if err != nil {
		d.State = "failed"
		d.Checks = append(d.Checks, startChecks(c, err)...)
		return
	}
	d.State, d.Protocol = string(conn.State()), conn.Protocol()
	info := conn.Info()
	d.Checks = append(d.Checks,
		Check{checkProgram, true, found(c), ""},
		Check{checkStart, true, answers(c), ""},
		Check{checkProtocol, true, fmt.Sprintf("It speaks protocol %s and calls itself %s %s.", conn.Protocol(), a.line(info.Name), a.line(info.Version)), ""},
		a.toolsCheck(conn), a.reviewCheck(ctx, conn))
	if c, ok := a.signInCheck(d.Server); ok {
		d.Checks = append(d.Checks, c)
	}
	d.OK = true
	for _, c := range d.Checks {
		d.OK = d.OK && c.OK
	}
}

func (a *App) configCheck(c config.Server) Check {
	for _, p := range a.servers.now().problems {
		if p.Server == c.Name {
			return Check{checkConfig, true, "It is usable, but: " + p.Message, p.Hint}
		}
	}
	if c.Disabled {
		return Check{checkConfig, true, "It is disabled.", "Remove \"disabled\" in the servers file to use it."}
	}
	where := a.servers.now().path
	if where == "" {
		where = "this program (the built-in demo server)"
	}
	return Check{checkConfig, true, "It is configured in " + where + ".", ""}
}

func found(c config.Server) string {
	if c.Command == "" {
		return "Its address is " + reveal(masked(c)(c.URL)) + "."
	}
	return "The program " + reveal(c.Command) + " was found."
}

func answers(c config.Server) string {
	if c.Command == "" {
		return "It was reached and answers."
	}
	return "It started and answers."
}

// startChecks says how far a start came. Stages that were not reached are not mentioned.
func startChecks(c config.Server, err error) []Check {
	var start *mcphost.StartError
	if !errors.As(err, &start) {
		return []Check{{checkStart, false, err.Error(), ""}}
	}
	message := start.Message
	if start.Exited {
		message += fmt.Sprintf(" It ended with status %d.", start.ExitCode)
	}
	if start.Stderr != "" {
		message += "\nIts last output:\n" + start.Stderr
	}
	started := "It started."
	if c.Command == "" {
		started = "It was reached."
	}
	if start.Stage == mcphost.StageSignIn {
		return []Check{{checkProgram, true, found(c), ""}, {checkStart, true, started, ""},
			{checkSignIn, false, "Sign-in needed: " + message, signInNext(c.Name, start)}}
	}
	var out []Check
	for _, stage := range []struct{ name, check, message string }{
		{mcphost.StageProgram, checkProgram, found(c)},
		{mcphost.StageStart, checkStart, started},
		{mcphost.StageHandshake, checkProtocol, "It agreed on a protocol version."},
		{mcphost.StageList, checkTools, ""},
	} {
		if stage.name == start.Stage {
			return append(out, Check{stage.check, false, message, start.Hint})
		}
		out = append(out, Check{stage.check, true, stage.message, ""})
	}
	return []Check{{checkStart, false, message, start.Hint}}
}

func toolCount(n int) string {
	if n == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", n)
}

func (a *App) toolsCheck(conn *mcphost.Connection) Check {
	problems := conn.Problems()
	c := Check{checkTools, true, fmt.Sprintf("It offers %s.", toolCount(len(conn.Tools()))), ""}
	for i, p := range problems {
		if i == 5 {
			c.Hint += fmt.Sprintf(" And %d more.", len(problems)-i)
			break
		}
		c.Hint += " " + a.line(p.Item) + ": " + a.line(p.Message)
	}
	if c.Hint != "" {
		c.Message += " Some of what it lists was left out or corrected."
		c.Hint = c.Hint[1:]
	}
	return c
}

func (a *App) reviewCheck(ctx context.Context, conn *mcphost.Connection) Check {
	switch list := a.servers.now(); {
	case list.source == sourceFile:
		return Check{checkReview, true, "It counts as reviewed, because it stands in the file given for this run.", ""}
	case list.listed(conn.Server()):
		return Check{checkReview, true, "It is part of this program and counts as reviewed.", ""}
	}
	r, err := a.gate.Review(ctx, conn)
	if err != nil {
		return Check{checkReview, false, err.Error(), ""}
	}
	if n := r.Pending(); n > 0 || r.Blocked {
		return Check{checkReview, false, fmt.Sprintf("What it offers differs from what was last reviewed (new or changed: %d); the model does not see that.", n),
			fmt.Sprintf("Read them with: steward servers review %s; then: steward servers trust %s", conn.Server(), conn.Server())}
	}
	return Check{checkReview, true, "Everything it offers was reviewed.", ""}
}
