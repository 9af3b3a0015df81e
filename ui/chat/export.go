package chat

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/ui/place"
)

// export writes the conversation to a file that the person names, as Markdown.
func (p *Place) export() {
	id, name := p.state.conversation, fileName(titleOf(p.known))
	if id == "" {
		return
	}
	// It is read before a file is made, so that none is left empty.
	fetch(p, func(ctx context.Context) (string, error) { return p.d.App.ExportConversation(ctx, id) }, func(text string) {
		p.askWhere(name, text)
	})
}

func (p *Place) askWhere(name, text string) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil {
			p.fail(err)
			return
		}
		if w == nil {
			return
		}
		path := w.URI().Path()
		p.background(func(context.Context) error { return writeOut(w, text) },
			func() {
				p.d.Layer.Toast(lang.X("chat.exported", "Saved as {{.file}}", map[string]any{"file": clean.Reveal(shortPath(path))}))
			})
	}, p.d.Window())
	d.SetFileName(name)
	p.d.Layer.File(d)
}

// writeOut writes a text and closes what it was written to; what could not be written is an error.
func writeOut(w io.WriteCloser, text string) error {
	_, err := io.WriteString(w, text)
	return errors.Join(err, w.Close())
}

// fileName makes a name for a file of a title, good on every system.
func fileName(title string) string {
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return ' '
		}
		return r
	}, title)
	name = strings.Trim(strings.Join(strings.Fields(name), " "), ". ")
	if r := []rune(name); len(r) > 80 {
		name = strings.TrimRight(string(r[:80]), ". ")
	}
	if name == "" {
		name = "chat"
	}
	return name + ".md"
}

// readEnter takes the person's choice over, which may have been changed while the place was not shown.
func (p *Place) readEnter() {
	fetch(p, func(ctx context.Context) (string, error) { return p.d.App.Preference(ctx, place.PreferEnter) }, func(choice string) {
		p.composer.entry.EnterBreaks = choice == place.EnterBreaks
	})
}
