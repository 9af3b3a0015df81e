package llm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxStops is how many texts to stop at endpoints take (API reference, "stop").
const maxStops = 4

// body writes the request as JSON, exactly as it goes out. go-openai's own
// types cannot write it: they leave empty contents out.
//
// Whatever the messages are, the result is valid; see arrange.
func body(model string, r Request, p Profile) ([]byte, *Error) {
	p.NoImages = p.NoImages || r.NoImages
	w := writer{profile: p}
	w.raw(`{"model":`)
	w.text(model)
	w.raw(`,"messages":[`)
	for i, m := range arrange(r.Messages, p) {
		w.comma(i)
		w.message(m)
	}
	w.raw(`]`)
	if len(r.Tools) > 0 {
		w.raw(`,"tools":[`)
		for i, t := range r.Tools {
			if !safe(t.Name) || len(t.Name) > maxName {
				return nil, &Error{Kind: KindBadTool, Tool: t.Origin, Message: fmt.Sprintf("The tool %s cannot be offered: its name %q is not one endpoints take. Disable this tool and send again.", t.Origin, t.Name)}
			}
			w.comma(i)
			w.raw(`{"type":"function","function":{"name":`)
			w.text(t.Name)
			if d := w.description(t.Description); d != "" {
				w.raw(`,"description":`)
				w.text(d)
			}
			w.raw(`,"parameters":`)
			w.b = append(w.b, normaliseSchema(t.Schema, p.Dialect)...)
			w.raw(`}}`)
		}
		w.raw(`]`)
		if choice := p.choice(r.ToolChoice); choice != "" {
			w.raw(`,"tool_choice":`)
			w.text(choice)
		}
		if p.Parallel != ParallelUnsaid {
			w.raw(`,"parallel_tool_calls":` + strconv.FormatBool(p.Parallel == ParallelOn))
		}
	}
	w.raw(`,"stream":true`)
	if !p.NoStreamOptions {
		w.raw(`,"stream_options":{"include_usage":true}`)
	}
	if r.MaxTokens > 0 && p.LengthLimit != LengthNone {
		w.raw(`,"` + cmp.Or(p.LengthLimit, "max_tokens") + `":` + strconv.Itoa(r.MaxTokens))
	}
	if t := r.Temperature; t != nil && !p.NoTemperature && !math.IsNaN(*t) && !math.IsInf(*t, 0) {
		w.raw(`,"temperature":` + strconv.FormatFloat(min(max(*t, 0), 2), 'f', -1, 64))
	}
	if r.ReasoningEffort != "" && !p.NoEffort {
		w.raw(`,"reasoning_effort":`)
		w.text(r.ReasoningEffort)
	}
	if stops := stopsOf(r.Stop); len(stops) > 0 && !p.NoStop {
		w.raw(`,"stop":[`)
		for i, s := range stops {
			w.comma(i)
			w.text(s)
		}
		w.raw(`]`)
	}
	w.raw(`}`)
	return w.b, nil
}

// stopsOf leaves out empty texts, and what is more than endpoints take.
func stopsOf(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	return list[:min(len(list), maxStops)]
}

// writer writes a request.
type writer struct {
	profile Profile
	b       []byte
}

func (w *writer) raw(s string)  { w.b = append(w.b, s...) }
func (w *writer) text(s string) { w.b = appendQuoted(w.b, s) }

func (w *writer) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}

func (w *writer) description(s string) string {
	if limit := w.profile.MaxDescription; limit > 0 && utf8.RuneCountInString(s) > limit {
		r := []rune(s)
		return string(r[:limit-1]) + "…"
	}
	return s
}
