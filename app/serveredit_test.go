package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
)

// entryOf is an entry that starts this test binary as a server.
func entryOf(t *testing.T, name, kind string, flags ...string) ServerEntry {
	t.Helper()
	m := self(t, kind, flags...)
	return ServerEntry{Name: name, Transport: "stdio", Command: m["command"].(string), Args: m["args"].([]string), Env: m["env"].(map[string]string)}
}

func (r *rig) server(name string) ServerStatus {
	r.t.Helper()
	list := must(r.t, func() ([]ServerStatus, error) { return r.app.Servers(context.Background()) })
	i := slices.IndexFunc(list, func(s ServerStatus) bool { return s.Name == name })
	if i < 0 {
		return ServerStatus{}
	}
	return list[i]
}

func (r *rig) trust(name string) {
	r.t.Helper()
	ctx := context.Background()
	review := must(r.t, func() (Review, error) { return r.app.Review(ctx, name) })
	must(r.t, func() (Review, error) { return r.app.Trust(ctx, name, review.Hash) })
}

// A server's whole life in the window: added, reviewed, used, changed, switched off and
// on, restarted, removed.
func TestTheLifeOfAServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil, calls("never", "{}"), say("after"))
	check(t, r.app.AddServer(ctx, entryOf(t, "s", "scripted", "--only", "echo", "--only", "never")))
	if s := r.server("s"); s.State != ServerUnreviewed || s.Reviewed || !s.Enabled || !s.Editable || s.Tools != -1 {
		t.Errorf("added it is %+v", s)
	}
	if len(r.app.host.Connections()) != 0 {
		t.Error("adding a server started it")
	}
	if err := r.app.StartServer(ctx, "s"); Explain(err).Key != "server_unreviewed" {
		t.Errorf("it was started without a review: %v", err)
	}
	r.trust("s")
	r.server("s")
	r.until("what it offers is found out", func() bool { s := r.server("s"); return s.Prompts >= 0 && s.Latency > 0 })
	if s := r.server("s"); s.State != "ready" || s.Tools != 2 || s.Prompts != 1 || s.Templates != 1 || s.Pending != 0 || s.Protocol == "" || s.Since.IsZero() || !strings.Contains(s.Title, "scripted") {
		t.Errorf("reviewed it is %+v", s)
	}
	// what waits is withdrawn when its server is changed
	turn := r.send(Draft{Text: "call"})
	item := r.waiting()
	changed := entryOf(t, "s", "scripted", "--only", "echo")
	check(t, r.app.EditServer(ctx, "s", changed))
	// It is refused because it was withdrawn, or a moment earlier because its server does not run any more.
	if err := r.app.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow}); err == nil {
		t.Error("what belongs to the old settings was allowed")
	}
	r.done(turn)
	if err := r.app.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow}); !errors.Is(err, consent.ErrGone) {
		t.Errorf("after the change the call still waits: %v", err)
	}
	if s := r.server("s"); s.State != ServerUnreviewed {
		t.Errorf("changed it is %s", s.State)
	}
	r.trust("s")
	check(t, r.app.EnableServer(ctx, "s", false))
	if s := r.server("s"); s.State != ServerDisabled || s.Enabled || len(r.app.host.Connections()) != 0 {
		t.Errorf("switched off it is %+v with %d connections", s, len(r.app.host.Connections()))
	}
	check(t, r.app.EnableServer(ctx, "s", true))
	r.until("it comes back", func() bool { return r.server("s").State == "ready" })
	since := r.server("s").Since
	check(t, r.app.RestartServer(ctx, "s"))
	if s := r.server("s"); s.State != "ready" || !s.Since.After(since) {
		t.Errorf("restarted it is %+v", s)
	}
	check(t, r.app.SetToolEnabled(ctx, "s", "echo", false), r.app.RemoveServer(ctx, "s"))
	if s := r.server("s"); s.Name != "" || len(r.app.host.Connections()) != 0 {
		t.Errorf("removed it is %+v", s)
	}
	check(t, r.app.AddServer(ctx, changed))
	if s := r.server("s"); s.State != ServerUnreviewed {
		t.Errorf("another one of the same name is %s", s.State)
	}
	r.until("it is told", func() bool { return r.heard(func(e event.Event) bool { return e == event.ServersChanged{} }) })
}

// A server that is removed takes along what was allowed to it: one that later has its name is
// asked about again. What denies under a condition is no permission, and what belongs to others stays.
func TestPermissionsGoWithTheirServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	e := entryOf(t, "s", "scripted", "--only", "echo", "--only", "never")
	check(t, r.app.AddServer(ctx, e))
	r.trust("s")
	ended := make(chan error, 1)
	go func() { _, err := r.app.Call(ctx, "s", "echo", `{"text":"a"}`); ended <- err }()
	r.answer(consent.Answer{Action: consent.Allow, Scope: consent.Always})
	check(t, <-ended, r.app.SetPermission(ctx, "s", "never", PermissionDeny))
	condition := json.RawMessage(`{"arguments":{"text":{"prefix":"x"}}}`)
	for _, effect := range []string{PermissionAllow, PermissionDeny} {
		must(t, func() (string, error) {
			return r.app.SaveRule(ctx, Rule{Effect: effect, Server: "s", Tool: "echo", Condition: condition})
		})
	}
	must(t, func() (string, error) {
		return r.app.SaveRule(ctx, Rule{Effect: PermissionAllow, Server: "other", Tool: "never"})
	})
	check(t, r.app.RemoveServer(ctx, "s"))
	if grants := must(t, func() ([]Grant, error) { return r.app.Grants(ctx) }); len(grants) != 0 {
		t.Errorf("it left the grants %+v", grants)
	}
	left := map[string]bool{}
	for _, rule := range must(t, func() ([]Rule, error) { return r.app.Rules(ctx) }) {
		left[rule.Server+" "+rule.Effect+" "+string(rule.Condition)] = true
	}
	if len(left) != 2 || !left["other allow "] || !left["s deny "+string(condition)] {
		t.Errorf("it left the rules %v", left)
	}
}

// A server that is given another name leaves nothing behind that another one of its old name could use.
func TestNothingStaysUnderAnOldName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	e := entryOf(t, "old", "scripted", "--only", "echo")
	check(t, r.app.AddServer(ctx, e))
	r.trust("old")
	check(t, r.app.SetPermission(ctx, "old", "echo", PermissionAllow), r.app.SetSamplingLimits(ctx, "old", SamplingLimits{PerHour: 3}))
	renamed := e
	renamed.Name = "new"
	e.Name = "new"
	e.ToolTimeout = 5 * time.Second
	check(t, r.app.EditServer(ctx, "old", renamed), r.app.EditServer(ctx, "new", e)) // the second one keeps its name, and everything
	r.trust("new")
	check(t, r.app.SetPermission(ctx, "new", "echo", PermissionAllow), r.app.EditServer(ctx, "new", renamed))
	e.Name = "old"
	check(t, r.app.AddServer(ctx, e))
	if s := r.server("old"); s.State != ServerUnreviewed || r.app.SamplingLimits("old") != (SamplingLimits{}) {
		t.Errorf("another server of the old name is %s, with %+v", s.State, r.app.SamplingLimits("old"))
	}
	rules := must(t, func() ([]Rule, error) { return r.app.Rules(ctx) })
	if len(rules) != 1 || rules[0].Server != "new" || !r.server("new").Reviewed {
		t.Errorf("the rules are %+v", rules)
	}
}

// What takes a safeguard away stands in the record when it holds, and not only a moment later.
func TestWhatIsAllowedFromNowOnIsRecordedFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")})
	must(t, func() (Outcome, error) { // so that it runs
		check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
		return r.app.Call(ctx, "s", "echo", `{"text":"a"}`)
	})
	recorded := func(kind journal.Kind) int {
		return len(must(t, func() ([]journal.Record, error) {
			return r.app.Journal().List(ctx, journal.Filter{Kind: string(kind), Server: "s"})
		}))
	}
	for name, change := range map[string]func() error{
		"twice":      func() error { return r.app.SetToolTwice(ctx, "s", "echo", true) },
		"once":       func() error { return r.app.SetToolTwice(ctx, "s", "echo", false) },
		"off":        func() error { return r.app.SetToolEnabled(ctx, "s", "echo", false) },
		"reads only": func() error { return r.app.SetToolReadOnly(ctx, "s", "echo", true) },
		"not only":   func() error { return r.app.SetToolReadOnly(ctx, "s", "echo", false) },
		"allowed":    func() error { return r.app.SetPermission(ctx, "s", "echo", PermissionAllow) },
		"rule":       func() error { _, err := r.app.SaveRule(ctx, Rule{Effect: PermissionDeny, Server: "s"}); return err },
		"trusted":    func() error { return r.app.SetSamplingLimits(ctx, "s", SamplingLimits{Trusted: 1, TrustedTokens: 1}) },
	} {
		before := recorded(journal.KindSettings)
		check(t, change())
		if n := recorded(journal.KindSettings); n != before+1 {
			t.Errorf("%s: %d changes were recorded", name, n-before)
		}
	}
	before := recorded(journal.KindDefinition)
	r.trust("s")
	if n := recorded(journal.KindDefinition); n != before+1 {
		t.Errorf("%d reviews were recorded", n-before)
	}
}

// A switch changes nothing else of an entry that somebody changed in the file meanwhile.
func TestASwitchKeepsWhatWasChangedInTheFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	check(t, r.app.AddServer(ctx, ServerEntry{Name: "s", Transport: "stdio", Command: "true", Args: []string{"before"}}))
	path := filepath.Join(r.app.dir, serversName)
	data := must(t, func() ([]byte, error) { return os.ReadFile(path) })
	check(t, os.WriteFile(path, bytes.Replace(data, []byte("before"), []byte("after"), 1), 0o600), r.app.EnableServer(ctx, "s", false))
	d := must(t, func() (ServerDetail, error) { return r.app.ServerNow(ctx, "s") })
	if d.Enabled || !slices.Equal(d.Entry.Args, []string{"after"}) {
		t.Errorf("it is now %+v", d.Entry)
	}
}

// Two changes at once: the list that was read first does not come to stand over the other.
func TestTheListThatWasReadLastStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	list := func(name string) serverList {
		return serverList{source: sourceFolder, servers: []config.Server{{Name: name, Transport: "stdio", Command: "true", Disabled: true}}}
	}
	reading, other, first := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(first)
		_, _, _ = r.app.servers.reload(t.Context(), func() (serverList, error) {
			close(reading)
			select {
			case <-other:
			case <-time.After(100 * time.Millisecond):
			}
			return list("old"), nil
		})
	}()
	<-reading
	_, _, _ = r.app.servers.reload(t.Context(), func() (serverList, error) { return list("new"), nil })
	close(other)
	<-first
	if now := r.app.servers.now().servers; len(now) != 1 || now[0].Name != "new" {
		t.Errorf("the list is %+v", now)
	}
}

// Only times changed: nothing must be reviewed again, and it runs on with the new ones.
func TestAChangeThatStartsNothingElse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	e := entryOf(t, "s", "scripted", "--only", "echo")
	check(t, r.app.AddServer(ctx, e))
	r.trust("s")
	e.ToolTimeout, e.Sampling = 7*time.Second, true
	check(t, r.app.EditServer(ctx, "s", e))
	r.until("it runs again", func() bool { return r.server("s").State == "ready" })
	cfg := r.app.host.Connections()[0].Config()
	if cfg.ToolTimeout != 7*time.Second || !cfg.Sampling {
		t.Errorf("it runs with %+v", cfg)
	}
}

// The demo server does not vanish with the first server of the person's own, and needs no
// review; it can be removed.
func TestTheDemoStaysBesideOthers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	r.close()
	exe, err := os.Executable()
	check(t, err)
	r.o.DemoServer = []string{exe, "-test.run=^$"}
	r.open()
	if s := r.server(DemoServerName); !s.BuiltIn || !s.Reviewed {
		t.Fatalf("at first it is %+v", s)
	}
	check(t, r.app.AddServer(ctx, entryOf(t, "mine", "scripted")))
	for range 2 {
		if s := r.server(DemoServerName); !s.BuiltIn || !s.Reviewed || !s.Editable {
			t.Errorf("beside another it is %+v", s)
		}
		if s := r.server("mine"); s.Reviewed || s.BuiltIn {
			t.Errorf("the other is %+v", s)
		}
		r.reopen()
	}
	other := entryOf(t, DemoServerName, "scripted")
	check(t, r.app.EditServer(ctx, DemoServerName, other))
	if s := r.server(DemoServerName); s.Reviewed || s.BuiltIn {
		t.Errorf("another program under its name is %+v", s)
	}
	check(t, r.app.RemoveServer(ctx, DemoServerName))
	if s := r.server(DemoServerName); s.Name != "" {
		t.Errorf("removed it is %+v", s)
	}
}

// Keys never stand in the file; what the window shows of an entry can be saved again.
func TestSecretsOfAServerAreMoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	e := entryOf(t, "s", "scripted")
	e.Args = append(e.Args, "--api-key="+key+"1")
	e.Env["API_TOKEN"] = key + "2"
	check(t, r.app.AddServer(ctx, e))
	check(t, r.app.AddServer(ctx, ServerEntry{Name: "web", URL: "https://host.example/mcp?token=" + key + "3&page=1", Headers: map[string]string{"Authorization": "Bearer " + key + "4"}}))
	file := func() string {
		data, err := os.ReadFile(filepath.Join(r.app.DataDir(), "servers.json"))
		check(t, err)
		return string(data)
	}
	if text := file(); strings.Contains(text, key) || !strings.Contains(text, `"Bearer ${secret:web.Authorization}"`) || !strings.Contains(text, "token=${secret:web.token}&page=1") || !strings.Contains(text, "--api-key=${secret:s.api-key}") {
		t.Errorf("the file is\n%s", text)
	}
	names := must(t, func() ([]string, error) { return r.app.SecretNames(ctx) })
	if !slices.Equal(names, []string{"s.API_TOKEN", "s.api-key", "web.Authorization", "web.token"}) {
		t.Errorf("the secrets are %v", names)
	}
	if v := must(t, func() (string, error) { return r.app.secrets.Expand(ctx, "${secret:s.API_TOKEN}") }); v != key+"2" {
		t.Errorf("it is kept as %q", v)
	}
	// one that somebody wrote into the file by hand is not shown, and survives an edit
	write(t, filepath.Join(r.app.DataDir(), "servers.json"), `{"mcpServers":{"h":{"url":"https://h.example/m","headers":{"X-Api-Key":"`+key+`5"}}}}`)
	check(t, r.app.ReloadServers(ctx))
	d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "h") })
	if raw, err := json.Marshal(d); err != nil || strings.Contains(string(raw), key) {
		t.Errorf("the window was given %s, %v", raw, err)
	}
	d.Entry.Sampling = true
	check(t, r.app.EditServer(ctx, "h", d.Entry))
	if v := must(t, func() (string, error) { return r.app.secrets.Expand(ctx, "${secret:h.X-Api-Key}") }); v != key+"5" || strings.Contains(file(), key) {
		t.Errorf("after the edit it is %q in\n%s", v, file())
	}
}

func TestEntriesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	good := entryOf(t, "s", "scripted")
	check(t, r.app.AddServer(ctx, good))
	for _, err := range []error{r.app.AddServer(ctx, good), r.app.AddServer(ctx, ServerEntry{Name: "x"}), r.app.EditServer(ctx, "none", ServerEntry{Name: "none", Command: "x"}), r.app.RemoveServer(ctx, "none")} {
		if Explain(err).Key != "server_entry" {
			t.Errorf("%v", err)
		}
	}
	if err := r.app.EnableServer(ctx, "none", true); Explain(err).Key != "server_unknown" {
		t.Error(err)
	}
	given := newRig(t, map[string]any{"s": self(t, "scripted")})
	if err := given.app.AddServer(ctx, entryOf(t, "n", "scripted")); Explain(err).Key != "servers_fixed" {
		t.Errorf("a file given for the run was changed: %v", err)
	}
	if s := given.server("s"); s.Editable {
		t.Error("a server given for the run seems to be editable")
	}
	write(t, filepath.Join(r.app.DataDir(), "servers.json"), `{"mcpServers":{"odd":{"command":5},"fine":{"command":"x"}}}`)
	check(t, r.app.ReloadServers(ctx))
	if s := r.server("odd"); s.State != ServerUnusable || len(s.Problems) == 0 {
		t.Errorf("an entry that cannot be used is %+v", s)
	}
	if d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "odd") }); d.State != ServerUnusable {
		t.Errorf("its page is %+v", d)
	}
}

func TestWhatIsKnownOfOneServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--step", "tool:loud=@stderr hello there", "--step", "tool:loud=@text x"), "bad": map[string]any{"command": "/nowhere/at-all"}})
	check(t, r.app.StartServer(ctx, "s"), r.app.SetPermission(ctx, "s", "loud", PermissionAllow), r.app.SetPermission(ctx, "s", "echo", PermissionDeny))
	if out, err := r.app.Call(ctx, "s", "loud", "{}"); err != nil || out.Outcome != "ok" {
		t.Fatalf("%+v, %v", out, err)
	}
	d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "s") })
	tools := map[string]ServerTool{}
	for _, s := range d.ServerTools {
		tools[s.Tool.Tool] = s
	}
	if tools["loud"].Permission != PermissionAllow || tools["echo"].Permission != PermissionDeny || tools["add"].Permission != PermissionAsk || tools["loud"].Rule == "" || tools["loud"].State != "same" || !tools["loud"].Enabled || tools["loud"].Tokens == 0 {
		t.Errorf("%+v", tools["loud"])
	}
	r.until("its stderr is read", func() bool { return strings.Contains(r.app.ServerStderr("s"), "hello there") })
	if len(d.Frames) == 0 || len(d.Log) == 0 || len(d.Doctor) < 4 || d.OfferError != "" || d.Prompts != 1 || len(d.ResourceList) != 1 {
		t.Errorf("%d frames, %d lines, %v, %q, %d prompts", len(d.Frames), len(d.Log), d.Doctor, d.OfferError, d.Prompts)
	}
	if !slices.ContainsFunc(r.app.ServerFrames("s"), func(f Frame) bool { return f.Direction == "out" && strings.Contains(string(f.Bytes), "tools/call") }) {
		t.Error("the call is not among the frames")
	}
	if err := r.app.StartServer(ctx, "bad"); err == nil {
		t.Error("what is not there was started")
	}
	bad := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "bad") })
	if bad.State != "failed" || bad.Error == "" || len(bad.Doctor) < 2 || bad.Doctor[1].OK {
		t.Errorf("%+v", bad)
	}
	if _, err := r.app.Server(ctx, "none"); Explain(err).Key != "server_unknown" {
		t.Error(err)
	}
}

func TestWhatIsImported(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"Claude Desktop", `{"mcpServers":{"a":{"command":"x"},"b":{"command":"y","args":["-z"]}},"globalShortcut":""}`, "a b"},
		{"VS Code", `{"inputs":[{"id":"k"}],"servers":{"a":{"type":"http","url":"https://h/m","headers":{"K":"${input:k}"}}}}`, "a"},
		{"VS Code's settings", "{// comment\n\"editor\":1,\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\"}}}}", "a"},
		{"the object of servers", `{"a":{"command":"x"},"b":{"url":"https://h/m"}}`, "a b"},
		{"a piece of it", `"a": {"command":"x"},`, "a"},
		{"the member alone", `"mcpServers": {"a":{"command":"x"}}`, "a"},
		{"one server", `{"command":"/usr/bin/my-server","args":[]}`, "my-server"},
		{"the inside of one", `"command": "npx", "args": ["-y","x"]`, "npx"},
		{"an address", `{"url":"https://host.example/mcp"}`, "host.example"},
	} {
		got, err := ParseImport([]byte(tc.text))
		var names []string
		for _, s := range got.Servers {
			names = append(names, s.Name)
		}
		if err != nil || strings.Join(names, " ") != tc.want {
			t.Errorf("%s: %v, %v", tc.name, names, err)
		}
	}
	for _, bad := range []string{"", "hello", "{", `{"theme":"dark"}`, "[]"} {
		if got, err := ParseImport([]byte(bad)); keyOf(err) != "import" {
			t.Errorf("%q gave %+v, %v", bad, got, err)
		}
	}
	got, err := ParseImport([]byte(`{"mcpServers":{"a":{"command":5},"b":{"command":"x"}}}`))
	if err != nil || len(got.Servers) != 1 || len(got.Problems) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	home := t.TempDir()
	place := filepath.Join(home, ".config", "Claude", "claude_desktop_config.json")
	check(t, os.MkdirAll(filepath.Dir(place), 0o700))
	write(t, place, `{"mcpServers":{"a":{"command":"x"}}}`)
	found := importPlaces("linux", home, func(string) string { return "" })
	if len(found) != 1 || found[0].Path != place {
		t.Errorf("found %+v", found)
	}
	if got, err := ReadImport(place); err != nil || len(got.Servers) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ReadImport(home); err == nil {
		t.Error("a folder was read")
	}
	if usable, problems := CheckServer(config.Server{Name: "n", Command: "npx -y x"}); !usable || len(problems) != 1 {
		t.Errorf("%v %v", usable, problems)
	}
}

// keyOf is the key of an error, or nothing where there is none.
func keyOf(err error) string {
	if err == nil {
		return ""
	}
	return Explain(err).Key
}

// What a person wants out of the file goes to the secrets, whatever it looks like; what
// looks like a secret is said before it is moved.
func TestAPersonChoosesWhatIsKeptSecret(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	e := ServerEntry{Name: "s", Command: "prog", Env: map[string]string{"REGION": "north", "MODE": "fast", "HOME_DIR": "${HOME}", "API_KEY": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}
	shown, names := HideSecrets(e)
	if !slices.Equal(names, []string{"s.API_KEY"}) || shown.Env["API_KEY"] != "${secret:s.API_KEY}" || e.Env["API_KEY"][:3] != "ghp" {
		t.Errorf("%v are said to be moved, %v is shown", names, shown.Env)
	}
	kept := must(t, func() (ServerEntry, error) {
		return r.app.KeepInSecrets(ctx, e, []string{"REGION", "HOME_DIR", "NONE"})
	})
	if kept.Env["REGION"] != "${secret:s.REGION}" || kept.Env["MODE"] != "fast" || kept.Env["HOME_DIR"] != "${HOME}" || e.Env["REGION"] != "north" {
		t.Errorf("kept %v of %v", kept.Env, e.Env)
	}
	if v := must(t, func() (string, error) { return r.app.secrets.Expand(ctx, "${secret:s.REGION}") }); v != "north" {
		t.Errorf("it is kept as %q", v)
	}
	if _, err := r.app.KeepInSecrets(ctx, ServerEntry{Name: "x", Env: map[string]string{"A": "v"}}, []string{"A"}); Explain(err).Key != "server_entry" {
		t.Errorf("a secret of an entry that cannot be used was kept: %v", err)
	}
}
