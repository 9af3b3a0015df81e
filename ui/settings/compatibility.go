package settings

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

// compatibility is the dialog over an endpoint's in which its profile is chosen and its habits are set. What is set there
// is stored with the endpoint; what was learned is forgotten at once.
type compatibility struct {
	d       *editor
	profile string
	traits  map[string]string
	rows    *fyne.Container
	status  *text.Label
	close   func()
}

const compatible float32 = 560 // its width

// compatibilityButton opens it; it belongs below the fields of an endpoint.
func (d *editor) compatibilityButton() fyne.CanvasObject {
	b := button.New(button.Quiet, "chevron-right", lang.X("settings.compatibility", "Compatibility"), func() { d.openCompatibility() })
	b.OnKey = d.keyed
	return beside(b)
}

// typed is the endpoint as far as its habits depend on what is typed.
func (c *compatibility) typed() app.ModelEndpoint {
	e := c.d.endpoint
	e.BaseURL, e.Model, e.Profile, e.Traits = strings.TrimSpace(c.d.address.Text), strings.TrimSpace(c.d.model.Text), c.profile, c.traits
	return e
}

func (d *editor) openCompatibility() *compatibility {
	c := &compatibility{d: d, profile: d.endpoint.Profile, traits: maps.Clone(d.endpoint.Traits), rows: below(), status: text.NewLabel("", text.Run{}, text.Wrap)}
	if c.traits == nil {
		c.traits = map[string]string{}
	}
	e := c.typed()
	e.Profile = ""
	found := lang.X("settings.profile_auto", "Found from address and model")
	if p, _, err := d.s.d.App.EndpointHabits(e); err == nil {
		found += " (" + p.Title + ")"
	}
	options := []option{{"", found}}
	for _, p := range app.EndpointProfiles() {
		options = append(options, option{p.Name, p.Title})
	}
	chooser := choice(options, c.profile, func(name string) { c.profile = name; c.fill() })
	scroll := container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 3*theme.Step), c.rows))
	height := float32(360)
	if w := d.s.d.Window(); w != nil {
		height = min(height, max(w.Canvas().Size().Height-300, 120))
	}
	scroll.SetMinSize(fyne.NewSize(compatible, height))
	c.fill()
	done := button.New(button.Strong, "", lang.X("settings.compatibility_done", "Done"), c.done)
	body := below(text.NewLabel(lang.X("settings.compatibility", "Compatibility"), text.Run{Bold: true}, text.Whole), room(compatible),
		wrapped(lang.X("settings.compatibility_note", "What the endpoint takes in a request. Change something here only where it refuses requests or answers oddly; Save in the dialog before keeps it."), text.Run{Color: theme.Dim}, compatible),
		labelled(lang.X("settings.profile", "Profile"), chooser), scroll,
		&fyne.Container{Layout: fixedWidth{compatible}, Objects: []fyne.CanvasObject{c.status}},
		container.NewHBox(layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { c.close() }), done))
	c.close = d.s.d.Layer.Dialog(body, nil)
	if w := d.s.d.Window(); w != nil {
		w.Canvas().Focus(chooser)
	}
	return c
}

// done hands what was chosen to the endpoint's own dialog, which stores it.
func (c *compatibility) done() {
	maps.DeleteFunc(c.traits, func(_, v string) bool { return v == "" })
	c.d.endpoint.Profile, c.d.endpoint.Traits = c.profile, c.traits
	c.close()
}

// fill shows the habits as they are with what is chosen now: first those that were learned.
func (c *compatibility) fill() {
	c.rows.RemoveAll()
	_, habits, err := c.d.s.d.App.EndpointHabits(c.typed())
	if err != nil {
		c.say(language.Message(err), theme.Waiting)
		return
	}
	c.say("", theme.Dim)
	learned := 0
	for _, h := range habits {
		if h.Learned != "" {
			c.rows.Add(c.learned(h))
			learned++
		}
	}
	if learned > 0 {
		c.rows.Add(newLine())
	}
	for _, h := range habits {
		c.rows.Add(labelledWide(habitName(h.Key), c.control(h)))
	}
	c.rows.Refresh()
}

func (c *compatibility) say(words string, color fyne.ThemeColorName) {
	c.status.SetText(words, text.Run{Color: color})
	c.status.Hidden = words == ""
}

// learned says what the endpoint has shown, and offers to forget it.
func (c *compatibility) learned(h app.Habit) fyne.CanvasObject {
	words := lang.X("settings.habit_learned", "Learned from a refusal: {{.habit}}: {{.value}}", map[string]any{"habit": habitName(h.Key), "value": habitValue(h.Learned)})
	forget := button.New(button.Outlined, "", lang.X("settings.forget", "Forget"), func() {
		e := c.typed()
		c.d.s.p.do(func(ctx context.Context) error { return c.d.s.d.App.ForgetHabits(ctx, e.BaseURL, e.Model, h.Key) }, c.fill)
	})
	return container.New(layout.NewCustomPaddedLayout(0, 1, 0, 0), container.NewBorder(nil, nil, nil, forget, middle(wrapped(words, text.Run{Color: theme.Accent}, compatible-130))))
}

// control lets a habit be set, or left as it is.
func (c *compatibility) control(h app.Habit) fyne.CanvasObject {
	usual := lang.X("settings.habit_usual", "As usual: {{.value}}", map[string]any{"value": habitValue(withoutSet(h))})
	if h.Values == nil {
		entry := form.NewEntry()
		entry.SetText(h.Set)
		entry.SetPlaceHolder(usual)
		entry.OnShortcut = c.d.s.d.Shortcut
		entry.OnChanged = func(s string) {
			s = strings.TrimSpace(s)
			if n, err := strconv.Atoi(s); s != "" && (err != nil || n < 0) {
				c.say(lang.X("settings.habit_number", "{{.habit}} is a number; 0 means no limit.", map[string]any{"habit": habitName(h.Key)}), theme.Waiting)
				return
			}
			c.traits[h.Key] = s
			c.say("", theme.Dim)
		}
		return entry
	}
	options := []option{{"", usual}}
	for _, v := range h.Values {
		options = append(options, option{v, habitValue(v)})
	}
	return choice(options, h.Set, func(v string) { c.traits[h.Key] = v })
}

func withoutSet(h app.Habit) string {
	h.Set = ""
	return h.Now()
}

// labelledWide is labelled with room for a longer name.
func labelledWide(name string, control fyne.CanvasObject) fyne.CanvasObject {
	words := &fyne.Container{Layout: fixedWidth{260}, Objects: []fyne.CanvasObject{text.NewLabel(name, text.Run{}, text.Wrap)}}
	return container.NewBorder(nil, nil, middle(words), nil, control)
}

// habitName is what a habit is about.
func habitName(key string) string {
	switch key {
	case "dialect":
		return lang.X("settings.habit_dialect", "Tool schemas")
	case "max_tools":
		return lang.X("settings.habit_max_tools", "Most tools in a request")
	case "max_description":
		return lang.X("settings.habit_max_description", "Longest tool description (characters)")
	case "tool_choice":
		return lang.X("settings.habit_tool_choice", "Choice whether tools are called")
	case "parallel_tool_calls":
		return lang.X("settings.habit_parallel", "Several calls at once")
	case "length_limit":
		return lang.X("settings.habit_length_limit", "Name of the length limit")
	case "stream_options":
		return lang.X("settings.habit_stream_options", "Token counts in streams")
	case "temperature":
		return lang.X("settings.habit_temperature", "Temperature")
	case "stop":
		return lang.X("settings.habit_stop", "Words to stop at")
	case "reasoning_effort":
		return lang.X("settings.habit_reasoning_effort", "Reasoning effort")
	case "system_role":
		return lang.X("settings.habit_system_role", "Role of the instructions")
	case "images":
		return lang.X("settings.habit_images", "Pictures")
	case "tool_images":
		return lang.X("settings.habit_tool_images", "Pictures in tool results")
	case "reasoning_back":
		return lang.X("settings.habit_reasoning_back", "Reasoning is sent back")
	case "reasoning_field":
		return lang.X("settings.habit_reasoning_field", "Reasoning is sent back as")
	case "call_ids":
		return lang.X("settings.habit_call_ids", "Ids of tool calls")
	case "empty_content":
		return lang.X("settings.habit_empty_content", "Text of an answer with calls alone")
	case "user_after_tool":
		return lang.X("settings.habit_user_after_tool", "Messages straight after tool results")
	case "alternating_roles":
		return lang.X("settings.habit_alternating_roles", "You and the model strictly in turn")
	case "several_calls":
		return lang.X("settings.habit_several_calls", "Several calls in one answer")
	case "tool_message_names":
		return lang.X("settings.habit_tool_names", "Tool's name with each result")
	}
	return key
}

// habitValue words a value of a habit. Names from the wire stay as they are.
func habitValue(value string) string {
	switch value {
	case "yes":
		return lang.X("common.yes", "Yes")
	case "no":
		return lang.X("common.no", "No")
	case "0":
		return lang.X("settings.value_no_limit", "no limit known")
	case "full":
		return lang.X("settings.value_full", "JSON Schema, all of it")
	case "plain":
		return lang.X("settings.value_plain", "the simplest")
	case "grammar":
		return lang.X("settings.value_grammar", "for grammars (llama.cpp)")
	case "all":
		return lang.X("settings.value_all", "all of it")
	case "none":
		return lang.X("settings.value_none", "not sent")
	case "unsaid":
		return lang.X("settings.value_unsaid", "left to the endpoint")
	case "on":
		return lang.X("common.yes", "Yes")
	case "off":
		return lang.X("settings.value_off", "one at a time")
	case "never":
		return lang.X("settings.value_never", "never")
	case "calls":
		return lang.X("settings.value_calls", "with tool calls")
	case "always":
		return lang.X("settings.value_always", "always")
	case "any":
		return lang.X("settings.value_any", "any")
	case "short":
		return lang.X("settings.value_short", "nine letters and digits")
	case "text":
		return lang.X("settings.value_text", "an empty text")
	case "absent":
		return lang.X("settings.value_absent", "left out")
	}
	return value
}
