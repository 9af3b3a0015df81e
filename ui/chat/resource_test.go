package chat

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/ui/form"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	all := []app.Resource{
		{Server: "s", URI: "travel://trips/current", Name: "current-trips", Title: "Current trips"}, {Server: "s", URI: "file:///notes/周报.md", Name: "weekly", Title: "周报"},
		{Server: "s", URI: "x://a", Name: "a", Title: "it"}, {Server: "s", URITemplate: "x://{weather}", Name: "weather"},
	}
	for words, want := range map[string]string{
		"What do my current trips cost?": "travel://trips/current", "see CURRENT-TRIPS": "travel://trips/current", "the current tripsets": "", "看看周报里的风险": "file:///notes/周报.md",
		"is it so": "", "weather": "", "": "",
	} {
		got := ""
		for _, r := range mentions(words, all, nil, nil) {
			got += r.URI
		}
		if got != want {
			t.Errorf("%q names %q", words, got)
		}
	}
	if got := mentions("current trips", all, map[string]bool{"s travel://trips/current": true}, nil); len(got) != 0 {
		t.Error("what was dismissed is suggested again")
	}
	if got := mentions("current trips", all, nil, []app.Attachment{{Server: "s", URI: "travel://trips/current"}}); len(got) != 0 {
		t.Error("what is attached is suggested")
	}
}

func (b *bench) resource(uri string) app.Resource {
	b.t.Helper()
	var found app.Resource
	b.offers.get(func(o offered) {
		for _, r := range o.resources {
			if r.URI == uri {
				found = r
			}
		}
	})
	b.until("the resource is known", func() bool { return found.URI != "" })
	return found
}

// A resource that is named while typing is suggested and not attached; of its text a part can be chosen.
func TestPartOfAResource(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.focusComposer()
	for _, r := range "Which booked trips are there?" {
		b.composer.entry.TypedRune(r)
	}
	r := b.resource("travel://trips/current")
	b.until("it is suggested", func() bool { return len(b.composer.mentioned) == 1 })
	if len(b.composer.attach) != 0 {
		t.Fatal("it was attached unasked")
	}
	b.picture("mention")
	b.composer.mentionChips()[0].tapped()
	b.until("the preview is there", func() bool { _, ok := b.window.Canvas().Focused().(*chip); return ok })
	add := b.window.Canvas().Focused().(*chip)
	var lines []*form.Entry
	for _, o := range test.LaidOutObjects(b.window.Canvas().Overlays().Top()) {
		if e, ok := o.(*form.Entry); ok {
			lines = append(lines, e)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("there are %d fields to choose a part", len(lines))
	}
	lines[1].SetText("999999")
	add.tapped()
	if len(b.composer.attach) != 0 {
		t.Error("lines that are not there can be attached")
	}
	lines[0].SetText("2")
	lines[1].SetText("3")
	b.settle()
	b.picture("part")
	add.tapped()
	if len(b.composer.attach) != 1 {
		t.Fatal("it is not attached")
	}
	whole, err := b.app.ReadResource(context.Background(), "", r.Server, r.URI)
	if err != nil {
		t.Fatal(err)
	}
	if a := b.composer.attach[0]; a.Text != strings.Join(strings.Split(whole.Text, "\n")[1:3], "\n") || !strings.Contains(a.Name, "lines 2–3") || a.URI != r.URI {
		t.Errorf("attached is %q: %q", a.Name, a.Text)
	}
	b.until("what is attached is not suggested any more", func() bool { return len(b.composer.mentioned) == 0 })
}

// An attached resource that changes is marked, read again on request, and replaced once it was seen.
func TestAttachedResourceThatChanges(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	r := b.resource("travel://trips/current")
	ctx := context.Background()
	a, err := b.app.ReadResource(ctx, "", r.Server, r.URI)
	if err != nil {
		t.Fatal(err)
	}
	b.composer.add(a)
	w, _ := watchedOf(a)
	b.until("it is watched", func() bool {
		k := b.watches[w]
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.cancel != nil
	})
	if err := b.app.SetPermission(ctx, "demo", "book_trip", app.PermissionAllow); err != nil {
		t.Fatal(err)
	}
	b.wg.Go(func() {
		if _, err := b.app.Call(ctx, "demo", "book_trip", `{"destination":"Oslo","start_date":"2030-05-01","end_date":"2030-05-04","travellers":1}`); err != nil {
			t.Error(err)
		}
	})
	i := b.item(consent.KindElicitation)
	f, err := app.NewForm(i)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range f.Fields() {
		if field.Required && field.Current == "" {
			v := "1"
			if field.Kind == "yes or no" {
				v = "yes"
			}
			if err := f.Set(field.Name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	content, _ := f.Content()
	b.answer(consent.KindElicitation, consent.Answer{Action: consent.Accept, Content: content})
	b.until("the change is marked", func() bool { return b.changedSince(b.composer.attach[0]) })
	ch := b.composer.chips.objects[0].(*chip)
	if ch.icon != "refresh" || !strings.Contains(ch.words, "changed") {
		t.Errorf("the mark is %q %q", ch.icon, ch.words)
	}
	b.picture("changed")
	ch.tapped()
	b.until("it is read again", func() bool { c, ok := b.window.Canvas().Focused().(*chip); return ok && c.look == strong })
	if b.composer.attach[0].Text != a.Text {
		t.Error("it was replaced before it was seen")
	}
	b.window.Canvas().Focused().(*chip).TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.settle()
	if got := b.composer.attach[0]; !strings.Contains(got.Text, "Oslo") || b.changedSince(got) {
		t.Errorf("afterwards there is %q", got.Text)
	}
	b.composer.restore(draft{})
	if len(b.watches) != 0 {
		t.Error("what is not attached any more is still watched")
	}
}
