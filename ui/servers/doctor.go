package servers

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// doctorTab says in sentences what was found about a server, in the order in which it comes up.
type doctorTab struct {
	s       *Place
	page    *page
	from    app.ServerDetail
	checks  []app.Check // of the last full examination of this server; nil: what is known without one
	busy    bool
	problem error
}

func newDoctorTab(s *Place) *doctorTab { return &doctorTab{s: s, page: newPage()} }

func (t *doctorTab) object() fyne.CanvasObject { return t.page.Container }

func (t *doctorTab) update(d app.ServerDetail) {
	if d.Name != t.from.Name || d.State != t.from.State {
		t.checks, t.problem = nil, nil
	}
	t.from = d
	t.draw()
}

func (t *doctorTab) draw() {
	checks := t.checks
	if checks == nil {
		checks = t.from.Doctor
	}
	var out []fyne.CanvasObject
	for _, c := range checks {
		mark, colour := "✓ ", theme.Good
		if !c.OK {
			mark, colour = "✗ ", theme.Refusal
		}
		l := text.NewLabel("", text.Run{}, text.Wrap)
		l.SetRuns(text.Run{Text: mark, Color: colour, Bold: true}, text.Run{Text: checkWord(c.Check) + "  ", Bold: true}, text.Run{Text: clean.Clean(sentence.Lines(c.Message))})
		column := column(step, l)
		if c.Hint != "" {
			column.Add(caption(clean.Clean(sentence.Lines(c.Hint)), theme.Dim, text.Wrap))
		}
		out = append(out, column)
	}
	if n := len(t.from.Problems); n > 0 {
		words := counted(n, lang.X("servers.problem_one", "One thing about it is odd:"), lang.X("servers.problems_many", "{{.n}} things about it are odd:", map[string]any{"n": n}))
		out = append(out, column(step, strong(words), t.s.k.listing(t.page, "", clean.Clean(sentence.Lines(strings.Join(t.from.Problems, "\n"))))))
	}
	if t.problem != nil {
		out = append(out, note(language.Message(t.problem), theme.Refusal, theme.RefusalTint))
	}
	word := lang.X("servers.examine", "Examine it now")
	if t.busy {
		word = lang.X("common.working", "Working…")
	}
	b := newButton(word, t.examine)
	if t.busy || !t.from.Reviewed || !t.from.Enabled {
		b.Disable()
	}
	out = append(out, left(b), caption(lang.X("servers.examine_means", "Starts the server if it does not run, and looks at its entry, its program, how it answers, and its tools."), theme.Dim, text.Wrap))
	t.page.set(out...)
}

func checkWord(check string) string {
	switch check {
	case "config":
		return lang.X("servers.check_config", "Entry")
	case "program":
		return lang.X("servers.check_program", "Program")
	case "start":
		return lang.X("servers.check_start", "Start")
	case "sign-in":
		return lang.X("servers.check_sign_in", "Sign-in")
	case "protocol":
		return lang.X("servers.check_protocol", "Protocol")
	case "tools":
		return lang.X("servers.check_tools", "Tools")
	case "review":
		return lang.X("servers.check_review", "Review")
	}
	return check
}

func (t *doctorTab) examine() {
	t.busy, t.problem = true, nil
	t.draw()
	d, name := t.s.k.d, t.from.Name
	d.Go(func(ctx context.Context) {
		found, err := d.App.Doctor(ctx, name)
		d.Do(func() {
			t.busy = false
			if name == t.from.Name {
				t.problem = err
				if len(found) > 0 {
					t.checks = found[0].Checks
				}
			}
			t.draw()
		})
	})
}
