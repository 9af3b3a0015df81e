package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
)

// note is a drawn text; its height is what wrapping would make of it.
type note struct {
	canvas.Rectangle
	text string
	role Role
}

func (n *note) HeightFor(width float32) float32 {
	return 18 * float32(math.Ceil(float64(len(n.text))*7/float64(width)))
}

func draw(text string, role Role) fyne.CanvasObject { return &note{text: text, role: role} }

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func choices(values ...string) []Option {
	var out []Option
	for _, v := range values {
		out = append(out, Option{Value: quote(v), Title: strings.ToUpper(v)})
	}
	return out
}

func show(t *testing.T, f *Form) fyne.Window {
	w := test.NewTempWindow(t, f)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(420, 900))
	return w
}

// values is what would be sent, in the order of the names.
func values(f *Form) string {
	var out []string
	v := f.Values()
	for _, name := range slices.Sorted(maps.Keys(v)) {
		out = append(out, name+"="+string(v[name]))
	}
	return strings.Join(out, " ")
}

func TestWhatIsTypedBecomesJSON(t *testing.T) {
	huge := strings.Repeat("9", 200)
	for _, c := range []struct {
		field Field
		text  string
		want  string // JSON, or "!" for a complaint
	}{
		{Field{Kind: String}, `a "b" <c> & 字`, `"a \"b\" <c> & 字"`},
		{Field{Kind: String}, " ", `" "`},
		{Field{Kind: String, MinLength: 3}, "字字", "!"},
		{Field{Kind: String, MaxLength: 2}, "字字", `"字字"`},
		{Field{Kind: String, MaxLength: 2}, "字字字", "!"},
		{Field{Kind: String}, "\xff", "!"},
		{Field{Kind: Text}, "a\nb\t", `"a\nb\t"`},
		{Field{Kind: Integer}, " +007 ", "7"},
		{Field{Kind: Integer}, huge, huge},
		{Field{Kind: Integer}, "-0", "0"},
		{Field{Kind: Integer}, "1.0", "!"},
		{Field{Kind: Integer}, "1e3", "!"},
		{Field{Kind: Integer}, "", "!"},
		{Field{Kind: Integer}, "--1", "!"},
		{Field{Kind: Integer}, "-+1", "!"},
		{Field{Kind: Integer}, strings.Repeat("9", 5000), "!"},
		{Field{Kind: Integer, Max: "9007199254740993"}, "9007199254740993", "9007199254740993"},
		{Field{Kind: Integer, Max: "9007199254740992"}, "9007199254740993", "!"},
		{Field{Kind: Integer, Min: "1"}, "0", "!"},
		{Field{Kind: Number}, "0.10", "0.10"},
		{Field{Kind: Number}, ".5", "0.5"},
		{Field{Kind: Number}, "1e-3", "1e-3"},
		{Field{Kind: Number}, "1,5", "!"},
		{Field{Kind: Number}, "NaN", "!"},
		{Field{Kind: Number}, "0x10", "!"},
		{Field{Kind: Number}, "1e999999999", "!"},
		{Field{Kind: Number}, "1e5000", "!"},
		{Field{Kind: Number}, "1 2", "!"},
		{Field{Kind: Number, Min: "0.1"}, "0.1", "0.1"},
		{Field{Kind: Number, Max: "0.3"}, "0.30000000000000001", "!"},
		{Field{Kind: Boolean}, "true", "true"},
		{Field{Kind: Boolean}, "yes", "!"},
		{Field{Kind: Choice, Choices: choices("a", "b")}, `"b"`, `"b"`},
		{Field{Kind: Choice, Choices: choices("a", "b")}, `"c"`, "!"},
		{Field{Kind: Choices, Choices: choices("a", "b"), MaxItems: 1}, `["a","b"]`, "!"},
		{Field{Kind: Choices, Choices: choices("a", "b"), MinItems: 1}, `[]`, "!"},
		{Field{Kind: Choices, Choices: choices("a", "b")}, `["a","c"]`, "!"},
		{Field{Kind: Date}, "2024-02-29", `"2024-02-29"`},
		{Field{Kind: Date}, "2025-02-29", "!"},
		{Field{Kind: Date}, "17.3.2025", "!"},
		{Field{Kind: DateTime}, "2025-03-17t14:30:00z", `"2025-03-17T14:30:00Z"`},
		{Field{Kind: DateTime}, "2025-03-17", "!"},
		{Field{Kind: JSON}, ` {"a": [1, 9007199254740993]} `, `{"a":[1,9007199254740993]}`},
		{Field{Kind: JSON}, `{"a"}`, "!"},
		{Field{Kind: JSON}, `{} {}`, "!"},
		{Field{Kind: String, Check: func(s string) error { return errors.New("no") }}, "x", "!"},
	} {
		got, err := c.field.parse(c.text)
		if (err != nil) != (c.want == "!") || (err == nil && string(got) != c.want) {
			t.Errorf("%s %.40q gave %.60s, %v; want %.60s", c.field.Kind, c.text, got, err, c.want)
		}
	}
	at, err := (&Field{Kind: DateTime}).parse("2025-03-17 14:30")
	if err != nil || !strings.HasPrefix(string(at), `"2025-03-17T14:30:00`) || len(at) < len(`"2025-03-17T14:30:00Z"`) {
		t.Errorf("a local time became %s, %v", at, err)
	}
}

func TestUntouchedOptionalFieldsAreLeftOut(t *testing.T) {
	f := New([]Field{
		{Name: "a", Kind: String}, {Name: "b", Kind: Boolean}, {Name: "c", Kind: Choice, Choices: choices("x")},
		{Name: "d", Kind: Choices, Choices: choices("x")}, {Name: "e", Kind: Integer, Default: raw("90071992547409931")},
		{Name: "f", Kind: Boolean, Default: raw("false")}, {Name: "g", Kind: String, Required: true},
		{Name: "h", Kind: Choices, Required: true, Choices: choices("x", "y"), Default: raw(`[ "\u0079" ]`)},
		{Name: "i", Kind: Integer, Default: raw(`"three"`)},
	}, draw)
	show(t, f)
	if got := values(f); got != `e=90071992547409931 f=false h=[ "\u0079" ]` {
		t.Errorf("untouched: %s", got)
	}
	if p := f.Problems(); len(p) != 1 || p[0].Name != "g" {
		t.Errorf("problems %v", p)
	}
	f.row("a").entry.SetText("x")
	f.row("a").entry.SetText("")
	f.row("b").options.toggle(1)
	f.row("c").options.toggle(0)
	f.row("c").options.toggle(0) // taken back
	if got := values(f); got != `b=false e=90071992547409931 f=false h=[ "\u0079" ]` {
		t.Errorf("touched: %s", got)
	}
}

func complaintOf(f *Form, name string) string {
	r := f.row(name)
	if r.complaint == nil {
		return ""
	}
	return r.complaint.(*note).text
}

func TestComplaintsComeAfterTheFieldWasLeft(t *testing.T) {
	f := New([]Field{{Name: "n", Kind: Integer, Max: "10", Required: true}, {Name: "s", Kind: String}}, draw)
	w := show(t, f)
	resized, changed := 0, 0
	f.OnResize = func() { resized++ }
	f.OnChange = func() { changed++ }
	e := f.row("n").entry
	w.Canvas().Focus(e)
	w.Canvas().Focus(f.row("s").entry)
	if complaintOf(f, "n") != "" {
		t.Error("who only passed by is told off")
	}
	w.Canvas().Focus(e)
	test.Type(e, "1x")
	if complaintOf(f, "n") != "" {
		t.Error("complains while the answer is being typed for the first time")
	}
	before := f.MinSize().Height
	w.Canvas().Focus(f.row("s").entry)
	if complaintOf(f, "n") == "" || resized != 1 || f.MinSize().Height <= before {
		t.Errorf("left: complaint %q, told of %d new heights", complaintOf(f, "n"), resized)
	}
	e.SetText("11")
	if c := complaintOf(f, "n"); !strings.Contains(c, "10") {
		t.Errorf("too big a number: %q", c)
	}
	e.SetText("9")
	if complaintOf(f, "n") != "" || f.MinSize().Height != before || changed != 4 {
		t.Errorf("put right: %q, %d changes", complaintOf(f, "n"), changed)
	}
	f.Complain("n", "the server wants another")
	if len(f.Problems()) != 1 || complaintOf(f, "n") == "" {
		t.Error("a complaint from elsewhere is not shown")
	}
	e.SetText("8")
	if len(f.Problems()) != 0 || complaintOf(f, "n") != "" {
		t.Error("a complaint from elsewhere outlives its answer")
	}
}

func TestCheckShowsEverythingAndGoesToTheFirst(t *testing.T) {
	f := New([]Field{{Name: "a", Kind: String}, {Name: "b", Kind: Integer, Required: true}, {Name: "c", Kind: Date, Required: true}}, draw)
	w := show(t, f)
	if f.Check() || complaintOf(f, "b") == "" || complaintOf(f, "c") == "" || complaintOf(f, "a") != "" {
		t.Error("what is missing is not shown")
	}
	if w.Canvas().Focused() != fyne.Focusable(f.row("b").entry) {
		t.Error("the person is not put into the first field")
	}
	if refused := f.Set(map[string]json.RawMessage{"b": raw("3"), "c": raw(`"2025-01-01"`), "x": raw("1"), "a": raw("{}")}); len(refused) != 2 {
		t.Errorf("refused %v", refused)
	}
	if !f.Check() || values(f) != `b=3 c="2025-01-01"` {
		t.Errorf("filled in: %s", values(f))
	}
}

func TestDraftsSurvive(t *testing.T) {
	fields := []Field{
		{Name: "s", Kind: Secret}, {Name: "n", Kind: Integer}, {Name: "c", Kind: Choices, Choices: choices("x", "y")},
		{Name: "b", Kind: Boolean, Default: raw("true")}, {Name: "j", Kind: JSON, Default: raw("[1]")},
	}
	f := New(fields, draw)
	w := show(t, f)
	f.row("s").entry.SetText("geheim")
	f.row("n").entry.SetText("4x")
	w.Canvas().Focus(f.row("n").entry)
	w.Canvas().Focus(f.row("s").entry)
	f.row("c").options.toggle(1)
	f.row("b").options.toggle(0)
	f.row("j").entry.SetText("")
	g := New(fields, draw)
	show(t, g)
	g.Restore(f.State())
	if values(g) != values(f) || complaintOf(g, "n") == "" || g.row("n").entry.Text != "4x" || !g.Touched() {
		t.Errorf("restored %s, was %s", values(g), values(f))
	}
	if values(f) != `c=["y"] s="geheim"` {
		t.Errorf("the draft is %s", values(f))
	}
}

func TestTheKeyboardIsEnough(t *testing.T) {
	f := New([]Field{
		{Name: "a", Kind: String, Required: true}, {Name: "b", Kind: Boolean, Required: true},
		{Name: "c", Kind: Choices, Choices: choices("red", "green", "blue")}, {Name: "d", Kind: Date}, {Name: "t", Kind: Text},
	}, draw)
	w := show(t, f)
	key := func(names ...fyne.KeyName) {
		for _, n := range names {
			w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: n})
		}
	}
	w.Canvas().FocusNext()
	test.Type(w.Canvas().Focused(), "me")
	key(fyne.KeyReturn) // goes on
	key(fyne.KeyRight, fyne.KeySpace)
	w.Canvas().FocusNext()
	key(fyne.KeySpace, fyne.KeyEnd, fyne.KeySpace)
	w.Canvas().Focused().TypedRune('g')
	key(fyne.KeySpace, fyne.KeySpace)
	w.Canvas().FocusNext()
	test.Type(w.Canvas().Focused(), "2024-02-28")
	key(fyne.KeyUp, fyne.KeyUp)
	w.Canvas().FocusNext()
	key(fyne.KeyReturn)
	if got := values(f); got != `a="me" b=false c=["red","blue"] d="2024-03-01" t="\n"` {
		t.Errorf("the answers are %s", got)
	}
	w.Canvas().FocusPrevious()
	w.Canvas().FocusPrevious()
	key(fyne.KeyDelete)
	if _, there := f.Values()["c"]; there {
		t.Error("an answer cannot be taken back by keyboard")
	}
	sent := 0
	f.OnSubmit = func() { sent++ }
	f.FocusField("a")
	key(fyne.KeyReturn)
	if sent != 1 {
		t.Error("Enter does not submit")
	}
}

func TestARequiredChoiceCannotBeEmptiedByChoosingItAgain(t *testing.T) {
	f := New([]Field{{Name: "c", Kind: Choice, Required: true, Choices: choices("x", "y")}}, draw)
	show(t, f)
	o := f.row("c").control.(*optionGroup)
	o.Tapped(&fyne.PointEvent{Position: fyne.NewPos(20, 40)})
	o.toggle(1)
	if values(f) != `c="y"` {
		t.Errorf("the answer is %s", values(f))
	}
}

func TestManyChoicesAreFiltered(t *testing.T) {
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprint("city ", i))
	}
	drawn := 0
	f := New([]Field{{Name: "c", Kind: Choice, Choices: choices(many...)}}, func(text string, role Role) fyne.CanvasObject {
		drawn++
		return draw(text, role)
	})
	w := show(t, f)
	if drawn > 40 {
		t.Errorf("%d texts were drawn", drawn)
	}
	o := f.row("c").control.(*optionList)
	w.Canvas().FocusNext()
	if w.Canvas().Focused() != fyne.Focusable(o.filter) {
		t.Fatal("the filter is not the first stop")
	}
	test.Type(o.filter, "CITY 499")
	o.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if got := values(f); got != `c="city 4990"` {
		t.Errorf("the answer is %s", got)
	}
	o.filter.SetText("city 4999")
	o.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if got := values(f); got != `c="city 4999"` {
		t.Errorf("Enter on the only match gives %s", got)
	}
}

func TestSecretsAreWarnedOf(t *testing.T) {
	f := New([]Field{{Name: "p", Kind: Secret}, {Name: "q", Kind: String, LooksSecret: true}, {Name: "r", Kind: String}}, draw)
	show(t, f)
	for name, want := range map[string]bool{"p": true, "q": true, "r": false} {
		r := f.row(name)
		if (r.warning != nil) != want || (want && r.warning.(*note).role != Warning) {
			t.Errorf("warning of %s: %v", name, r.warning)
		}
	}
	if !f.row("p").entry.Password {
		t.Error("a secret is shown")
	}
}

func TestLongValuesAreKeptAndLongPastesTold(t *testing.T) {
	long := quote(strings.Repeat("字", MaxText))
	f := New([]Field{{Name: "l", Kind: Text, Default: long}}, draw)
	show(t, f)
	e := f.row("l").entry
	if e.Text != "" || complaintOf(f, "l") == "" || string(f.Values()["l"]) != string(long) {
		t.Error("a long value is not kept aside as it is")
	}
	longer := quote(strings.Repeat("信", MaxText))
	f.Set(map[string]json.RawMessage{"l": longer})
	g := New([]Field{{Name: "l", Kind: Text}}, draw)
	g.Restore(f.State())
	if string(g.Values()["l"]) != string(longer) {
		t.Errorf("a long value is lost in a draft: %.40s", g.Values()["l"])
	}
	clip := test.NewClipboard()
	clip.SetContent(strings.Repeat("x", MaxText+1))
	e.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if !strings.Contains(complaintOf(f, "l"), fmt.Sprint(MaxText)) {
		t.Errorf("a long paste is not told: %q", complaintOf(f, "l"))
	}
	e.SetText("short")
	if complaintOf(f, "l") != "" || values(f) != `l="short"` {
		t.Errorf("typed over it: %.40s", values(f))
	}
}

func TestPartsStandBelowEachOtherAtEveryWidth(t *testing.T) {
	f := New([]Field{
		{Name: "a", Title: strings.Repeat("long ", 30), Description: strings.Repeat("words ", 50), Kind: String},
		{Name: "b", Kind: Choice, Choices: choices(strings.Repeat("wide ", 40), "y")}, {Name: "c", Kind: Boolean, LooksSecret: true},
	}, draw)
	show(t, f)
	for _, width := range []float32{300, 1500, 420} {
		f.Resize(fyne.NewSize(width, 2000))
		bottom := float32(0)
		for _, o := range test.WidgetRenderer(f).Objects() {
			if o.Position().Y < bottom || o.Size().Height <= 0 {
				t.Fatalf("at width %v a part %v high begins at %v, above %v", width, o.Size().Height, o.Position().Y, bottom)
			}
			if want := heightFor(o, width-2*inset); o.Size().Height != want {
				t.Errorf("at width %v a part is %v high, want %v", width, o.Size().Height, want)
			}
			bottom = o.Position().Y + o.Size().Height
		}
		if h := f.HeightFor(width); h < bottom || h > bottom+10 || f.MinSize().Height != h {
			t.Errorf("at width %v the form is %v high and ends at %v", width, h, bottom)
		}
	}
}
