package settings

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// permissions shows the standing rules and what was granted with calls.
func (s *Place) permissions() []fyne.CanvasObject {
	out := []fyne.CanvasObject{
		note(lang.X("settings.permissions_note", "Without a rule or a grant, every call is shown to you before it is sent. A rule that denies goes before one that allows.")),
		caption(lang.X("settings.rules", "Rules")),
	}
	for _, r := range s.p.state.rules {
		out = append(out, s.ruleCard(r))
	}
	if len(s.p.state.rules) == 0 {
		out = append(out, note(lang.X("settings.no_rules", "There are no rules.")))
	}
	out = append(out, beside(button.New(button.Outlined, "plus", lang.X("settings.add_rule", "Add a rule"), func() { s.addRule() })),
		caption(lang.X("settings.grants", "Granted with a call")))
	for _, g := range s.p.state.grants {
		out = append(out, s.grantCard(g))
	}
	for _, t := range s.p.state.trusted {
		out = append(out, s.trustCard(t))
	}
	if len(s.p.state.grants)+len(s.p.state.trusted) == 0 {
		out = append(out, note(lang.X("settings.no_grants", "Nothing is granted beyond single calls.")))
	}
	return out
}

// trustCard is a server whose requests to the model go without a review.
func (s *Place) trustCard(t app.TrustedServer) fyne.CanvasObject {
	revoke := button.New(button.Outlined, "", lang.X("settings.revoke", "Revoke"), func() {
		l := t.Limits
		l.Trusted, l.TrustedTokens = 0, 0
		s.p.do(func(ctx context.Context) error { return s.d.App.SetSamplingLimits(ctx, t.Server, l) }, nil)
	})
	name := text.NewLabel(clean.Reveal(t.Server), text.Run{Bold: true}, text.Cut)
	data := map[string]any{"requests": t.Limits.Trusted, "tokens": t.Limits.TrustedTokens}
	return newCard(container.NewBorder(nil, nil, nil, revoke, name),
		wrapped(lang.X("settings.trusted_sampling", "Its requests to the model go without a review: up to {{.requests}} an hour, {{.tokens}} tokens together.", data), text.Run{Color: theme.Dim}, inCard))
}

func effectWords(effect string) (string, fyne.ThemeColorName) {
	if effect == app.PermissionAllow {
		return lang.X("settings.allow", "allow"), theme.Good
	}
	return lang.X("settings.deny", "deny"), theme.Refusal
}

// subject names what a rule or grant is about.
func subject(server, tool string) string {
	if server == "" {
		server = lang.X("settings.any_server", "any server")
	} else {
		server = clean.Reveal(server)
	}
	if tool == "" || tool == "*" {
		tool = lang.X("settings.any_tool", "any tool")
	} else {
		tool = clean.Reveal(tool)
	}
	return server + " · " + tool
}

func (s *Place) ruleCard(r app.Rule) fyne.CanvasObject {
	effect, color := effectWords(r.Effect)
	words := beside(text.NewLabel(effect, text.Run{Bold: true, Color: color}, text.Whole), text.NewLabel(subject(r.Server, r.Tool), text.Run{}, text.Whole))
	remove := button.New(button.Outlined, "trash", "", func() {
		s.p.do(func(ctx context.Context) error { return s.d.App.DeleteRule(ctx, r.ID) }, nil)
	})
	try := button.New(button.Outlined, "", lang.X("settings.last_30_days", "Last 30 days…"), func() { s.tryRule(r) })
	row := container.NewBorder(nil, nil, nil, beside(try, remove), middle(words))
	if words := conditionWords(r.Condition); words != "" {
		return newCard(row, wrapped(words, text.Run{Color: theme.Dim}, inCard))
	}
	return newCard(row)
}

// conditionWords says under which condition a rule holds, "" for none.
func conditionWords(condition json.RawMessage) string {
	if s := string(condition); s == "" || s == "null" || s == "{}" {
		return ""
	}
	var c struct {
		Definition string `json:"definition"`
		Arguments  map[string]struct {
			Prefix *string         `json:"prefix"`
			Equals json.RawMessage `json:"equals"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(condition, &c); err != nil || len(c.Arguments) == 0 && c.Definition == "" {
		return clean.Reveal(string(condition))
	}
	var out []string
	if c.Definition != "" {
		out = append(out, lang.X("settings.while_defined", "until its definition changes"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
		a := c.Arguments[name]
		data := map[string]any{"name": clean.Reveal(name)}
		switch {
		case a.Prefix != nil:
			data["value"] = clean.Reveal(*a.Prefix)
			out = append(out, lang.X("settings.where_prefix", "where {{.name}} begins with “{{.value}}”", data))
		case len(a.Equals) > 0:
			data["value"] = clean.Reveal(string(a.Equals))
			out = append(out, lang.X("settings.where_equals", "where {{.name}} is {{.value}}", data))
		default:
			return clean.Reveal(string(condition))
		}
	}
	return strings.Join(out, "; ")
}

func (s *Place) grantCard(g app.Grant) fyne.CanvasObject {
	scope := lang.X("settings.always", "always")
	if g.Conversation != "" {
		scope = lang.X("settings.in_chat", "in the chat “{{.title}}”", map[string]any{"title": g.Title})
	}
	about := scope + " · " + g.Created.Local().Format("2006-01-02 15:04")
	color := theme.Dim
	if g.Suspended {
		about += " · " + lang.X("settings.suspended", "suspended: the tool or the server has changed since")
		color = theme.Waiting
	}
	revoke := button.New(button.Outlined, "", lang.X("settings.revoke", "Revoke"), func() {
		s.p.do(func(ctx context.Context) error { return s.d.App.Revoke(ctx, g.ID) }, nil)
	})
	return newCard(container.NewBorder(nil, nil, nil, revoke, middle(text.NewLabel(subject(g.Server, g.Tool), text.Run{Bold: true}, text.Cut))),
		wrapped(about, text.Run{Color: color}, inCard))
}

// ruleEditor is the dialog in which a rule is made and tried on the record.
type ruleEditor struct {
	s                              *Place
	effect                         *widget.RadioGroup
	server, tool, argument, prefix *form.Entry
	status                         *text.Label
	show                           *button.Button // the calls it would have decided
	keep                           *button.Button // once: two taps make no two rules
	tried                          trial
	row                            *fyne.Container // of the buttons
	close                          func()
}

func (s *Place) addRule() *ruleEditor {
	r := &ruleEditor{s: s, server: form.NewEntry(), tool: form.NewEntry(), argument: form.NewEntry(), prefix: form.NewEntry()}
	allow, _ := effectWords(app.PermissionAllow)
	deny, _ := effectWords(app.PermissionDeny)
	r.effect = widget.NewRadioGroup([]string{deny, allow}, nil)
	r.effect.Horizontal, r.effect.Required = true, true
	r.effect.SetSelected(deny)
	r.server.SetPlaceHolder(lang.X("settings.any_server", "any server"))
	r.tool.SetPlaceHolder(lang.X("settings.any_tool", "any tool"))
	r.argument.SetPlaceHolder(lang.X("settings.any_argument", "any arguments"))
	for _, e := range []*form.Entry{r.server, r.tool, r.argument, r.prefix} {
		e.OnKey = func(ev *fyne.KeyEvent) bool {
			if ev.Name == fyne.KeyEscape {
				r.close()
				return true
			}
			return false
		}
		e.OnShortcut = s.d.Shortcut
	}
	r.status = text.NewLabel("", text.Run{}, text.Wrap)
	r.show = button.New(button.Outlined, "", lang.X("settings.show_calls", "Show them…"), func() { s.showTrial(r.tried) })
	r.show.Hide()
	r.keep = button.New(button.Strong, "", lang.X("common.save", "Save"), r.save)
	r.row = container.NewHBox(button.New(button.Outlined, "", lang.X("settings.try_rule", "Try on the last 30 days"), r.try), r.show, layout.NewSpacer(),
		button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { r.close() }), r.keep)
	r.close = s.d.Layer.Dialog(below(text.NewLabel(lang.X("settings.new_rule", "New rule"), text.Run{Bold: true}, text.Whole), room(asking), r.effect,
		labelled(lang.X("settings.server", "Server"), r.server), labelled(lang.X("settings.tool", "Tool"), r.tool),
		labelled(lang.X("settings.argument", "Where argument"), r.argument), labelled(lang.X("settings.prefix", "begins with"), r.prefix),
		&fyne.Container{Layout: fixedWidth{asking}, Objects: []fyne.CanvasObject{r.status}},
		r.row), nil)
	return r
}

// rule is what the dialog describes.
func (r *ruleEditor) rule() (app.Rule, error) {
	out := app.Rule{Effect: app.PermissionDeny, Server: strings.TrimSpace(r.server.Text), Tool: strings.TrimSpace(r.tool.Text)}
	if allow, _ := effectWords(app.PermissionAllow); r.effect.Selected == allow {
		out.Effect = app.PermissionAllow
	}
	argument := strings.TrimSpace(r.argument.Text)
	switch {
	case argument == "" && r.prefix.Text == "":
		return out, nil
	case argument == "": // without it the rule would hold for any arguments
		return out, errors.New(lang.X("settings.argument_missing", "Say which argument begins with that."))
	case r.prefix.Text == "":
		return out, errors.New(lang.X("settings.prefix_missing", "Say what the argument begins with."))
	}
	condition, err := json.Marshal(map[string]any{"arguments": map[string]any{argument: map[string]string{"prefix": r.prefix.Text}}})
	out.Condition = condition
	return out, err
}

func (r *ruleEditor) refuse(err error) {
	r.status.SetText("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
}

// try says what the rule would have decided.
func (r *ruleEditor) try() {
	rule, err := r.rule()
	if err != nil {
		r.refuse(err)
		return
	}
	r.status.SetText(lang.X("common.working", "Working…"), text.Run{Color: theme.Dim})
	r.s.trial(rule, func(t trial, err error) {
		if err != nil {
			r.refuse(err)
			return
		}
		r.status.SetText(t.words(), text.Run{})
		r.tried = t
		r.show.Hidden = len(t.records) == 0
		r.row.Refresh()
	})
}

func (r *ruleEditor) save() {
	if r.keep.Disabled() {
		return
	}
	rule, err := r.rule()
	if err != nil {
		r.refuse(err)
		return
	}
	s := r.s
	r.keep.Disable()
	s.d.Go(func(ctx context.Context) {
		_, err := s.d.App.SaveRule(ctx, rule)
		s.d.Do(func() {
			r.keep.Enable()
			if err != nil {
				r.refuse(err)
				return
			}
			r.close()
			s.p.happened()
		})
	})
}

func (s *Place) ask(title, body, do string, act func()) {
	s.d.Layer.Ask(title, body, place.Button{Label: lang.X("common.cancel", "Cancel")}, place.Button{Label: do, Look: place.Dangerous, Do: act})
}
