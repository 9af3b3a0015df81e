package audit

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// banner says above the table that the record does not hold, why, and what can be done.
type banner struct {
	object           fyne.CanvasObject
	words            *text.View
	show, again, use *button.Button
}

func newBanner(a *Place) *banner {
	b := &banner{words: text.NewView(views())}
	b.words.OnShortcut = func(s fyne.Shortcut) { a.d.Shortcut(s) }
	b.show = button.New(button.Outlined, "", "", func() { a.lead(a.p.check.result.BadRecord) })
	b.again = button.New(button.Outlined, "", lang.X("audit.verify_again", "Verify again"), a.p.verify)
	b.use = button.New(button.Refusing, "", lang.X("audit.acknowledge", "Go on recording…"), a.askAcknowledge)
	words := container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Step), b.words,
		container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Step), b.show, b.again, layout.NewSpacer(), b.use))
	pad := 3 * theme.Step
	b.object = container.New(layout.NewCustomPaddedLayout(3*theme.Step, 0, 0, edge), container.NewStack(newGround(theme.RefusalTint, theme.Radius),
		container.New(layout.NewCustomPaddedLayout(pad, pad, pad, pad), words)))
	b.object.Hide()
	return b
}

// update shows the banner where the record does not hold.
func (b *banner) update(c check) {
	if c.state != broken {
		b.object.Hide()
		return
	}
	then := lang.X("audit.broken_going", "Recording goes on behind it.")
	if c.stopped {
		then = lang.X("audit.broken_stopped", "Nothing is recorded, and so nothing sent, until you decide to go on.")
	}
	title := lang.X("audit.broken_head", "The record does not hold. {{.then}}", map[string]any{"then": then})
	b.words.SetRuns(text.Run{Text: "✗ " + title + "\n", Bold: true, Color: theme.Refusal}, text.Run{Text: clean.Clean(c.result.Problem) + "\n"}, text.Run{Text: lang.X("audit.broken_advice", "Somebody or something has written to the data folder, or it was put back from an older copy. Keep a copy of the folder before you go on, and find out who could."), Color: theme.Dim})
	b.show.SetText(lang.X("audit.show_record", "Show record {{.record}}", map[string]any{"record": c.result.BadRecord}))
	b.show.Hidden = c.result.BadRecord == 0
	b.use.Hidden = !c.stopped
	b.object.Show()
}

// checked shows how the proof stands.
func (a *Place) checked() {
	c := a.p.check
	data := map[string]any{"count": count(c.records), "percent": fmt.Sprintf("%.0f", 100*c.part)}
	switch c.state {
	case checking:
		a.verify.set(lang.X("audit.checking", "Verifying {{.percent}} % · stop", data), theme.Dim)
	case holds:
		a.verify.set("✓ "+lang.X("audit.verified", "Chain verified · {{.count}} records", data), theme.Good)
	case broken:
		words := lang.X("audit.broken", "Chain broken")
		if c.result.BadRecord > 0 {
			data["record"] = c.result.BadRecord
			words = lang.X("audit.broken_at", "Chain broken at #{{.record}}", data)
		}
		a.verify.set("✗ "+words, theme.Refusal)
	case uncheckable:
		a.verify.set("✗ "+lang.X("audit.not_verified", "Could not be verified"), theme.Refusal)
	default:
		a.verify.set(lang.X("audit.verify", "Verify"), theme.Dim)
	}
	a.banner.update(c)
	if a.root != nil {
		a.root.Refresh() // the chip has another width, and the banner comes or goes
	}
}

// verifyTapped begins, ends or explains the check.
func (a *Place) verifyTapped() {
	c := a.p.check
	shut := place.Button{Label: lang.X("common.close", "Close")}
	anew := place.Button{Label: lang.X("audit.verify_again", "Verify again"), Do: a.p.verify}
	switch c.state {
	case checking:
		a.p.check.end()
	case holds:
		body := lang.X("audit.holds_text", "Every event of {{.count}} records is as it was written, and none is missing. Checked against: {{.anchor}}.",
			map[string]any{"count": count(c.records), "anchor": anchorWords(c.result.AnchorChecked)})
		if c.result.Notice != "" {
			body += "\n" + clean.Clean(c.result.Notice)
		}
		a.d.Layer.Ask(lang.X("audit.holds_title", "The record holds"), body, shut, anew)
	case uncheckable:
		a.d.Layer.Ask(lang.X("audit.not_verified", "Could not be verified"), language.Message(c.err), shut, anew)
	default:
		a.p.verify()
	}
}

// askAcknowledge says what going on means before it is done.
func (a *Place) askAcknowledge() {
	a.d.Layer.Ask(lang.X("audit.acknowledge_title", "Go on although the record does not hold?"),
		lang.X("audit.acknowledge_text", "What was found, and both anchors as they are, are recorded first. Calls are then sent again. Verifying goes on finding what is wrong."),
		place.Button{Label: lang.X("common.cancel", "Cancel")}, place.Button{Label: lang.X("audit.acknowledge_do", "Go on"), Look: place.Dangerous, Do: a.p.acknowledge})
}

func anchorWords(anchor string) string {
	switch anchor {
	case "keyring+file":
		return lang.X("audit.anchor_both", "the keyring and the file beside it")
	case "file":
		return lang.X("audit.anchor_file", "the file beside it")
	case "keyring":
		return lang.X("audit.anchor_keyring", "the keyring")
	}
	return lang.X("audit.anchor_none", "itself alone")
}
