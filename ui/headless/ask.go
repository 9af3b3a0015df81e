package headless

import (
	"context"
	"errors"
	"fmt"
	"io"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
)

// session is an open program with its output and, perhaps, a person who is asked.
type session struct {
	app    *app.App
	out    *output
	unsub  func()
	silent func() // ends what is said while nothing else is
	term   *terminal
	person *person
}

// open opens the program for ask and call.
func (r *run) open(ctx context.Context, quiet bool) (*session, error) {
	o := r.options()
	policy, term, err := r.policy()
	if err != nil {
		return nil, err
	}
	o.Policy = policy
	a, err := app.Open(ctx, o)
	if err != nil {
		if term != nil {
			term.close()
		}
		return nil, err
	}
	s := &session{app: a, term: term}
	s.out = &output{out: r.Out, err: r.Err, lines: r.events, quiet: quiet, same: oneTerminal(r.Out, r.Err), term: term, names: r.concerns(), nobody: term == nil && r.consent == ""}
	s.unsub = a.Listen(s.out.on)
	host := a.ModelHost
	if quiet {
		host = nil
	}
	s.silent = s.out.pulse(host, a.Starting)
	return s, nil
}

// attend starts to ask the person, where there is one; stop ends what runs.
func (s *session) attend(stop func()) {
	s.out.stopWith(stop)
	if s.term != nil {
		s.person = newPerson(s.term, s.app.Bus(), s.app.Waiting(), stop)
	}
}

// end closes everything in an order that loses no event and leaves no question open.
func (r *run) end(s *session) error {
	if s.person != nil {
		s.person.leave()
	}
	s.silent()
	err := r.leave(s.app)
	s.unsub()
	s.out.flush()
	if s.term != nil {
		s.term.close()
	}
	if s.out.failed != nil {
		err = errors.Join(fmt.Errorf("the answer cannot be written: %w", s.out.failed), err)
	}
	return err
}

// ask runs one turn.
func (r *run) ask(ctx context.Context) (int, error) {
	prompt, err := r.prompt()
	if err != nil {
		return exitUsage, err
	}
	s, err := r.open(ctx, false)
	if err != nil {
		return openStatus(err), err
	}
	code, conversation, err := r.turn(ctx, s, prompt)
	s.app.TasksSeen(ctx)
	err = errors.Join(err, r.end(s))
	if !r.events && s.out.failed == nil {
		r.toGoOn(conversation)
	}
	return code, err
}

func (r *run) turn(ctx context.Context, s *session, prompt string) (code int, conversation string, err error) {
	s.app.Start(ctx)
	turn, err := s.app.Ask(ctx, app.Question{Text: prompt, Attach: r.attach})
	if err != nil {
		return exitFailed, "", err
	}
	r.signals.turn(turn.Stop)
	defer r.signals.turn(nil)
	s.attend(turn.Stop)
	result, err := turn.Wait(ctx)
	if err != nil {
		return exitStopped, "", nil // a second signal: leaving ends the turn
	}
	switch result.State {
	case "finished":
		return exitOK, result.Conversation, nil
	case "stopped", "interrupted":
		return exitStopped, result.Conversation, nil
	}
	return exitFailed, result.Conversation, nil
}

// callTool makes one call by hand.
func (r *run) callTool(ctx context.Context) (int, error) {
	arguments := ""
	if len(r.args) == 3 {
		arguments = r.args[2]
	}
	if arguments == "-" {
		data, err := io.ReadAll(io.LimitReader(r.In, maxPrompt+1))
		if err != nil {
			return exitUsage, fmt.Errorf("the arguments cannot be read from stdin: %w", err)
		}
		arguments = string(data)
	}
	if err := app.CheckArguments(arguments); err != nil {
		return exitUsage, usagef("%s", sentence(err))
	}
	s, err := r.open(ctx, true)
	if err != nil {
		return openStatus(err), err
	}
	code, err := r.oneCall(ctx, s, arguments)
	s.app.TasksSeen(ctx)
	return code, errors.Join(err, r.end(s))
}

func (r *run) oneCall(ctx context.Context, s *session, arguments string) (int, error) {
	callCtx, stop := context.WithCancel(ctx)
	defer stop()
	r.signals.turn(stop)
	defer r.signals.turn(nil)
	s.attend(stop)
	s.app.Start(callCtx, r.args[0])
	o, err := s.app.Call(callCtx, r.args[0], r.args[1], arguments)
	if err != nil {
		return exitFailed, err
	}
	if !r.events {
		if text := resultText(o.Content, o.Structured); text != "" {
			if _, err := io.WriteString(r.Out, text); err != nil {
				return exitFailed, fmt.Errorf("the result cannot be written: %w", err)
			}
		}
	}
	switch o.Outcome {
	case "ok":
		return exitOK, nil
	case "tool_error":
		return exitToolError, nil
	case "denied", "expired":
		return exitDenied, nil
	}
	return exitFailed, nil
}

// notices says only what a person should know; for commands whose output is a list.
func (o *output) notices(e event.Event) {
	o.busy.Lock()
	defer o.busy.Unlock()
	n, ok := e.(event.Notice)
	switch {
	case ok && n.Kind == "server_unreviewed":
		o.noteUnreviewed(n)
	case ok && !o.answered(n):
		o.say("Notice: " + clean.Clean(n.Message))
	}
}
