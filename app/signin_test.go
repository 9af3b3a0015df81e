package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/testdata/signinserver"
)

// signInRig is an App whose one server wants its person to sign in, and whose secrets are
// kept in an encrypted file.
func signInRig(t *testing.T, s *signinserver.Server, oauth map[string]any) *rig {
	t.Helper()
	entry := map[string]any{"url": s.URL}
	if oauth != nil {
		entry["oauth"] = oauth
	}
	return signInRigOf(t, entry)
}

// signInRigOf is signInRig with the server's whole entry.
func signInRigOf(t *testing.T, entry map[string]any) *rig {
	t.Helper()
	r := &rig{t: t}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"team": entry}})
	if err != nil {
		t.Fatal(err)
	}
	r.o = Options{Data: filepath.Join(t.TempDir(), "data"), ServersFile: filepath.Join(t.TempDir(), "given.json"), Passphrase: secrets.NewSecret("correct horse"), Policy: Policy{Calls: "allow"}}
	write(t, r.o.ServersFile, string(raw))
	r.openAsItIs()
	t.Cleanup(r.close)
	return r
}

func (r *rig) openAsItIs() {
	r.t.Helper()
	a, err := Open(context.Background(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.app = a
	r.unsub = a.Listen(func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
}

// signing waits until a sign-in waits in this phase.
func (r *rig) signing(phase string) (found consent.Item) {
	r.t.Helper()
	r.until("a sign-in waits: "+phase, func() bool {
		for _, i := range r.app.Waiting().List() {
			if i.Kind == consent.KindSignIn && i.SignIn.Phase == phase {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

func (r *rig) answerTo(i consent.Item, a consent.Answer) {
	r.t.Helper()
	if err := r.app.Waiting().Answer(i.ID, i.Hash, a); err != nil {
		r.t.Fatal(err)
	}
}

// signsIn says yes to the page that waits, and signs in on it.
func (r *rig) signsIn(opened func() []string) {
	r.t.Helper()
	before := len(opened())
	i := r.signing(consent.SignInAsk)
	r.answerTo(i, consent.Answer{Action: consent.Accept})
	r.signing(consent.SignInBrowser)
	r.until("the page was opened", func() bool { return len(opened()) == before+1 })
	page := opened()[before]
	if page != i.Presentation.URL {
		r.t.Errorf("opened %s, shown %s", page, i.Presentation.URL)
	}
	if _, err := signinserver.Visit(page); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) signInStatus() ServerStatus {
	r.t.Helper()
	list, err := r.app.Servers(context.Background())
	if err != nil || len(list) != 1 {
		r.t.Fatalf("%v, %v", list, err)
	}
	return list[0]
}

func (r *rig) callTool(tool string) <-chan Outcome {
	out := make(chan Outcome, 1)
	go func() {
		o, err := r.app.Call(context.Background(), "team", tool, "{}")
		if err != nil {
			o.Reason = err.Error()
		}
		out <- o
	}()
	return out
}

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(60 * time.Second):
		t.Fatal("nothing came within 60 s")
	}
	panic("unreachable")
}

// nothingSecret looks for tokens and codes everywhere that is written or shown.
func (r *rig) nothingSecret(s *signinserver.Server) {
	r.t.Helper()
	var all bytes.Buffer
	if err := r.app.Journal().Export(context.Background(), &all, "jsonl", journal.Filter{Limit: -1}); err != nil {
		r.t.Fatal(err)
	}
	list, err := r.app.Journal().List(context.Background(), journal.Filter{Limit: -1})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, rec := range list {
		d, err := r.app.Journal().Show(context.Background(), rec.Record)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&all, "%+v\n", d)
	}
	d, err := r.app.ServerNow(context.Background(), "team")
	if err != nil {
		r.t.Fatal(err)
	}
	fmt.Fprintf(&all, "%+v\n", d)
	for _, f := range d.Frames {
		all.Write(f.Bytes)
	}
	r.mu.Lock()
	for _, e := range r.events {
		fmt.Fprintf(&all, "%+v\n", e)
	}
	r.mu.Unlock()
	for _, secret := range s.Leaks(all.String()) {
		i := strings.Index(all.String(), secret)
		r.t.Errorf("a secret of the sign-in is written or shown: …%s", all.String()[max(0, i-200):min(all.Len(), i+100)])
	}
	files, err := filepath.Glob(filepath.Join(r.o.Data, "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && len(s.Leaks(string(data))) > 0 {
			r.t.Errorf("secrets of the sign-in stand in %s: %q", f, s.Leaks(string(data)))
		}
	}
}

func TestSigningInFromTheFirstCallToSignOut(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	s.Step = "write"
	r := signInRig(t, s, nil)
	ctx := context.Background()
	out := r.callTool("who")
	if i := r.signing(consent.SignInAsk); i.Presentation.Issuer != s.Issuer() || strings.Join(i.Presentation.Scopes, " ") != "read" || i.SignIn.More {
		t.Errorf("shown %+v", i.Presentation)
	}
	if st := r.signInStatus().SignIn; !st.Waiting || st.SignedIn {
		t.Errorf("while the person is asked: %+v", st)
	}
	r.signsIn(opened)
	o := within(t, out)
	if o.Outcome != "ok" || !strings.Contains(o.Text, "You are signed in with [secret:") {
		t.Fatalf("the call: %+v", o)
	}
	st := r.signInStatus()
	if !st.SignIn.SignedIn || st.SignIn.Needed || st.SignIn.Waiting || st.SignIn.Issuer != s.Issuer() || strings.Join(st.SignIn.Scopes, " ") != "read" || st.SignIn.Expires.IsZero() {
		t.Errorf("signed in: %+v", st.SignIn)
	}

	out = r.callTool("write")
	i := r.signing(consent.SignInAsk)
	if !i.SignIn.More || len(i.Running) != 1 || i.Presentation.Tool != "write" {
		t.Errorf("more is wanted: %+v", i)
	}
	r.signsIn(opened)
	if o := within(t, out); o.Outcome != "ok" {
		t.Fatalf("the call that needs more: %+v", o)
	}

	r.close()
	r.openAsItIs()
	if o := within(t, r.callTool("write")); o.Outcome != "ok" {
		t.Fatalf("after a restart: %+v", o)
	}
	s.RevokeAccess()
	if o := within(t, r.callTool("who")); o.Outcome != "ok" {
		t.Fatalf("renewed: %+v", o)
	}
	if n := len(opened()); n != 2 || s.Heard("/register") != 1 {
		t.Errorf("%d pages were opened, %d registrations made", n, s.Heard("/register"))
	}
	if found, err := r.app.Doctor(ctx, "team"); err != nil || !found[0].OK || !strings.Contains(fmt.Sprint(found), "You are signed in to it at "+s.Issuer()+" for read write.") {
		t.Errorf("doctor: %+v, %v", found, err)
	}

	if err := r.app.SignOut(ctx, "team"); err != nil {
		t.Fatal(err)
	}
	if st := r.signInStatus().SignIn; st.SignedIn || s.Heard("/revoke") == 0 {
		t.Errorf("signed out: %+v, revoked %d", st, s.Heard("/revoke"))
	}
	names, err := r.app.SecretNames(ctx)
	if err != nil || len(names) != 1 { // what the program is registered as stays
		t.Errorf("kept after signing out: %q, %v", names, err)
	}
	out = r.callTool("who")
	r.answerTo(r.signing(consent.SignInAsk), consent.Answer{Action: consent.Decline})
	if o := within(t, out); o.Outcome == "ok" {
		t.Errorf("a call of somebody who is signed out: %+v", o)
	}
	r.nothingSecret(s)
	r.until("what was done is recorded", func() bool {
		list, err := r.app.Journal().List(ctx, journal.Filter{Limit: -1, Kind: "server"})
		return err == nil && strings.Contains(fmt.Sprint(list), `"what":"sign-in"`)
	})
}

func TestAServerThatIsNotSignedInToCanBeLater(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	r := signInRig(t, s, nil)
	ctx := context.Background()
	r.app.Start(ctx)
	r.answerTo(r.signing(consent.SignInAsk), consent.Answer{Action: consent.Decline})
	r.until("the start has failed", func() bool { return r.signInStatus().State == "failed" })
	st := r.signInStatus()
	if !st.SignIn.Needed || !st.SignIn.Refused || st.SignIn.Waiting || len(opened()) != 0 {
		t.Errorf("refused: %+v, opened %q", st.SignIn, opened())
	}
	r.until("the no is recorded as one", func() bool {
		records := must(t, func() ([]journal.Record, error) {
			return r.app.Journal().List(ctx, journal.Filter{Kind: string(journal.KindServer)})
		})
		return len(records) == 1 && records[0].Outcome == journal.Denied && records[0].Effect == journal.EffectNone
	})
	found, err := r.app.Doctor(ctx, "team")
	if err != nil || found[0].OK || !strings.Contains(fmt.Sprint(found[0].Checks), "Sign-in needed: ") || !strings.Contains(fmt.Sprint(found[0].Checks), "steward servers review team") {
		t.Errorf("doctor: %+v, %v", found, err)
	}
	done := make(chan error, 1)
	go func() { done <- r.app.SignIn(ctx, "team") }()
	r.signsIn(opened)
	if err := within(t, done); err != nil {
		t.Fatal(err)
	}
	if st := r.signInStatus(); st.State != "ready" || !st.SignIn.SignedIn || st.Tools != 2 {
		t.Errorf("after signing in: %+v", st)
	}
	r.nothingSecret(s)
}

func TestASignInIsGivenUp(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	r := signInRig(t, s, nil)
	ctx := context.Background()
	r.app.Start(ctx)
	r.answerTo(r.signing(consent.SignInAsk), consent.Answer{Action: consent.Decline})
	r.until("the start has failed", func() bool { return r.signInStatus().State == "failed" })

	for name, giveUp := range map[string]func(consent.Item){
		"in the waiting list": func(i consent.Item) { r.answerTo(i, consent.Answer{Action: consent.Cancel}) },
		"under Servers":       func(consent.Item) { r.app.CancelSignIn("team") },
	} {
		done := make(chan error, 1)
		go func() { done <- r.app.SignIn(ctx, "team") }()
		r.answerTo(r.signing(consent.SignInAsk), consent.Answer{Action: consent.Accept})
		giveUp(r.signing(consent.SignInBrowser))
		var m *Message
		if err := within(t, done); !errors.As(err, &m) || m.Key != "signin_given_up" {
			t.Errorf("%s: %v", name, err)
		}
		r.until(name+": nothing waits", func() bool { return len(r.app.Waiting().List()) == 0 && !r.signInStatus().SignIn.Waiting })
		if st := r.signInStatus(); !st.SignIn.Needed || st.SignIn.SignedIn {
			t.Errorf("%s: %+v", name, st.SignIn)
		}
	}
	r.until("two pages were opened", func() bool { return len(opened()) == 2 }) // the browser is a process of its own
}

func TestAStartIsGivenUpWhileTheBrowserIsWaitedFor(t *testing.T) {
	signinserver.InPlace(t)
	s := signinserver.Start(t)
	r := signInRig(t, s, nil)
	r.app.Start(context.Background())
	r.answerTo(r.signing(consent.SignInAsk), consent.Answer{Action: consent.Accept})
	r.answerTo(r.signing(consent.SignInBrowser), consent.Answer{Action: consent.Cancel})
	r.until("nothing waits", func() bool {
		st := r.signInStatus()
		return len(r.app.Waiting().List()) == 0 && !st.SignIn.Waiting && st.State != "starting"
	})
}

func TestAClientFromTheServersFileSignsIn(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	s.ByHand("by-hand", "a secret of the client")
	r := signInRig(t, s, map[string]any{"clientId": "by-hand", "clientSecret": "${secret:team}"})
	if err := r.app.SetSecret(context.Background(), "team", "a secret of the client"); err != nil {
		t.Fatal(err)
	}
	out := r.callTool("who")
	r.signsIn(opened)
	if o := within(t, out); o.Outcome != "ok" {
		t.Fatalf("the call: %+v", o)
	}
	r.nothingSecret(s)
}

func TestAClientIsAskedForWhereNothingElseIsLeft(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	s.ByHand("by-hand", "a secret of the client")
	r := signInRig(t, s, nil)
	out := r.callTool("who")
	i := r.signing(consent.SignInClient)
	if !strings.HasPrefix(i.Presentation.Redirect, "http://127.0.0.1:") || i.Presentation.Message == "" || i.Presentation.Issuer != s.Issuer() {
		t.Errorf("shown %+v", i.Presentation)
	}
	r.answerTo(i, consent.Answer{Action: consent.Accept, ClientID: "by-hand", ClientSecret: "a secret of the client"})
	r.signsIn(opened)
	if o := within(t, out); o.Outcome != "ok" {
		t.Fatalf("the call: %+v", o)
	}
	r.nothingSecret(s)
}
