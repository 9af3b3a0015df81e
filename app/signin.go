package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"steward/app/clean"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// ServerSignIn is how things stand with signing in to a server. All text is safe to show
// and holds no secret.
type ServerSignIn struct {
	Needed   bool // the server has asked for it, and nobody is signed in
	SignedIn bool
	Refused  bool // the person said no, and is not asked again by itself
	Waiting  bool // the person is being asked, or is at the page in the browser
	Issuer   string
	Resource string
	Scopes   []string
	Expires  time.Time // of the token at hand, which is renewed where that is possible; zero: not said
}

// signIns does for mcphost what has to do with signing in: the gate asks the person, the
// secrets keep what came of it.
type signIns struct {
	*consent.Gate
	*kept
}

var _ mcphost.SignIn = signIns{}

// signing is what the App knows of sign-ins under way.
type signing struct {
	mu     sync.Mutex
	cancel map[string]map[*context.CancelCauseFunc]struct{} // those that the person began, by server
	was    map[string]bool                                  // servers that waited for the person when last looked at
}

// errGivenUp ends a sign-in that the person gave up.
var errGivenUp = errors.New("signing in was given up")

// SignIn signs in to a server because the person wants it, also after a refusal, and
// starts it. It waits for the person and the browser, within ctx; [App.CancelSignIn] ends
// it as well. The error says why it did not come about.
func (a *App) SignIn(ctx context.Context, name string) error {
	a.board.release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer a.signing.begin(name, &cancel)()
	err := a.signIn(ctx, name)
	a.changedServer(name)
	switch {
	case errors.Is(context.Cause(ctx), errGivenUp), errors.Is(err, errGivenUp):
		return &Message{Key: "signin_given_up", Args: args("server", reveal(name)), Err: errGivenUp}
	case errors.Is(err, mcphost.ErrSignInRefused) && !errors.Is(err, mcphost.ErrSignInDenied):
		return &Message{Key: "signin_refused", Args: args("server", reveal(name)), Err: err}
	}
	return err
}

func (a *App) signIn(ctx context.Context, name string) error {
	c := a.shownConnection(name)
	if c != nil && a.servers.corrected(c) {
		if err := a.StopServer(ctx, name); err != nil {
			return err
		}
		c = nil
	}
	if c != nil {
		if err := c.SignIn(ctx); err != nil {
			return err
		}
		a.servers.forgetFailed(name)
	}
	_, err := a.servers.one(ctx, name)
	return err
}

// CancelSignIn gives up the sign-in to a server that waits for the person or the browser,
// with what waits for it: calls, and a start. It returns at once.
func (a *App) CancelSignIn(server string) { a.cancelSignIn(server, nil) }

func (a *App) cancelSignIn(server string, calls []string) {
	over := a.signing.giveUp(server)
	for _, call := range calls {
		over = a.gate.Stop(call) || over
	}
	if over && !a.servers.starting(server) {
		return
	}
	a.spawn(func(ctx context.Context) {
		if err := a.StopServer(ctx, server); err != nil && ctx.Err() == nil {
			a.notice("server", server, err.Error())
		}
	})
}

// SignOut gives back what signing in to a server has brought, and records that. The error
// says what may still be there.
func (a *App) SignOut(ctx context.Context, name string) error {
	c := a.shownConnection(name)
	if c == nil {
		return &Message{Key: "server_not_running", Args: args("server", reveal(name), "detail", "The server "+reveal(name)+" is not running. Start it first, so that you can be signed out of it.")}
	}
	before := c.SignInState()
	err := c.SignOut(ctx)
	out := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone}
	if err != nil {
		out = journal.Outcome{Outcome: journal.Unknown, Effect: journal.EffectUnknown, Reason: a.line(err.Error())}
	}
	err = errors.Join(err, a.noteSignIn(context.WithoutCancel(ctx), name, "signed out", before, out))
	a.changedServer(name)
	return err
}

func (a *App) noteSignIn(ctx context.Context, server, what string, s mcphost.SignInState, out journal.Outcome) error {
	detail := map[string]any{"sign_in": what, "issuer": s.Issuer, "resource": s.Resource, "scopes": s.Scopes}
	_, err := a.journal.Note(ctx, journal.Proposal{Kind: journal.KindServer, Server: server, Detail: detail}, out)
	if err != nil {
		return fmt.Errorf("that you %s cannot be recorded: %w", what, err)
	}
	return nil
}

// signInChanged is told that something about a sign-in differs. It is called on a
// connection's goroutine and does not wait.
func (a *App) signInChanged(server string) {
	a.changedServer(server)
	c := a.shownConnection(server)
	if c == nil {
		return
	}
	s := c.SignInState()
	if !a.signing.ended(server, s.Waiting) {
		return
	}
	what, out := "signed in", journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone}
	if !s.SignedIn {
		what, out = "did not sign in", journal.Outcome{Outcome: journal.Cancelled, Effect: journal.EffectNone}
	}
	a.spawn(func(ctx context.Context) {
		if err := a.noteSignIn(context.WithoutCancel(ctx), server, what, s, out); err != nil {
			a.notice("journal", server, err.Error())
		}
	})
}

// serverSignIn words how it stands with a server; the zero value where nobody asked for it.
func (a *App) serverSignIn(name string) ServerSignIn {
	c := a.shownConnection(name)
	if c == nil {
		return ServerSignIn{}
	}
	s := c.SignInState()
	out := ServerSignIn{
		Needed: s.Needed && !s.SignedIn, SignedIn: s.SignedIn, Refused: s.Refused, Waiting: s.Waiting,
		Issuer: clean.Line(clean.Reveal(s.Issuer), 500), Resource: clean.Line(clean.Reveal(s.Resource), 500), Expires: s.Expires,
	}
	for _, scope := range s.Scopes {
		out.Scopes = append(out.Scopes, clean.Line(clean.Reveal(scope), 200))
	}
	return out
}

// begin notes a sign-in that the person wants; call end when it is over.
func (s *signing) begin(server string, cancel *context.CancelCauseFunc) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil {
		s.cancel = map[string]map[*context.CancelCauseFunc]struct{}{}
	}
	if s.cancel[server] == nil {
		s.cancel[server] = map[*context.CancelCauseFunc]struct{}{}
	}
	s.cancel[server][cancel] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.cancel[server], cancel)
	}
}

// giveUp ends the sign-ins that the person began; false where there are none.
func (s *signing) giveUp(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.cancel[server] {
		(*cancel)(errGivenUp)
	}
	return len(s.cancel[server]) > 0
}

// ended notes whether a server waits for the person and says whether it no longer does.
func (s *signing) ended(server string, waits bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.was == nil {
		s.was = map[string]bool{}
	}
	was := s.was[server]
	s.was[server] = waits
	return was && !waits
}

// starting says whether a start of a server is under way.
func (s *servers) starting(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.config.Name != name {
			continue
		}
		select {
		case <-e.done:
		default:
			return true
		}
	}
	return false
}

// corrected says whether what a connection signs in with is no longer what the server's
// entry says, because a secret in it was changed.
func (s *servers) corrected(c *mcphost.Connection) bool {
	entry, ok := config.Find(s.now().servers, c.Server())
	if !ok {
		return false
	}
	cfg, err := s.resolve(entry)
	return err == nil && !reflect.DeepEqual(cfg.OAuth, c.Config().OAuth)
}

// forgetFailed lets a server be started again whose start has failed; its connections stay.
func (s *servers) forgetFailed(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		if e.config.Name != name {
			continue
		}
		select {
		case <-e.done:
			if e.err != nil {
				delete(s.entries, key)
				delete(s.told, name)
			}
		default:
		}
	}
}

// signInNeeded says whether an error is that of a server which wants to be signed in to.
func signInNeeded(err error) bool {
	var start *mcphost.StartError
	return errors.As(err, &start) && start.Stage == mcphost.StageSignIn && !start.KeyRefused
}

// signInHint is what to do about it.
func (a *App) signInHint(server string) string {
	if a.kept.lost(context.Background()) {
		return fmt.Sprintf("What a sign-in brings cannot be kept here. Choose a place for it in the window under Settings, Keys and secrets, and sign in there under Servers; or sign in on a terminal with: steward servers review %s --secrets-file, and give --secrets-file or --passphrase-env from then on", quoteArg(reveal(server)))
	}
	return "Sign in once, in the window under Servers, or on a terminal with: steward servers review " + quoteArg(reveal(server))
}

// signInNext is what to do where a start has failed for it.
func (a *App) signInNext(server string, start *mcphost.StartError) string {
	if start.KeyRefused {
		return start.Hint
	}
	if start.Hint == "" || errors.Is(start, mcphost.ErrSignInRefused) || errors.Is(start, mcphost.ErrSignInNobody) {
		return a.signInHint(server)
	}
	return start.Hint + " " + a.signInHint(server)
}

// signInCheck says how it stands with a server that runs; false where nobody has to sign in.
func (a *App) signInCheck(server string) (Check, bool) {
	s := a.serverSignIn(server)
	switch {
	case s.SignedIn:
		words := "You are signed in to it"
		if s.Issuer != "" {
			words += " at " + s.Issuer
		}
		if len(s.Scopes) > 0 {
			words += " for " + strings.Join(s.Scopes, " ")
		}
		return Check{checkSignIn, true, words + ".", ""}, true
	case s.Needed:
		return Check{checkSignIn, false, "It wants you to sign in for more than it lets everybody do.", a.signInHint(server)}, true
	}
	return Check{}, false
}

// tellSecrets says that what is kept has changed.
func (a *App) tellSecrets() { a.bus.Publish(event.SettingsChanged{What: "secrets"}) }
