package audit

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/text"
	"steward/ui/theme"
)

const nothing = "—"

// views are the words of text views.
func views() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
		ShowLess:  func() string { return lang.X("common.show_less", "Show less") },
	}
}

// outcomeWords says how a record stands, with the colour that goes with it.
func outcomeWords(outcome string) (string, fyne.ThemeColorName) {
	switch outcome {
	case journal.Waiting:
		return lang.X("audit.outcome_waiting", "waiting"), theme.Waiting
	case journal.Running:
		return lang.X("audit.outcome_running", "running"), theme.Accent
	case journal.OK:
		return lang.X("audit.outcome_ok", "ok"), theme.Good
	case journal.ToolError:
		return lang.X("audit.outcome_tool_error", "tool error"), theme.Refusal
	case journal.ProtocolError:
		return lang.X("audit.outcome_protocol_error", "protocol error"), theme.Refusal
	case journal.Denied:
		return lang.X("audit.outcome_denied", "denied"), theme.Refusal
	case journal.Expired:
		return lang.X("audit.outcome_expired", "nobody answered"), theme.Dim
	case journal.Withdrawn:
		return lang.X("audit.outcome_withdrawn", "withdrawn"), theme.Dim
	case journal.Cancelled:
		return lang.X("audit.outcome_cancelled", "stopped"), theme.Dim
	case journal.Timeout:
		return lang.X("audit.outcome_timeout", "no answer in time"), theme.Refusal
	case journal.Unknown:
		return lang.X("audit.outcome_unknown", "unknown (crash)"), theme.Waiting
	}
	return clean.Line(outcome, 80), theme.Text
}

// decidedWords names a decision.
func decidedWords(decision string) string {
	switch decision {
	case journal.Allowed:
		return lang.X("audit.decided_allowed", "allowed")
	case journal.Denied:
		return lang.X("audit.outcome_denied", "denied")
	case journal.Expired:
		return lang.X("audit.outcome_expired", "nobody answered")
	case journal.Withdrawn:
		return lang.X("audit.outcome_withdrawn", "withdrawn")
	}
	return clean.Line(decision, 80)
}

// kindWords names what a record is about.
func kindWords(k journal.Kind) string {
	switch k {
	case journal.KindCall:
		return lang.X("audit.kind_call", "tool call")
	case journal.KindElicitation:
		return lang.X("audit.kind_elicitation", "elicitation")
	case journal.KindSampling:
		return lang.X("audit.kind_sampling", "sampling")
	case journal.KindModel:
		return lang.X("audit.kind_model", "model request")
	case journal.KindResource:
		return lang.X("audit.kind_resource", "resource")
	case journal.KindPrompt:
		return lang.X("audit.kind_prompt", "prompt")
	case journal.KindServer:
		return lang.X("audit.kind_server", "server")
	case journal.KindDefinition:
		return lang.X("audit.kind_definition", "definition")
	case journal.KindGrant:
		return lang.X("audit.kind_grant", "grant")
	case journal.KindSettings:
		return lang.X("audit.kind_settings", "settings")
	}
	return clean.Line(string(k), 80)
}

// what names a record: its tool, or what it is about.
func what(r journal.Record) string {
	name := clean.Line(r.Tool, 200)
	switch {
	case r.Kind == journal.KindCall:
	case r.Kind == journal.KindModel:
		purpose := cmp.Or(name, app.PurposeOf(r))
		name = kindWords(r.Kind)
		if r.Model != "" {
			name += " · " + clean.Line(r.Model, 100)
		}
		if purpose != "" && purpose != "turn" {
			name += " · " + purposeWords(purpose)
		}
	case name == "":
		name = kindWords(r.Kind)
	default:
		name = kindWords(r.Kind) + " · " + name
	}
	if r.Parent != 0 {
		name = "↳ " + name
	}
	return name
}

// namer says in words who decided.
type namer struct{ rules map[string]string }

func newNamer(ctx context.Context, a *app.App) (namer, error) {
	rules, err := a.Rules(ctx)
	n := namer{rules: map[string]string{}}
	for _, r := range rules {
		n.rules[r.ID] = strings.Trim(clean.Line(r.Server, 80)+" · "+clean.Line(r.Tool, 80), " ·")
	}
	return n, err
}

func (n namer) by(by string) string {
	word, id, _ := strings.Cut(by, ":")
	switch word {
	case "":
		return nothing
	case "person":
		return lang.X("audit.by_person", "you")
	case "flag":
		return lang.X("audit.by_flag", "option of the program")
	case "grant":
		return lang.X("audit.by_grant", "you, standing")
	case "rule":
		name := n.rules[id]
		if name == "" {
			return lang.X("audit.by_rule", "a rule")
		}
		return lang.X("audit.by_rule_named", "rule: {{.rule}}", map[string]any{"rule": name})
	}
	return clean.Line(by, 80)
}

// took is how long something ran.
func took(r journal.Record) string {
	if r.Seconds <= 0 {
		return nothing
	}
	return seconds(r.Seconds)
}

func seconds(s float64) string {
	digits := 2
	if s >= 100 {
		digits = 0
	}
	return lang.X("audit.seconds", "{{.seconds}} s", map[string]any{"seconds": strconv.FormatFloat(s, 'f', digits, 64)})
}

// clock is a time of today's, the day and time of this year's, and else the day: the details tell the time of each step.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if y, m, d := t.Date(); y == now.Year() && m == now.Month() && d == now.Day() {
		return t.Format("15:04:05")
	}
	if t.Year() == now.Year() {
		return t.Format("01-02 15:04")
	}
	return t.Format("2006-01-02")
}

func periodWords(p period) string {
	switch p {
	case today:
		return lang.X("common.today", "Today")
	case week:
		return lang.X("common.last_7_days", "Last 7 days")
	case month:
		return lang.X("common.last_30_days", "Last 30 days")
	}
	return lang.X("audit.always", "All time")
}

// faultWords says what of a query cannot be used, and what can.
func faultWords(f fault) string {
	data := map[string]any{"value": clean.Line(f.value, 60)}
	switch f.key {
	case wordOutcome:
		data["words"] = strings.Join(outcomes, ", ")
		return lang.X("audit.bad_outcome", "No outcome is called “{{.value}}”; there are {{.words}}.", data)
	case wordDecision:
		data["words"] = strings.Join(decisions, ", ")
		return lang.X("audit.bad_decision", "No decision is called “{{.value}}”; there are {{.words}}.", data)
	case wordKind:
		data["words"] = strings.Trim(fmt.Sprint(kinds), "[]")
		return lang.X("audit.bad_kind", "No kind is called “{{.value}}”; there are {{.words}}.", data)
	}
	return lang.X("audit.bad_day", "“{{.value}}” is no day; write it as 2026-01-31.", data)
}

// count writes a number with its thousands apart.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
