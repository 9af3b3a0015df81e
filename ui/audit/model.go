package audit

import (
	"encoding/json"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/sentence"
	"steward/ui/theme"
)

// attemptData is what the timeline reads of an attempt to reach a model. What has another form counts as nothing.
type attemptData struct {
	Address string
	Status  int
	Bytes   int64
	Answer  int64
	After   float64
	Reason  string
}

// UnmarshalJSON reads the details of a model's attempts alone.
func (a *attemptData) UnmarshalJSON(raw []byte) error {
	var in struct {
		Address string  `json:"address"`
		Status  int     `json:"status"`
		Bytes   int64   `json:"request_bytes"`
		Answer  int64   `json:"answer_bytes"`
		After   float64 `json:"after_seconds"`
		Reason  string  `json:"reason"`
	}
	if json.Unmarshal(raw, &in) == nil {
		*a = attemptData{in.Address, in.Status, in.Bytes, in.Answer, in.After, in.Reason}
	}
	return nil
}

// attempted words a step of a request to a model.
func (s *step) attempted(data eventData) {
	a := data.Detail
	s.note = clean.Line(sentence.Worded(a.Reason), 300)
	switch data.What {
	case "retry":
		s.words = lang.X("audit.step_retry", "to be sent again in {{.seconds}} s", map[string]any{"seconds": strconv.FormatFloat(a.After, 'f', 1, 64)})
		s.color = theme.Waiting
	case "adapted":
		s.words, s.color = lang.X("audit.step_adapted", "adapted to the endpoint, and sent again"), theme.Waiting
	case "request":
		words := map[string]any{"sent": count(a.Bytes), "received": count(a.Answer), "status": a.Status}
		s.note = clean.Line(clean.Reveal(a.Address), 200)
		switch {
		case a.Status == 0:
			s.words, s.color = lang.X("audit.step_no_answer", "{{.sent}} bytes sent to the model; no answer came", words), theme.Refusal
		case a.Status < 200 || a.Status > 299:
			s.words, s.color = lang.X("audit.step_refused", "{{.sent}} bytes sent to the model, refused with HTTP {{.status}}", words), theme.Refusal
		default:
			s.words = lang.X("audit.step_request", "{{.sent}} bytes sent to the model, {{.received}} bytes received", words)
		}
	default:
		s.words = clean.Line(data.What, 100)
	}
}

// tokenWords word what a request to a model took, "" where that was not reported.
func tokenWords(r app.ModelRecord) string {
	var parts []string
	if r.Input > 0 {
		parts = append(parts, lang.X("audit.tokens_in", "{{.count}} tokens in", map[string]any{"count": count(int64(r.Input))}))
	}
	if r.Output > 0 {
		parts = append(parts, lang.X("audit.tokens_out", "{{.count}} out", map[string]any{"count": count(int64(r.Output))}))
	}
	return strings.Join(parts, ", ")
}

func purposeWords(purpose string) string {
	switch purpose {
	case "title":
		return lang.X("audit.for_title", "title")
	case "compaction":
		return lang.X("audit.for_compaction", "summary")
	case "sampling":
		return lang.X("audit.for_sampling", "for a server")
	case "test":
		return lang.X("audit.for_test", "test")
	}
	return clean.Line(purpose, 40)
}
