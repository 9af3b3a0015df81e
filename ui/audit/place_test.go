package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/app/consent"
	"steward/app/journal"
)

func (b *bench) rows() []string {
	var out []string
	for i := range b.p.pages.Len() {
		cells, ok := b.row(i)
		if !ok {
			out = append(out, "…")
			continue
		}
		var words []string
		for _, c := range cells[2:] {
			words = append(words, c.Text)
		}
		out = append(out, strings.Join(words, " | "))
	}
	return out
}

func (b *bench) loaded() { b.Until("the rows are read", func() bool { return b.p.pages.ended }) }

func TestTheTableShowsTheRecord(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	want := []string{
		"mail-server | send_mail | waiting | — | —", "weekly-report | get_weekly_report | ok | you | 0.21 s", "filesystem | move_file | denied | you | —",
		"mail-server | send_mail | denied | you | —", "travel | ↳ elicitation | denied | you | —", "travel | find_best_flight | tool error | you | 4.70 s",
	}
	if got := b.rows(); strings.Join(got[:6], "\n") != strings.Join(want, "\n") {
		t.Errorf("the table shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for query, n := range map[string]int{
		"outcome:denied": 3, "server:mail-server": 2, "server:mail-server outcome:denied “invoice”": 1, "invoice": 1, "outcome:nonsense tool:move_file": 1, "since:2199-01-01": 0,
	} {
		b.set(query)
		b.loaded()
		if got := b.p.pages.Len(); got != n {
			t.Errorf("%q finds %d records, want %d: %q", query, got, n, b.rows())
		}
		if bad := strings.Contains(query, "nonsense"); bad == b.problem.Hidden {
			t.Errorf("%q: the word that cannot be used is told: %v", query, !b.problem.Hidden)
		}
		if b.empty.Hidden == (n == 0) {
			t.Errorf("%q: the empty table explains itself: %v", query, !b.empty.Hidden)
		}
	}
}

func TestNewRecordsAndEndingsAppear(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 3))
	b.loaded()
	before := b.p.pages.Len()
	b.selected(0)
	b.Until("details", func() bool { return b.p.record != nil })
	// A call by hand waits, is allowed, and ends.
	done := make(chan error, 1)
	go func() {
		_, err := b.App.Call(t.Context(), "weekly-report", "get_weekly_report", `{"date":"2025-03-17"}`)
		done <- err
	}()
	b.Until("the call waits in the table", func() bool {
		return strings.Contains(strings.Join(b.rows(), "\n"), "weekly-report | get_weekly_report | waiting")
	})
	if b.p.pages.Len() <= before || b.table.List.Selected() < 1 {
		t.Errorf("%d rows after %d, row %d is chosen", b.p.pages.Len(), before, b.table.List.Selected())
	}
	allow(t, b.App)
	b.Until("the call has ended in the table", func() bool { return strings.Count(strings.Join(b.rows(), "\n"), "get_weekly_report | ok | you") == 2 })
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// allow allows the only item that waits.
func allow(t *testing.T, a *app.App) {
	t.Helper()
	items := a.Waiting().List()
	if len(items) != 1 {
		t.Fatalf("%d items wait", len(items))
	}
	if err := a.Waiting().Answer(items[0].ID, items[0].Hash, consent.Answer{Action: consent.Allow}); err != nil {
		t.Fatal(err)
	}
}

// TestAnyRowIsThereWithoutTheOthers: the numbers of all rows are known, so that the end, or any record by its number, is
// one step away; the records themselves are read where they are seen.
func TestAnyRowIsThereWithoutTheOthers(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 2000))
	b.Until("the first page", func() bool { return len(b.p.pages.numbers) >= pageRows })
	b.loaded()
	n := b.p.pages.Len()
	if n < 2006 {
		t.Fatalf("%d rows", n)
	}
	b.table.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd}) // the row has not been read yet
	if b.p.chosen != 1 {
		t.Errorf("End chose #%d", b.p.chosen)
	}
	b.Until("the last row", func() bool { _, ok := b.p.pages.at(n - 1); return ok })
	if b.row0(n-1) != "1" {
		t.Errorf("the last row is #%s", b.row0(n-1))
	}
	if len(b.p.pages.kept) > 4 {
		t.Errorf("%d pages were read to show two places", len(b.p.pages.kept))
	}
	seen := map[string]bool{}
	for i := 0; i < n; i += 100 {
		b.table.List.ScrollTo(i)
		b.Until("the rows there", func() bool { _, ok := b.p.pages.at(i); return ok })
		if seen[b.row0(i)] {
			t.Errorf("#%s stands twice", b.row0(i))
		}
		seen[b.row0(i)] = true
	}
	b.Goto("1000")
	if i := b.table.List.Selected(); i < 0 || b.p.pages.number(i) != 1000 {
		t.Errorf("row %d is chosen, #%d", i, b.p.pages.number(i))
	}
	if first, last := b.table.List.VisibleRows(); first > b.table.List.Selected() || last < b.table.List.Selected() {
		t.Errorf("row %d is chosen and rows %d to %d are seen", b.table.List.Selected(), first, last)
	}
}

func (b *bench) row0(i int) string {
	cells, _ := b.row(i)
	return cells[0].Text
}

func TestDetailsTellWhatHappened(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	b.Goto(b.row0(3))
	b.Until("details", func() bool { return b.p.record != nil })
	body := func() string { return b.pane.body.View().Plain() }
	if strings.Count(body(), "wrong folder") != 1 {
		t.Errorf("the reason is given again:\n%s", body())
	}
	for _, want := range []string{"a@example.com", "proposed by gpt-5-mini", "shown to you (hash 9f1c0000…)", "denied by you", "“wrong folder”"} {
		if !strings.Contains(body(), want) {
			t.Errorf("the call's tab does not say %q:\n%s", want, body())
		}
	}
	if strings.ContainsRune(body(), '\u202e') {
		t.Error("a hidden character stays hidden")
	}
	b.Goto(b.row0(1))
	b.Until("details", func() bool { return b.p.record != nil })
	if got := body(); !strings.Contains(got, "progress 1 of 3: “reading”") || !strings.Contains(got, "answer received, ") || strings.Index(got, "sent to the server") > strings.Index(got, "progress 1") ||
		strings.Index(got, "progress 1") > strings.Index(got, "answer received") {
		t.Errorf("the timeline says\n%s", got)
	}
	for tab, want := range map[int]string{tabResult: "周报：一切顺利", tabWire: `"tools/call"`, tabRecord: `"decision": "allowed"`} {
		b.pane.tabs.choose(tab)
		if !strings.Contains(body(), want) {
			t.Errorf("tab %d does not show %q:\n%s", tab, want, body())
		}
	}
	b.Goto("99999")
	b.Until("an error", func() bool { return b.p.failed != nil })
	if body() == "" {
		t.Error("a record that is not there is not explained")
	}
}

func TestTheChainIsVerified(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 2))
	b.Until("the check", func() bool { return b.p.check.state == holds })
	if !strings.Contains(b.verify.words, "verified · ") {
		t.Errorf("the chip says %q", b.verify.words)
	}
	b.verifyTapped()
	if !b.Layer.Modal() {
		t.Error("the chip explains nothing")
	}
	b.Layer.Escape()
}

func TestAnExportIsThereWholeOrNotAtAll(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 300))
	b.loaded()
	dir := t.TempDir()
	to := func(format, dir string) (path string, failed error) {
		t.Helper()
		done := false
		b.p.export(format, dir, func(p string, err error) { path, failed, done = p, err, true })
		b.Until("the export", func() bool { return done })
		if b.p.writing.running || b.export.Text() != "Export" {
			t.Errorf("after the export the button says %q", b.export.Text())
		}
		return path, failed
	}
	path, err := to(journal.FormatJSONL, dir)
	if err != nil || path != filepath.Join(dir, exportName(journal.FormatJSONL, b.p.now())) {
		t.Fatalf("exported to %s, %v", path, err)
	}
	if v, err := app.VerifyExport(path); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	b.set("decision:denied")
	b.loaded()
	for n, end := range []string{".csv", "-2.csv", "-3.csv"} { // nothing is replaced
		path, err := to(journal.FormatCSV, dir)
		if text, readErr := os.ReadFile(path); err != nil || readErr != nil || strings.Count(string(text), "\n") != 4 || !strings.HasSuffix(path, end) {
			t.Errorf("the filtered export %d is %s and holds %q, %v, %v", n, path, text, err, readErr)
		}
	}
	if _, err := to(journal.FormatHTML, filepath.Join(dir, "gone")); err == nil {
		t.Error("a folder that is not there takes an export")
	}
	// What is stopped leaves nothing.
	b.set("")
	b.loaded()
	ctx, cancel := context.WithCancel(t.Context())
	if path, err := writeExport(ctx, b.App.Journal(), journal.FormatJSONL, dir, "x.jsonl", b.p.filter, func(float64, bool) { cancel() }); !errors.Is(err, context.Canceled) || path != "" {
		t.Errorf("stopped with %v, exported to %q", err, path)
	}
	b.p.writing = export{running: true, part: 0.42, cancel: cancel}
	b.exported()
	if b.export.Text() != "Exporting 42 %" {
		t.Errorf("while an export runs the button says %q", b.export.Text())
	}
	ended := false
	b.p.writing.cancel = func() { ended = true }
	b.exportMenu()
	if !ended {
		t.Error("the button does not stop the export")
	}
	b.p.writing = export{}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 4 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// What a row does not show is not held for thousands of them.
func TestRowsHoldNoArguments(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	record(t, b.App.Journal(), journal.Proposal{Server: "s", Tool: "write", Arguments: `{"text":"` + strings.Repeat("x", 100_000) + `"}`}, journal.Decision{}, journal.Outcome{})
	if err := b.App.SetPermission(t.Context(), "s", "t", app.PermissionDeny); err != nil { // which tells that something happened
		t.Fatal(err)
	}
	b.Until("the new rows", func() bool { return len(b.p.pages.head) >= 2 })
	rows := 0
	b.p.pages.each(func(r *journal.Record) bool {
		if rows++; r.Arguments != "" {
			t.Errorf("record %d is held with its arguments", r.Record)
		}
		return true
	})
	if rows < 8 {
		t.Errorf("%d rows are held", rows)
	}
}

// Rows that could not be read once are read again with the next that happens, or when the place is shown anew.
func TestATableThatCouldNotBeReadRecovers(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	fail := func() {
		t.Helper()
		b.p.reading = true
		b.p.land(b.p.round, errors.New("the disk is slow"), nil)
		b.Until("the problem is told", func() bool { return b.p.problem != nil && !b.problem.Hidden })
	}
	fail()
	if err := b.App.SetPermission(t.Context(), "s", "t", app.PermissionDeny); err != nil { // something that is recorded and told
		t.Fatal(err)
	}
	b.Until("the rows are there again", func() bool { return b.p.problem == nil && b.p.pages.ended && b.problem.Hidden && !b.p.reading })
	fail()
	b.Hidden()
	b.Shown()
	b.Until("the rows are there once more", func() bool { return b.p.problem == nil && b.p.pages.ended })
}

func TestTheExportAsksForAFolder(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	b.chooseFolder(journal.FormatCSV)
	top := b.Window.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("no dialog")
	}
	b.Picture("audit-export")
	b.Window.Canvas().Overlays().Remove(top)
}

func TestACallRunsAgainWithChanges(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 0))
	b.loaded()
	b.Goto(b.row0(1))
	b.Until("details", func() bool { return b.p.record != nil })
	b.runAgain()
	if !b.Layer.Modal() {
		t.Fatal("no dialog")
	}
	b.Layer.Escape()
	old := b.p.chosen
	b.startAgain("weekly-report", "get_weekly_report", `{"date":"2025-03-24"}`)
	b.Until("the call waits", func() bool { return len(b.App.Waiting().List()) == 1 })
	allow(t, b.App)
	b.Until("the new record is shown", func() bool { return b.p.chosen > old && b.p.record != nil && b.p.record.Outcome == journal.OK })
	if !strings.Contains(b.p.record.Arguments, "2025-03-24") || b.p.record.By != "person" {
		t.Errorf("the record holds %+v", b.p.record.Record)
	}
}

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			b := newBench(t, variant, tongue, furnish(t, 12))
			b.Until("rows and proof", func() bool { return b.p.pages.ended && b.p.check.state == holds })
			b.Goto(b.row0(2))
			b.Until("details", func() bool { return b.p.record != nil })
			name := "audit-" + variant + "-" + tongue
			b.Picture(name)
			b.Goto(b.row0(1))
			b.Until("details", func() bool { return b.p.record != nil })
			b.pane.tabs.choose(tabRecord)
			b.outcomeMenu()
			b.Picture(name + "-record")
			b.Layer.Escape()
			b.runAgain()
			b.Picture(name + "-again")
			b.Layer.Escape()
		}
	}
}
