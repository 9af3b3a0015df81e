package headless

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
)

// shownResult is how much of a tool's result is shown while a turn runs; the record
// holds all of it.
const shownResult = 600

// output writes what a turn says: the answer (or the JSON lines) to out, everything
// else to err. A write to out that fails ends the turn through stop, once.
type output struct {
	out, err io.Writer
	lines    bool // JSON lines instead of text
	quiet    bool // call in text mode: the answer is printed by the command itself
	same     bool // out and err are one terminal: a started line of out is ended first
	term     *terminal
	names    []string // servers whose failure is the command's answer; empty but not nil: all

	mu     sync.Mutex
	stop   func()
	failed error // of writing to out; read after the bus subscription has ended

	servers map[string]string // of the calls under way, for their notices

	nobody bool // calls are denied because there is nobody to ask

	busy       sync.Mutex // held by whoever handles an event or says what is waited for
	waits      waits
	progress   map[string]*shownProgress // by call
	unreviewed []event.Notice            // not said yet
	heard      time.Time                 // when the last of them came

	told event.Decision // the last one
	open bool           // out stands in the middle of a line
	mind bool           // err stands in the middle of the model's reasoning
}

// on handles one event; it is called by one goroutine, in order.
func (o *output) on(e event.Event) {
	if o.lines {
		if why := o.reason(e); why != nil {
			o.wrote(writeJSON(o.out, why))
		}
		if line := eventLine(e); line != nil {
			o.wrote(writeJSON(o.out, line))
		}
		return
	}
	if o.term != nil {
		defer o.term.hold()()
	}
	o.busy.Lock()
	defer o.busy.Unlock()
	o.heed(e)
	o.text(e)
}

// flush says what was held back.
func (o *output) flush() {
	o.busy.Lock()
	defer o.busy.Unlock()
	if len(o.unreviewed) > 0 {
		o.tellUnreviewed()
	}
}

// reason is the notice that goes before the line of a result which is no answer of the
// tool: that line itself has no room to say why.
func (o *output) reason(e event.Event) any {
	switch e := e.(type) {
	case event.Call:
		if o.servers == nil {
			o.servers = map[string]string{}
		}
		o.servers[e.ID] = e.Server
	case event.Result:
		server := o.servers[e.Call]
		delete(o.servers, e.Call)
		switch e.Outcome {
		case "protocol_error", "timeout", "unknown", "withdrawn":
			if e.Reason != "" {
				return noticeLine{"notice", "call_" + e.Outcome, server, clean.Clean(e.Reason)}
			}
		}
	}
	return nil
}

// answered says whether the command's own answer tells what a notice tells: that a server
// which it names could not be started. Only doctor says what to do where somebody must sign in.
func (o *output) answered(n event.Notice) bool {
	if n.Kind == "sign_in" {
		return o.names != nil && len(o.names) == 0
	}
	return n.Kind == "server_failed" && o.names != nil && (len(o.names) == 0 || slices.Contains(o.names, n.Server))
}

// stopWith says what ends the turn when its output can no longer be written.
func (o *output) stopWith(stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stop = stop
}

func (o *output) wrote(err error) {
	if err == nil || o.failed != nil {
		return
	}
	o.failed = err
	o.mu.Lock()
	stop := o.stop
	o.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// text says an event in words.
func (o *output) text(e event.Event) {
	if n, ok := e.(event.Notice); ok && n.Kind == "server_unreviewed" {
		o.noteUnreviewed(n)
		return
	}
	if len(o.unreviewed) > 0 {
		o.tellUnreviewed()
	}
	switch e := e.(type) {
	case event.Text:
		o.endReasoning()
		if !o.quiet {
			s := clean.Clean(e.Text)
			_, err := io.WriteString(o.out, s)
			o.wrote(err)
			o.open = s != "" && !strings.HasSuffix(s, "\n")
		}
	case event.Reasoning:
		if !o.mind {
			o.say("The model thinks:")
			fmt.Fprint(o.err, mark)
		}
		o.mind = true
		fmt.Fprint(o.err, strings.ReplaceAll(clean.Clean(e.Text), "\n", "\n"+mark))
	case event.Server:
		o.server(e)
	case event.Call:
		o.say(callText(e))
	case event.Decision:
		s := decisionText(e)
		if o.nobody && e.Decision == "denied" && e.By == "flag" {
			s += " (there is no terminal to ask on; --consent says who answers)"
		}
		o.say(s)
		o.told = e
	case event.Progress:
		o.noteProgress(e, time.Now())
	case event.Elicitation:
		o.say(fmt.Sprintf("The server %s asked a question: %s", clean.Reveal(e.Server), e.Action))
	case event.Sampling:
		o.say(fmt.Sprintf("The server %s asked for the model: %s", clean.Reveal(e.Server), e.Action))
	case event.Result:
		o.tellProgress(e.Call, time.Now())
		delete(o.progress, e.Call)
		told := ""
		if o.told.Call == e.Call {
			told = o.told.Reason
		}
		o.say(resultSummary(e, told))
		if !o.quiet {
			o.block(short(resultText(e.Content, e.Structured), e.Record))
		}
	case event.Notice:
		if !o.answered(e) {
			o.say("Notice: " + clean.Clean(e.Message))
		}
	case event.Turn:
		o.endLine()
		if e.State != "finished" && !outputGone(o.failed) {
			o.say(turnText(e))
		}
	}
}

// server says what has become of a server; why one failed is said by a notice.
func (o *output) server(e event.Server) {
	switch e.State {
	case "ready":
		o.say(fmt.Sprintf("Server %s is ready: protocol %s, %s", clean.Reveal(e.Server), clean.Line(e.Protocol, 40), counted(e.Tools, "tool")))
	case "stopped":
		o.say(fmt.Sprintf("Server %s has stopped", clean.Reveal(e.Server)))
	}
}

// shownArguments is how much of a call's arguments is said, in characters; the card, the
// record and the JSON lines hold all of them.
const shownArguments = 300

func callText(e event.Call) string {
	arguments := clean.Reveal(e.Arguments)
	if head := firstCharacters(arguments, shownArguments); len(head) < len(arguments) {
		arguments = fmt.Sprintf("%s… (%s bytes in all: steward journal show %d)", head, thousands(len(e.Arguments)), e.Record)
	}
	return fmt.Sprintf("Call %s, record %d: %s on %s with %s", e.ID, e.Record, cutShort(clean.Reveal(e.Tool), nameCharacters), cutShort(clean.Reveal(e.Server), nameCharacters), arguments)
}

func decisionText(e event.Decision) string {
	s := fmt.Sprintf("  %s by %s", e.Decision, e.By)
	switch e.Decision {
	case "expired":
		return "  nobody answered in time: not sent"
	case "withdrawn":
		return "  not sent: " + orWords(e.Reason, "what was shown is no longer current")
	case "denied":
		s += ": not sent"
	}
	if e.Reason != "" {
		s += " (" + clean.Clean(e.Reason) + ")"
	}
	return s
}

func progressText(e event.Progress) string {
	if e.Task && e.Progress == 0 && e.Total == 0 {
		return "  " + clean.Line(asTask(e), 300)
	}
	s := fmt.Sprintf("  %g", e.Progress)
	if e.Total > 0 {
		s += fmt.Sprintf(" of %g", e.Total)
	}
	if e.Message != "" {
		s += " " + clean.Line(e.Message, 300)
	}
	return s
}

// asTask is the server's word on a call that runs, or that it works on it as a task.
func asTask(e event.Progress) string {
	if e.Task && e.Message == "" {
		return "The server works on this call as a task."
	}
	return e.Message
}

// resultSummary says how a call ended. told is the reason that its decision has given
// already.
func resultSummary(e event.Result, told string) string {
	s := fmt.Sprintf("  %s after %.3f s (record %d)", e.Outcome, e.Seconds, e.Record)
	if e.Effect == "none" {
		s = fmt.Sprintf("  %s (record %d)", e.Outcome, e.Record)
	}
	switch e.Effect {
	case "unknown":
		if app.MostLikelyUnrun(e.Reason) {
			s += "; most likely nothing was done"
		} else {
			s += "; it may or may not have happened"
		}
	case "none":
		s += "; nothing was done"
	}
	if e.Reason != "" && e.Reason != told {
		s += ": " + clean.Clean(e.Reason)
	}
	return s
}

func short(text string, record int64) string {
	r := []rune(text)
	if len(r) <= shownResult {
		return text
	}
	return fmt.Sprintf("%s…\n(%d characters in all: steward journal show %d)\n", string(r[:shownResult]), len(r), record)
}

func turnText(e event.Turn) string {
	switch e.State {
	case "stopped":
		if e.Error != "" {
			return "The turn was stopped: " + clean.Clean(strings.TrimSuffix(e.Error, ".")) + "."
		}
		return "The turn was stopped."
	case "interrupted":
		return "The answer was interrupted: " + orWords(e.Error, "the endpoint ended it early.")
	}
	return "The turn failed: " + orWords(e.Error, "no reason is known.")
}

func orWords(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return clean.Clean(s)
}

// say writes lines of the program's own to err.
func (o *output) say(s string) {
	o.endReasoning()
	if o.same && o.open {
		o.open = false
		fmt.Fprintln(o.err)
	}
	if columns := o.columns(); columns > 0 {
		s = narrow(s, columns)
	} else {
		s = marked(s)
	}
	fmt.Fprintln(o.err, s)
}

// mark stands before lines from outside.
const mark = "    | "

// marked sets a mark before every line but the first: what a server wrote may be among
// them, and must not pass for a line of the program's own.
func marked(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+mark)
}

// columns is the width of the screen that err is; 0 where it is none or not known.
func (o *output) columns() int {
	if o.term == nil {
		return 0
	}
	columns, _ := o.term.size()
	return columns
}

// narrow is marked for a screen of so many columns, broken at words.
func narrow(s string, columns int) string {
	var rows []string
	for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		first, hang := "", "    "
		if i > 0 {
			first, hang = mark, mark
		}
		for j, row := range wrap(line, max(columns-len(mark), 10)) {
			if j > 0 {
				first = hang
			}
			rows = append(rows, first+row)
		}
	}
	return strings.Join(rows, "\n")
}

// block writes text from outside to err, every line of it marked, so that none can pass
// for one of the program's own.
func (o *output) block(s string) {
	if s == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		fmt.Fprintln(o.err, mark+line)
	}
}

func (o *output) endReasoning() {
	if o.mind {
		o.mind = false
		fmt.Fprintln(o.err)
	}
}

// endLine ends a started line of the answer.
func (o *output) endLine() {
	o.endReasoning()
	if o.open {
		o.open = false
		_, err := fmt.Fprintln(o.out)
		o.wrote(err)
	}
}
