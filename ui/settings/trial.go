package settings

import (
	"context"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/button"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// tried is how far back a rule is tried on the record.
const tried = 30 * 24 * time.Hour

// trial is what a rule would have decided.
type trial struct {
	rule    app.Rule
	total   int
	records []journal.Record // the newest of them
}

// words say how many calls there were.
func (t trial) words() string {
	data := map[string]any{"count": t.total}
	if t.rule.Effect == app.PermissionAllow {
		return lang.X("settings.would_allow", "In the last 30 days it would have allowed {{.count}} calls without asking.", data)
	}
	return lang.X("settings.would_deny", "In the last 30 days it would have denied {{.count}} calls.", data)
}

// trial tries a rule on the record. done is called on Fyne's goroutine.
func (s *Place) trial(r app.Rule, done func(t trial, err error)) {
	s.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		t := trial{rule: r}
		numbers, total, err := s.d.App.TryRule(ctx, r, time.Now().Add(-tried))
		if err == nil {
			found := map[int64]journal.Record{}
			for _, n := range numbers {
				found[n] = journal.Record{Record: n}
			}
			err = s.d.App.Journal().Records(ctx, found)
			for _, n := range numbers {
				t.records = append(t.records, found[n])
			}
		}
		t.total = total
		s.d.Do(func() { done(t, err) })
	})
}

// tryRule tries a stored rule and shows what it would have decided.
func (s *Place) tryRule(r app.Rule) {
	s.trial(r, func(t trial, err error) {
		if err != nil {
			s.failed(err)
			return
		}
		s.showTrial(t)
	})
}

// showTrial lists the calls that a rule would have decided; each leads to its record.
func (s *Place) showTrial(t trial) {
	effect, color := effectWords(t.rule.Effect)
	title := text.NewLabel("", text.Run{}, text.Cut)
	title.SetRuns(text.Run{Text: effect + " ", Bold: true, Color: color}, text.Run{Text: subject(t.rule.Server, t.rule.Tool), Bold: true})
	var shut func()
	open := func(i int) {
		shut()
		s.d.Open(place.Audit, strconv.FormatInt(t.records[i].Record, 10))
	}
	show := func(l *text.Label, i int) {
		r := t.records[i]
		l.SetRuns(text.Run{Text: " #" + strconv.FormatInt(r.Record, 10) + "  ", Color: theme.Dim}, text.Run{Text: r.Time.Local().Format("2006-01-02 15:04") + "  ", Color: theme.Dim},
			text.Run{Text: clean.Line(r.Server, 80) + " · " + clean.Line(r.Tool, 80)}, text.Run{Text: "  " + clean.Line(r.Arguments, 120), Color: theme.Dim})
	}
	rows := list.NewEqual(list.Source{Len: func() int { return len(t.records) }, Build: func(i int) fyne.CanvasObject {
		l := text.NewLabel("", text.Run{}, text.Cut)
		show(l, i)
		return l
	}, Update: func(o fyne.CanvasObject, i int) bool {
		show(o.(*text.Label), i)
		return true
	}}, rowHeight)
	rows.Selectable, rows.OpenOnTap, rows.Radius = true, true, theme.Radius
	rows.OnOpened = open
	body := below(title, room(2*asking-300), wrapped(t.words(), text.Run{}, 2*asking-300))
	if len(t.records) > 0 {
		body.Add(container.NewStack(tall(min(rowHeight*float32(len(t.records)), 300)), rows))
	}
	if t.total > len(t.records) {
		body.Add(wrapped(lang.X("settings.only_newest", "These are the newest {{.count}}.", map[string]any{"count": len(t.records)}), text.Run{Color: theme.Dim}, asking))
	}
	closing := button.New(button.Outlined, "", lang.X("common.close", "Close"), func() { shut() })
	body.Add(container.NewHBox(layout.NewSpacer(), closing))
	shut = s.d.Layer.Dialog(body, nil)
	s.d.Window().Canvas().Focus(closing)
}
