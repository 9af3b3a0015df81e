package audit

import (
	"errors"
	"fmt"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/place"
)

// exportMenu offers the formats, or ends the export that is being written.
func (a *Place) exportMenu() {
	if a.p.writing.running {
		a.p.stopExport()
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

// chooseFolder asks where the export goes. It asks for a folder and not for a file: Fyne empties a file that is chosen at
// once, also where the export is then stopped or fails.
func (a *Place) chooseFolder(format string) {
	d := dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		switch {
		case err != nil:
			a.failedTo(err)
		case folder != nil:
			a.exportTo(format, folder.Path())
		}
	}, a.d.Window())
	d.SetTitleText(lang.X("audit.export_where", "Where should the export go?"))
	d.SetConfirmText(lang.X("audit.export_here", "Export here"))
	a.d.Layer.File(d)
}

// exportTo writes the records that are looked for into a new file of a folder.
func (a *Place) exportTo(format, dir string) {
	a.p.export(format, dir, func(path string, err error) {
		switch {
		case err == nil:
			a.told(lang.X("audit.exported", "Exported to {{.path}}", map[string]any{"path": clean.Reveal(filepath.Clean(path))}))
		case errors.Is(err, errStopped):
			a.told(lang.X("audit.export_stopped", "The export was stopped; nothing of it is left."))
		default:
			a.failedTo(err)
		}
	})
}

// exported shows how far an export is.
func (a *Place) exported() {
	w := a.p.writing
	switch {
	case !w.running:
		a.export.SetText(lang.X("audit.export", "Export"))
		a.export.SetIcon("download")
	case w.checking:
		a.export.SetText(lang.X("audit.export_checking", "Checking {{.percent}} %", map[string]any{"percent": fmt.Sprintf("%.0f", 100*w.part)}))
		a.export.SetIcon("stop")
	default:
		a.export.SetText(lang.X("audit.exporting", "Exporting {{.percent}} %", map[string]any{"percent": fmt.Sprintf("%.0f", 100*w.part)}))
		a.export.SetIcon("stop")
	}
	a.root.Refresh() // the button has another width
}
