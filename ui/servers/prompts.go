package servers

import (
	"context"
	"encoding/json"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

// promptsTab lists a server's prompts, asks for the arguments of the chosen one and shows what it becomes.
type promptsTab struct {
	s      *Place
	filter *form.Entry
	list   *list.List
	page   *page
	all    fyne.CanvasObject
	from   app.ServerDetail
	shown  []app.Prompt
	chosen string
	asks   *asking // for the arguments of the chosen one
	turn   int
}

func newPromptsTab(s *Place) *promptsTab {
	t := &promptsTab{s: s, page: newPage()}
	t.filter = filterEntry(s.k, t.refresh)
	t.list = list.NewEqual(list.Source{
		Len: func() int { return len(t.shown) },
		Key: func(i int) string { return t.shown[i].Name },
		Build: func(i int) fyne.CanvasObject {
			p := t.shown[i]
			return container.New(lineLayout{}, widget.NewIcon(theme.IconIn("slash", theme.Dim)),
				text.NewLabel(nameAndTitle(p.Name, p.Title), text.Run{Bold: true}, text.Cut), caption("", theme.Dim, text.Whole))
		},
	}, lineHeight)
	t.list.Selectable, t.list.OpenOnTap = true, true
	t.list.SelectedColor, t.list.HoverColor, t.list.Radius = theme.AccentTint, theme.Hover, step
	t.list.OnOpened = t.open
	t.all = halves(t.filter, t.list, t.page, func() float32 { return float32(len(t.shown)) * lineHeight })
	return t
}

func (t *promptsTab) object() fyne.CanvasObject { return t.all }

func (t *promptsTab) update(d app.ServerDetail) {
	if d.Name != t.from.Name {
		t.chosen = ""
		t.turn++
	}
	t.from = d
	t.refresh()
	if t.chosen != "" && slices.ContainsFunc(d.PromptList, func(p app.Prompt) bool { return p.Name == t.chosen }) {
		return
	}
	t.chosen = ""
	words := lang.X("servers.no_prompts", "This server offers no prompts.")
	if len(d.PromptList) > 0 {
		words = lang.X("servers.choose_prompt", "Choose one above to see what it becomes.")
	}
	t.page.set(t.s.detail.unchosen(d, words))
}

func (t *promptsTab) refresh() {
	t.shown = nil
	for _, p := range t.from.PromptList {
		if contains(t.filter.Text, p.Name, p.Title, p.Description) {
			t.shown = append(t.shown, p)
		}
	}
	t.list.Reset()
	for i := range t.shown {
		t.list.Changed(i)
	}
	t.all.Refresh()
}

func (t *promptsTab) open(i int) {
	if i < 0 || i >= len(t.shown) {
		return
	}
	p := t.shown[i]
	t.chosen = p.Name
	t.turn++
	var fields []form.Field
	for _, a := range p.Arguments {
		fields = append(fields, form.Field{Name: a.Name, Title: nameAndTitle(a.Name, a.Title), Description: clean.Clean(a.Description), Kind: form.String, Required: a.Required})
	}
	head := []fyne.CanvasObject{strong(nameAndTitle(p.Name, p.Title))}
	if p.Description != "" {
		head = append(head, t.s.k.telling(t.page, clean.Clean(p.Description)))
	}
	server := t.from.Name
	q := t.s.k.ask(t.page, fields, func(c app.Completing) app.Completing {
		c.Server, c.Prompt = server, p.Name
		return c
	})
	t.asks.forget()
	t.asks = q
	var whole []fyne.CanvasObject
	fill := func() {
		if q.form.Check() {
			t.preview(p, texts(q.form.Values()), whole)
		}
	}
	q.form.OnSubmit = fill
	whole = append(head, card(q.object, left(strongButton(lang.X("servers.preview", "Preview"), fill))))
	t.page.set(whole...)
	t.page.scrollTo(0)
}

func (t *promptsTab) preview(p app.Prompt, values map[string]string, above []fyne.CanvasObject) {
	t.turn++
	turn, d, server := t.turn, t.s.k.d, t.from.Name
	t.page.set(append(slices.Clone(above), text.NewLabel(lang.X("common.loading", "Loading…"), text.Run{Color: theme.Dim}, text.Wrap))...)
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 3*patience)
		defer cancel()
		a, err := d.App.FillPrompt(ctx, "", server, p.Name, values)
		d.Do(func() {
			if turn == t.turn {
				t.page.set(append(slices.Clone(above), t.s.k.attachment(t.page, a, err)...)...)
			}
		})
	})
}

// texts are the answers of a form that are strings.
func texts(values map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, v := range values {
		var s string
		if json.Unmarshal(v, &s) == nil {
			out[name] = s
		}
	}
	return out
}
