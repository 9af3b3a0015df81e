package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"steward/app/event"
)

// The shapes below are read by other programs: names and order of the keys are fixed.

type turnStartLine struct {
	Event        string `json:"event"`
	Conversation string `json:"conversation"`
	Model        string `json:"model"`
}

type serverLine struct {
	Event    string `json:"event"`
	Server   string `json:"server"`
	State    string `json:"state"`
	Protocol string `json:"protocol"`
	Tools    int    `json:"tools"`
}

type textLine struct {
	Event string `json:"event"`
	Text  string `json:"text"`
}

type callLine struct {
	Event      string `json:"event"`
	ID         string `json:"id"`
	Record     int64  `json:"record"`
	Server     string `json:"server"`
	Tool       string `json:"tool"`
	Arguments  string `json:"arguments"`
	Definition string `json:"definition"`
}

type decisionLine struct {
	Event    string `json:"event"`
	Call     string `json:"call"`
	Decision string `json:"decision"`
	By       string `json:"by"`
}

type progressLine struct {
	Event    string  `json:"event"`
	Call     string  `json:"call"`
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"`
	Message  string  `json:"message"`
}

type elicitationLine struct {
	Event   string `json:"event"`
	Call    string `json:"call"`
	Record  int64  `json:"record"`
	Server  string `json:"server"`
	Mode    string `json:"mode"`
	Message string `json:"message"`
	Action  string `json:"action"`
}

type samplingLine struct {
	Event  string `json:"event"`
	Call   string `json:"call"`
	Record int64  `json:"record"`
	Server string `json:"server"`
	Action string `json:"action"`
	Edited bool   `json:"edited"`
}

type resultLine struct {
	Event      string            `json:"event"`
	Call       string            `json:"call"`
	Record     int64             `json:"record"`
	Outcome    string            `json:"outcome"`
	Effect     string            `json:"effect"`
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structured"`
	Seconds    float64           `json:"seconds"`
}

type noticeLine struct {
	Event   string `json:"event"`
	Kind    string `json:"kind"`
	Server  string `json:"server"`
	Message string `json:"message"`
}

type usageLine struct {
	Event  string `json:"event"`
	Input  int    `json:"input"`
	Output int    `json:"output"`
}

type turnLine struct {
	Event        string `json:"event"`
	State        string `json:"state"`
	Error        string `json:"error"`
	Conversation string `json:"conversation"`
}

// eventLine turns an event into its line, or nil where the event is not for scripts.
func eventLine(e event.Event) any {
	switch e := e.(type) {
	case event.TurnStart:
		return turnStartLine{"turn_start", e.Conversation, e.Model}
	case event.Server:
		return serverLine{"server", e.Server, e.State, e.Protocol, e.Tools}
	case event.Reasoning:
		return textLine{"reasoning", e.Text}
	case event.Text:
		return textLine{"text", e.Text}
	case event.Call:
		return callLine{"call", e.ID, e.Record, e.Server, e.Tool, e.Arguments, e.Definition}
	case event.Decision:
		return decisionLine{"decision", e.Call, e.Decision, e.By}
	case event.Progress:
		return progressLine{"progress", e.Call, e.Progress, e.Total, asTask(e)}
	case event.Elicitation:
		return elicitationLine{"elicitation", e.Call, e.Record, e.Server, e.Mode, e.Message, e.Action}
	case event.Sampling:
		return samplingLine{"sampling", e.Call, e.Record, e.Server, e.Action, e.Edited}
	case event.Result:
		return resultLine{"result", e.Call, e.Record, e.Outcome, e.Effect, contentLines(e.Content), orNull(e.Structured), seconds(e.Seconds)}
	case event.Notice:
		return noticeLine{"notice", e.Kind, e.Server, e.Message}
	case event.Usage:
		return usageLine{"usage", e.Input, e.Output}
	case event.Turn:
		return turnLine{"turn", e.State, e.Error, e.Conversation}
	}
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// seconds keeps milliseconds, as the record does.
func seconds(s float64) float64 { return math.Round(s*1000) / 1000 }

// writeJSON writes one value as compact JSON and a newline, other alphabets as they are.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
