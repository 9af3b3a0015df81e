package audit

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// again is the dialog in which the arguments of a call are changed before it is made once more.
type again struct {
	a            *Place
	server, tool string
	entry        *form.Entry
	problem      *text.Label
	run          *button.Button
	close        func()
}

// runAgain lets the person make the chosen call once more, with other arguments. It goes the same way as any other:
// nothing is sent before it was shown and allowed.
func (a *Place) runAgain() {
	r := a.p.record
	if r == nil || !r.again() {
		return
	}
	shown := code.Pretty(r.Arguments)
	if len(shown) > form.MaxText {
		a.failedTo(fmt.Errorf("%s", lang.X("audit.again_long", "These arguments are too long to be changed here.")))
		return
	}
	g := &again{a: a, server: r.Server, tool: r.Tool, entry: form.NewMultiLine(10)}
	g.entry.EnterBreaks = true
	g.entry.SetText(shown)
	g.entry.OnChanged = func(string) { g.check() }
	g.entry.OnShortcut = a.d.Shortcut
	g.entry.OnKey = func(e *fyne.KeyEvent) bool {
		if e.Name == fyne.KeyEscape {
			g.close()
			return true
		}
		return false
	}
	g.problem = text.NewLabel("", text.Run{}, text.Cut)
	g.problem.SetTextSize(theme.CaptionSize)
	g.run = button.New(button.Strong, "", lang.X("audit.again_do", "Ask to run"), g.start)
	wide := canvas.NewRectangle(theme.Color(theme.Clear))
	wide.SetMinSize(fyne.NewSize(520, 0))
	title := text.NewLabel(lang.X("audit.again_title", "Run {{.tool}} of {{.server}} again", map[string]any{
		"tool": clean.Line(r.Tool, 80), "server": clean.Line(r.Server, 60),
	}), text.Run{Bold: true}, text.Cut)
	note := text.NewLabel(lang.X("audit.again_note", "The call is shown to you once more before anything is sent."), text.Run{Color: theme.Dim}, text.Cut)
	g.close = a.d.Layer.Dialog(container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Step), title, note, wide, g.entry, g.problem,
		container.NewHBox(layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { g.close() }), g.run)), nil)
	g.check()
	a.focus(g.entry)
}

// check says at once what keeps the text from being arguments.
func (g *again) check() {
	err := app.CheckArguments(g.entry.Text)
	if err != nil {
		g.problem.SetText(language.Message(err), text.Run{Color: theme.Refusal})
		g.run.Disable()
	} else {
		g.problem.SetText("", text.Run{})
		g.run.Enable()
	}
}

func (g *again) start() {
	arguments := g.entry.Text
	if app.CheckArguments(arguments) != nil {
		return
	}
	g.close()
	g.a.startAgain(g.server, g.tool, arguments)
}

// startAgain makes a call by hand and shows its record when it has ended.
func (a *Place) startAgain(server, tool, arguments string) {
	a.d.Layer.Offer(lang.X("audit.again_waiting", "The call waits for your decision."), lang.X("audit.again_show", "Show"), func() { a.d.Open(place.Waiting, "") }, nil)
	a.d.Go(func(ctx context.Context) {
		out, err := a.d.App.Call(ctx, server, tool, arguments)
		a.d.Do(func() {
			if err != nil {
				a.failedTo(err)
				return
			}
			words, _ := outcomeWords(out.Outcome)
			a.told(strings.TrimSpace(lang.X("audit.again_ended", "#{{.record}} {{.tool}}: {{.outcome}}", map[string]any{
				"record": out.Record, "tool": clean.Line(tool, 80), "outcome": words,
			})))
			a.lead(out.Record)
		})
	})
}
