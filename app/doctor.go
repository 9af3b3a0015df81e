package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"steward/app/clean"
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
	// Problems are all of what its lists hold that was left out or corrected.
	Problems []string `json:"problems,omitempty"`
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
		d.Checks = append(d.Checks, a.startChecks(c, a.launch(c.Name), err)...)
		return
	}
	d.State, d.Protocol = string(conn.State()), conn.Protocol()
	d.Checks = append(d.Checks, a.startedChecks(c, conn, conn.StderrRate(ctx))...)
	readLists(ctx, conn)
	d.Checks = append(d.Checks, a.toolsCheck(conn, a.undeclared(ctx, conn)), a.reviewCheck(ctx, conn))
	for _, p := range conn.Problems() {
		d.Problems = append(d.Problems, a.line(p.Item)+": "+a.line(p.Message))
	}
	if c, ok := a.signInCheck(d.Server); ok {
		d.Checks = append(d.Checks, c)
	}
	d.OK = true
	for _, c := range d.Checks {
		d.OK = d.OK && c.OK
	}
}

// listsWait is how long the doctor waits for the lists beside that of the tools.
const listsWait = 10 * time.Second

// readLists asks a server for its lists beside that of the tools. What is wrong with them, and
// that one cannot be read, is among the connection's problems afterwards.
func readLists(ctx context.Context, conn *mcphost.Connection) {
	ctx, cancel := context.WithTimeout(ctx, listsWait)
	defer cancel()
	_, _ = conn.Prompts(ctx)
	_, _ = conn.Resources(ctx)
	_, _ = conn.Templates(ctx)
}

// launch is how the server was started last.
func (a *App) launch(name string) mcphost.Launch {
	if conn := a.shownConnection(name); conn != nil {
		return conn.Launch()
	}
	return mcphost.Launch{}
}

func (a *App) configCheck(c config.Server) Check {
	odd := Check{Check: checkConfig, OK: true}
	for _, p := range a.servers.now().problems {
		switch {
		case p.Server != c.Name:
		case odd.Message == "":
			odd.Message, odd.Hint = fmt.Sprintf("It is usable, but: %s", p.Message), p.Hint
		default:
			odd.Message += "\n" + p.Message
			if !strings.Contains(odd.Hint, p.Hint) {
				odd.Hint += "\n" + p.Hint
			}
		}
	}
	if odd.Message != "" {
		return odd
	}
	if c.Disabled {
		return Check{checkConfig, true, "It is disabled.", "Remove \"disabled\" in the servers file to use it."}
	}
	where := a.servers.now().path
	if where == "" {
		return Check{checkConfig, true, "It is part of this program: the built-in demo server.", ""}
	}
	return Check{checkConfig, true, fmt.Sprintf("It is configured in %s.", where), ""}
}

// startedChecks says how a server that runs was started, and who it says it is. flood is how
// much it writes to standard error, in bytes a second, where that is too much.
func (a *App) startedChecks(c config.Server, conn *mcphost.Connection, flood int64) []Check {
	info := conn.Info()
	name := a.line(strings.TrimSpace(info.Name + " " + info.Version))
	calls := fmt.Sprintf("It speaks protocol %s and calls itself %s.", a.line(conn.Protocol()), name)
	if name == "" {
		calls = fmt.Sprintf("It speaks protocol %s and does not say what it is called.", a.line(conn.Protocol()))
	}
	return []Check{
		{checkProgram, true, found(c, conn.Launch()), ""},
		flooding(answers(c, conn.Launch()), flood),
		{checkProtocol, true, calls, ""},
	}
}

func found(c config.Server, l mcphost.Launch) string {
	switch {
	case c.Command == "":
		return fmt.Sprintf("Its address is %s.", reveal(masked(c)(c.URL)))
	case l.Path == "":
		return fmt.Sprintf("The program %s was found.", reveal(c.Command))
	}
	return fmt.Sprintf("The program %s was found: %s", reveal(c.Command), reveal(l.Path))
}

// slowStart is how long a start may take before it is said to be slow.
const slowStart = 5 * time.Second

func answers(c config.Server, l mcphost.Launch) Check {
	out := Check{Check: checkStart, OK: true, Message: "It started and answers."}
	if c.Command == "" {
		out.Message = "It was reached and answers."
	}
	if l.Took >= slowStart {
		out.Message = fmt.Sprintf("It is slow to start: it took %s.", l.Took.Round(100*time.Millisecond))
		out.Hint = "Look at its log for what it waits for."
		if mcphost.Downloads(c.Command, c.Args) {
			out.Hint = "A program that is run with npx, uvx or the like downloads what it runs the first time; install it for good to have it start faster."
		}
	}
	if lines := effective(c, l); lines != "" {
		out.Message += "\n" + lines
	}
	return out
}

// flooding adds to a check what a server does to its log.
func flooding(c Check, rate int64) Check {
	if rate == 0 {
		return c
	}
	c.Message += "\n" + fmt.Sprintf("It writes %.1f MB a second to standard error; only the last 256 kB are kept.", float64(rate)/(1<<20))
	c.Hint = strings.TrimSpace(c.Hint + " Have it log less: look at its settings for a log level, or tell its author.")
	return c
}

// mostShown is how much of a command line is shown here, in characters.
const mostShown = 2000

// effective says what was really run, and with which variables of its own. Secrets are
// masked.
func effective(c config.Server, l mcphost.Launch) string {
	if l.Path == "" {
		return ""
	}
	mask := masked(c)
	command := reveal(mask(l.Path))
	for _, arg := range l.Args {
		command += " " + reveal(quoteArg(mask(arg)))
	}
	lines := []string{fmt.Sprintf("It was started as: %s", clean.Line(command, mostShown)), fmt.Sprintf("In the folder: %s", reveal(l.Dir))}
	var own, inherited []string
	for _, e := range l.Env {
		name, value, _ := strings.Cut(e, "=")
		if _, given := c.Env[name]; !given {
			inherited = append(inherited, reveal(name))
			continue
		}
		if value != "" && isSecret(name, value) {
			value = "•••"
		}
		own = append(own, reveal(name+"="+quoteArg(value)))
	}
	if len(own) > 0 {
		lines = append(lines, fmt.Sprintf("With the variables: %s", clean.Line(strings.Join(own, " "), mostShown)))
	}
	return strings.Join(append(lines, fmt.Sprintf("And from the surroundings: %s", strings.Join(inherited, " "))), "\n")
}

// startChecks says how far a start came. Stages that were not reached are not mentioned.
func (a *App) startChecks(c config.Server, l mcphost.Launch, err error) []Check {
	var start *mcphost.StartError
	if !errors.As(err, &start) {
		return []Check{{checkStart, false, sentenceCase(err.Error()), ""}}
	}
	message := sentenceCase(start.Message)
	if start.Stderr != "" {
		message += "\n" + "The last that it wrote on standard error:" + "\n" + start.Stderr
	}
	started := "It started."
	if c.Command == "" {
		started = "It was reached."
	}
	var out []Check
	for _, stage := range []struct{ name, check, message string }{
		{mcphost.StageProgram, checkProgram, found(c, l)},
		{mcphost.StageStart, checkStart, started},
		{mcphost.StageSignIn, checkSignIn, ""},
		{mcphost.StageHandshake, checkProtocol, "It agreed on a protocol version."},
		{mcphost.StageList, checkTools, ""},
	} {
		if stage.name == start.Stage {
			if lines := effective(c, l); lines != "" && stage.name != mcphost.StageProgram {
				message += "\n" + lines
			}
			if start.Stage == mcphost.StageSignIn && !start.KeyRefused {
				return append(out, Check{stage.check, false, "Sign-in needed: " + message, a.signInNext(c.Name, start)})
			}
			return append(out, Check{stage.check, false, message, start.Hint})
		}
		if stage.message != "" {
			out = append(out, Check{stage.check, true, stage.message, ""})
		}
	}
	return []Check{{checkStart, false, message, start.Hint}}
}

func offersSentence(n int) string {
	if n == 1 {
		return "It offers 1 tool."
	}
	return fmt.Sprintf("It offers %d tools.", n)
}

// asked is what came of asking for tools that were not declared.
type asked struct {
	count int
	err   error
}

// undeclared asks a server for its tools though it has declared none; nil where it has.
func (a *App) undeclared(ctx context.Context, conn *mcphost.Connection) *asked {
	if slices.Contains(conn.Declared(), "tools") {
		return nil
	}
	n, err := conn.ProbeTools(ctx)
	return &asked{n, err}
}

// declareHint is for a server that does not say what it has.
const declareHint = `A server that has tools must declare the capability "tools" when it answers initialize: tell its author.`

// toolsCheck says what a server lists. undeclared is nil where the server has declared
// tools, or was not asked.
func (a *App) toolsCheck(conn *mcphost.Connection, undeclared *asked) Check {
	declared := conn.Declared()
	if !slices.Contains(declared, "tools") {
		return a.undeclaredCheck(declared, undeclared)
	}
	if err := conn.ListError(); err != nil {
		hint := "Look at its log."
		if known := interface{ Hint() string }(nil); errors.As(err, &known) {
			hint = known.Hint()
		}
		return Check{checkTools, false, fmt.Sprintf("Its tools could not be read: %s", a.line(sentenceEnd(err.Error()))), hint}
	}
	problems := conn.Problems()
	c := Check{checkTools, true, offersSentence(len(conn.Tools())), ""}
	for i, p := range problems {
		if i == 5 {
			c.Hint += "\n" + fmt.Sprintf("And %d more; the command steward doctor %s --json lists all.", len(problems)-i, reveal(quoteArg(conn.Server())))
			break
		}
		c.Hint += "\n" + a.line(p.Item) + ": " + a.line(p.Message)
	}
	if c.Hint != "" {
		c.OK = len(conn.Tools()) > 0
		c.Message += "\n" + "Some of what it lists was left out or corrected."
		c.Hint = c.Hint[1:]
	}
	return c
}

// undeclaredCheck is toolsCheck for a server that has declared no tools.
func (a *App) undeclaredCheck(declared []string, undeclared *asked) Check {
	switch {
	case undeclared != nil && undeclared.err == nil && undeclared.count > 0:
		return Check{checkTools, false, fmt.Sprintf("It has not declared that it has tools, so they are not offered; asked all the same, it lists some (%d).", undeclared.count), declareHint}
	case len(declared) > 0:
		return Check{checkTools, true, fmt.Sprintf("It has no tools; what it offers is: %s.", strings.Join(declared, ", ")), ""}
	case undeclared != nil && undeclared.err != nil:
		return Check{checkTools, false, fmt.Sprintf("It has declared neither tools nor prompts nor resources, and lists no tools when it is asked: %s", a.line(sentenceEnd(undeclared.err.Error()))), declareHint}
	}
	return Check{checkTools, false, "It has declared neither tools nor prompts nor resources.", declareHint}
}

// sentenceEnd ends a text with a full stop unless it has an end already.
func sentenceEnd(s string) string {
	if s = strings.TrimSpace(s); s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
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
