package audit

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/place"
	"steward/ui/theme"
)

const (
	arrow     = " ▼"
	mostMenu  = 40  // servers or tools in a menu
	lookBack  = 500 // records whose servers and tools are offered
	shortName = 18
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
	set(a.tool, clean.Line(value(a.p.query, wordTool), shortName), lang.X("audit.any_tool", "Any tool"))
	words := ""
	if a.p.filter.Outcome != "" {
		words, _ = outcomeWords(a.p.filter.Outcome)
	}
	set(a.outcome, words, lang.X("audit.any_outcome", "Any outcome"))
	var more []string
	if k := a.p.filter.Kind; k != "" {
		more = append(more, kindWords(journal.Kind(k)))
	}
	if d := a.p.filter.Decision; d != "" {
		more = append(more, decidedWords(d))
	}
	set(a.more, strings.Join(more, ", "), lang.X("audit.more_filters", "More"))
	if value(a.p.query, wordSince) != "" || value(a.p.query, wordUntil) != "" {
		set(a.period, lang.X("audit.own_period", "Days of the search"), "")
	} else {
		set(a.period, "", periodWords(a.p.period))
	}
	a.bar.Refresh() // the chips have other widths
}

// namesMenu offers what has been called lately, and what is set up.
func (a *Place) namesMenu(at *chip, word, unset string, configured func(ctx context.Context) []string, of func(r journal.Record) string) {
	a.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		names := configured(ctx)
		if rows, err := a.d.App.Journal().List(ctx, journal.Filter{Limit: lookBack}); err == nil {
			for _, r := range rows {
				if name := of(r); name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		a.d.Do(func() {
			now := value(a.p.query, word)
			items := []place.MenuItem{a.choice(unset, word, "", now)}
			for _, name := range names[:min(len(names), mostMenu)] {
				items = append(items, a.choice(clean.Line(name, 60), word, name, now))
			}
			a.d.Layer.Menu(items, below(at))
		})
	})
}

// choice is a menu's line that sets a word of the query, and is checked where it is set.
func (a *Place) choice(label, word, to, now string) place.MenuItem {
	return place.MenuItem{Label: label, Checked: now == to, Do: func() { a.set(with(a.p.query, word, to)) }}
}

func (a *Place) serverMenu() {
	a.namesMenu(a.server, wordServer, lang.X("audit.any_server", "Any server"), func(ctx context.Context) (names []string) {
		if servers, err := a.d.App.Servers(ctx); err == nil {
			for _, s := range servers {
				names = append(names, s.Name)
			}
		}
		return names
	}, func(r journal.Record) string { return r.Server })
}

func (a *Place) toolMenu() {
	server := value(a.p.query, wordServer)
	a.namesMenu(a.tool, wordTool, lang.X("audit.any_tool", "Any tool"), func(context.Context) []string { return nil }, func(r journal.Record) string {
		if r.Kind != journal.KindCall || server != "" && r.Server != server {
			return ""
		}
		return r.Tool
	})
}

// moreMenu offers kinds and decisions.
func (a *Place) moreMenu() {
	items := []place.MenuItem{a.choice(lang.X("audit.any_kind", "Any kind"), wordKind, "", a.p.filter.Kind)}
	for _, k := range kinds {
		items = append(items, a.choice(kindWords(k), wordKind, string(k), a.p.filter.Kind))
	}
	items = append(items, place.MenuItem{}, a.choice(lang.X("audit.any_decision", "Any decision"), wordDecision, "", a.p.filter.Decision))
	for _, d := range decisions {
		items = append(items, a.choice(decidedWords(d), wordDecision, d, a.p.filter.Decision))
	}
	a.d.Layer.Menu(items, below(a.more))
}

func (a *Place) outcomeMenu() {
	items := []place.MenuItem{a.choice(lang.X("audit.any_outcome", "Any outcome"), wordOutcome, "", a.p.filter.Outcome)}
	for _, o := range outcomes {
		words, _ := outcomeWords(o)
		items = append(items, a.choice(words, wordOutcome, o, a.p.filter.Outcome))
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
