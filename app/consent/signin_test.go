package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/mcphost"
)

const signInURL = "https://login.example.co.uk/authorize?client_id=abc&state=SENTINEL-state&code_challenge=SENTINEL-challenge"

func page() mcphost.SignInPage {
	return mcphost.SignInPage{Server: "team", Issuer: "https://login.example.co.uk", Resource: "https://mcp.example/mcp", URL: signInURL, Scopes: []string{"read", "write\u202e"}}
}

// browser stands for the system's: it notes what it was asked to open.
type browser struct {
	mu     sync.Mutex
	opened []string
	fails  error
}

func (b *browser) open(_ context.Context, url string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, url)
	return b.fails
}

func (b *browser) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.opened...)
}

func signInRig(t *testing.T, change func(*Options)) (*rig, *browser) {
	b := &browser{}
	return newRig(t, func(o *Options) {
		o.OpenURL = b.open
		if change != nil {
			change(o)
		}
	}), b
}

func (r *rig) visit(ctx context.Context, p mcphost.SignInPage) <-chan error {
	done := make(chan error, 1)
	go func() { done <- r.gate.Visit(ctx, p) }()
	return done
}

// phase waits until a sign-in waits in this phase.
func (r *rig) phase(phase string) Item {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, i := range r.gate.Waiting().List() {
			if i.Kind == KindSignIn && i.SignIn.Phase == phase {
				return i
			}
		}
	}
	r.t.Fatalf("no sign-in waits in phase %s", phase)
	return Item{}
}

func (r *rig) empty() {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); len(r.gate.Waiting().List()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("still waiting: %+v", r.gate.Waiting().List())
		}
	}
}

// signIns are the records of questions about signing in, oldest first; nothing in them or
// in the export may be one of the values that only the two sides know.
func (r *rig) signIns() []journal.Record {
	r.t.Helper()
	out := r.records(journal.KindServer)
	var b bytes.Buffer
	if err := r.journal.Export(context.Background(), &b, "jsonl", journal.Filter{Limit: -1}); err != nil {
		r.t.Fatal(err)
	}
	for _, rec := range out {
		d, err := r.journal.Show(context.Background(), rec.Record)
		if err != nil {
			r.t.Fatal(err)
		}
		raw, err := json.Marshal(d)
		if err != nil {
			r.t.Fatal(err)
		}
		b.Write(raw)
	}
	if strings.Contains(b.String(), "SENTINEL") {
		r.t.Errorf("a value of the sign-in stands in the record: %s", b.String())
	}
	return out
}

func TestAPageForSigningInIsOpenedOnceAsShown(t *testing.T) {
	t.Parallel()
	r, b := signInRig(t, nil)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	done := r.visit(ctx, page())
	i := r.phase(SignInAsk)
	p := i.Presentation
	if i.Conversation != "" || i.Server != "team" || p.URL != signInURL || p.Host != "login.example.co.uk" || p.Domain != "example.co.uk" ||
		p.Issuer != "https://login.example.co.uk" || p.Resource != "https://mcp.example/mcp" || len(p.Scopes) != 2 || strings.Contains(strings.Join(p.Scopes, ""), "\u202e") || len(p.Warnings) != 0 {
		t.Fatalf("shown: %+v", i)
	}
	if len(b.all()) != 0 {
		t.Fatal("opened before anybody said yes")
	}
	if err := r.gate.Waiting().Answer(i.ID, "sha256:other", Answer{Action: Accept}); !errors.Is(err, ErrShown) {
		t.Fatalf("an answer to something else: %v", err)
	}
	if err := r.gate.Waiting().Answer(i.ID, i.Hash, Answer{Action: Allow}); err == nil {
		t.Fatal("allow was taken")
	}
	r.answer(i, Answer{Action: Accept})
	if err := wait(t, done); err != nil {
		t.Fatal(err)
	}
	if got := b.all(); len(got) != 1 || got[0] != p.URL {
		t.Fatalf("opened %q", got)
	}
	w := r.phase(SignInBrowser)
	if err := r.gate.Waiting().Answer(w.ID, w.Hash, Answer{Action: Accept}); err == nil || errors.Is(err, ErrGone) {
		t.Fatalf("waiting for the browser was accepted: %v", err)
	}
	end()
	r.empty()
	rec := r.signIns()
	if len(rec) != 1 || rec[0].Decision != Allowed || rec[0].By != "person" || rec[0].Outcome != journal.OK || rec[0].Effect != journal.EffectDone || rec[0].Server != "team" {
		t.Fatalf("recorded %+v", rec)
	}
	for _, want := range []string{`"issuer":"https://login.example.co.uk"`, `"resource":"https://mcp.example/mcp"`, `"page":"https://login.example.co.uk/authorize"`, `"read"`} {
		if !strings.Contains(rec[0].Arguments, want) {
			t.Errorf("the record %s lacks %s", rec[0].Arguments, want)
		}
	}
	if len(b.all()) != 1 {
		t.Errorf("opened again: %q", b.all())
	}
}

func TestASignInThatIsNotWanted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, outcome, decision string
		policy                  Policy
		do                      func(r *rig, end context.CancelCauseFunc)
		want                    error
	}{
		{"declined", journal.Denied, Denied, Policy{}, func(r *rig, _ context.CancelCauseFunc) { r.answer(r.phase(SignInAsk), Answer{Action: Decline}) }, mcphost.ErrSignInRefused},
		{"cancelled", journal.Cancelled, Withdrawn, Policy{}, func(r *rig, _ context.CancelCauseFunc) { r.answer(r.phase(SignInAsk), Answer{Action: Cancel}) }, mcphost.ErrSignInRefused},
		{"nobody answers", journal.Expired, Expired, Policy{Expiry: 5 * time.Millisecond}, func(*rig, context.CancelCauseFunc) {}, mcphost.ErrSignInRefused},
		{"its own limit", journal.Expired, Expired, Policy{}, func(r *rig, end context.CancelCauseFunc) {
			r.phase(SignInAsk)
			end(context.DeadlineExceeded)
		}, mcphost.ErrSignInRefused},
		{"given up", journal.Withdrawn, Withdrawn, Policy{}, func(r *rig, end context.CancelCauseFunc) { r.phase(SignInAsk); end(nil) }, context.Canceled},
	} {
		r, b := signInRig(t, func(o *Options) { o.Policy = tc.policy })
		ctx, end := context.WithCancelCause(context.Background())
		done := r.visit(ctx, page())
		tc.do(r, end)
		if err := wait(t, done); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
		end(nil)
		r.empty()
		if rec := r.signIns(); len(rec) != 1 || rec[0].Outcome != tc.outcome || rec[0].Decision != tc.decision || rec[0].Effect != journal.EffectNone {
			t.Errorf("%s: recorded %+v", tc.name, rec)
		}
		if len(b.all()) > 0 {
			t.Errorf("%s: opened %q", tc.name, b.all())
		}
	}
}

// TestNobodyIsAskedAndNobodyIsBlamed checks that a wish which nobody can be asked about is
// told once and recorded as no one's answer.
func TestNobodyIsAskedAndNobodyIsBlamed(t *testing.T) {
	t.Parallel()
	r, b := signInRig(t, func(o *Options) {
		o.Policy.SignIn = Deny
		o.SignInHint = func(server string) string { return "Do so elsewhere for " + server }
	})
	ctx := context.Background()
	plan := mcphost.SignInPlan{Server: "team", Issuer: "https://login.example.co.uk"}
	_, client := r.gate.Client(ctx, mcphost.ClientRequest{Server: "team", Issuer: plan.Issuer, Reason: "Why."})
	for what, err := range map[string]error{"ready": r.gate.Ready(ctx, plan), "register": r.gate.Register(ctx, plan), "visit": r.gate.Visit(ctx, page()), "client": client} {
		if !errors.Is(err, mcphost.ErrSignInNobody) || errors.Is(err, mcphost.ErrSignInRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if rec := r.signIns(); len(rec) != 0 || len(b.all()) != 0 || len(r.gate.Waiting().List()) != 0 {
		t.Errorf("recorded %+v, opened %q", rec, b.all())
	}
	if !r.seen(func(e event.Event) bool {
		n, ok := e.(event.Notice)
		return ok && n.Kind == "sign_in" && strings.Contains(n.Message, "login.example.co.uk") && strings.Contains(n.Message, "Do so elsewhere for team")
	}) {
		t.Error("nobody was told how to sign in")
	}
}

// TestRegisteringIsAskedWhereNothingSaysHow checks the question that comes before a
// registration that no metadata offer.
func TestRegisteringIsAskedWhereNothingSaysHow(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]struct {
		err     error
		outcome string
	}{Accept: {nil, journal.OK}, Decline: {mcphost.ErrSignInRefused, journal.Denied}, Cancel: {mcphost.ErrSignInRefused, journal.Cancelled}} {
		r, b := signInRig(t, nil)
		done := make(chan error, 1)
		go func() {
			done <- r.gate.Register(context.Background(), mcphost.SignInPlan{Server: "team", Issuer: "https://mcp.example", Resource: "https://mcp.example/mcp"})
		}()
		i := r.phase(SignInRegister)
		if p := i.Presentation; p.Issuer != "https://mcp.example" || !strings.Contains(p.Message, "register itself at https://mcp.example") || i.SignIn.URL != "" {
			t.Errorf("%+v", p)
		}
		r.answer(i, Answer{Action: action})
		if err := wait(t, done); !errors.Is(err, want.err) {
			t.Errorf("%s: %v", action, err)
		}
		if rec := r.signIns(); len(rec) != 1 || rec[0].Outcome != want.outcome || len(b.all()) != 0 {
			t.Errorf("%s: recorded %+v, opened %q", action, rec, b.all())
		}
	}
}

func TestPagesThatAreNeverOpened(t *testing.T) {
	t.Parallel()
	r, b := signInRig(t, nil)
	for _, url := range []string{
		"", "javascript:alert(1)", "file:///etc/passwd", "http://login.example/", "a:$(x)", "--help", "https://user:pw@login.example/", "https:///x",
		"https://login.example/\u200b", "http://u$(touch /tmp/x)r:p@127.0.0.1:9003/authorize", "https://login.example/\nx", "data:text/html,x",
	} {
		p := page()
		p.URL = url
		if err := r.gate.Visit(context.Background(), p); err == nil {
			t.Errorf("%q: taken", url)
		}
	}
	if len(b.all()) > 0 || len(r.gate.Waiting().List()) > 0 {
		t.Errorf("opened %q, waiting %v", b.all(), r.gate.Waiting().List())
	}
}

func TestASignInWarnsOfAddresses(t *testing.T) {
	t.Parallel()
	r, _ := signInRig(t, nil)
	p := page()
	p.URL, p.Issuer, p.More = "https://xn--pple-43d.com/authorize", "https://apple.com", true
	ctx, end := context.WithCancel(context.Background())
	done := r.visit(ctx, p)
	i := r.phase(SignInAsk)
	all := strings.Join(i.Presentation.Warnings, "\n")
	if !strings.Contains(all, "real name is xn--pple-43d.com") || !strings.Contains(all, "The page stands on xn--pple-43d.com, while the tokens come from apple.com.") || !i.SignIn.More {
		t.Errorf("warnings: %s", all)
	}
	end()
	wait(t, done)
}

func TestASignInThatCannotBeOpenedGoesOn(t *testing.T) {
	t.Parallel()
	r, b := signInRig(t, nil)
	b.fails = errors.New("no browser")
	ctx, end := context.WithCancel(context.Background())
	defer end()
	done := r.visit(ctx, page())
	r.answer(r.phase(SignInAsk), Answer{Action: Accept})
	if err := wait(t, done); err != nil {
		t.Fatal(err)
	}
	if w := r.phase(SignInBrowser); w.Presentation.URL != signInURL {
		t.Errorf("the address cannot be opened by hand: %+v", w.Presentation)
	}
	if !r.seen(func(e event.Event) bool { n, ok := e.(event.Notice); return ok && n.Kind == "open" }) {
		t.Error("nobody was told")
	}
}

func TestWaitingForTheBrowserCanBeGivenUp(t *testing.T) {
	t.Parallel()
	type given struct {
		server string
		calls  []string
	}
	up := make(chan given, 2)
	r, _ := signInRig(t, func(o *Options) {
		o.CancelSignIn = func(server string, calls []string) { up <- given{server, calls} }
	})
	ctx, end := context.WithCancel(context.Background())
	defer end()
	p := page()
	p.Calls = []string{"k_1", "k_2"}
	done := r.visit(ctx, p)
	r.answer(r.phase(SignInAsk), Answer{Action: Accept})
	wait(t, done)
	r.answer(r.phase(SignInBrowser), Answer{Action: Cancel})
	if g := wait(t, up); g.server != "team" || len(g.calls) != 2 {
		t.Errorf("given up: %+v", g)
	}
	end()
	r.empty()
	if len(up) != 0 {
		t.Error("given up twice")
	}
}

func TestAnAnswerToAnotherSignInIsTold(t *testing.T) {
	t.Parallel()
	r, _ := signInRig(t, nil)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	strays := make(chan struct{}, 1)
	strays <- struct{}{} // of before the page was opened
	p := page()
	p.Strays = strays
	done := r.visit(ctx, p)
	r.answer(r.phase(SignInAsk), Answer{Action: Accept})
	wait(t, done)
	before := r.phase(SignInBrowser)
	if before.Presentation.Message != "" {
		t.Fatalf("at first it says %q", before.Presentation.Message)
	}
	strays <- struct{}{}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, ok := r.gate.Waiting().Get(before.ID); !ok {
			break
		}
	}
	after := r.phase(SignInBrowser)
	if !strings.Contains(after.Presentation.Message, "does not belong to this sign-in") || after.Presentation.URL != before.Presentation.URL || !after.Expires.Equal(before.Expires) {
		t.Errorf("afterwards it says %+v", after)
	}
	end()
	r.empty()
}

func TestASignInBelongsToTheCallThatNeedsIt(t *testing.T) {
	t.Parallel()
	r, _ := signInRig(t, allow)
	conn, _ := r.server("s", asks(formWithDefaults)...)
	call := r.call(conn, "asks", `{}`)
	out := r.run(context.Background(), call, conn, Limits{})
	question := r.item(KindElicitation) // so the call runs
	p := page()
	p.Server, p.Calls = "s", []string{call.ID()}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	done := r.visit(ctx, p)
	i := r.phase(SignInAsk)
	if i.Conversation != "c_1" || i.Presentation.Tool != "asks" || len(i.Running) != 1 {
		t.Errorf("item %+v", i)
	}
	r.answer(i, Answer{Action: Decline})
	wait(t, done)
	r.answer(question, Answer{Action: Decline})
	o := wait(t, out)
	if rec := r.signIns(); len(rec) != 1 || rec[0].Parent != o.Record || rec[0].Conversation != "c_1" {
		t.Errorf("recorded %+v", rec)
	}
}

func TestAClientRegisteredByHand(t *testing.T) {
	t.Parallel()
	known := &secrets.Redactor{}
	r, _ := signInRig(t, func(o *Options) { o.Known = known })
	type got struct {
		c   mcphost.OAuthClient
		err error
	}
	ask := func() <-chan got {
		done := make(chan got, 1)
		go func() {
			c, err := r.gate.Client(context.Background(), mcphost.ClientRequest{Server: "team", Issuer: "https://login.example", Redirect: "http://127.0.0.1:8765/callback", Reason: "It offers no registration."})
			done <- got{c, err}
		}()
		return done
	}
	done := ask()
	i := r.phase(SignInClient)
	if i.Presentation.Redirect != "http://127.0.0.1:8765/callback" || i.Presentation.Message != "It offers no registration." || i.Presentation.Issuer != "https://login.example" {
		t.Fatalf("shown %+v", i.Presentation)
	}
	for _, bad := range []Answer{{Action: Accept}, {Action: Accept, ClientID: "  "}, {Action: Accept, ClientID: "а"}, {Action: Accept, ClientID: "a", ClientSecret: "b\n"}, {Action: Accept, ClientID: strings.Repeat("a", maxClient+1)}} {
		if err := r.gate.Waiting().Answer(i.ID, i.Hash, bad); err == nil || errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", bad.ClientID, err)
		}
	}
	r.answer(i, Answer{Action: Accept, ClientID: " abc ", ClientSecret: "SENTINEL secret"})
	if g := wait(t, done); g.err != nil || g.c.ID != "abc" || g.c.Secret != "SENTINEL secret" {
		t.Errorf("got %+v", g)
	}
	if s := known.Known("it is SENTINEL secret."); strings.Contains(s, "SENTINEL") {
		t.Errorf("the secret is not known: %s", s)
	}
	done = ask()
	r.answer(r.phase(SignInClient), Answer{Action: Decline})
	if g := wait(t, done); !errors.Is(g.err, mcphost.ErrSignInRefused) {
		t.Errorf("declined: %v", g.err)
	}
	if rec := r.signIns(); len(rec) != 2 || rec[0].Outcome != journal.OK || rec[1].Outcome != journal.Denied {
		t.Errorf("recorded %+v", rec)
	}
}
