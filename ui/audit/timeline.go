package audit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/sentence"
	"steward/ui/theme"
)

// step is a line of what happened.
type step struct {
	at    time.Time
	words string
	color fyne.ThemeColorName
	note  string // foreign text, made safe
}

// eventData is what the timeline reads of an event.
type eventData struct {
	Model    string  `json:"model"`
	Shown    string  `json:"shown"`
	Decision string  `json:"decision"`
	By       string  `json:"by"`
	Scope    string  `json:"scope"`
	Same     bool    `json:"same"`
	What     string  `json:"what"`
	Outcome  string  `json:"outcome"`
	Seconds  float64 `json:"seconds"`
	Reason   string  `json:"reason"`

	Detail attemptData `json:"detail"`
}

// steps words what happened.
func steps(d journal.Detail, names namer) []step {
	var out []step
	sent := 0
	for _, e := range d.Events {
		var data eventData
		s := step{at: e.Time}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			s.words = lang.X("audit.step_unreadable", "an event that cannot be read")
		} else {
			s.fill(d, e.Event, data, names)
		}
		if n := len(out); n > 0 && s.note == out[n-1].note {
			s.note = "" // the outcome of a denial gives the denial's reason again
		}
		out = append(out, s)
		if e.Event == "sent" {
			sent = len(out)
		}
	}
	// Nothing of the answer stands before the call was sent, whatever the clocks say.
	for _, w := range wireSteps(d) {
		for sent < len(out) && !out[sent].at.After(w.at) {
			sent++
		}
		out = slices.Insert(out, sent, w)
		sent++
	}
	return out
}

// shortHash is how many characters of a hash stand in a line: enough to tell two apart that stand together.
const shortHash = 8

// mostProgress is how many reports of progress stand in the timeline; all of them stand under “Wire”.
const mostProgress = 20

// wireFrame is what the timeline reads of a frame (JSON-RPC 2.0; MCP, “Progress”).
type wireFrame struct {
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	} `json:"params"`
}

// wireSteps are what came in while a call ran: progress, and the answer.
func wireSteps(d journal.Detail) (out []step) {
	if d.Kind == journal.KindModel {
		return nil // its attempts say so themselves
	}
	reports := 0
	for _, f := range d.Frames {
		var w wireFrame
		if f.Direction != "in" || json.Unmarshal(f.Bytes, &w) != nil {
			continue
		}
		switch {
		case w.Method == "notifications/progress":
			if reports++; reports > mostProgress {
				continue
			}
			out = append(out, step{at: f.Time, words: progressWords(w.Params.Progress, w.Params.Total), note: clean.Line(w.Params.Message, 300), color: theme.Dim})
		case w.Method == "" && len(w.Result)+len(w.Error) > 0:
			length := max(f.Length, int64(len(f.Bytes)))
			out = append(out, step{at: f.Time, words: lang.X("audit.step_received", "answer received, {{.count}} bytes", map[string]any{"count": count(length)})})
		}
	}
	if reports > mostProgress {
		last := out[len(out)-1].at
		out = append(out, step{at: last, words: lang.X("audit.step_more_progress", "{{.count}} more reports of progress stand under “Wire”", map[string]any{"count": reports - mostProgress}), color: theme.Dim})
	}
	return out
}

func progressWords(progress, total float64) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
	if total > 0 {
		return lang.X("audit.step_progress_of", "progress {{.done}} of {{.total}}", map[string]any{"done": number(progress), "total": number(total)})
	}
	return lang.X("audit.step_progress", "progress {{.done}}", map[string]any{"done": number(progress)})
}

func (s *step) fill(d journal.Detail, kind string, data eventData, names namer) {
	s.note = clean.Line(sentence.Worded(data.Reason), 300)
	switch kind {
	case "proposed":
		s.words = proposedBy(d, data)
	case "shown":
		hash := strings.TrimPrefix(data.Shown, "sha256:")
		s.words = lang.X("audit.step_shown", "shown to you (hash {{.hash}}…)", map[string]any{"hash": clean.Line(hash[:min(len(hash), shortHash)], shortHash)})
	case "decided":
		s.words, s.color = decisionWords(data.Decision, names.by(data.By), data.Scope)
	case "intent":
		s.words = lang.X("audit.step_intent", "written down before sending")
		if !data.Same {
			s.words = lang.X("audit.step_intent_edited", "written down before sending, as changed")
		}
	case "sent":
		s.words = lang.X("audit.step_sent", "sent to the server")
	case "attempt":
		if d.Kind == journal.KindModel {
			s.attempted(data)
			return
		}
		s.words = lang.X("audit.step_attempt", "a further round: {{.what}}", map[string]any{"what": clean.Line(data.What, 100)})
	case "late":
		s.words, s.color = lang.X("audit.step_late", "an answer came too late; it was not used"), theme.Waiting
	case "frames":
		s.words = lang.X("audit.step_frames", "what went over the wire was kept")
	case "outcome":
		s.words, s.color = outcomeWords(data.Outcome)
		if data.Seconds > 0 {
			s.words += " · " + seconds(data.Seconds)
		}
		if used := tokenWords(app.ReadModelRecord(d)); used != "" {
			s.words += " · " + used
		}
	default: // a record that is over at once
		s.words = kindWords(journal.Kind(kind))
		if data.Outcome != "" {
			var w string
			w, s.color = outcomeWords(data.Outcome)
			s.words += ": " + w
		}
	}
}

func proposedBy(d journal.Detail, data eventData) string {
	switch {
	case d.Parent != 0 && d.Kind != journal.KindModel:
		return lang.X("audit.step_asked", "asked by the server during #{{.record}}", map[string]any{"record": d.Parent})
	case data.Model != "" && d.Kind != journal.KindModel:
		return lang.X("audit.step_proposed", "proposed by {{.model}}", map[string]any{"model": clean.Line(data.Model, 100)})
	case d.Kind == journal.KindCall:
		return lang.X("audit.step_by_hand", "begun by hand")
	}
	return lang.X("audit.step_begun", "begun")
}

func decisionWords(decision, by, scope string) (string, fyne.ThemeColorName) {
	data := map[string]any{"by": by}
	switch decision {
	case journal.Denied:
		return lang.X("audit.step_denied", "denied by {{.by}}", data), theme.Refusal
	case journal.Expired:
		return lang.X("audit.step_expired", "nobody answered in time"), theme.Waiting
	case journal.Withdrawn:
		return lang.X("audit.step_withdrawn", "withdrawn"), theme.Dim
	}
	switch scope {
	case "conversation":
		return lang.X("audit.step_allowed_chat", "allowed by {{.by}} for this chat", data), theme.Good
	case "always":
		return lang.X("audit.step_allowed_always", "allowed by {{.by}}, always", data), theme.Good
	}
	return lang.X("audit.step_allowed", "allowed by {{.by}}", data), theme.Good
}
