package audit

import (
	"context"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/theme"
)

const (
	arrow     = " ▾"
	mostMenu  = 40  // servers in the menu
	lookBack  = 500 // records whose servers are offered beside those that are set up
	shortName = 24
)

// chips shows what the menus have chosen.
func (a *Place) chips() {
	set := func(c *chip, words, unset string) {
		if words == "" {
			c.set(unset+arrow, theme.Dim)
			return
		}
		c.set(words+arrow, theme.Accent)
	}
	set(a.server, clean.Line(value(a.p.query, wordServer), shortName), lang.X("audit.any_server", "Any server"))
	words := ""
	if a.p.filter.Outcome != "" {
		words, _ = outcomeWords(a.p.filter.Outcome)
	}
	set(a.outcome, words, lang.X("audit.any_outcome", "Any outcome"))
	if value(a.p.query, wordSince) != "" || value(a.p.query, wordUntil) != "" {
		set(a.period, lang.X("audit.own_period", "Days of the search"), "")
		return
	}
	set(a.period, "", periodWords(a.p.period))
}

func (a *Place) serverMenu() {
	a.d.Go(func(ctx context.Context) {
		var names []string
		if servers, err := a.d.App.Servers(ctx); err == nil {
			for _, s := range servers {
				names = append(names, s.Name)
			}
		}
		if rows, err := a.d.App.Journal().List(ctx, journal.Filter{Limit: lookBack}); err == nil {
			for _, r := range rows {
				if r.Server != "" && !slices.Contains(names, r.Server) {
					names = append(names, r.Server)
				}
			}
		}
		a.d.Do(func() { a.showServers(names[:min(len(names), mostMenu)]) })
	})
}

func (a *Place) showServers(names []string) {
	now := value(a.p.query, wordServer)
	items := []place.MenuItem{{Label: lang.X("audit.any_server", "Any server"), Checked: now == "", Do: func() { a.set(with(a.p.query, wordServer, "")) }}}
	for _, name := range names {
		items = append(items, place.MenuItem{Label: clean.Line(name, 60), Checked: now == name, Do: func() { a.set(with(a.p.query, wordServer, name)) }})
	}
	a.d.Layer.Menu(items, below(a.server))
}

func (a *Place) outcomeMenu() {
	now := a.p.filter.Outcome
	items := []place.MenuItem{{Label: lang.X("audit.any_outcome", "Any outcome"), Checked: now == "", Do: func() { a.set(with(a.p.query, wordOutcome, "")) }}}
	for _, o := range outcomes {
		words, _ := outcomeWords(o)
		items = append(items, place.MenuItem{Label: words, Checked: now == o, Do: func() { a.set(with(a.p.query, wordOutcome, o)) }})
	}
	a.d.Layer.Menu(items, below(a.outcome))
}

func (a *Place) periodMenu() {
	own := value(a.p.query, wordSince) != "" || value(a.p.query, wordUntil) != ""
	var items []place.MenuItem
	for _, p := range periods {
		items = append(items, place.MenuItem{Label: periodWords(p), Checked: !own && a.p.period == p, Do: func() {
			a.p.period = p
			a.set(with(with(a.p.query, wordSince, ""), wordUntil, ""))
		}})
	}
	a.d.Layer.Menu(items, below(a.period))
}

func (a *Place) exportMenu() {
	if a.writing {
		return
	}
	item := func(label, format string) place.MenuItem {
		return place.MenuItem{Label: label, Do: func() { a.chooseFolder(format) }}
	}
	a.d.Layer.Menu([]place.MenuItem{
		item(lang.X("audit.export_jsonl", "JSON lines, which can be verified"), journal.FormatJSONL),
		item(lang.X("audit.export_csv", "CSV, for a spreadsheet"), journal.FormatCSV),
		item(lang.X("audit.export_html", "HTML, for reading"), journal.FormatHTML),
	}, below(a.export))
}

// chooseFolder asks where the export goes. The file gets a name that is free: nothing can be overwritten.
func (a *Place) chooseFolder(format string) {
	d := dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		switch {
		case err != nil:
			a.failedTo(err)
		case folder != nil:
			a.exportTo(format, folder.Path())
		}
	}, a.d.Window())
	d.SetTitleText(lang.X("audit.export_where", "Choose the folder for the export"))
	d.SetConfirmText(lang.X("audit.export_here", "Export here"))
	d.Show()
}

func (a *Place) exportTo(format, folder string) {
	a.writing = true
	a.export.SetText(lang.X("audit.exporting", "Exporting…"))
	a.export.Disable()
	a.p.export(format, folder, func(path string, err error) {
		a.writing = false
		a.export.SetText(lang.X("audit.export", "Export"))
		a.export.Enable()
		if err != nil {
			a.failedTo(err)
			return
		}
		a.told(lang.X("audit.exported", "Exported to {{.path}}", map[string]any{"path": clean.Reveal(filepath.Clean(path))}))
	})
}

// checked shows how the proof stands.
func (a *Place) checked() {
	defer a.top.Refresh() // the chip has another width
	c := a.p.check
	data := map[string]any{"count": count(c.records), "seconds": int(a.p.now().Sub(c.since).Seconds())}
	switch c.state {
	case checking:
		a.verify.set(lang.X("audit.checking", "Verifying {{.count}} records · {{.seconds}} s · stop", data), theme.Dim)
	case holds:
		words := "✓ " + lang.X("audit.verified", "Chain verified · {{.count}} records", data)
		a.verify.set(words, theme.Good)
	case broken:
		if c.result.BadRecord > 0 {
			data["record"] = c.result.BadRecord
			a.verify.set("✕ "+lang.X("audit.broken_at", "Chain broken at #{{.record}}", data), theme.Refusal)
			return
		}
		a.verify.set("✕ "+lang.X("audit.broken", "Chain broken"), theme.Refusal)
	case uncheckable:
		a.verify.set("✕ "+lang.X("audit.not_verified", "Could not be verified"), theme.Refusal)
	default:
		a.verify.set(lang.X("audit.verify", "Verify"), theme.Dim)
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
	case broken:
		buttons := []place.Button{shut, anew}
		if n := c.result.BadRecord; n > 0 {
			buttons = append(buttons, place.Button{Label: lang.X("audit.show_record", "Show record {{.record}}", map[string]any{"record": n}), Do: func() { a.lead(n) }})
		}
		buttons = append(buttons, place.Button{Label: lang.X("audit.acknowledge", "Go on recording"), Look: place.Dangerous, Do: a.p.acknowledge})
		a.d.Layer.Ask(lang.X("audit.broken_title", "The record does not hold"), clean.Clean(c.result.Problem)+"\n"+
			lang.X("audit.broken_text", "Nothing is sent until you decide to go on. What was found is then recorded, and goes on being found."), buttons...)
	case uncheckable:
		a.d.Layer.Ask(lang.X("audit.not_verified", "Could not be verified"), language.Message(c.err), shut, anew)
	default:
		a.p.verify()
	}
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
