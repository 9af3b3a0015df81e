package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/storage"
	"steward/testdata/scriptedmodel"
)

// Permissions are rules with an id of their own; ask takes back what was granted.
// What is always allowed ends when the tool gets another definition, and says so.
func TestAPermissionEndsWithTheDefinition(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")})
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	tool := func() ServerTool {
		return must(t, func() (ServerDetail, error) { return r.app.ServerNow(ctx, "s") }).ServerTools[0]
	}
	if p := tool(); p.Permission != PermissionAllow || p.Rule == "" {
		t.Errorf("allowed it is %q", p.Permission)
	}
	rule := must(t, func() ([]Rule, error) { return r.app.Rules(ctx) })[0]
	if !strings.Contains(string(rule.Condition), tool().Definition) {
		t.Fatalf("the rule asks %s of %s", rule.Condition, tool().Definition)
	}
	rule.Condition = must(t, func() (json.RawMessage, error) { return consent.WhileDefined("sha256:before") }) // as it was allowed
	must(t, func() (string, error) { return r.app.SaveRule(ctx, rule) })
	if p := tool(); p.Permission != PermissionAsk {
		t.Errorf("defined otherwise it is %q", p.Permission)
	}
	out := make(chan Outcome, 1)
	go func() { o, _ := r.app.Call(ctx, "s", "echo", `{"text":"a"}`); out <- o }()
	r.answer(consent.Answer{Action: consent.Deny})
	if o := <-out; o.By != "person" {
		t.Errorf("decided by %q", o.By)
	}
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	if rules := must(t, func() ([]Rule, error) { return r.app.Rules(ctx) }); len(rules) != 1 || rules[0].ID != rule.ID || tool().Permission != PermissionAllow {
		t.Errorf("allowed anew: %+v", rules)
	}
}

func TestPermissionsOfATool(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")})
	call := func(text string) Outcome {
		return must(t, func() (Outcome, error) { return r.app.Call(ctx, "s", "echo", `{"text":"`+text+`"}`) })
	}
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	rules := must(t, func() ([]Rule, error) { return r.app.Rules(ctx) })
	if len(rules) != 1 || rules[0].Effect != "allow" || rules[0].Created.IsZero() {
		t.Fatalf("%+v", rules)
	}
	if out := call("a"); out.Outcome != "ok" || out.By != "rule:"+rules[0].ID {
		t.Errorf("allowed: %+v", out)
	}
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionDeny))
	if out := call("b"); out.Outcome != "denied" || out.By != "rule:"+rules[0].ID {
		t.Errorf("denied: %+v", out)
	}
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAsk))
	granted := make(chan Outcome, 1)
	go func() { granted <- call("c") }()
	r.answer(consent.Answer{Action: consent.Allow, Scope: consent.Always})
	<-granted
	grants := must(t, func() ([]Grant, error) { return r.app.Grants(ctx) })
	if len(grants) != 1 || grants[0].Tool != "echo" || grants[0].Suspended {
		t.Fatalf("%+v", grants)
	}
	if out := call("d"); out.By != "grant:"+grants[0].ID {
		t.Errorf("granted: %+v", out)
	}
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAsk))
	if grants = must(t, func() ([]Grant, error) { return r.app.Grants(ctx) }); len(grants) != 0 {
		t.Errorf("ask left %+v", grants)
	}
	if rules = must(t, func() ([]Rule, error) { return r.app.Rules(ctx) }); len(rules) != 0 {
		t.Errorf("ask left %+v", rules)
	}
	for _, bad := range [][3]string{{"s", "echo", "perhaps"}, {"", "echo", "allow"}, {"s", "*", "allow"}} {
		if err := r.app.SetPermission(ctx, bad[0], bad[1], bad[2]); Explain(err).Key != "permission" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := r.app.Revoke(ctx, "g_none"); err == nil {
		t.Error("what is not there was revoked")
	}
}

func TestRulesAndWhatTheyWouldHaveDone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")})
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	var records []int64
	for _, text := range []string{"/srv/a", "/etc/b", "/srv/c"} {
		out := must(t, func() (Outcome, error) { return r.app.Call(ctx, "s", "echo", `{"text":"`+text+`"}`) })
		records = append(records, out.Record)
	}
	rule := Rule{Effect: "allow", Server: "s", Tool: "*", Condition: json.RawMessage(`{"arguments":{"text":{"prefix":"/srv/"}}}`)}
	got, total, err := r.app.TryRule(ctx, rule, time.Now().Add(-time.Hour))
	if err != nil || total != 2 || !slices.Equal(got, []int64{records[2], records[0]}) {
		t.Errorf("%v %d %v, the calls were %v", got, total, err, records)
	}
	if _, total, err := r.app.TryRule(ctx, rule, time.Now().Add(time.Hour)); err != nil || total != 0 {
		t.Errorf("later: %d %v", total, err)
	}
	id := must(t, func() (string, error) { return r.app.SaveRule(ctx, rule) })
	rule.ID, rule.Effect = id, "deny"
	must(t, func() (string, error) { return r.app.SaveRule(ctx, rule) })
	if out := must(t, func() (Outcome, error) { return r.app.Call(ctx, "s", "echo", `{"text":"/srv/d"}`) }); out.By != "rule:"+id || out.Outcome != "denied" {
		t.Errorf("%+v", out)
	}
	check(t, r.app.DeleteRule(ctx, id))
	if rules := must(t, func() ([]Rule, error) { return r.app.Rules(ctx) }); len(rules) != 1 {
		t.Errorf("%+v", rules)
	}
	for _, bad := range []Rule{{Effect: "maybe"}, {Effect: "allow", Condition: json.RawMessage(`{"argument":1}`)}, {ID: "r_none", Effect: "deny"}} {
		if _, err := r.app.SaveRule(ctx, bad); Explain(err).Key != "rule" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Several endpoints are stored, one is chosen, a conversation may use another; keys stand
// in the secrets and go to their own endpoint alone.
func TestModelEndpoints(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ok := scriptedmodel.Script{Model: "m-one", Token: "key-one-0123456789", Steps: []scriptedmodel.Step{say("from one")}, Repeat: true}
	one := scriptedmodel.StartScript(t, ok)
	two := scriptedmodel.StartScript(t, scriptedmodel.Script{Model: "m-two", Steps: []scriptedmodel.Step{say("from two")}, Repeat: true})
	r := newRig(t, map[string]any{})
	r.close()
	r.o.Endpoint = Endpoint{}
	r.open()
	if list := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) }); len(list) != 0 {
		t.Errorf("at first there are %+v", list)
	}
	must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "One", BaseURL: one.URL(), Model: "m-one"}, "key-one-0123456789")
	})
	other := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: two.URL(), Model: "m-two"}, "")
	})
	list := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) })
	if len(list) != 2 || !list[0].Chosen || !list[0].HasKey || list[1].Chosen || list[1].HasKey || list[1].Name == "" {
		t.Fatalf("%+v", list)
	}
	if raw := must(t, func() (json.RawMessage, error) { return r.app.db.Setting(ctx, endpointsKey) }); strings.Contains(string(raw), "key-one-0123456789") {
		t.Errorf("the key stands in %s", raw)
	}
	id := r.say("", "x")
	last := func() ChatMessage { m := r.messages(id); return m[len(m)-1] }
	if m := last(); m.Text != "from one" || m.Model != "m-one" {
		t.Errorf("%+v", m)
	}
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: other, Model: "m-other"}))
	r.say(id, "x")
	if m := last(); m.Text != "from two" || !strings.Contains(string(two.Requests()[0].Body), `"m-other"`) {
		t.Errorf("%+v", m)
	}
	if models := must(t, func() ([]ModelInfo, error) { return r.app.TestEndpoint(ctx, list[0], "") }); len(models) != 1 || models[0].ID != "m-one" {
		t.Errorf("its models are %v", models)
	}
	if _, err := r.app.TestEndpoint(ctx, list[0], "wrong-key-000000"); err == nil || strings.Contains(err.Error(), "wrong-key-000000") {
		t.Errorf("a wrong key: %v", err)
	}
	var tests []string
	for end := time.Now().Add(30 * time.Second); len(tests) < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) { // they are written within a moment
		tests = nil
		for _, rec := range must(t, func() ([]journal.Record, error) {
			return r.app.Journal().List(ctx, journal.Filter{Kind: string(journal.KindModel)})
		}) {
			if PurposeOf(rec) == "test" {
				tests = append(tests, rec.Outcome)
			}
		}
	}
	if !slices.Equal(tests, []string{journal.ProtocolError, journal.OK}) {
		t.Errorf("the tests are recorded as %q", tests)
	}
	if models := must(t, func() ([]string, error) { return r.app.Models(ctx, other) }); !slices.Equal(models, []string{"m-two"}) {
		t.Errorf("the other's models are %v", models)
	}
	// an address that changes to another host loses its key
	moved := list[0]
	moved.BaseURL = two.URL()
	must(t, func() (string, error) { return r.app.SaveEndpoint(ctx, moved, "") })
	if l := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) }); l[0].HasKey {
		t.Error("the key went to another host")
	}
	check(t, r.app.ChooseEndpoint(ctx, other, "m-new"))
	r.reopen()
	list = must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) })
	if len(list) != 2 || !list[1].Chosen || list[1].Model != "m-new" {
		t.Errorf("after a restart %+v", list)
	}
	check(t, r.app.DeleteEndpoint(ctx, other))
	r.say(id, "x") // its endpoint is gone: the chosen one answers
	for _, err := range []error{r.app.DeleteEndpoint(ctx, "e_none"), r.app.ChooseEndpoint(ctx, "e_none", ""), second(r.app.Models(ctx, "e_none")), second(r.app.SaveEndpoint(ctx, ModelEndpoint{ID: "e_none", BaseURL: two.URL()}, ""))} {
		if Explain(err).Key != "no_model_endpoint" {
			t.Errorf("%v", err)
		}
	}
	for _, bad := range []ModelEndpoint{{}, {BaseURL: "ftp://x"}, {BaseURL: "https://u:p@h/"}} {
		if _, err := r.app.SaveEndpoint(ctx, bad, ""); Explain(err).Key != "endpoint" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	found := must(t, func() ([]ModelEndpoint, error) {
		return r.app.findModels(ctx, []ModelPreset{{Name: "here", BaseURL: two.URL()}, {Name: "not", BaseURL: "http://127.0.0.1:1/v1"}})
	})
	if len(found) != 1 || found[0].Name != "here" || found[0].Model != "m-two" {
		t.Errorf("found %+v", found)
	}
}

// An endpoint that stands in the settings of an older folder goes on being used.
func TestTheEndpointOfOlderSettings(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("hello"))
	s := config.DefaultSettings()
	s.BaseURL, s.Model = r.model.URL(), "fake"
	check(t, r.app.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(settingsKey, s.Encode()) }))
	r.close()
	r.o.Endpoint = Endpoint{}
	r.open()
	r.say("", "x")
	if l := must(t, func() ([]ModelEndpoint, error) { return r.app.Endpoints(ctx) }); len(l) != 1 || !l[0].Chosen || l[0].Model != "fake" {
		t.Errorf("%+v", l)
	}
}

func TestSettingsSecretsAndPreferences(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("ok"))
	s := must(t, func() (Settings, error) { return r.app.Settings(ctx) })
	s.System, s.MaxRounds, s.BaseURL = "Speak plainly.", 3, "https://ignored.example"
	check(t, r.app.SaveSettings(ctx, s))
	r.say("", "x")
	if body := string(r.model.Requests()[0].Body); !strings.Contains(body, "Speak plainly.") {
		t.Errorf("the model got %s", body)
	}
	s.MaxRounds = 0
	if err := r.app.SaveSettings(ctx, s); Explain(err).Key != "settings" {
		t.Error(err)
	}
	check(t, r.app.SetSecret(ctx, "a key", "value-0123456789"))
	if names := must(t, func() ([]string, error) { return r.app.SecretNames(ctx) }); !slices.Equal(names, []string{"a key"}) {
		t.Error(names)
	}
	check(t, r.app.DeleteSecret(ctx, "a key"))
	if st := r.app.SecretState(ctx); st.Kind != secrets.KindMemory {
		t.Errorf("%+v", st)
	}
	if v := must(t, func() (string, error) { return r.app.Preference(ctx, "theme") }); v != "" {
		t.Error(v)
	}
	check(t, r.app.SetPreference(ctx, "theme", "dark\u00a0"), r.app.SetPreference(ctx, "gone", "x"), r.app.SetPreference(ctx, "gone", ""))
	if r.app.SetPreference(ctx, "big", strings.Repeat("x", maxPreference+1)) == nil {
		t.Error("a preference without end was stored")
	}
	r.until("it is told", func() bool {
		return r.heard(func(e event.Event) bool { return e == event.SettingsChanged{What: "settings"} }) && r.heard(func(e event.Event) bool { return e == event.SettingsChanged{What: "secrets"} })
	})
	r.reopen()
	if v := must(t, func() (string, error) { return r.app.Preference(ctx, "theme") }); v != "dark\u00a0" {
		t.Errorf("%q", v)
	}
	if v := must(t, func() (string, error) { return r.app.Preference(ctx, "gone") }); v != "" {
		t.Error(v)
	}
	if got := must(t, func() (Settings, error) { return r.app.Settings(ctx) }); got.System != "Speak plainly." || got.MaxRounds != 3 || got.BaseURL != "" {
		t.Errorf("%+v", got)
	}
}

// What the demo server offers beside tools, as the window uses it.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"demo": self(t, "demo")}, say("ok"))
	a := must(t, func() (Attachment, error) {
		return r.app.FillPrompt(ctx, "", "demo", "plan-vacation", map[string]string{"destination": "Oslo"})
	})
	if a.Kind != "prompt" || !strings.Contains(a.Text, "Oslo") {
		t.Errorf("%+v", a)
	}
	s := must(t, func() (Suggestions, error) {
		return r.app.CompleteArgument(ctx, Completing{Server: "demo", Prompt: "plan-vacation", Argument: "destination", Value: "B"})
	})
	if len(s.Values) == 0 || !strings.HasPrefix(strings.ToLower(s.Values[0]), "b") {
		t.Errorf("%+v", s)
	}
	d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "demo") })
	if len(d.PromptList) != 2 || len(d.ResourceList) != 2 || len(d.TemplateList) != 2 {
		t.Fatalf("%+v", d.ServerOffers)
	}
	template := d.TemplateList[0].URITemplate
	names := must(t, func() ([]string, error) { return TemplateVariables(template) })
	values := map[string]string{}
	for _, n := range names {
		got := must(t, func() (Suggestions, error) {
			return r.app.CompleteArgument(ctx, Completing{Server: "demo", Template: template, Argument: n, Known: values})
		})
		values[n] = "2025-03-17"
		if len(got.Values) > 0 {
			values[n] = got.Values[0]
		}
	}
	uri := must(t, func() (string, error) { return ExpandTemplate(template, values) })
	doc := must(t, func() (Attachment, error) { return r.app.ReadResource(ctx, "", "demo", uri) })
	if doc.Kind != "resource" || doc.Text == "" || doc.Server != "demo" {
		t.Errorf("%s is %+v", uri, doc)
	}
	id := r.done(r.send(Draft{Text: "look", Attach: []Attachment{doc}}))
	if texts, _ := r.lastRequest(); id != "finished" || !strings.Contains(texts[0], "[attached resource from the server demo") {
		t.Errorf("the model got %q", texts)
	}
	if _, err := r.app.ReadResource(ctx, "", "demo", "file:///etc/passwd"); err == nil {
		t.Error("a resource that the server does not have was read")
	}
	if _, err := r.app.FillPrompt(ctx, "", "none", "x", nil); Explain(err).Key != "server_unknown" {
		t.Error(err)
	}
}

// Whoever watches a resource hears of its changes, also after the server has come back.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"demo": self(t, "demo")})
	check(t, r.app.StartServer(ctx, "demo"))
	d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "demo") })
	i := slices.IndexFunc(d.ResourceList, func(res Resource) bool { return res.Name == "current-trips" })
	heard := make(chan struct{}, 100)
	cancel, err := r.app.Subscribe(ctx, "demo", d.ResourceList[i].URI, func() { heard <- struct{}{} })
	check(t, err)
	check(t, r.app.SetPermission(ctx, "demo", "book_trip", PermissionAllow))
	book := func() {
		t.Helper()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			if _, err := r.app.Call(ctx, "demo", "book_trip", `{"destination":"Oslo","start_date":"2030-05-01","end_date":"2030-05-04","travellers":1}`); err != nil {
				t.Error(err)
			}
		}()
		item := r.waiting()
		f := must(t, func() (*Form, error) { return NewForm(item) })
		for _, field := range f.Fields() {
			if field.Required && field.Current == "" {
				v := "1"
				if field.Kind == "yes or no" {
					v = "yes"
				}
				check(t, f.Set(field.Name, v))
			}
		}
		content, _ := f.Content()
		r.answer(consent.Answer{Action: consent.Accept, Content: content})
		<-answered
	}
	wait := func(what string) {
		t.Helper()
		select {
		case <-heard:
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was heard of " + what)
		}
	}
	other, err := r.app.Subscribe(ctx, "demo", d.ResourceList[i].URI, func() {})
	check(t, err)
	other() // who still listens goes on hearing
	time.Sleep(100 * time.Millisecond)
	book()
	wait("a booking")
	check(t, r.app.RestartServer(ctx, "demo"))
	wait("the restart")
	time.Sleep(50 * time.Millisecond) // what was heard twice does not count for the next
	for len(heard) > 0 {
		<-heard
	}
	book()
	wait("a booking after the restart")
	cancel()
	cancel()
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	rfc := map[string]string{"var": "value", "hello": "Hello World!", "half": "50%", "path": "/foo/bar", "base": "http://example.com/home/",
		"x": "1024", "y": "768", "empty": "", "list": "red,green,blue"}
	for _, tc := range []struct {
		template string
		values   map[string]string
		want     string
	}{
		{"weather://{city}/{date}", map[string]string{"city": "São Paulo/x", "date": "1"}, "weather://S%C3%A3o%20Paulo%2Fx/1"},
		{"file:///{+path}", map[string]string{"path": "a/b c"}, "file:///a/b%20c"},
		{"x://h{?q,lang}", map[string]string{"q": "a&b"}, "x://h?q=a%26b"},
		{"x://h{/seg*}", map[string]string{"seg": "a,b"}, "x://h/a/b"},
		{"x://plain", nil, "x://plain"},
		// the examples of RFC 6570, section 3.2
		{"{var}/{hello}/{half}", rfc, "value/Hello%20World%21/50%25"},
		{"{+base}index{+hello}{+half}", rfc, "http://example.com/home/indexHello%20World!50%25"},
		{"{#path,x}here{#empty}", rfc, "#/foo/bar,1024here#"},
		{"X{.var,x}{.list*}{/var:1,var}{/list*,path:4}", rfc, "X.value.1024.red.green.blue/v/value/red/green/blue/%2Ffoo"},
		{"{;x,y,empty}{?x,y,empty}{&var:3}{?undef}{?list*}", rfc, ";x=1024;y=768;empty?x=1024&y=768&empty=&var=val?list=red&list=green&list=blue"},
		{"{var:30}/{x:1}", map[string]string{"var": "陈", "x": "日本"}, "%E9%99%88/%E6%97%A5"},
	} {
		if got, err := ExpandTemplate(tc.template, tc.values); err != nil || got != tc.want {
			t.Errorf("%s gives %s, %v; want %s", tc.template, got, err, tc.want)
		}
	}
	if names, err := TemplateVariables("x://{a}/{b}{?a,c*}"); err != nil || !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("%v %v", names, err)
	}
	for _, bad := range []string{"x://{", "x://{a b}", strings.Repeat("x", maxTemplate+1)} {
		if _, err := ExpandTemplate(bad, nil); Explain(err).Key != "template" {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
	if _, err := ExpandTemplate("x://{a}", map[string]string{"a": strings.Repeat("x", maxTemplate+1)}); Explain(err).Key != "template" {
		t.Error(err)
	}
}
