package app

import (
	"fmt"

	"steward/app/clean"
	"steward/app/event"
	"steward/mcphost"
)

// observe turns what happens on connections into events. It is called on the
// connections' goroutines and never waits.
func (a *App) observe(o mcphost.Observation) {
	a.gate.Observe(o)
	a.noticeChange(o)
	switch o := o.(type) {
	case mcphost.StateChanged:
		a.observeState(o)
	case mcphost.Noise:
		message := fmt.Sprintf("On its protocol stream the server %s wrote a line that is no message; it was skipped: %s", reveal(o.Server), a.line(o.Line))
		if o.Count > 1 {
			message = fmt.Sprintf("On its protocol stream the server %s wrote %d lines that are no messages; they were skipped, the last is: %s", reveal(o.Server), o.Count, a.line(o.Line))
		}
		a.serverNotice("server_noise", o.Server, message)
	case mcphost.Exited:
		message := fmt.Sprintf("The program of the server %s ended by itself (%s).", reveal(o.Server), o.Ending)
		if last := a.line(o.Stderr); last != "" {
			message = fmt.Sprintf("The program of the server %s ended by itself (%s); its last output: %s", reveal(o.Server), o.Ending, last)
		}
		a.serverNotice("server_exited", o.Server, message)
	case mcphost.LogMessage:
		switch o.Level {
		case "warning", "error", "critical", "alert", "emergency":
			message := o.Level + ": " + a.line(o.Text)
			if o.Count > 1 {
				message = fmt.Sprintf("The server %s wrote %d warnings and errors too fast to be shown one by one; the last is: %s", reveal(o.Server), o.Count, message)
			}
			a.serverNotice("server_log", o.Server, message)
		}
	case mcphost.Late:
		a.serverNotice("late_answer", o.Server, "An answer came after its call had ended here. It stands in the call's record and was not used.")
	case mcphost.SignInChanged:
		a.signInChanged(o.Server)
	case mcphost.ElicitationDone:
		a.serverNotice("elicitation_done", o.Server, "The server says that what it asked for in the browser is done.")
	}
}

func (a *App) observeState(o mcphost.StateChanged) {
	e := event.Server{Server: o.Server, State: string(o.State), Protocol: o.Protocol, Tools: o.Tools}
	switch o.State {
	case mcphost.StateStarting:
		return
	case mcphost.StateFailed:
		if o.Err != nil {
			e.Error = o.Err.Error()
		}
	}
	a.board.publish(e)
}

func (a *App) serverNotice(kind, server, message string) {
	a.board.publish(event.Notice{Kind: kind, Server: server, Message: message})
}

// line makes text of a server fit for a notice.
func (a *App) line(s string) string { return clean.Line(a.secrets.Redactor().Redact(s), 500) }
