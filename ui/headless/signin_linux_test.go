package headless

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"steward/testdata/signinserver"
)

// signInRun is a data folder whose one server wants a sign-in, and a browser that only notes
// what it is asked to open.
type signInRun struct {
	t       *testing.T
	s       *signinserver.Server
	data    string
	servers string
	bin     string
	pages   func() []string // that were opened
}

func newSignInRun(t *testing.T) *signInRun {
	r := &signInRun{t: t, s: signinserver.Start(t), data: t.TempDir()}
	r.bin, r.pages = signinserver.Browser(t)
	r.servers = serversFile(t, map[string]any{"team": map[string]any{"url": r.s.URL}})
	return r
}

// command keeps secrets in the encrypted file, so that they outlive it.
func (r *signInRun) command(args ...string) *exec.Cmd {
	cmd := prepared(r.t, append(args, "--data", r.data, "--servers", r.servers, "--passphrase-env", "PASS")...)
	cmd.Env = environment(r.t, "PATH="+r.bin, "PASS=correct horse battery")
	return cmd
}

// opened waits until n pages were opened and returns the last.
func (r *signInRun) opened(n int) string {
	r.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all := r.pages()
		if len(all) >= n {
			if len(all) > n {
				r.t.Fatalf("opened %q", all)
			}
			if n == 0 {
				return ""
			}
			return all[n-1]
		}
		if time.Now().After(end) {
			r.t.Fatalf("%d pages were never opened: %q", n, all)
		}
	}
}

func TestSigningInOnATerminal(t *testing.T) {
	t.Parallel()
	r := newSignInRun(t)
	d := talk(t, r.command("call", "team", "who", "--consent", "allow"))
	card := d.waitFor("y or n, then Enter: ")
	for _, want := range []string{"wants you to sign in", r.s.Issuer(), r.s.Issuer() + "/authorize?", "code_challenge_method=S256", "Host: 127.0.0.1", "read"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q: %s", want, card)
		}
	}
	r.opened(0)
	d.answer("y")
	d.waitFor("Waiting until you have signed in to team in the browser.")
	page := r.opened(1)
	if !strings.Contains(card, page) {
		t.Errorf("opened %s, which was not shown: %s", page, card)
	}
	if _, err := signinserver.Visit(page); err != nil {
		t.Fatal(err)
	}
	d.waitFor("You are signed in at " + r.s.Issuer() + ".")
	rest := d.end(0)
	if out := d.out.String(); !strings.Contains(out, "You are signed in with [secret:") || len(r.s.Leaks(out+rest)) > 0 {
		t.Errorf("out: %s\nscreen: %s", out, rest)
	}
	// the next one is not asked, and needs no terminal
	if again := finish(t, r.command("call", "team", "who", "--consent", "allow")).mustExit(t, 0); !strings.Contains(again.out, "You are signed in with [secret:") {
		t.Errorf("the second call: %+v", again)
	}
	if doctor := finish(t, r.command("doctor", "team")).mustExit(t, 0); !strings.Contains(doctor.out, "You are signed in to it at "+r.s.Issuer()) {
		t.Errorf("doctor: %s", doctor.out)
	}
	journal := steward(t, "journal", "export", "--format", "jsonl", "--data", r.data).mustExit(t, 0)
	if len(r.s.Leaks(journal.out)) > 0 || !strings.Contains(journal.out, `\"issuer\":\"`+r.s.Issuer()) {
		t.Errorf("the record: %s", journal.out)
	}
	steward(t, "journal", "verify", "--data", r.data).mustExit(t, 0)
	r.opened(1)
}

func TestAServerIsSignedInToForItsReview(t *testing.T) {
	t.Parallel()
	r := newSignInRun(t)
	d := talk(t, r.command("servers", "review", "team"))
	d.waitFor("y or n, then Enter: ")
	d.answer("y")
	d.waitFor("Waiting until you have signed in")
	if _, err := signinserver.Visit(r.opened(1)); err != nil {
		t.Fatal(err)
	}
	d.end(0)
	if !strings.Contains(d.out.String(), "tool who") && !strings.Contains(d.out.String(), "everything was reviewed") {
		t.Errorf("the review: %s", d.out)
	}
}

func TestSigningInIsDeclinedOnATerminal(t *testing.T) {
	t.Parallel()
	for key, says := range map[string]string{"n": "refused", "x": "Waiting until"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			r := newSignInRun(t)
			d := talk(t, r.command("call", "team", "who", "--consent", "allow"))
			d.waitFor("y or n, then Enter: ")
			if key == "n" {
				d.answer("n")
			} else {
				d.answer("y")
				d.waitFor(says)
				r.opened(1)
				d.answer("x")
			}
			rest := d.end(1)
			if key == "n" {
				r.opened(0)
				if !strings.Contains(rest, says) {
					t.Errorf("the screen says %s", rest)
				}
			}
		})
	}
}

func TestWithoutATerminalNobodySignsIn(t *testing.T) {
	t.Parallel()
	r := newSignInRun(t)
	finish(t, r.command("call", "team", "who", "--consent", "allow")).mustExit(t, 1).mustSay(t, "wants you to sign in", "steward servers review team")
	finish(t, r.command("servers", "review", "team")).mustExit(t, 1).mustSay(t, "sign")
	asked := r.command("call", "team", "who", "--consent", "ask")
	asked.Stdin = strings.NewReader("y\ny\ny\n")
	finish(t, asked).mustExit(t, 1) // lines for another question open no page
	doctor := finish(t, r.command("doctor", "team", "--json")).mustExit(t, 1)
	for _, want := range []string{`"check":"sign-in","ok":false`, "Sign-in needed: ", "steward servers review team"} {
		if !strings.Contains(doctor.out, want) {
			t.Errorf("doctor lacks %s: %s", want, doctor.out)
		}
	}
	if strings.Contains(doctor.out, "refused") || !strings.Contains(doctor.out, "nobody can be asked here") {
		t.Errorf("doctor blames somebody: %s", doctor.out)
	}
	r.opened(0)
	for _, path := range []string{"/authorize", "/register", "/token"} {
		if n := r.s.Heard(path); n != 0 {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
	journal := steward(t, "journal", "export", "--format", "jsonl", "--data", r.data).mustExit(t, 0)
	// Each run has the record of its failed start, and none of a question.
	if n := strings.Count(journal.out, `"kind":"server","parent"`); n != 4 || strings.Contains(journal.out, `"flag"`) || strings.Contains(journal.out, "refused") {
		t.Errorf("%d records, or somebody is blamed: %s", n, journal.out)
	}
}

// TestWhatCannotBeKeptIsSaidWhereASignInIsWanted checks that a sign-in which nothing would
// keep is not advised as one that is done once.
func TestWhatCannotBeKeptIsSaidWhereASignInIsWanted(t *testing.T) {
	t.Parallel()
	r := newSignInRun(t)
	cmd := prepared(t, "call", "team", "who", "--consent", "allow", "--data", r.data, "--servers", r.servers)
	cmd.Env = environment(t, "PATH="+r.bin)
	got := finish(t, cmd).mustExit(t, 1).mustSay(t, "cannot be kept here", "steward servers review team --secrets-file", "--passphrase-env")
	if all := got.out + got.errOut; strings.Contains(all, "Sign in once") || strings.Contains(all, "kept only until") {
		t.Errorf("it says %s", all)
	}
}
