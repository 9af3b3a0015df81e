package waiting

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/ui/language"
)

const booking = `{"message":"Whose trip?","requestedSchema":{"type":"object","properties":{` +
	`"zeta":{"type":"string","title":"Name","minLength":2},` +
	`"age":{"type":"integer","minimum":0,"maximum":150,"default":41},` +
	`"window":{"type":"boolean","default":true},` +
	`"day":{"type":"string","format":"date"},` +
	`"room":{"type":"string","enum":["sea","city"],"enumNames":["Sea view","City view"]},` +
	`"extras":{"type":"array","items":{"type":"string","enum":["a,b","c"]}},` +
	`"password":{"type":"string"}},"required":["zeta"]}}`

var onlyForms = app.Policy{Calls: consent.Allow}

func TestAFormIsFilledInAndSent(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", "tool:book=@ask elicitation/create "+booking, "--step", "tool:book=@text ${answer}")
	r.call(context.Background(), "book", "{}")
	item := r.item(consent.KindElicitation)
	c := r.seen(item)
	b := c.body.(*formBody)
	got := shownText(c)
	order := -1
	for _, want := range []string{"Name *", "age", "window", "day", "room", "Sea view (sea)", "extras", "\npassword"} {
		at := strings.Index(got, want)
		if at < order {
			t.Errorf("%q is not where the server has it, in %q", want, got)
		}
		order = max(order, at)
	}
	if !strings.Contains(got, "mail") || !strings.Contains(got, "Whose trip?") || !strings.Contains(got, "secret") {
		t.Errorf("the card says %q", got)
	}
	if !b.accept.off {
		t.Error("an incomplete form can be sent")
	}
	set := func(name, value string) {
		t.Helper()
		if refused := b.form.Set(map[string]json.RawMessage{name: json.RawMessage(value)}); refused != nil {
			t.Fatalf("%s is refused", name)
		}
		b.keep()
		c.update()
	}
	set("zeta", `"x"`)
	if !b.accept.off || len(b.form.Problems()) != 1 {
		t.Error("a name that is too short can be sent")
	}
	set("zeta", `"Ada"`)
	set("room", `"city"`)
	set("extras", `["a,b"]`)
	// The card goes and comes again in another place.
	c.Close()
	c = r.seen(item)
	b = c.body.(*formBody)
	if b.accept.off {
		t.Fatalf("the draft is lost: %s", b.form.Values())
	}
	b.submit()
	r.over(c)
	if len(r.d.Drafts) != 0 {
		t.Error("what was typed is kept after it was sent")
	}
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	want := `{"zeta":"Ada","age":41,"window":true,"room":"city","extras":["a,b"]}`
	if got := r.result(item.Record); got.Action != "accept" || string(got.Content) != want {
		t.Errorf("sent: %s %s", got.Action, got.Content)
	}
}

// result is how a question stands in the record.
func (r *rig) result(record int64) (out struct {
	Action  string
	Content json.RawMessage
}) {
	r.t.Helper()
	shown, err := r.app.Journal().Show(context.Background(), record)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(shown.Result, &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

func TestAFormIsDeclinedOrCancelled(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms})
	for action, do := range map[string]func(*formBody){
		"decline": func(b *formBody) { test.Tap(b.decline) },
		"cancel":  func(b *formBody) { b.escape() },
	} {
		r.call(context.Background(), "elicit", "{}")
		item := r.item(consent.KindElicitation)
		c := r.show(item) // these may be given at once
		do(c.body.(*formBody))
		r.over(c)
		if err := r.ended(); err != nil {
			t.Fatal(err)
		}
		if got := r.result(item.Record); got.Action != action || len(got.Content) != 0 {
			t.Errorf("sent: %s %s, want %s", got.Action, got.Content, action)
		}
	}
}

func TestAnAddressIsShownWhole(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms}, "--step",
		`tool:in=@ask elicitation/create {"mode":"url","message":"Sign in","url":"https://login.paypal.com.evil.example/in?next=https://paypal.com","elicitationId":"e1"}`, "--step", "tool:in=@text ${answer}")
	r.call(context.Background(), "in", "{}")
	item := r.item(consent.KindElicitation)
	c := r.seen(item)
	b := c.body.(*formBody)
	if got := shownText(c); !strings.Contains(got, "https://login.paypal.com.evil.example/in?next=https://paypal.com") {
		t.Errorf("shown: %q", got)
	}
	if before, after, ok := cutHost("https://login.paypal.com.evil.example/in", "login.paypal.com.evil.example"); !ok || before != "https://" || after != "/in" {
		t.Errorf("cut into %q and %q", before, after)
	}
	if _, _, ok := cutHost("mailto:x", "x"); ok {
		t.Error("an address without a host has one")
	}
	test.Tap(b.decline)
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
}

const everyKind = `{"message":"All of them","requestedSchema":{"type":"object","required":["name","mail","age","maybe","tags"],"properties":{` +
	`"name":{"type":"string","title":"Name","minLength":2,"maxLength":5},` +
	`"code":{"type":"string","pattern":"^[A-Z]{3}$"},` +
	`"mail":{"type":"string","format":"email"},` +
	`"site":{"type":"string","format":"uri"},` +
	`"day":{"type":"string","format":"date"},` +
	`"at":{"type":"string","format":"date-time"},` +
	`"story":{"type":"string","maxLength":2000},` +
	`"ratio":{"type":"number","minimum":0.5,"maximum":2},` +
	`"age":{"type":"integer","minimum":18},` +
	`"yes":{"type":"boolean","default":false},` +
	`"plain":{"type":"string","enum":["a","b"]},` +
	`"titled":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},` +
	`"many":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"x","title":"Ex"},{"const":"y","title":"Why"},{"const":"z","title":"Zed"}]}},` +
	`"tags":{"type":"array","minItems":1,"items":{"type":"string"}},` +
	`"sizes":{"type":"array","items":{"type":"number"}},` +
	`"maybe":{"type":["integer","null"]}}}}`

// Every kind of field that the protocol has is asked for, checked while it is filled in, and sent as it should be.
func TestEveryKindOfField(t *testing.T) {
	for _, tongue := range []string{"en", "zh-Hans"} {
		t.Run(tongue, func(t *testing.T) { everyKindIn(t, tongue) })
	}
	if err := language.Load("en"); err != nil {
		t.Error(err)
	}
}

func everyKindIn(t *testing.T, tongue string) {
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", "tool:all=@ask elicitation/create "+everyKind, "--step", "tool:all=@text ${answer}")
	r.call(context.Background(), "all", "{}")
	item := r.item(consent.KindElicitation)
	c := r.seen(item)
	b := c.body.(*formBody)
	missing := map[string]bool{}
	for _, p := range b.form.Problems() {
		missing[p.Name] = true
	}
	for _, name := range []string{"name", "mail", "age", "tags"} {
		if !missing[name] {
			t.Errorf("%s may be missing", name)
		}
	}
	if missing["maybe"] || missing["many"] {
		t.Error("what may be left out has to be filled in")
	}
	good := map[string]string{"name": `"Ada"`, "code": `"ABC"`, "mail": `"a@example.com"`, "site": `"https://example.com/x"`, "day": `"2025-03-17"`, "at": `"2025-03-17T09:30:00Z"`,
		"story": `"two\nlines"`, "ratio": "1.5", "age": "20", "plain": `"b"`, "titled": `"l"`, "many": `["x","z"]`, "tags": `["one","two"]`, "sizes": "[1,2.5]"}
	set := func(name, value string) {
		t.Helper()
		if refused := b.form.Set(map[string]json.RawMessage{name: json.RawMessage(value)}); refused != nil {
			t.Errorf("%s = %s is refused by its control", name, value)
		}
	}
	for name, value := range good {
		set(name, value)
	}
	c.update()
	if b.accept.off {
		t.Errorf("cannot be sent: %v", b.form.Problems())
	}
	for name, bad := range map[string]string{"name": `"A"`, "code": `"abc"`, "mail": `"nobody"`, "site": `"example"`, "day": `"2025-02-31"`, "at": `"yesterday"`, "ratio": "9", "age": "17", "many": `["x","y","z"]`} {
		set(name, bad)
		c.update()
		p := b.form.Problems()
		if len(p) != 1 || p[0].Name != name || !b.accept.off {
			t.Errorf("%s = %s: %v", name, bad, p)
		} else if chinese := strings.ContainsFunc(p[0].Text, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 }); chinese != (tongue == "zh-Hans") {
			t.Errorf("%s = %s says %q", name, bad, p[0].Text)
		}
		set(name, good[name])
	}
	c.update()
	b.submit()
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	want := `{"name":"Ada","code":"ABC","mail":"a@example.com","site":"https://example.com/x","day":"2025-03-17","at":"2025-03-17T09:30:00Z","story":"two\nlines","ratio":1.5,"age":20,"yes":false,"plain":"b","titled":"l","many":["x","z"],"tags":["one","two"],"sizes":[1,2.5],"maybe":null}`
	if got := r.result(item.Record); string(got.Content) != want {
		t.Errorf("sent %s", got.Content)
	}
}

// Escape in a field leads to Cancel, and only there cancels; a note of a declined form stands in the record alone.
func TestEscapeInAFormAndANote(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", "tool:book=@ask elicitation/create "+booking, "--step", "tool:book=@text ${answer}")
	r.call(context.Background(), "book", "{}")
	item := r.item(consent.KindElicitation)
	c := r.seen(item)
	b := c.body.(*formBody)
	if !b.form.FocusField("zeta") {
		t.Fatal("the first field takes no keyboard")
	}
	r.press(fyne.KeyEscape)
	if c.busy || r.window.Canvas().Focused() != fyne.Focusable(b.cancel) {
		t.Fatalf("Escape in a field leads to %T", r.window.Canvas().Focused())
	}
	test.Tap(b.note.open)
	b.note.entry.SetText("I do not know this server.")
	b.note.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	shown, err := r.app.Journal().Show(context.Background(), item.Record)
	if err != nil || !strings.Contains(shown.Reason, "I do not know") {
		t.Errorf("the record's reason is %q, %v", shown.Reason, err)
	}
	wire, err := os.ReadFile(r.record)
	if err != nil || strings.Contains(string(wire), "I do not know") {
		t.Errorf("the note was sent: %s, %v", wire, err)
	}
}

// An address that could be taken for another one is warned of in the person's language; nothing is opened unasked.
func TestOddAddressesAreWarnedOf(t *testing.T) {
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
	}()
	for tongue, want := range map[string][3]string{
		"en":      {"The host is a number instead of a name.", "mixes letters of different scripts", "its real name is xn--"},
		"zh-Hans": {"主机是一个数字", "混用了不同文字的字母", "真正的名称是 xn--"},
	} {
		if err := language.Load(tongue); err != nil {
			t.Fatal(err)
		}
		for i, address := range []string{"https://93.184.216.34/in", "https://аpple.example/in", "https://пример.example/in"} {
			r := newRig(t, app.Options{Policy: onlyForms}, "--step", `tool:go=@ask elicitation/create {"mode":"url","message":"m","url":"`+address+`","elicitationId":"e"}`, "--step", "tool:go=@text ${answer}")
			r.call(context.Background(), "go", "{}")
			c := r.seen(r.item(consent.KindElicitation))
			if got := shownText(c); !strings.Contains(got, want[i]) {
				t.Errorf("%s in %s: %q", address, tongue, got)
			}
			c.body.escape()
			r.over(c)
			if err := r.ended(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
