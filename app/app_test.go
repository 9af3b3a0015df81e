package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/mcphost"
	"steward/storage"
)

func TestWhereServersComeFrom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hooks := Hooks{DemoServer: []string{"/self", "demo-server"}}
	l, err := readServers(t.Context(), Options{Hooks: hooks}, dir)
	if err != nil || l.source != sourceBuiltIn || len(l.servers) != 1 || l.servers[0].Name != DemoServerName || !slices.Equal(l.servers[0].Args, []string{"demo-server"}) {
		t.Errorf("without a list: %+v, %v", l, err)
	}
	folder := filepath.Join(dir, "servers.json")
	write(t, folder, `{"mcpServers":{}}`)
	if l, err = readServers(t.Context(), Options{Hooks: hooks}, dir); err != nil || l.source != sourceFolder || len(l.servers) != 0 {
		t.Errorf("an empty list is a list: %+v, %v", l, err)
	}
	write(t, folder, `{"mcpServers":{`)
	if l, err = readServers(t.Context(), Options{Hooks: hooks}, dir); err != nil || l.err == nil || len(l.servers) != 0 {
		t.Errorf("a broken list leaves the rest usable, without the demo: %+v, %v", l, err)
	}
	file := filepath.Join(dir, "mine.json")
	write(t, file, `{"mcpServers":{"a":{"command":"x"}}}`)
	if l, err = readServers(t.Context(), Options{Hooks: hooks, ServersFile: file}, dir); err != nil || l.source != sourceFile || l.servers[0].Name != "a" {
		t.Errorf("a named file: %+v, %v", l, err)
	}
	if _, err = readServers(t.Context(), Options{ServersFile: file + ".none"}, dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a named file that is not there: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever is configured as a secret, in any place, is learnt by the redactor; what is
// plainly none is not.
func TestWhatIsLearntAsASecret(t *testing.T) {
	t.Parallel()
	var learnt []string
	s := &servers{ctx: context.Background(), tell: func(event.Event) {}, env: func(string) (string, bool) { return "", false },
		learn: func(_, v string) { learnt = append(learnt, v) },
		expand: func(_ context.Context, text string) (string, error) {
			return strings.ReplaceAll(text, "${secret:X}", "from-the-keyring"), nil
		},
	}
	cfg, err := s.resolve(config.Server{
		Name: "s", Transport: config.Stdio, Command: "x", Args: []string{"--api-key=SENTINEL-arg-1", "--token", "SENTINEL-arg-2", "--mode", "fast-and-loose", "-v"},
		Env:     map[string]string{"API_TOKEN": "SENTINEL-env-1", "ACME_KEY": "SENTINEL-env-2", "MODE": "production-europe", "P": "${secret:X}"},
		Headers: map[string]string{"Authorization": "Bearer SENTINEL-header-1", "X-Team": "SENTINEL-header-2"},
		URL:     "https://user:SENTINEL-url-1@host.example/mcp?api_key=SENTINEL-url-2&page=first-page-of-all",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SENTINEL-arg-1", "SENTINEL-arg-2", "SENTINEL-env-1", "SENTINEL-env-2", "SENTINEL-header-1", "SENTINEL-header-2", "SENTINEL-url-1", "SENTINEL-url-2"} {
		if !slices.Contains(learnt, want) {
			t.Errorf("%s was not learnt", want)
		}
	}
	for _, plain := range []string{"production-europe", "fast-and-loose", "first-page-of-all"} {
		if slices.Contains(learnt, plain) {
			t.Errorf("%s was learnt, and would be replaced everywhere", plain)
		}
	}
	if cfg.Env["P"] != "from-the-keyring" || cfg.ID != "s" {
		t.Errorf("the configuration is %+v", cfg)
	}
}

func TestASecretThatCannotBeReadStopsTheStart(t *testing.T) {
	t.Parallel()
	s := &servers{ctx: context.Background(), tell: func(event.Event) {}, env: func(string) (string, bool) { return "", false }, learn: func(_, _ string) {},
		expand: func(context.Context, string) (string, error) { return "", errors.New("the keyring is locked") }}
	for _, c := range []config.Server{
		{Name: "n", Env: map[string]string{"A": "${secret:X}"}}, {Name: "n", Args: []string{"${secret:X}"}},
		{Name: "n", Headers: map[string]string{"A": "${secret:X}"}}, {Name: "n", URL: "https://h/${secret:X}"},
	} {
		if _, err := s.resolve(c); err == nil || !strings.Contains(err.Error(), "the keyring is locked") || !strings.Contains(err.Error(), "n") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Errors of every package get their key, however deep they are wrapped.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err error
		key string
	}{
		{&storage.LockedError{Dir: "/d", PID: 7}, "folder_locked"},
		{storage.ErrNewer, "folder_newer"}, {storage.ErrForeign, "folder_foreign"}, {storage.ErrDamaged, "folder_damaged"}, {storage.ErrFull, "disk_full"},
		{storage.ErrReadOnly, "folder_read_only"}, {storage.ErrNotFound, "not_found"},
		{&mcphost.StartError{Server: "s", Stage: mcphost.StageProgram, Message: "m"}, "server_start"},
		{&Message{Key: "tool_unknown"}, "tool_unknown"},
		{context.DeadlineExceeded, "took_too_long"}, {context.Canceled, "stopped"}, {fs.ErrPermission, "not_permitted"},
		{errors.New("anything else"), "other"},
	} {
		m := Explain(fmt.Errorf("doing this: %w", errors.Join(tc.err)))
		if m.Key != tc.key {
			t.Errorf("%v has the key %q, want %q", tc.err, m.Key, tc.key)
		}
	}
}

// What servers say before a turn's first event is held until that has been published,
// in order, and nothing is said while the program ends.
func TestTheTurnSpeaksFirst(t *testing.T) {
	t.Parallel()
	bus := event.NewBus()
	var got []string
	cancel := bus.Subscribe(func(e event.Event) { got = append(got, fmt.Sprintf("%T", e)) })
	b := &board{bus: bus}
	b.publish(event.Server{})
	b.publish(event.Notice{})
	bus.Publish(event.TurnStart{})
	b.release()
	b.publish(event.Server{})
	b.shut()
	b.publish(event.Notice{})
	cancel()
	if want := []string{"event.TurnStart", "event.Server", "event.Notice", "event.Server"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A server that is still starting holds up one request for a while, is told once, and
// joins as soon as it is ready.
func TestASlowServer(t *testing.T) {
	t.Parallel()
	var told []event.Event
	slow := &serverEntry{config: config.Server{Name: "slow"}, done: make(chan struct{})}
	s := &servers{list: serverList{servers: []config.Server{slow.config}}, tell: func(e event.Event) { told = append(told, e) },
		host: mcphost.New(mcphost.Options{}), entries: map[string]*serverEntry{"slow": slow}, slow: map[string]bool{}, told: map[string]string{}}
	s.waitOnce(context.Background(), nil, 10*time.Millisecond)
	if len(told) != 1 || told[0].(event.Notice).Kind != "server_slow" || told[0].(event.Notice).Server != "slow" {
		t.Fatalf("told: %v", told)
	}
	start := time.Now()
	s.waitOnce(context.Background(), nil, time.Hour)
	s.wait(context.Background(), time.Millisecond)
	if time.Since(start) > time.Minute || len(told) != 1 {
		t.Errorf("it was waited for, or told, again: %v", told)
	}
	if len(s.ready()) != 0 {
		t.Error("a server that is starting counts as ready")
	}
}

const formSchema = `{"type":"object","properties":{"ok":{"type":"boolean","default":true},"age":{"type":"integer","minimum":0},"spam":{"type":"boolean"},"r":{"type":"number"},"room":{"type":"string","enum":["sea","city"],"enumNames":["Sea view","City view"]}},"required":["ok","age"]}`

func TestAFormKeepsToTheSchema(t *testing.T) {
	t.Parallel()
	f, err := NewForm(consent.Item{Elicitation: &consent.Elicitation{Mode: "form", Schema: json.RawMessage(formSchema)}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, field := range f.Fields() {
		names = append(names, field.Name)
	}
	if !slices.Equal(names, []string{"ok", "age", "spam", "r", "room"}) {
		t.Errorf("the order is %v", names)
	}
	if len(f.Problems()) == 0 {
		t.Error("a form without its required field may not be sent")
	}
	for _, bad := range [][2]string{{"age", ""}, {"age", "2o"}, {"age", "-1"}, {"r", "1e999999"}, {"spam", "perhaps"}, {"room", "3"}, {"nothing", "x"}} {
		if err := f.Set(bad[0], bad[1]); err == nil {
			t.Errorf("%s took %q", bad[0], bad[1])
		}
	}
	for _, good := range [][2]string{{"ok", ""}, {"age", "20"}, {"spam", ""}, {"room", "2"}} {
		if err := f.Set(good[0], good[1]); err != nil {
			t.Errorf("%s refused %q: %v", good[0], good[1], err)
		}
	}
	content, shown := f.Content()
	if want := `{"ok":true,"age":20,"room":"city"}`; string(content) != want || shown != want {
		t.Errorf("content %s, shown %s, want %s", content, shown, want)
	}
	if _, err := NewForm(consent.Item{Elicitation: &consent.Elicitation{Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"object"}}}`)}}); err == nil {
		t.Error("a form with nested objects was taken")
	}
}

// An edit is fixed as compact JSON once; what is shown is what would be sent.
func TestEditedArguments(t *testing.T) {
	t.Parallel()
	call, err := consent.NewCall(consent.CallSpec{Server: "s", Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	exact, shown, err := EditedArguments(consent.Item{Call: &call}, "{ \"b\" : 1.50 ,\n \"a\": \"\\u202e\" }")
	if err != nil || exact != `{"b":1.50,"a":"\u202e"}` || strings.ContainsRune(shown, '\u202e') {
		t.Errorf("exact %q, shown %q, %v", exact, shown, err)
	}
	for _, bad := range []string{"{", "[]", "null", `{"a":1} x`} {
		if _, _, err := EditedArguments(consent.Item{Call: &call}, bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
		if CheckArguments(bad) == nil {
			t.Errorf("%q was taken for a call", bad)
		}
	}
}

func TestCommandLinesCanBeRead(t *testing.T) {
	t.Parallel()
	got := commandLine(config.Server{Command: "srv", Args: []string{"plain", "two words", "", `a"b`}})
	if want := `srv plain "two words" "" "a\"b"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A start time that somebody has set reaches the servers; the default is left to the host,
// which gives programs that download first longer.
func TestStartTimeOfTheSettings(t *testing.T) {
	t.Parallel()
	a := &App{settings: config.DefaultSettings()}
	if l := a.limits(); l.start != 0 {
		t.Errorf("the default is imposed on every server: %s", l.start)
	}
	a.settings.StartTimeout = 7 * time.Second
	s := &servers{ctx: context.Background(), tell: func(event.Event) {}, learn: func(_, _ string) {}, limits: a.limits()}
	for _, tc := range []struct{ own, want time.Duration }{{0, 7 * time.Second}, {time.Second, time.Second}} {
		if cfg, err := s.resolve(config.Server{Name: "n", Command: "x", StartTimeout: tc.own}); err != nil || cfg.StartTimeout != tc.want {
			t.Errorf("an entry's %s gives %s, %v", tc.own, cfg.StartTimeout, err)
		}
	}
}
