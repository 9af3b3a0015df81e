package audit

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/ui/place/placetest"
)

// tampered makes a folder with a record in it and lets somebody change it while no program runs.
func tampered(t *testing.T, change func(dir string)) *bench {
	t.Helper()
	dir := t.TempDir()
	a := placetest.Open(t, placetest.Options{Data: dir})
	furnish(t, 20)(a)
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	change(dir)
	return newBenchWith(t, placetest.Options{Data: dir}, nil)
}

// alter changes the data file behind the program's back.
func alter(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) bannerText() string { return b.banner.words.Plain() }

// TestAChangedRecordIsShown: somebody makes a denied call look allowed. The check finds where, and recording goes on.
func TestAChangedRecordIsShown(t *testing.T) {
	b := tampered(t, func(dir string) { alter(t, dir, "UPDATE record SET decision = 'allowed' WHERE n = 24") })
	b.Until("the check", func() bool { return b.p.check.state == broken })
	if b.p.check.result.BadRecord != 24 || b.p.check.stopped {
		t.Errorf("found %+v, stopped %v", b.p.check.result, b.p.check.stopped)
	}
	if !strings.Contains(b.verify.words, "#24") || !b.banner.object.Visible() || b.banner.use.Visible() || !strings.Contains(b.bannerText(), "Recording goes on") {
		t.Errorf("the chip says %q, the banner (seen: %v) %q", b.verify.words, b.banner.object.Visible(), b.bannerText())
	}
	b.loaded()
	b.banner.show.OnTapped()
	if i := b.table.List.Selected(); b.p.pages.number(i) != 24 {
		t.Errorf("row %d was led to", i)
	}
}

// TestAnOlderCopyStopsRecordingUntilThePersonGoesOn: the folder was put back from a copy. Nothing is recorded until the
// person has read what that means and goes on.
func TestAnOlderCopyStopsRecordingUntilThePersonGoesOn(t *testing.T) {
	b := tampered(t, func(dir string) {
		before, err := os.ReadFile(filepath.Join(dir, "steward.db"))
		if err != nil {
			t.Fatal(err)
		}
		a := placetest.Open(t, placetest.Options{Data: dir})
		furnish(t, 0)(a)
		if err := a.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"steward.db-wal", "steward.db-shm"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "steward.db"), before, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	b.Until("the check", func() bool { return b.p.check.state == broken })
	if !b.p.check.stopped || !b.banner.use.Visible() || !strings.Contains(b.bannerText(), "until you decide") {
		t.Fatalf("stopped %v, the banner says %q", b.p.check.stopped, b.bannerText())
	}
	b.Picture("audit-broken")
	if _, err := b.App.Call(t.Context(), "weekly-report", "get_weekly_report", `{}`); err == nil {
		t.Error("something was sent meanwhile")
	}
	b.banner.use.OnTapped()
	if !b.Layer.Modal() {
		t.Fatal("going on is not explained")
	}
	b.Layer.Escape()
	if b.App.Journal().Broken(t.Context()) == nil {
		t.Fatal("the question alone let the record go on")
	}
	b.p.acknowledge()
	b.Until("it goes on", func() bool { return b.p.check.state == holds })
	if b.banner.object.Visible() || b.App.Journal().Broken(t.Context()) != nil {
		t.Errorf("the banner is seen: %v", b.banner.object.Visible())
	}
}

func TestACheckCanBeStopped(t *testing.T) {
	b := newBench(t, "light", "en", furnish(t, 3000))
	b.Until("it is checked", func() bool { return b.p.check.state == holds })
	b.p.verify()
	b.Until("progress", func() bool { return b.p.check.part > 0 })
	if b.p.check.state == checking { // else it was quicker than the test
		if !strings.Contains(b.verify.words, "%") {
			t.Errorf("the chip says %q", b.verify.words)
		}
		b.verifyTapped()
		b.Until("the end", func() bool { return b.p.check.state != checking })
	}
	b.Until("it is over", func() bool { return b.p.check.state == unasked || b.p.check.state == holds })
}
