package servers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/event"
	"steward/ui/form"
	"steward/ui/language"
)

func setNever(ctx context.Context, a *app.App) error {
	return a.SetPermission(ctx, "scripted", "echo", app.PermissionDeny)
}

// told is a source of which a test decides everything.
type told struct {
	list  []app.ServerStatus
	err   error
	lists int
	asked []string
}

func (s *told) Servers(context.Context) ([]app.ServerStatus, error) { s.lists++; return s.list, s.err }
func (s *told) ServerNow(_ context.Context, name string) (app.ServerDetail, error) {
	s.asked = append(s.asked, name)
	return app.ServerDetail{ServerStatus: app.ServerStatus{Name: name}}, s.err
}

// later is work that waits until a test lets it run.
type later []func(context.Context)

func (l *later) run(f func(context.Context)) { *l = append(*l, f) }
func (l *later) all() {
	for len(*l) > 0 {
		f := (*l)[0]
		*l = (*l)[1:]
		f(context.Background())
	}
}

func TestManyEventsAreReadOnce(t *testing.T) {
	from := &told{list: []app.ServerStatus{{Name: "a"}, {Name: "b"}}}
	var work later
	p := newPresenter(from, func(f func()) { f() }, work.run)
	p.readList()
	work.all()
	if p.chosen != "a" || !p.detailed {
		t.Fatalf("%q is chosen", p.chosen)
	}
	from.lists, from.asked = 0, nil
	for range 100 {
		p.heard(event.Server{Server: "b", State: "ready"})
		p.heard(event.ServersChanged{})
	}
	p.heard(event.SettingsChanged{What: "endpoints"})
	work.all()
	if from.lists != 2 || len(from.asked) != 2 {
		t.Errorf("the list was read %d times and the server %d times", from.lists, len(from.asked))
	}
}

func TestALateAnswerDoesNotShowTheServerBefore(t *testing.T) {
	from := &told{list: []app.ServerStatus{{Name: "a"}, {Name: "b"}}}
	var work later
	p := newPresenter(from, func(f func()) { f() }, work.run)
	p.readList()
	work.all()
	p.readDetail() // of a, still on its way
	p.choose("b")
	if p.detailed {
		t.Error("what is known of one server is shown for another")
	}
	work.all()
	if p.detail.Name != "b" {
		t.Errorf("%q is shown", p.detail.Name)
	}
	from.list = from.list[:1]
	p.readList()
	work.all()
	if p.chosen != "a" || p.detail.Name != "a" {
		t.Errorf("after the chosen server went, %q is chosen", p.chosen)
	}
	from.err = errTest
	p.readList()
	work.all()
	if p.listErr == nil || len(p.list) != 1 || p.chosen != "a" {
		t.Error("a list that cannot be read takes away what is known")
	}
}

func TestOneThingAtATimeIsDoneToAServer(t *testing.T) {
	var work later
	p := newPresenter(&told{}, func(f func()) { f() }, work.run)
	n := 0
	for range 3 {
		p.act("a", "restart", func(context.Context) error { n++; return errTest }, func(err error) {
			if err == nil {
				t.Error("the error is lost")
			}
		})
	}
	work.all()
	if n != 1 || p.doing["a"] != "" {
		t.Errorf("it was done %d times", n)
	}
}

func TestFieldsOfASchema(t *testing.T) {
	const schema = `{"type":"object","required":["z","n"],"properties":{
		"z":{"type":"string","title":"Zed","minLength":2,"default":"x"},
		"n":{"type":["integer","null"],"minimum":1,"maximum":12345678901234567890},
		"d":{"type":"string","format":"date-time"},
		"e":{"enum":["a",1,null]},
		"o":{"oneOf":[{"const":"k","title":"Kay"},{"const":"l"}]},
		"m":{"type":"array","items":{"type":"string","enum":["p","q"]},"maxItems":2},
		"b":{"type":"boolean"},"f":{"type":"number"},
		"x":{"type":"object","properties":{"y":{"type":"string"}}},
		"u":{"anyOf":[{"type":"string"},{"type":"number"}]},"t":true}}`
	fields, ok := formFields(json.RawMessage(schema))
	if !ok {
		t.Fatal("there is no form")
	}
	want := []string{"z string", "n integer", "d datetime", "e choice", "o choice", "m choices", "b boolean", "f number", "x json", "u json", "t json"}
	var got []string
	for _, f := range fields {
		got = append(got, f.Name+" "+string(f.Kind))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !fields[0].Required || fields[2].Required || fields[0].MinLength != 2 || fields[1].Max != "12345678901234567890" || string(fields[3].Choices[1].Value) != "1" || fields[4].Choices[0].Title != "Kay" {
		t.Errorf("limits or choices are lost: %+v", fields)
	}
	for _, s := range []string{`{"type":"object","oneOf":[]}`, `{"$ref":"#/x","type":"object"}`, `true`, `{"type":"object","properties":{"a":true,"a":true}}`, `[`} {
		if _, ok := formFields(json.RawMessage(s)); ok {
			t.Errorf("a form is made of %s", s)
		}
	}
	if f, ok := formFields(json.RawMessage(`{"type":"object"}`)); !ok || len(f) != 0 {
		t.Error("a tool without arguments has no empty form")
	}
}

func TestArgumentsKeepOrderAndDigits(t *testing.T) {
	fields := []form.Field{{Name: "z"}, {Name: `a"<`}, {Name: "gone"}}
	got, err := arguments(fields, map[string]json.RawMessage{`a"<`: json.RawMessage(`"<&>"`), "z": json.RawMessage("1.50")})
	if want := `{"z":1.50,"a\"<":"<&>"}`; err != nil || got != want {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

// An entry goes through the form and comes out as it was, with what the form does not ask for.
func TestAnEntrySurvivesItsForm(t *testing.T) {
	for _, e := range []app.ServerEntry{
		{Name: "a", Transport: stdio, Command: "npx", Args: []string{"-y", " two  blanks ", `"q"`}, Env: map[string]string{"A": "b=c", "S": "${secret:x}"}, Cwd: "/w", Roots: []string{"/r"}, Sampling: true, ToolTimeout: 5},
		{Name: "b", Transport: stdio, Command: "sh", Args: []string{"-c", "a\nb", ""}},
		{Name: "c", Transport: http, URL: "https://x.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${secret:t}"}, StartTimeout: 7},
		{Name: "d", Transport: sse, URL: "http://x.example", AllowHTTP: true, Disabled: true},
	} {
		transport := stdio
		if e.URL != "" {
			transport = http
		}
		values := map[string]json.RawMessage{}
		for _, f := range entryFields(transport, e) {
			if f.Default != nil {
				values[f.Name] = f.Default
			}
		}
		before, got := entryLines(e), entryLines(entryFrom(transport, e, values))
		if !slices.Equal(before, got) {
			t.Errorf("%s became %s", before, got)
		}
	}
	if badLine("A=1\nB", "=") != "B" || badLine("=x", "=") != "=x" || badLine("A=\n\n", "=") != "" {
		t.Error("a line without a name is not found")
	}
}

func TestTreeOfResources(t *testing.T) {
	res := []app.Resource{{URI: "file:///b/two.txt", Name: "two"}, {URI: "file:///a/one.txt", Name: "one"}, {URI: "file:///b/three.txt", Name: "three"}, {URI: "memo:x"}}
	templates := []app.Resource{{URITemplate: "file:///a/{name}"}}
	lines := func(filter string, closed map[string]bool) string {
		var out []string
		for _, n := range tree(res, templates, filter, closed) {
			if n.resource == nil {
				out = append(out, n.folder)
			} else {
				out = append(out, "-"+address(*n.resource))
			}
		}
		return strings.Join(out, " ")
	}
	if got, want := lines("", nil), "file:///a/ -file:///a/one.txt -file:///a/{name} file:///b/ -file:///b/three.txt -file:///b/two.txt memo: -memo:x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := lines("TWO", map[string]bool{"file:///b/": true}), "file:///b/ -file:///b/two.txt"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := lines("", map[string]bool{"file:///b/": true}); strings.Contains(got, "three") {
		t.Errorf("a folded folder shows %s", got)
	}
}

func TestFrameWords(t *testing.T) {
	test.NewTempApp(t)
	if err := language.Load("en"); err != nil {
		t.Fatal(err)
	}
	for frame, want := range map[string]string{
		`{"id":1,"method":"tools/call"}`: "tools/call  #1", `{"id":"a","result":{}}`: `result  #"a"`, `{"id":2,"error":{}}`: "error  #2", "noise": "noise",
	} {
		if got := frameWords(app.Frame{Bytes: []byte(frame)}); !strings.HasPrefix(got, want) {
			t.Errorf("%s is said as %s", frame, got)
		}
	}
}

// What was never reviewed has not changed.
func TestNewIsNotChanged(t *testing.T) {
	newDesk(t, "light", "en", map[string]any{}, true)
	for want, s := range map[string]app.ServerStatus{
		"52 new — review": {Pending: 52, New: 52}, "2 changed — review": {Pending: 2}, "3 new or changed — review": {Pending: 3, New: 1},
	} {
		s.State, s.Tools, s.Reviewed = "ready", -1, true
		if got, _ := secondLine(s, "", time.Now()); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
