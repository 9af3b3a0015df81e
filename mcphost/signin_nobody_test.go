package mcphost_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// unsaid is a server that says nothing about signing in beyond its 401.
func unsaid() authserver.Options {
	return authserver.Options{
		Challenge: func(*authserver.Server) []string { return nil },
		TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/.well-known/") {
				http.NotFound(w, r)
				return true
			}
			if r.URL.Path == "/register" {
				authserver.WriteJSON(w, http.StatusCreated, map[string]any{"client_id": "anybody"})
				return true
			}
			return false
		},
	}
}

// TestSignInLeavesNothingWhereNobodyIsAsked checks that no authorization server is told of
// this program before somebody can be asked, however often it is tried.
func TestSignInLeavesNothingWhereNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]authserver.Options{"with metadata": {}, "without": unsaid()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, o)
			p := newSigner()
			times := 0
			p.ready = func() error { times++; return mcphost.ErrSignInNobody }
			h, _ := trial.Host(t, mcphost.Options{SignIn: p})
			_, err := h.Connect(t.Context(), guardedConfig(s))
			var se *mcphost.StartError
			if !errors.As(err, &se) || se.Stage != mcphost.StageSignIn || !errors.Is(err, mcphost.ErrSignInNobody) || !strings.Contains(se.Message, "nobody can be asked here") || strings.Contains(se.Message, "refused") {
				t.Errorf("%+v", err)
			}
			c := h.Connections()[0]
			if err := c.Restart(t.Context()); !errors.Is(err, mcphost.ErrSignInNobody) || times != 1 {
				t.Errorf("a restart: %v, %d questions", err, times)
			}
			if st := c.SignInState(); st.Refused || st.Waiting || !st.Needed {
				t.Errorf("%+v", st)
			}
			for _, server := range []string{"as", "mcp"} {
				if n := len(s.Requests(server, "/register")); n != 0 {
					t.Errorf("%d registrations", n)
				}
			}
			if p.count() != 0 || len(p.keys("")) != 0 {
				t.Errorf("%d visits, kept %q", p.count(), p.keys(""))
			}
		})
	}
}

// TestSignInAsksBeforeABlindRegistration checks that nothing is sent to a server that says
// nothing about signing in before the person wants that.
func TestSignInAsksBeforeABlindRegistration(t *testing.T) {
	t.Parallel()
	s := guarded(t, unsaid())
	p := newSigner()
	agreed := false
	p.agree = func(q mcphost.SignInPlan) error {
		if n := len(s.Requests("mcp", "/register")); n != 0 || q.Issuer != s.MCP.URL || q.Server != "web" {
			t.Errorf("%d registrations before the question, %+v", n, q)
		}
		if agreed {
			return nil
		}
		return mcphost.ErrSignInRefused
	}
	p.visit = func(_ context.Context, page mcphost.SignInPage) error {
		if !strings.HasPrefix(page.URL, s.MCP.URL+"/authorize?") {
			t.Errorf("the page: %s", page.URL)
		}
		return mcphost.ErrSignInRefused
	}
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	if _, err := h.Connect(t.Context(), guardedConfig(s)); !errors.Is(err, mcphost.ErrSignInRefused) || len(p.plans) != 1 || len(s.Requests("mcp", "/register")) != 0 || p.count() != 0 {
		t.Errorf("after a no: %v, %+v, %d visits", err, p.plans, p.count())
	}
	agreed = true
	c := h.Connections()[0]
	for range 2 { // what it is registered as is used again
		if err := c.SignIn(t.Context()); !errors.Is(err, mcphost.ErrSignInRefused) {
			t.Errorf("after a yes: %v", err)
		}
	}
	if n := len(s.Requests("mcp", "/register")); n != 1 || len(p.plans) != 2 || p.count() != 2 {
		t.Errorf("%d registrations, %d questions, %d visits", n, len(p.plans), p.count())
	}
}

// TestSignInRegistersOnce checks that a registration that was not used yet serves the next
// run of the program.
func TestSignInRegistersOnce(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	p.visit = func(context.Context, mcphost.SignInPage) error { return mcphost.ErrSignInRefused }
	failedStart(t, p, guardedConfig(s))
	p.visit = nil
	signedIn(t, s, p)
	if n := len(s.Requests("as", "/register")); n != 1 || p.count() != 2 {
		t.Errorf("%d registrations, %d visits", n, p.count())
	}
}

// TestSignInRegistrationWithoutSense checks that an answer to a registration which is none
// is not put down to the network.
func TestSignInRegistrationWithoutSense(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/register" {
			w.WriteHeader(http.StatusAccepted)
			return true
		}
		return false
	}})
	se := failedStart(t, newSigner(), guardedConfig(s))
	if !strings.Contains(se.Message, "202") || !strings.Contains(se.Message, "registration") || strings.Contains(se.Hint, "network") {
		t.Errorf("%+v", se)
	}
}

// TestSignInRenewalRefused checks that tokens which last for a moment reach the server, and
// that a renewal that is refused leads to a new sign-in and is put down to who refused it.
func TestSignInRenewalRefused(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{ExpiresIn: 1, Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" && r.PostFormValue("grant_type") == "refresh_token" {
			authserver.WriteJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "revoked"})
			return true
		}
		return false
	}})
	p := newSigner()
	now := &movingClock{}
	h, _ := trial.Host(t, mcphost.Options{SignIn: p, Now: now.time})
	c := trial.Connect(t, h, guardedConfig(s))
	if p.count() != 1 {
		t.Errorf("%d visits for one start", p.count())
	}
	now.add(time.Minute)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || p.count() != 2 {
		t.Errorf("after the tokens expired: %+v, %v, %d visits", r, err, p.count())
	}
	// Whoever takes so long that the tokens have expired again is told what stands in the way.
	now.run(time.Minute)
	r, err := send.Tool(t.Context(), toolCall(t, c, nil))
	if err != nil || r.Outcome == send.OK || !strings.Contains(r.Reason, "refused to renew the sign-in (status 400, invalid_grant: revoked)") || strings.Contains(r.Reason, "right after a sign-in") {
		t.Errorf("%+v, %v, %d visits", r, err, p.count())
	}
}

// movingClock is a clock that tests put forward, by itself too: with every look at it.
type movingClock struct{ ahead, step atomic.Int64 }

func (c *movingClock) time() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Add(c.step.Load())))
}
func (c *movingClock) add(d time.Duration)    { c.ahead.Add(int64(d)) }
func (c *movingClock) run(step time.Duration) { c.step.Store(int64(step)) }
