package chat

import (
	"image/color"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/theme"
)

// share is one part of what the model can read.
type share struct {
	words  string
	tokens int
	colour fyne.ThemeColorName // Clear: what is free
}

// shares are the parts of the meter from the left; what is free is the last, where the window is known.
func shares(u app.ContextUse) []share {
	out := []share{
		{lang.X("chat.share_system", "Instructions"), u.System, theme.Dim},
		{lang.X("chat.share_tools", "Tools"), u.Tools, theme.SynName},
		{lang.X("chat.share_messages", "Messages"), u.Messages, theme.Accent},
	}
	if u.Window > 0 {
		out = append(out, share{lang.X("chat.share_free", "Free"), u.Free(), theme.Clear})
	}
	return out
}

// meter is a bar that shows the shares.
type meter struct {
	widget.BaseWidget
	ground *canvas.Rectangle
	pieces []*canvas.Rectangle
	shares []share
}

const meterHeight = 2.5 * theme.Step

func newMeter() *meter {
	m := &meter{ground: canvas.NewRectangle(color.Transparent)}
	m.ExtendBaseWidget(m)
	return m
}

func (m *meter) set(u app.ContextUse) {
	m.shares = shares(u)
	for len(m.pieces) < len(m.shares) {
		m.pieces = append(m.pieces, canvas.NewRectangle(color.Transparent))
	}
	m.Refresh()
}

// CreateRenderer is Fyne's.
func (m *meter) CreateRenderer() fyne.WidgetRenderer { return &meterRenderer{m} }

type meterRenderer struct{ m *meter }

func (r *meterRenderer) Destroy()           {}
func (r *meterRenderer) MinSize() fyne.Size { return fyne.NewSize(100, meterHeight) }
func (r *meterRenderer) Refresh()           { r.Layout(r.m.Size()); canvas.Refresh(r.m) }

func (r *meterRenderer) Objects() []fyne.CanvasObject {
	out := []fyne.CanvasObject{r.m.ground}
	for _, p := range r.m.pieces {
		out = append(out, p)
	}
	return out
}

func (r *meterRenderer) Layout(s fyne.Size) {
	m := r.m
	m.ground.FillColor, m.ground.StrokeColor, m.ground.StrokeWidth, m.ground.CornerRadius = theme.Color(theme.CodeGround), theme.Color(theme.Edge), 1, 3
	m.ground.Resize(s)
	total := 0
	for _, p := range m.shares {
		total += p.tokens
	}
	x := float32(1)
	for i, p := range m.pieces {
		p.Hidden = i >= len(m.shares) || m.shares[i].colour == theme.Clear || total == 0 || m.shares[i].tokens == 0
		if p.Hidden {
			continue
		}
		w := max((s.Width-2)*float32(m.shares[i].tokens)/float32(total), 1)
		w = min(w, s.Width-1-x)
		p.FillColor = theme.Color(m.shares[i].colour)
		p.Move(fyne.NewPos(x, 1))
		p.Resize(fyne.NewSize(w, s.Height-2))
		x += w
	}
}

// contextMark is what the head says of it, short.
func contextMark(u app.ContextUse, short bool) string {
	data := map[string]any{"percent": strconv.Itoa(u.Percent()), "tokens": count(u.Sum())}
	switch {
	case u.Window > 0 && short:
		return strconv.Itoa(u.Percent()) + "%"
	case u.Window > 0:
		return lang.X("chat.context_percent", "Context {{.percent}}%", data)
	case short:
		return lang.X("chat.context_short", "{{.tokens}} tok", data)
	}
	return lang.X("chat.context", "Context {{.tokens}} tok", data)
}

// useWords says how full the window is.
func useWords(u app.ContextUse) string {
	data := map[string]any{"used": count(u.Sum()), "window": count(u.Window), "percent": strconv.Itoa(u.Percent()), "model": clean.Line(u.Model, 60)}
	switch {
	case u.Window > 0:
		return lang.X("chat.use_known", "About {{.used}} of the {{.window}} tokens that {{.model}} can read, {{.percent}}%.", data)
	case u.Model == "":
		return lang.X("chat.use_none", "About {{.used}} tokens.", data)
	}
	return lang.X("chat.use_unknown", "About {{.used}} tokens. How many {{.model}} can read is not known; enter it, if you know it.", data)
}

// aboutWords says where the figures are from.
func aboutWords(u app.ContextUse) string {
	words := lang.X("chat.estimate", "An estimate: each kind of model counts in its own way.")
	if u.Reports > 0 {
		words = lang.X("chat.estimate_corrected", "An estimate, corrected by what the endpoint reported for earlier requests.")
	}
	switch u.Source {
	case app.WindowByPerson:
		words = sentences(words, lang.X("chat.window_person", "How much the model can read is the figure you entered."))
	case app.WindowByEndpoint:
		words = sentences(words, lang.X("chat.window_endpoint", "How much the model can read is what its endpoint said."))
	case app.WindowByTable:
		words = sentences(words, lang.X("chat.window_table", "How much the model can read is what its maker publishes."))
	}
	return words
}

// sentences puts two behind each other; Chinese has no space between them.
func sentences(first, second string) string {
	if strings.HasSuffix(first, "。") {
		return first + second
	}
	return first + " " + second
}

// costWords says what the chat has cost.
func costWords(u app.ContextUse) string {
	var sums []string
	for _, c := range u.Costs {
		sums = append(sums, money(c))
	}
	data := map[string]any{"sum": strings.Join(sums, " + "), "priced": u.Priced, "answers": u.Answers}
	if u.Priced == u.Answers {
		return lang.X("chat.cost_all", "This chat has cost {{.sum}} by the prices you entered.", data)
	}
	return lang.X("chat.cost_some", "This chat has cost {{.sum}} by the prices you entered, for {{.priced}} of its {{.answers}} answers; of the others the price or what they took is not known.", data)
}

// money words an amount: with as many decimals as show something of a small one.
func money(c app.Cost) string {
	decimals := 2
	for n := c.Amount; n > 0 && n < 1 && decimals < 6; n *= 10 {
		decimals++
	}
	out := strconv.FormatFloat(c.Amount, 'f', decimals, 64)
	if c.Currency == "" {
		return out
	}
	return out + " " + clean.Reveal(c.Currency)
}

// spentWords says what an answer took; "" where nothing of it is known.
func spentWords(m app.ChatMessage) string {
	var parts []string
	if m.Model != "" {
		parts = append(parts, cut(m.Model, 40))
	}
	switch {
	case m.Spent.Output == 1:
		parts = append(parts, lang.X("chat.spent_token", "1 token"))
	case m.Spent.Output > 0:
		parts = append(parts, lang.X("chat.spent_tokens", "{{.count}} tokens", map[string]any{"count": count(m.Spent.Output)}))
	}
	if m.Spent.Seconds > 0 {
		parts = append(parts, seconds(m.Spent.Seconds))
	}
	if m.Priced {
		parts = append(parts, money(m.Cost))
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, " · ")
}

// spentDetail says all that is known of what an answer took.
func spentDetail(m app.ChatMessage) string {
	s := m.Spent
	if !s.Reported() {
		return ""
	}
	words := lang.X("chat.spent_in_out", "{{.input}} tokens in, {{.output}} out", map[string]any{"input": count(s.Input), "output": count(s.Output)})
	if s.Cached > 0 {
		words += ", " + lang.X("chat.spent_cached", "{{.count}} of them kept by the endpoint", map[string]any{"count": count(s.Cached)})
	}
	if m.Priced {
		words += " · " + money(m.Cost)
	}
	return words
}
