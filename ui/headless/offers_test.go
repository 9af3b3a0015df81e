package headless

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestWhatTheDemoServerOffers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	tools := array(t, steward(t, "tools", "--data", data).mustExit(t, 0).out)
	names := map[string]bool{}
	for _, l := range tools {
		names[l.str("tool")] = true
		if got := strings.Join(l.keys, " "); got != "name server tool title description inputSchema annotations definition enabled tokens" {
			t.Errorf("keys of a tool: %q", got)
		}
		if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(l.str("name")) || l.str("server") != "demo" || l.value["enabled"] != true || l.value["tokens"].(float64) <= 0 {
			t.Errorf("tool: %s", l.text)
		}
	}
	for _, want := range []string{"get_weekly_report", "weather_current", "calculator_arithmetic", "search_flights", "find_best_flight", "book_trip"} {
		if !names[want] {
			t.Errorf("the tool %s is not listed", want)
		}
	}
	prompts := array(t, steward(t, "prompts", "--data", data).mustExit(t, 0).out)
	found := false
	for _, l := range prompts {
		found = found || l.str("name") == "plan-vacation" && l.str("server") == "demo" && len(l.value["arguments"].([]any)) == 4
	}
	if !found {
		t.Errorf("prompts: %s", texts(prompts))
	}
	var uris []string
	for _, l := range array(t, steward(t, "resources", "--data", data).mustExit(t, 0).out) {
		uris = append(uris, l.str("uri")+l.str("uriTemplate"))
	}
	for _, want := range []string{"calendar://events/2024", "weather://forecast/{city}/{date}", "travel://activities/{city}/{category}"} {
		if !strings.Contains(strings.Join(uris, " "), want) {
			t.Errorf("%s is not among the resources: %v", want, uris)
		}
	}
}

// A server of the folder's own list is unknown to the model until the person has read
// what it offers; what changes afterwards is blocked again.
func TestReviewAndTrust(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	writeServers(t, filepath.Join(data, "servers.json"), minimal())
	enabled := func() any {
		t.Helper()
		tools := array(t, steward(t, "tools", "--data", data).mustExit(t, 0).out)
		if len(tools) == 0 {
			return false
		}
		return tools[0].value["enabled"]
	}
	if enabled() != false {
		t.Error("the model would see a tool that nobody has reviewed")
	}
	call := []string{"call", "weekly-report", "get_weekly_report", weekly, "--consent", "allow", "--data", data}
	steward(t, call...).mustExit(t, 1).mustSay(t, "review")
	review := steward(t, "servers", "review", "weekly-report", "--data", data).mustExit(t, 0).out
	for _, want := range []string{"NEW", "get_weekly_report", "inputSchema", "steward servers trust weekly-report"} {
		if !strings.Contains(review, want) {
			t.Errorf("the review does not show %q:\n%s", want, review)
		}
	}
	if enabled() != false {
		t.Error("reading alone has trusted the server")
	}
	steward(t, "servers", "trust", "weekly-report", "--data", data).mustExit(t, 0)
	if enabled() != true {
		t.Error("the model does not see a trusted tool")
	}
	steward(t, call...).mustExit(t, 0)
	if row := array(t, steward(t, "servers", "list", "--json", "--data", data).mustExit(t, 0).out)[0]; row.value["reviewed"] != true {
		t.Errorf("list: %s", row.text)
	}
	changed := map[string]any{"weekly-report": map[string]any{"command": binaries.minimal, "args": []string{"--another"}}}
	writeServers(t, filepath.Join(data, "servers.json"), changed)
	if enabled() != false {
		t.Error("a changed command line kept the trust that was given to another one")
	}
	if row := array(t, steward(t, "servers", "list", "--json", "--data", data).mustExit(t, 0).out)[0]; row.value["reviewed"] != false {
		t.Errorf("list after the change: %s", row.text)
	}
	steward(t, "servers", "review", "nobody", "--data", data).mustExit(t, 1).mustSay(t, "nobody", "weekly-report")
}

func TestDoctorExplainsEachServer(t *testing.T) {
	t.Parallel()
	servers := minimal()
	servers["missing"] = map[string]any{"command": "/nowhere/at-all"}
	servers["dies"] = map[string]any{"command": "sh", "args": []string{"-c", "echo no such db: /x.db >&2; exit 3"}}
	servers["off"] = map[string]any{"command": "x", "disabled": true}
	file := serversFile(t, servers)
	r := steward(t, "doctor", "--json", "--servers", file, "--data", t.TempDir()).mustExit(t, 1)
	byName := map[string]line{}
	for _, l := range array(t, r.out) {
		byName[l.str("server")] = l
		if got := strings.Join(l.keys, " "); got != "server ok state protocol checks" {
			t.Errorf("keys: %q", got)
		}
		for _, c := range l.value["checks"].([]any) {
			if got := strings.Join(keys(t, jsonText(c)), " "); got != "check hint message ok" { // sorted by the round trip
				t.Errorf("keys of a check: %q", got)
			}
		}
	}
	if !strings.Contains(r.out, `{"check":"config","ok":true,"message":`) {
		t.Errorf("the order of a check's keys is not check, ok, message, hint: %s", r.out)
	}
	if l := byName["weekly-report"]; l.value["ok"] != true || l.str("state") != "ready" || l.str("protocol") != "2024-11-05" {
		t.Errorf("weekly-report: %s", l.text)
	}
	if l := byName["missing"]; l.value["ok"] != false || l.str("state") != "failed" || !strings.Contains(l.text, `"check":"program","ok":false`) || !strings.Contains(l.text, "/nowhere/at-all") {
		t.Errorf("missing: %s", l.text)
	}
	if l := byName["dies"]; l.value["ok"] != false || !strings.Contains(l.text, "no such db: /x.db") || !strings.Contains(l.text, "3") {
		t.Errorf("dies: %s", l.text)
	}
	if l := byName["off"]; l.str("state") != "disabled" {
		t.Errorf("off: %s", l.text)
	}
	text := steward(t, "doctor", "weekly-report", "--servers", file, "--data", t.TempDir()).mustExit(t, 0).out
	if !strings.Contains(text, "weekly-report: ready") || strings.Contains(text, "missing") {
		t.Errorf("doctor of one server: %s", text)
	}
	steward(t, "doctor", "nobody", "--servers", file, "--data", t.TempDir()).mustExit(t, 1).mustSay(t, "nobody")
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	if out := steward(t, "version").mustExit(t, 0).out; !regexp.MustCompile(`^steward \S+\n$`).MatchString(out) {
		t.Errorf("version: %q", out)
	}
	help := steward(t, "--help").mustExit(t, 0).out
	for _, name := range commandOrder {
		if !strings.Contains(help, "steward "+name) {
			t.Errorf("help does not name %s", name)
		}
	}
	for _, args := range [][]string{{"help", "ask"}, {"ask", "--help"}, {"ask", "hello", "-h"}} {
		part := steward(t, args...).mustExit(t, 0).out
		if !strings.HasPrefix(part, "steward ask ") || !strings.Contains(part, "--attach") || strings.Contains(part, "--search") || strings.Contains(part, "steward journal") {
			t.Errorf("%v: %s", args, part)
		}
	}
	steward(t, "help", "frobnicate").mustExit(t, 2).mustSay(t, "no command")
	steward(t).mustExit(t, 0).mustSay(t, "no display", "asked here instead")
	steward(t, "ask").mustExit(t, 2)
	if _, err := os.Stat("steward.db"); err == nil {
		t.Error("a wrong command left a file behind")
	}
}
