package headless

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

const weekly = `{"date":"2025-03-17"}`

// model serves a scripted endpoint and returns the flags that choose it.
func model(t testing.TB, steps ...scriptedmodel.Step) (*scriptedmodel.Server, []string) {
	t.Helper()
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: steps})
	return m, []string{"--base-url", m.URL(), "--model", "fake"}
}

func with(flags []string, more ...string) []string { return slices.Concat(more, flags) }

// A whole turn against the scripted endpoint and the minimal server: every line has the
// contract's keys in the contract's order, and the lines come in the order of the turn.
func TestATurnLineByLine(t *testing.T) {
	t.Parallel()
	m, flags := model(t, scriptedmodel.Reply(scriptedmodel.Reasoning("Where is it?"), scriptedmodel.Text("Let me look."),
		scriptedmodel.CallDelta(0, "call_1", "weekly-report__get_weekly_report", weekly), scriptedmodel.Finish("tool_calls"), scriptedmodel.Usage(812, 64), scriptedmodel.Done()),
		scriptedmodel.Say("Three risks."))
	data := t.TempDir()
	r := steward(t, with(flags, "ask", "What is in the weekly report?", "--data", data, "--servers", serversFile(t, minimal()), "--consent", "allow", "--events")...).mustExit(t, 0)
	all := lines(t, r.out)
	for event, want := range map[string]string{
		"turn_start": "event conversation model",
		"server":     "event server state protocol tools",
		"reasoning":  "event text",
		"text":       "event text",
		"call":       "event id record server tool arguments definition",
		"decision":   "event call decision by",
		"result":     "event call record outcome effect content structured seconds",
		"notice":     "event kind server message",
		"usage":      "event input output",
		"turn":       "event state error conversation",
	} {
		found := only(all, event)
		if len(found) == 0 {
			t.Errorf("there is no %q line", event)
		}
		for _, l := range found {
			if got := strings.Join(l.keys, " "); got != want {
				t.Errorf("%s has the keys %q, want %q", event, got, want)
			}
		}
	}
	start, call, decision, res, turn := one(t, all, "turn_start"), one(t, all, "call"), one(t, all, "decision"), one(t, all, "result"), one(t, all, "turn")
	if all[0].text != start.text || all[len(all)-1].text != turn.text {
		t.Errorf("the turn does not begin with turn_start and end with turn:\n%s", texts(all))
	}
	server := one(t, all, "server")
	if server.str("server") != "weekly-report" || server.str("state") != "ready" || server.str("protocol") != "2024-11-05" || server.value["tools"] != 1.0 {
		t.Errorf("server: %s", server.text)
	}
	if start.str("model") != "fake" || !strings.HasPrefix(start.str("conversation"), "c_") || turn.str("conversation") != start.str("conversation") {
		t.Errorf("turn_start and turn do not fit: %s %s", start.text, turn.text)
	}
	if call.str("server") != "weekly-report" || call.str("tool") != "get_weekly_report" || call.str("arguments") != weekly || !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(call.str("definition")) {
		t.Errorf("call: %s", call.text)
	}
	if decision.str("call") != call.str("id") || decision.str("decision") != "allowed" || decision.str("by") != "flag" {
		t.Errorf("decision: %s", decision.text)
	}
	if res.str("call") != call.str("id") || res.value["record"] != call.value["record"] || res.str("outcome") != "ok" || res.str("effect") != "done" {
		t.Errorf("result: %s", res.text)
	}
	if !strings.Contains(res.text, "周") {
		t.Errorf("the result's Chinese is not there as it is: %s", res.text)
	}
	if turn.str("state") != "finished" || turn.str("error") != "" {
		t.Errorf("turn: %s", turn.text)
	}
	if p := m.Problems(); len(p) > 0 {
		t.Errorf("the endpoint refused: %v", p)
	}
}

func TestTheAnswerAloneIsOnStdout(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.CallTool("get_weekly_report", weekly), scriptedmodel.Say("Three risks."))
	r := steward(t, with(flags, "ask", "What is in it?", "--data", t.TempDir(), "--servers", serversFile(t, minimal()), "--consent", "allow")...).mustExit(t, 0)
	if r.out != "Three risks.\n" {
		t.Errorf("stdout is %q", r.out)
	}
	r.mustSay(t, "get_weekly_report", weekly, "ok")
}

// Without a terminal and without flags nothing runs, and the model is told so.
func TestNobodyToAskIsANo(t *testing.T) {
	t.Parallel()
	m, flags := model(t, scriptedmodel.CallTool("get_weekly_report", weekly), scriptedmodel.Say("I could not look."))
	r := steward(t, with(flags, "ask", "What is in it?", "--data", t.TempDir(), "--servers", serversFile(t, minimal()), "--events")...).mustExit(t, 0)
	all := lines(t, r.out)
	if d := one(t, all, "decision"); d.str("decision") != "denied" || d.str("by") != "flag" {
		t.Errorf("decision: %s", d.text)
	}
	if res := one(t, all, "result"); res.str("outcome") != "denied" || res.str("effect") != "none" {
		t.Errorf("result: %s", res.text)
	}
	if body := m.Requests()[1].Body; !bytes.Contains(body, []byte("Not executed")) {
		t.Errorf("the model was not told: %s", body)
	}
}

func TestThePromptOnStdinAndAFile(t *testing.T) {
	t.Parallel()
	m, flags := model(t, scriptedmodel.Say("Yes."))
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("the attached words"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := prepared(t, with(flags, "ask", "-", "--attach", file, "--data", t.TempDir(), "--servers", serversFile(t, minimal()))...)
	cmd.Stdin = strings.NewReader("the words on stdin\n")
	finish(t, cmd).mustExit(t, 0)
	for _, want := range []string{"the words on stdin", "the attached words"} {
		if !bytes.Contains(m.Requests()[0].Body, []byte(want)) {
			t.Errorf("the request does not hold %q", want)
		}
	}
	cmd = prepared(t, "ask", "-", "--data", t.TempDir())
	cmd.Stdin = strings.NewReader(" \n")
	finish(t, cmd).mustExit(t, 2).mustSay(t, "the prompt is empty")
}

func TestAConversationGoesOn(t *testing.T) {
	t.Parallel()
	m, flags := model(t, scriptedmodel.Say("Blue."), scriptedmodel.Say("You said blue."))
	data := t.TempDir()
	flags = append(flags, "--data", data, "--servers", serversFile(t, minimal()), "--events")
	first := lines(t, steward(t, with(flags, "ask", "My favourite is what?")...).mustExit(t, 0).out)
	id := one(t, first, "turn_start").str("conversation")
	second := lines(t, steward(t, with(flags, "ask", "And again?", "--conversation", id)...).mustExit(t, 0).out)
	if got := one(t, second, "turn_start").str("conversation"); got != id {
		t.Errorf("the conversation is %s, want %s", got, id)
	}
	if body := m.Requests()[1].Body; !bytes.Contains(body, []byte("My favourite")) || !bytes.Contains(body, []byte("Blue.")) {
		t.Errorf("the second request lacks the first turn: %s", body)
	}
	steward(t, with(flags, "ask", "hello", "--conversation", "c_nowhere")...).mustExit(t, 1).mustSay(t, "c_nowhere")
}

// The first run works offline: the demo model and the demo server are our own.
func TestTheDemoWorksAtOnce(t *testing.T) {
	t.Parallel()
	r := steward(t, "ask", "What is in the weekly report of 2025-03-17?", "--data", t.TempDir(), "--consent", "allow", "--events").mustExit(t, 0)
	all := lines(t, r.out)
	if c := one(t, all, "call"); c.str("server") != "demo" || c.str("tool") != "get_weekly_report" || c.str("arguments") != weekly {
		t.Errorf("call: %s", c.text)
	}
	if res := one(t, all, "result"); res.str("outcome") != "ok" {
		t.Errorf("result: %s", res.text)
	}
	if strings.TrimSpace(r.errOut) != "" {
		t.Errorf("stderr is not silent: %s", r.errOut)
	}
}

func TestHowATurnEndsIsTheExitStatus(t *testing.T) {
	t.Parallel()
	servers := serversFile(t, minimal())
	for name, tc := range map[string]struct {
		step  scriptedmodel.Step
		code  int
		state string
	}{
		"finished":    {scriptedmodel.Say("Done."), 0, "finished"},
		"failed":      {scriptedmodel.Fail(400, `{"error":{"message":"no such model","type":"invalid_request_error"}}`), 1, "failed"},
		"interrupted": {scriptedmodel.Reply(scriptedmodel.Text("Half an ans")), 3, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, flags := model(t, tc.step)
			r := steward(t, with(flags, "ask", "hello", "--data", t.TempDir(), "--servers", servers, "--events")...).mustExit(t, tc.code)
			turn := one(t, lines(t, r.out), "turn")
			if turn.str("state") != tc.state || (turn.str("error") == "") != (tc.code == 0) {
				t.Errorf("turn: %s", turn.text)
			}
		})
	}
}

func TestOneCallByHand(t *testing.T) {
	t.Parallel()
	servers := serversFile(t, minimal())
	call := func(t *testing.T, more ...string) result {
		return steward(t, append([]string{"call", "weekly-report", "get_weekly_report", weekly, "--data", t.TempDir(), "--servers", servers}, more...)...)
	}
	t.Run("ok", func(t *testing.T) {
		t.Parallel()
		r := call(t, "--consent", "allow").mustExit(t, 0)
		if !json.Valid([]byte(r.out)) || !strings.Contains(r.out, "周") {
			t.Errorf("stdout is not the server's Chinese JSON: %q", r.out)
		}
	})
	t.Run("lines", func(t *testing.T) {
		t.Parallel()
		all := lines(t, call(t, "--consent", "allow", "--events").mustExit(t, 0).out)
		if one(t, all, "call").str("arguments") != weekly || one(t, all, "result").str("outcome") != "ok" || len(only(all, "turn_start")) != 0 {
			t.Errorf("lines:\n%s", texts(all))
		}
	})
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r := call(t).mustExit(t, 5).mustSay(t, "denied")
		if r.out != "" {
			t.Errorf("a denied call printed %q", r.out)
		}
	})
	t.Run("no such tool", func(t *testing.T) {
		t.Parallel()
		steward(t, "call", "weekly-report", "drop_everything", "--data", t.TempDir(), "--servers", servers, "--consent", "allow").mustExit(t, 1).mustSay(t, "drop_everything", "get_weekly_report")
	})
	t.Run("no such server", func(t *testing.T) {
		t.Parallel()
		steward(t, "call", "yearly", "x", "--data", t.TempDir(), "--servers", servers).mustExit(t, 1).mustSay(t, "yearly", "weekly-report")
	})
	t.Run("arguments that are none", func(t *testing.T) {
		t.Parallel()
		for _, bad := range []string{"{", "[]", `"x"`, `{} {}`, "null"} {
			steward(t, "call", "weekly-report", "get_weekly_report", bad, "--data", t.TempDir(), "--servers", servers).mustExit(t, 2).mustSay(t, "argument")
		}
	})
}

// A turn that the limit of rounds stopped says so, and each fact is said once.
func TestWhyATurnWasStopped(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.CallTool("get_weekly_report", weekly))
	r := steward(t, with(flags, "ask", "go", "--max-rounds", "1", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, minimal()))...).mustExit(t, 3)
	r.mustSay(t, "The turn was stopped: the limit of 1 round", "A call of weekly-report__get_weekly_report was not executed: the limit")
	if strings.Contains(strings.ToLower(r.errOut), "executed. not executed") {
		t.Errorf("said twice: %s", r.errOut)
	}
}
