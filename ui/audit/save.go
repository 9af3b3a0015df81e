package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/place"
	"steward/ui/theme"
)

// exportMenu offers the formats, or ends the export that is being written.
func (a *Place) exportMenu() {
	if a.p.writing.running {
		a.p.stopExport()
		return
	}
	item := func(label, format string) place.MenuItem {
		return place.MenuItem{Label: label, Do: func() { a.chooseFile(format) }}
	}
	a.d.Layer.Menu([]place.MenuItem{
		item(lang.X("audit.export_jsonl", "JSON lines, which can be verified"), journal.FormatJSONL),
		item(lang.X("audit.export_csv", "CSV, for a spreadsheet"), journal.FormatCSV),
		item(lang.X("audit.export_html", "HTML, for reading"), journal.FormatHTML),
	}, below(a.export))
}

// chooseFile asks where the export goes. Fyne's dialog asks before a file is replaced.
func (a *Place) chooseFile(format string) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if w != nil {
			err = errors.Join(err, w.Close()) // it is written beside, and put in its place whole
		}
		switch {
		case err != nil:
			a.failedTo(err)
		case w != nil:
			a.exportTo(format, w.URI().Path())
		}
	}, a.d.Window())
	d.SetFileName(exportName(format, a.p.now()))
	d.SetTitleText(lang.X("audit.export_where", "Where should the export go?"))
	d.SetConfirmText(lang.X("audit.export_here", "Export here"))
	d.Show() // before Resize, which asks what Show makes
	size := a.d.Window().Canvas().Size()
	d.Resize(fyne.NewSize(min(840, size.Width-10*theme.Step), min(560, size.Height-10*theme.Step)))
}

// exportTo writes the records that are looked for.
func (a *Place) exportTo(format, path string) {
	a.p.export(format, path, func(err error) {
		switch {
		case err == nil:
			a.told(lang.X("audit.exported", "Exported to {{.path}}", map[string]any{"path": clean.Reveal(filepath.Clean(path))}))
			return
		case errors.Is(err, errStopped):
			a.told(lang.X("audit.export_stopped", "The export was stopped; nothing of it is left."))
		default:
			a.failedTo(err)
		}
		dropEmpty(path)
	})
}

// dropEmpty takes away the empty file that choosing a name has left.
func dropEmpty(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		os.Remove(path) // where that fails an empty file stays, which says so itself
	}
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
