package chat

import (
	"slices"
	"strings"

	"steward/app"
)

// point is an endpoint in the menu of models.
type point struct {
	app.ModelEndpoint
	list    app.ModelList
	asking  bool   // it is being asked for its list
	problem string // why it did not answer; "" where it did, or was not asked
}

// modelRowKind is what a line of the menu of models is.
type modelRowKind uint8

const (
	rowUsualModel modelRowKind = iota // what chats use that choose nothing
	rowGroup                          // the name of what follows
	rowModel
	rowTrouble    // why a list is missing or old
	rowTypedModel // what was typed, taken as a name
)

// modelLine is a line of the menu.
type modelLine struct {
	kind      modelRowKind
	title     string // of a group, or of trouble
	choice    app.ModelChoice
	info      app.ModelInfo
	endpoint  string // its name, of a line among the favourites
	favourite bool
	used      bool // answers in this chat
	count     int  // models of a group
	asking    bool
}

// may says whether the line can be chosen.
func (l modelLine) may() bool { return l.kind != rowGroup }

// menuOf is what the menu of models is made from.
type menuOf struct {
	points     []point
	favourites []app.ModelChoice
	now        app.ModelChoice // what answers in this chat
	own        bool            // chosen for this chat alone
	typed      string
	words      map[string]string // names of endpoints that have none of their own, by id
	favourite  string            // the title of the favourites
}

// lines are those of the menu: the usual one, favourites, then each endpoint with its models; the words that were typed
// stand in every name that is left.
func (m menuOf) lines() []modelLine {
	words := strings.Fields(strings.ToLower(m.typed))
	typed := strings.TrimSpace(m.typed)
	kept := make(map[app.ModelChoice]bool, len(m.favourites))
	for _, f := range m.favourites {
		kept[f] = true
	}
	var out, favourites, groups []modelLine
	listed := false // a model of just that name
	for _, p := range m.points {
		own := m.group(p, words, kept)
		for _, l := range own {
			if l.favourite {
				among := l
				among.endpoint = m.name(p)
				favourites = append(favourites, among)
			}
			listed = listed || l.kind == rowModel && l.info.ID == typed
		}
		groups = append(groups, own...)
	}
	if m.own && len(words) == 0 {
		out = append(out, modelLine{kind: rowUsualModel})
	}
	if len(favourites) > 0 {
		out = append(append(out, modelLine{kind: rowGroup, title: m.favourite, count: len(favourites)}), favourites...)
	}
	out = append(out, groups...)
	i := slices.IndexFunc(m.points, func(p point) bool { return p.ID == m.now.Endpoint && !p.Demo })
	if typed != "" && !listed && i >= 0 {
		out = append(out, modelLine{kind: rowTypedModel, title: m.name(m.points[i]), choice: app.ModelChoice{Endpoint: m.now.Endpoint, Model: typed}})
	}
	return out
}

// group are the lines of one endpoint; nothing where no model of it is left.
func (m menuOf) group(p point, words []string, kept map[app.ModelChoice]bool) []modelLine {
	name := m.name(p)
	var own []modelLine
	for _, info := range p.models(m.now, m.favourites) {
		all := strings.ToLower(info.ID + " " + info.Title + " " + name)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			continue
		}
		c := app.ModelChoice{Endpoint: p.ID, Model: info.ID}
		own = append(own, modelLine{kind: rowModel, choice: c, info: info, favourite: kept[c], used: c == m.now})
	}
	head := modelLine{kind: rowGroup, title: name, choice: app.ModelChoice{Endpoint: p.ID}, asking: p.asking, count: len(own)}
	if p.problem != "" && len(words) == 0 {
		own = append([]modelLine{{kind: rowTrouble, title: p.problem, choice: head.choice}}, own...)
	}
	if len(own) == 0 && (!p.asking || len(words) > 0) {
		return nil
	}
	return append([]modelLine{head}, own...)
}

func (m menuOf) name(p point) string {
	if w := m.words[p.ID]; w != "" {
		return w
	}
	return p.Name
}

// models are those of the list that hold conversations, and before them what is used or kept without being in it.
func (p point) models(now app.ModelChoice, favourites []app.ModelChoice) []app.ModelInfo {
	var out []app.ModelInfo
	in := make(map[string]bool, len(p.list.Models))
	for _, m := range p.list.Models {
		in[m.ID] = true
	}
	add := func(name string) {
		if name != "" && !in[name] {
			in[name] = true
			out = append(out, app.ModelInfo{ID: name})
		}
	}
	add(p.Model)
	for _, c := range append([]app.ModelChoice{now}, favourites...) {
		if c.Endpoint == p.ID {
			add(c.Model)
		}
	}
	for _, m := range p.list.Models {
		if m.Chat != app.Unsupported || m.ID == p.Model || now == (app.ModelChoice{Endpoint: p.ID, Model: m.ID}) {
			out = append(out, m)
		}
	}
	return out
}
