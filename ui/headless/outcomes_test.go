package headless

import (
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// scripted is an entry of the scripted server under the name "s".
func scripted(args ...string) map[string]any {
	return map[string]any{"s": map[string]any{"command": binaries.scripted, "args": args}}
}

// Every way a call can end, as a script sees it: outcome, effect and exit status.
func TestHowACallEnds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool, outcome, effect string
		code                  int
		more                  []string
		says                  string
	}{
		{tool: "echo", outcome: "ok", effect: "done", code: 0, says: "{}"},
		{tool: "structured", outcome: "ok", effect: "done", code: 0, says: "12345678901234567890"},
		{tool: "tool-error", outcome: "tool_error", effect: "done", code: 4, says: "it failed"},
		{tool: "rpc-error", outcome: "protocol_error", effect: "done", code: 1},
		{tool: "no-answer", outcome: "protocol_error", effect: "done", code: 1},
		{tool: "never", outcome: "timeout", effect: "unknown", code: 1, more: []string{"--tool-timeout", "300ms"}},
		{tool: "die", outcome: "unknown", effect: "unknown", code: 1},
		{tool: "killed", outcome: "unknown", effect: "unknown", code: 1},
		{tool: "echo", outcome: "denied", effect: "none", code: 5, more: []string{"--consent", "deny"}},
	} {
		t.Run(tc.tool+" "+tc.outcome, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			args := append([]string{"call", "s", tc.tool, "--consent", "allow", "--events", "--data", data, "--servers", serversFile(t, scripted())}, tc.more...)
			r := steward(t, args...).mustExit(t, tc.code)
			res := one(t, lines(t, r.out), "result")
			if res.str("outcome") != tc.outcome || res.str("effect") != tc.effect || !strings.Contains(res.text, tc.says) {
				t.Errorf("result: %s", res.text)
			}
			rec := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--data", data).mustExit(t, 0).out)[0]
			if rec.str("outcome") != tc.outcome || rec.str("effect") != tc.effect {
				t.Errorf("the record says otherwise: %s", rec.text)
			}
		})
	}
}

// What servers ask during a call is answered by the flags and stands in lines of its own.
func TestWhatServersAsk(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool  string
		flags []string
		event string
		want  string
		keys  string
		text  string
	}{
		{"elicit", nil, "elicitation", "decline", "event call record server mode message action", `"decline"`},
		{"elicit", []string{"--elicit", "cancel"}, "elicitation", "cancel", "event call record server mode message action", `"cancel"`},
		{"elicit-url", []string{"--elicit", "decline"}, "elicitation", "decline", "event call record server mode message action", `"decline"`},
		{"sample", nil, "sampling", "denied", "event call record server action edited", `error`},
		{"sample", []string{"--sampling", "allow"}, "sampling", "sent", "event call record server action edited", `forty-two`},
	} {
		t.Run(tc.tool+" "+strings.Join(tc.flags, " "), func(t *testing.T) {
			t.Parallel()
			_, flags := model(t, scriptedmodel.Say("forty-two"))
			args := append([]string{"call", "s", tc.tool, "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted())}, tc.flags...)
			all := lines(t, steward(t, with(flags, args...)...).mustExit(t, 0).out)
			asked := one(t, all, tc.event)
			if asked.str("action") != tc.want || strings.Join(asked.keys, " ") != tc.keys || asked.str("call") != one(t, all, "call").str("id") || asked.str("server") != "s" {
				t.Errorf("%s: %s", tc.event, asked.text)
			}
			if res := one(t, all, "result"); !strings.Contains(res.text, strings.ReplaceAll(tc.text, `"`, `\"`)) {
				t.Errorf("what the server got: %s", res.text)
			}
		})
	}
}

func TestElicitedDefaults(t *testing.T) {
	t.Parallel()
	ask := `tool:form=@ask elicitation/create {"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean","default":true},"age":{"type":"integer","default":7},"spam":{"type":"boolean"}},"required":["ok","age"]}}`
	r := steward(t, "call", "s", "form", "--consent", "allow", "--elicit", "defaults", "--data", t.TempDir(),
		"--servers", serversFile(t, scripted("--step", ask, "--step", "tool:form=@text ${answer}"))).mustExit(t, 0)
	if want := `{"action":"accept","content":{"ok":true,"age":7}}`; !strings.Contains(r.out, want) {
		t.Errorf("the server got %q, want %s", r.out, want)
	}
}

// A server that is noisy, progresses, changes its tools or asks for folders is lived with.
func TestLivingWithAServer(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	call := func(t *testing.T, tool string, more ...string) []line {
		t.Helper()
		args := append([]string{"call", "s", tool, "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted("--banner", "Server v1 running on stdio"))}, more...)
		return lines(t, steward(t, args...).mustExit(t, 0).out)
	}
	t.Run("noise", func(t *testing.T) {
		t.Parallel()
		found := false
		for _, n := range only(call(t, "noisy"), "notice") {
			found = found || n.str("kind") == "server_noise" && n.str("server") == "s" && strings.Contains(n.str("message"), "Server v1 running")
		}
		if !found {
			t.Error("the banner is not told as server_noise")
		}
	})
	t.Run("progress", func(t *testing.T) {
		t.Parallel()
		all := only(call(t, "slow"), "progress")
		if len(all) == 0 || strings.Join(all[0].keys, " ") != "event call progress total message" || all[len(all)-1].value["progress"] != 5.0 || all[0].value["total"] != 5.0 {
			t.Errorf("progress:\n%s", texts(all))
		}
	})
	t.Run("roots", func(t *testing.T) {
		t.Parallel()
		if res := one(t, call(t, "roots", "--root", root), "result"); !strings.Contains(res.text, root) {
			t.Errorf("the server was told %s", res.text)
		}
	})
	t.Run("a folder that is none", func(t *testing.T) {
		t.Parallel()
		steward(t, "call", "s", "echo", "--root", root+"/none", "--data", t.TempDir(), "--servers", serversFile(t, scripted())).mustExit(t, 2).mustSay(t, root+"/none")
	})
}

// A definition that changes during the turn blocks its tool, also for a server that
// counts as reviewed.
func TestAChangedDefinitionIsBlocked(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.CallTool("redefines", "{}"), scriptedmodel.CallTool("s__echo", `{"text":"x"}`), scriptedmodel.Say("Blocked."))
	all := lines(t, steward(t, with(flags, "ask", "go", "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted()))...).mustExit(t, 0).out)
	for _, res := range only(all, "result") {
		for _, c := range only(all, "call") {
			if c.str("id") == res.str("call") && c.str("tool") == "echo" && res.str("outcome") == "ok" {
				t.Errorf("the changed tool ran: %s", res.text)
			}
		}
	}
	found := false
	for _, n := range only(all, "notice") {
		found = found || n.str("kind") == "server_unreviewed"
	}
	if !found {
		t.Errorf("nobody was told about the change:\n%s", texts(all))
	}
}

// One bad server is a notice; the rest of the turn goes on.
func TestOneServerMayFail(t *testing.T) {
	t.Parallel()
	servers := minimal()
	servers["missing"] = map[string]any{"command": "/nowhere/at-all"}
	servers["dies"] = map[string]any{"command": "sh", "args": []string{"-c", "echo no such db >&2; exit 3"}}
	_, flags := model(t, scriptedmodel.CallTool("get_weekly_report", weekly), scriptedmodel.Say("Done."))
	all := lines(t, steward(t, with(flags, "ask", "go", "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, servers))...).mustExit(t, 0).out)
	failed := map[string]bool{}
	for _, n := range only(all, "notice") {
		if n.str("kind") == "server_failed" {
			failed[n.str("server")] = true
		}
	}
	if !failed["missing"] || !failed["dies"] || one(t, all, "result").str("outcome") != "ok" {
		t.Errorf("lines:\n%s", texts(all))
	}
}

func TestRoundLimit(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Rounds: &scriptedmodel.Rounds{N: 100, Tool: "echo", Arguments: []byte(`{"text":"{{n}}"}`)}})
	r := steward(t, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--max-rounds", "3", "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted("--only", "echo")))
	if got := len(m.Requests()); got > 4 {
		t.Errorf("the model was asked %d times with --max-rounds 3", got)
	}
	if turn := one(t, lines(t, r.out), "turn"); turn.str("state") == "finished" && turn.str("error") == "" && r.code == 0 && len(only(lines(t, r.out), "notice")) == 0 {
		t.Errorf("nobody was told about the limit: %s", r.out)
	}
}
