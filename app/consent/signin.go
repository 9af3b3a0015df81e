package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"steward/app/clean"
	"steward/app/journal"
	"steward/app/opener"
	"steward/mcphost"
)

// SignIn is what a server wants of the person before it works: that the person signs in
// at a page in the browser, or names the client that was registered by hand for this
// program. See mcphost.SignIn.
type SignIn struct {
	// Phase is SignInRegister, SignInAsk, SignInBrowser or SignInClient.
	Phase    string
	Issuer   string   // the authorization server; show it through Presentation
	Resource string   // what the token will be for
	URL      string   // of the page, as it is opened; "" in SignInClient and SignInRegister
	Redirect string   // where the browser comes back to; of SignInClient alone
	Scopes   []string // what is asked for
	More     bool     // the server wants more than was granted before
}

// The phases of a SignIn.
const (
	// SignInRegister asks whether this program may register itself at a server that does
	// not say how one signs in: accept, decline or cancel. Nothing has been sent there.
	SignInRegister = "register"
	// SignInAsk asks whether the page may be opened: accept, decline or cancel.
	SignInAsk = "ask"
	// SignInBrowser says that the page was opened and that the browser has not come
	// back; cancel gives the sign-in up.
	SignInBrowser = "browser"
	// SignInClient asks for a client id and secret: accept (with ClientID), decline or
	// cancel.
	SignInClient = "client"
)

// maxClient is the length of the longest client id or secret, in bytes.
const maxClient = 4096

// maxScopes is how many scopes a card lists.
const maxScopes = 100

// Visit asks the person whether to sign in to a server and, on a yes that is recorded,
// has the browser open the page: exactly the address that was shown, once. Until ctx ends
// the waiting list then says that the browser has not come back, where the person can
// give up. A no, and nobody's answer in time, are mcphost.ErrSignInRefused. It is half of
// mcphost.SignIn.
func (g *Gate) Visit(ctx context.Context, p mcphost.SignInPage) error {
	if err := g.Ready(ctx, mcphost.SignInPlan{Server: p.Server, Calls: p.Calls, Issuer: p.Issuer, Resource: p.Resource}); err != nil {
		return err
	}
	shown, err := opener.Check(p.URL)
	if err != nil {
		g.notice("", "sign_in", p.Server, fmt.Sprintf("The server %s cannot be signed in to: %v.", clean.Reveal(p.Server), err))
		return fmt.Errorf("the page for signing in cannot be opened: %w", err)
	}
	q := g.signing(ctx, p.Server, p.Calls)
	q.shown, q.strays = shown, p.Strays
	q.s = SignIn{Phase: SignInAsk, Issuer: p.Issuer, Resource: p.Resource, URL: shown.URL, Scopes: slices.Clone(p.Scopes), More: p.More}
	_, d, err := q.ask()
	if err != nil {
		return err
	}
	return q.open(d)
}

// Ready says whether a person can be asked to sign in, and else, once for each wish, tells
// what to do. Nothing is recorded then: nobody was asked, and nothing was sent.
func (g *Gate) Ready(_ context.Context, p mcphost.SignInPlan) error {
	if g.o.Policy.SignIn != Deny && g.o.OpenURL != nil {
		return nil
	}
	g.notice(g.origin(p.Server, p.Calls).conversation, "sign_in", p.Server, g.unasked(p))
	return mcphost.ErrSignInNobody
}

// Register asks the person whether this program may register itself at a server that does
// not say how one signs in to it.
func (g *Gate) Register(ctx context.Context, p mcphost.SignInPlan) error {
	if err := g.Ready(ctx, p); err != nil {
		return err
	}
	q := g.signing(ctx, p.Server, p.Calls)
	q.s = SignIn{Phase: SignInRegister, Issuer: p.Issuer, Resource: p.Resource}
	q.reason = fmt.Sprintf("The server does not say how one signs in. Steward would register itself at %s to find out, and show you the page before it is opened.", clean.Line(clean.Reveal(p.Issuer), 200))
	_, d, err := q.ask()
	if err != nil {
		return err
	}
	return q.end(d, journal.OK, journal.EffectDone)
}

// Client asks the person for the client that was registered by hand at an authorization
// server which takes no other way. It is half of mcphost.SignIn.
func (g *Gate) Client(ctx context.Context, r mcphost.ClientRequest) (mcphost.OAuthClient, error) {
	if err := g.Ready(ctx, mcphost.SignInPlan{Server: r.Server, Issuer: r.Issuer}); err != nil {
		return mcphost.OAuthClient{}, err
	}
	q := g.signing(ctx, r.Server, nil)
	q.reason = clean.Line(g.o.Redact(r.Reason), 500)
	if rest, ok := strings.CutPrefix(q.reason, "the "); ok {
		q.reason = "The " + rest
	}
	q.s = SignIn{Phase: SignInClient, Issuer: r.Issuer, Redirect: r.Redirect}
	a, d, err := q.ask()
	if err != nil {
		return mcphost.OAuthClient{}, err
	}
	client := mcphost.OAuthClient{ID: strings.TrimSpace(a.ClientID), Secret: a.ClientSecret}
	if client.Secret != "" {
		g.o.Known.Learn(r.Server+" client secret", client.Secret)
	}
	if err := q.end(d, journal.OK, journal.EffectDone); err != nil {
		return mcphost.OAuthClient{}, err
	}
	return client, nil
}

// signing is one question about signing in; it belongs to the goroutine that asked.
type signing struct {
	g       *Gate
	ctx     context.Context
	log     context.Context
	o       origin
	s       SignIn
	shown   opener.Shown
	reason  string
	strays  <-chan struct{}
	hash    string
	entry   *journal.Entry
	started time.Time
}

func (g *Gate) signing(ctx context.Context, server string, calls []string) *signing {
	return &signing{g: g, ctx: ctx, log: context.WithoutCancel(ctx), o: g.origin(server, calls), started: g.o.Now()}
}

// ask puts the question to the person, recorded from the first. A no is an error, and is
// recorded too; how a yes ends is its caller's to record.
func (q *signing) ask() (Answer, decision, error) {
	if err := q.propose(); err != nil {
		return Answer{}, decision{}, err
	}
	a, d, err := q.decide()
	if err == nil && a.Action != Accept {
		err = q.refuse(d)
	}
	return a, d, err
}

// propose records who asks for what. The page stands without its query, which carries
// values that only the two sides of the sign-in should know (RFC 9700, section 4.2).
func (q *signing) propose() error {
	args, err := encode(struct {
		What     string   `json:"what"`
		Issuer   string   `json:"issuer"`
		Resource string   `json:"resource,omitempty"`
		Page     string   `json:"page,omitempty"`
		Redirect string   `json:"redirect,omitempty"`
		Scopes   []string `json:"scopes,omitempty"`
		More     bool     `json:"more,omitempty"`
	}{q.what(), q.s.Issuer, q.s.Resource, q.page(), q.s.Redirect, q.s.Scopes, q.s.More})
	if err == nil {
		q.entry, err = q.g.o.Journal.Propose(q.log, q.o.proposal(journal.KindServer, args, nil))
	}
	if err != nil {
		return fmt.Errorf("nobody is asked to sign in, because that cannot be recorded: %w", err)
	}
	return nil
}

func (q *signing) what() string {
	switch q.s.Phase {
	case SignInClient:
		return "client for signing in"
	case SignInRegister:
		return "registration for signing in"
	}
	return "sign-in"
}

func (q *signing) page() string {
	u, err := url.Parse(q.shown.URL)
	if err != nil || q.shown.URL == "" {
		return ""
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return u.String()
}

// decide asks the person. The decision's word is never empty.
func (q *signing) decide() (Answer, decision, error) {
	g := q.g
	q.hash = hashOf("sign-in", q.s.Phase, q.o.server, q.s.Issuer, q.s.Resource, q.s.URL, q.s.Redirect, strings.Join(q.s.Scopes, " "), fmt.Sprint(q.s.More), q.reason)
	if err := q.entry.Shown(q.log, q.hash); err != nil {
		return Answer{}, decision{}, fmt.Errorf("nobody is asked to sign in, because that cannot be recorded: %w", err)
	}
	item := q.item(q.s)
	q.o.over = q.over
	a, d := g.wait(q.ctx, q.o, &item, q.check)
	switch {
	case d.word != "":
		return Answer{}, d, nil
	case a.Action == Accept:
		return a, decision{word: Allowed, by: byPerson}, nil
	case a.Action == Cancel:
		return a, decision{word: Withdrawn, by: byPerson, reason: clean.Clean(a.Reason)}, nil
	}
	return a, decision{word: Denied, by: byPerson, reason: clean.Clean(a.Reason)}, nil
}

// unasked says what to do where nobody can be asked.
func (g *Gate) unasked(p mcphost.SignInPlan) string {
	hint := ""
	if g.o.SignInHint != nil {
		hint = g.o.SignInHint(p.Server)
	}
	return strings.TrimSpace(fmt.Sprintf("The server %s wants you to sign in at %s, and nobody can be asked here. %s", clean.Reveal(p.Server), clean.Line(clean.Reveal(host(p.Issuer)), 200), hint))
}

// over says why a question about signing in ends with its context: there may be no call
// that it belongs to, and the sign-in has a limit of its own.
func (q *signing) over(ctx context.Context) (decision, string) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, context.DeadlineExceeded), (q.s.Phase == SignInAsk || q.s.Phase == SignInRegister) && q.g.o.Now().Sub(q.started) >= mcphost.SignInLimit-time.Second:
		return decision{word: Expired, by: byExpiry, reason: "nobody answered in time"}, goneExpired
	case errors.Is(cause, ErrClosed), slices.ContainsFunc(q.o.calls, func(call context.Context) bool { return call.Err() != nil }):
		return q.o.givenUp(ctx)
	}
	return decision{word: Withdrawn, by: byCurrent, reason: "signing in was given up"}, goneWithdrawn
}

func (q *signing) item(s SignIn) Item {
	return Item{
		ID: newID("s_"), Kind: KindSignIn, Hash: q.hash, Conversation: q.o.conversation, Server: q.o.server,
		Record: q.entry.Number(), Since: q.g.o.Now(), Running: q.o.running, SignIn: &s, Presentation: q.present(),
	}
}

func (q *signing) check(a Answer) error {
	switch a.Action {
	case Decline, Cancel, Deny:
		return nil
	case Accept:
	default:
		return fmt.Errorf("signing in can be accepted, declined or cancelled, not %q", a.Action)
	}
	if q.s.Phase != SignInClient {
		return nil
	}
	switch id := strings.TrimSpace(a.ClientID); {
	case id == "":
		return errors.New("the client id is missing")
	case len(id) > maxClient || len(a.ClientSecret) > maxClient:
		return fmt.Errorf("the client id and its secret have at most %d bytes each", maxClient)
	case !visible(id) || !visible(a.ClientSecret):
		return errors.New("a client id and its secret are made of plain ASCII characters; copy them anew")
	}
	return nil
}

// visible reports whether s is made of VSCHAR (RFC 6749, appendix A.1 and A.2).
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// open opens the page that the person agreed to, once that is on the disk.
func (q *signing) open(d decision) error {
	g := q.g
	err := q.record(d)
	if err == nil {
		_, err = q.entry.Intent(q.log, []byte(q.page()))
	}
	if err != nil {
		return fmt.Errorf("the page for signing in is not opened because that cannot be recorded: %w", err)
	}
	stay := q.stay()
	if err := g.o.OpenURL(q.ctx, q.shown.URL); err != nil {
		// The person may open it on their own: it is shown where the waiting goes on.
		d.reason = "the page could not be opened here; the person was told to open it"
		g.notice(q.o.conversation, "open", q.o.server, "The page for signing in could not be opened: "+g.line(err.Error()))
	}
	if err := q.outcome(d, journal.OK, journal.EffectDone); err != nil {
		stay()
		return err
	}
	return nil
}

// strayAnswer is what a card says after a browser has come back with another answer.
const strayAnswer = "The browser came back with an answer that does not belong to this sign-in, perhaps from a page opened earlier. It was not used. Steward still waits: sign in at the page below."

// stay puts into the waiting list that the browser has not come back, until the sign-in
// ends; leave takes it out at once, and returns when that is done. Of an answer that is not
// to this page the list says so, once.
func (q *signing) stay() (leave func()) {
	for len(q.strays) > 0 {
		<-q.strays // of before the page was opened
	}
	expires := q.g.o.Now().Add(mcphost.SignInLimit)
	w := q.browser("", expires)
	left, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-q.strays:
			before := w
			w = q.browser(strayAnswer, expires)
			q.g.waiting.leave(before, goneWithdrawn, strayAnswer)
			select {
			case <-q.ctx.Done():
			case <-left:
			}
		case <-q.ctx.Done():
		case <-left:
		}
		q.g.waiting.leave(w, goneWithdrawn, q.came())
	}()
	return func() {
		close(left)
		<-over
	}
}

// browser puts one such item into the list.
func (q *signing) browser(message string, expires time.Time) *slot {
	s := q.s
	s.Phase = SignInBrowser
	item := q.item(s)
	item.Hash, item.Expires = hashOf("browser", q.hash, message), expires
	item.Presentation.Message = message
	return q.g.waiting.put(&slot{item: item, answered: make(chan Answer, 1), onAnswer: func(Answer) { q.giveUp() }, check: func(a Answer) error {
		if a.Action == Accept || a.Action == Allow {
			return errors.New("the browser is being waited for; this can only be cancelled")
		}
		return nil
	}})
}

// came says what came of the page that was opened; "" where it was given up.
func (q *signing) came() string {
	cause := context.Cause(q.ctx)
	switch {
	case errors.Is(cause, mcphost.ErrSignedIn):
		return fmt.Sprintf("You are signed in at %s.", clean.Line(clean.Reveal(q.s.Issuer), 300))
	case cause == nil, errors.Is(cause, context.Canceled), errors.Is(cause, ErrClosed), errors.Is(cause, ErrStopped):
		return ""
	}
	return fmt.Sprintf("You are not signed in: %s", clean.Line(q.g.line(cause.Error()), 500))
}

// giveUp ends a sign-in whose page stands open in the browser.
func (q *signing) giveUp() {
	if q.g.o.CancelSignIn != nil {
		q.g.o.CancelSignIn(q.o.server, slices.Clone(q.o.running))
	}
}

// refuse records how it ended without a page or a client.
func (q *signing) refuse(d decision) error {
	outcome := journal.Denied
	switch {
	case d.word == Expired:
		outcome = journal.Expired
	case d.word == Withdrawn && d.by == byPerson:
		outcome = journal.Cancelled
	case d.word == Withdrawn:
		outcome = journal.Withdrawn
	}
	if err := q.end(d, outcome, journal.EffectNone); err != nil {
		q.g.notice(q.o.conversation, "journal", q.o.server, err.Error())
	}
	if outcome == journal.Withdrawn && q.ctx.Err() != nil {
		return context.Cause(q.ctx)
	}
	return mcphost.ErrSignInRefused
}

func (q *signing) record(d decision) error {
	shown := ""
	if d.by == byPerson && d.word == Allowed {
		shown = q.hash
	}
	return q.entry.Decided(q.log, journal.Decision{Decision: d.word, By: d.by, Reason: d.reason, ShownHash: shown})
}

func (q *signing) outcome(d decision, word, effect string) error {
	err := q.entry.Outcome(q.log, journal.Outcome{Outcome: word, Effect: effect, Reason: d.reason, Result: json.RawMessage(nil), Seconds: q.g.o.Now().Sub(q.started).Seconds()})
	if err != nil {
		return fmt.Errorf("how the question about signing in ended cannot be recorded: %w", err)
	}
	return nil
}

func (q *signing) end(d decision, word, effect string) error {
	if err := q.record(d); err != nil {
		return fmt.Errorf("how the question about signing in ended cannot be recorded: %w", err)
	}
	return q.outcome(d, word, effect)
}

func (q *signing) present() Presentation {
	server := clean.Reveal(q.o.server)
	p := Presentation{
		Title: fmt.Sprintf("Sign in to %s", server), Server: server, Tool: clean.Reveal(q.o.tool), URL: q.shown.URL, Host: q.shown.Host, Domain: q.shown.Domain,
		Message: q.reason,
		Issuer:  clean.Line(clean.Reveal(q.s.Issuer), 2000), Resource: clean.Line(clean.Reveal(q.s.Resource), 2000), Redirect: clean.Line(clean.Reveal(q.s.Redirect), 2000),
	}
	for i, s := range q.s.Scopes {
		if i == maxScopes {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%d more scopes are asked for than are shown.", len(q.s.Scopes)-i))
			break
		}
		p.Scopes = append(p.Scopes, clean.Line(clean.Reveal(s), 300))
	}
	p.Warnings = append(p.Warnings, nameWarnings("server", q.o.server)...)
	if q.shown.Warning != "" {
		p.Warnings = append(p.Warnings, q.shown.Warning)
	}
	issuer := host(q.s.Issuer)
	if shown, err := opener.Check(q.s.Issuer); err == nil {
		issuer = shown.Host
		if shown.Warning != "" && shown.Warning != q.shown.Warning {
			p.Warnings = append(p.Warnings, shown.Warning)
		}
	}
	if q.shown.Host != "" && issuer != q.shown.Host {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The page stands on %s, while the tokens come from %s.", q.shown.Host, clean.Line(clean.Reveal(issuer), 300)))
	}
	return p
}

// host is the host of an address, or the address where it is none.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return address
}
