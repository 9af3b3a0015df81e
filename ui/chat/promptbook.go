package chat

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
)

// preferPrompts is the key under which the person's own prompts are kept, and what is pinned.
const preferPrompts = "chat.prompts"

// maxPrompt bounds one prompt of the person's own, in bytes, so that a few of them fit into what is kept.
const maxPrompt = 16 << 10

// placeholder is a place in a prompt that is filled in when it is used: {{name}}.
var placeholder = regexp.MustCompile(`\{\{\s*([^{}\n]{1,60}?)\s*\}\}`)

// placeOfMessage is the placeholder that a message is put into when a prompt is run over it.
const placeOfMessage = "message"

// ownPrompt is a prompt that the person wrote.
type ownPrompt struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// places are the placeholders of a prompt, in order, each once.
func (o ownPrompt) places() []string {
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(o.Text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

func (o ownPrompt) takesMessage() bool { return slices.Contains(o.places(), placeOfMessage) }

// fill puts values into the placeholders. One without a value stays. A value is put in as it is: what looks like a
// placeholder in it is none.
func (o ownPrompt) fill(values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(o.Text, func(s string) string {
		if v, ok := values[placeholder.FindStringSubmatch(s)[1]]; ok {
			return v
		}
		return s
	})
}

// pinned names a prompt that is kept at hand; one of the person's own has no server.
type pinned struct {
	Server string `json:"server,omitempty"`
	Name   string `json:"name"`
}

func (p pinned) label() string { return clean.Line(clean.Reveal(p.Name), 60) }

// book is the person's own prompts, and what is pinned.
type book struct {
	Own    []ownPrompt `json:"own,omitempty"`
	Pinned []pinned    `json:"pinned,omitempty"`
}

func readBook(raw string) (book, error) {
	var b book
	if raw == "" {
		return b, nil
	}
	err := json.Unmarshal([]byte(raw), &b)
	return b, err
}

// shown are the pinned prompts in order.
func (b book) shown() []pinned { return b.Pinned }

func (b book) isPinned(p pinned) bool { return slices.Contains(b.Pinned, p) }

// own is the person's own prompt that a pin names; nil where it is a server's, or gone.
func (b book) own(p pinned) *ownPrompt {
	if p.Server != "" {
		return nil
	}
	for i := range b.Own {
		if b.Own[i].Name == p.Name {
			return &b.Own[i]
		}
	}
	return nil
}

// pin keeps a prompt at hand, or no longer.
func (b *book) pin(p pinned, on bool) {
	b.Pinned = slices.DeleteFunc(b.Pinned, func(o pinned) bool { return o == p })
	if on {
		b.Pinned = append(b.Pinned, p)
	}
}

// put stores a prompt in the place of the one that was called before; "" adds it.
func (b *book) put(before string, o ownPrompt) error {
	o.Name = strings.TrimSpace(o.Name)
	at := slices.IndexFunc(b.Own, func(x ownPrompt) bool { return x.Name == before && before != "" })
	switch other := slices.IndexFunc(b.Own, func(x ownPrompt) bool { return x.Name == o.Name }); {
	case o.Name == "" || strings.TrimSpace(o.Text) == "":
		return errors.New(lang.X("chat.prompt_empty", "A prompt needs a name and a text."))
	case len(o.Text)+len(o.Name) > maxPrompt:
		return errors.New(lang.X("chat.prompt_long", "The prompt is too long: at most 16 kB can be kept."))
	case other >= 0 && other != at:
		return errors.New(lang.X("chat.prompt_taken", "There is a prompt with this name already."))
	}
	if at < 0 {
		b.Own = append(b.Own, o)
		return nil
	}
	b.Own[at] = o
	for i, p := range b.Pinned {
		if p == (pinned{Name: before}) {
			b.Pinned[i].Name = o.Name
		}
	}
	return nil
}

// remove takes a prompt of the person's own away.
func (b *book) remove(name string) {
	b.Own = slices.DeleteFunc(b.Own, func(o ownPrompt) bool { return o.Name == name })
	b.pin(pinned{Name: name}, false)
}

// readPrompts reads the book in the background.
func (p *Place) readPrompts() {
	p.d.Go(func(ctx context.Context) {
		raw, err := p.d.App.Preference(ctx, preferPrompts)
		if gone(ctx, err) {
			return
		}
		b, readErr := readBook(raw)
		p.d.Do(func() {
			if err = errors.Join(err, readErr); err != nil {
				p.fail(err)
				return
			}
			p.book = b
			p.showPins()
		})
	})
}

// bookChange is a change of the book that was asked for.
type bookChange struct {
	change func(b *book) error
	done   func(error)
}

// changeBook changes the book and stores it, one change after the other, each on what is stored by then: none undoes
// another, and a book that cannot be read is not replaced by an empty one. What cannot be stored is not shown as if it
// were; done is told. Change runs in the background.
func (p *Place) changeBook(change func(b *book) error, done func(error)) {
	p.bookChanges = append(p.bookChanges, bookChange{change, done})
	if len(p.bookChanges) == 1 {
		p.nextChange()
	}
}

func (p *Place) nextChange() {
	c := p.bookChanges[0]
	p.d.Go(func(ctx context.Context) {
		b, err := p.storeChange(ctx, c.change)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if err == nil {
				p.book = b
				p.showPins()
			}
			c.done(err)
			if p.bookChanges = p.bookChanges[1:]; len(p.bookChanges) > 0 {
				p.nextChange()
			}
		})
	})
}

func (p *Place) storeChange(ctx context.Context, change func(b *book) error) (book, error) {
	stored, err := p.d.App.Preference(ctx, preferPrompts)
	if err != nil {
		return book{}, err
	}
	b, err := readBook(stored)
	if err != nil {
		return b, err
	}
	if err := change(&b); err != nil {
		return b, err
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return b, err
	}
	return b, p.d.App.SetPreference(ctx, preferPrompts, string(raw))
}

// showPins shows what is pinned above the composer.
func (p *Place) showPins() {
	p.pins.objects = nil
	for _, pin := range p.book.shown() {
		c := newPill("slash", pin.label(), false, func() { p.usePin(pin) })
		c.most, c.onShort = 220, p.d.Shortcut
		p.pins.objects = append(p.pins.objects, c)
	}
	p.pins.Hidden = len(p.pins.objects) == 0
	p.frame.Refresh()
	p.pins.Refresh()
}

// usePin uses a pinned prompt.
func (p *Place) usePin(pin pinned) {
	if pin.Server != "" {
		p.UsePrompt(pin.Server, pin.Name)
		return
	}
	if o := p.book.own(pin); o != nil {
		p.useOwn(*o, "")
	}
}

// useOwn puts a prompt of the person's own into the composer, once its placeholders are filled in; message is what stands
// where the prompt takes one.
func (p *Place) useOwn(o ownPrompt, message string) {
	values := map[string]string{}
	ask := o.places()
	if message != "" {
		values[placeOfMessage] = message
		ask = slices.DeleteFunc(ask, func(s string) bool { return s == placeOfMessage })
	}
	if len(ask) == 0 {
		p.composer.write(o.fill(values))
		return
	}
	a := &asking{p: p, title: "/" + clean.Line(o.Name, 120)}
	for _, name := range ask {
		a.fields = append(a.fields, fieldOf(name))
	}
	a.finish = func(given map[string]string) {
		for k, v := range given {
			values[k] = v
		}
		p.composer.write(o.fill(values))
	}
	a.open()
}
