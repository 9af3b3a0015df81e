package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// noOutput stands for the text of a tool message that has none: some endpoints
// refuse an empty content, some an absent one.
const noOutput = "(no output)"

const maxImage = 20 << 20 // bytes

// body writes the request as JSON, exactly as it goes out. go-openai's own
// types cannot write it: they leave empty contents out.
//
// Whatever the messages are, the result is valid: each call of an assistant
// message is followed by exactly one tool message, ids are unique, and
// arguments are JSON.
func body(model string, r Request, p Profile) ([]byte, *Error) {
	p.NoImages = p.NoImages || r.NoImages
	w := writer{profile: p}
	w.raw(`{"model":`)
	w.text(model)
	w.raw(`,"messages":[`)
	w.messages(r.Messages)
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
	}
	w.raw(`,"stream":true`)
	if !p.NoStreamOptions {
		w.raw(`,"stream_options":{"include_usage":true}`)
	}
	if r.MaxTokens > 0 && p.LengthLimit != LengthNone {
		w.raw(`,"` + cmp.Or(p.LengthLimit, "max_tokens") + `":` + strconv.Itoa(r.MaxTokens))
	}
	if t := r.Temperature; t != nil && !p.NoTemperature && !math.IsNaN(*t) && !math.IsInf(*t, 0) {
		w.raw(`,"temperature":` + strconv.FormatFloat(*t, 'f', -1, 64))
	}
	if r.ReasoningEffort != "" && !p.NoEffort {
		w.raw(`,"reasoning_effort":`)
		w.text(r.ReasoningEffort)
	}
	if len(r.Stop) > 0 && !p.NoStop {
		w.raw(`,"stop":[`)
		for i, s := range r.Stop {
			w.comma(i)
			w.text(s)
		}
		w.raw(`]`)
	}
	w.raw(`}`)
	return w.b, nil
}

// writer writes messages and keeps track of open tool calls.
type writer struct {
	profile Profile
	b       []byte
	count   int               // messages written
	used    map[string]bool   // ids on the wire
	open    []wireCall        // calls of the last assistant message without an answer
	ahead   string            // instructions for the next user message
	images  []pictureMessages // of tool messages, waiting for the last of them
}

type wireCall struct{ id, wire string }

type pictureMessages struct {
	tool   string
	images []Image
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

func (w *writer) messages(list []Message) {
	w.used = map[string]bool{}
	for _, m := range list {
		if m.Role == RoleTool {
			w.answer(m)
			continue
		}
		w.settle()
		switch m.Role {
		case RoleAssistant:
			w.assistant(m)
		case RoleSystem:
			if w.profile.SystemRole == SystemUser {
				w.ahead += m.Text + "\n\n"
				continue
			}
			w.begin(cmp.Or(w.profile.SystemRole, RoleSystem))
			w.raw(`,"content":`)
			w.text(m.Text)
			w.raw(`}`)
		default:
			w.user(m.Text, m.Images)
		}
	}
	w.settle()
	if w.ahead != "" {
		w.user("", nil)
	}
}

// user writes a user message, behind the instructions that could not stand by themselves.
func (w *writer) user(text string, images []Image) {
	if w.ahead != "" {
		text, w.ahead = strings.TrimSpace(w.ahead+text), ""
	}
	w.begin(RoleUser)
	w.content(text, images)
	w.raw(`}`)
}

func (w *writer) begin(role string) {
	w.comma(w.count)
	w.count++
	w.raw(`{"role":"` + role + `"`)
}

// settle answers the calls that have no answer and puts pictures behind the
// tool messages they came with.
func (w *writer) settle() {
	for len(w.open) > 0 {
		w.answer(Message{Role: RoleTool, CallID: w.open[0].id, Text: "(no result was recorded for this call; it may or may not have run)"})
	}
	images := w.images
	w.images = nil
	for _, p := range images {
		w.begin(RoleUser)
		w.content("Picture from the result of the tool "+p.tool+":", p.images)
		w.raw(`}`)
	}
}

// assistant writes an answer of the model. One with neither text nor calls is
// left out: there is no form of it that every endpoint takes.
func (w *writer) assistant(m Message) {
	var calls []ToolCall
	for _, c := range m.Calls {
		if c.Name != "" {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 && strings.TrimSpace(m.Text) == "" {
		return
	}
	w.begin(RoleAssistant)
	w.raw(`,"content":`)
	if w.profile.EmptyContent == EmptyNull && strings.TrimSpace(m.Text) == "" {
		w.raw("null")
	} else {
		w.text(m.Text)
	}
	if w.profile.ReasoningBack != BackNever {
		w.raw(`,"reasoning_content":`)
		w.text(m.Reasoning)
	}
	if len(calls) > 0 {
		w.raw(`,"tool_calls":[`)
		for i, c := range calls {
			w.comma(i)
			wire := w.wireID(c.ID)
			w.open = append(w.open, wireCall{c.ID, wire})
			w.raw(`{"id":`)
			w.text(wire)
			w.raw(`,"type":"function","function":{"name":`)
			w.text(wireName(c.Name))
			args, _, problem := completeObject(c.Arguments, false)
			if problem != "" {
				args = "{}" // the tool message says what was wrong
			}
			w.raw(`,"arguments":`)
			w.text(args)
			w.raw(`}}`)
		}
		w.raw(`]`)
	}
	w.raw(`}`)
}

// wireName is a name the model used, in a form endpoints take: it may have
// named a tool that never was.
func wireName(name string) string {
	if safe(name) && len(name) <= maxName {
		return name
	}
	name = sanitise(name)
	return name[:min(len(name), maxName)]
}

// answer writes a tool message. One that answers no open call is left out.
func (w *writer) answer(m Message) {
	at := -1
	for i, c := range w.open {
		if c.id == m.CallID {
			at = i
			break
		}
	}
	if at < 0 {
		return
	}
	wire := w.open[at].wire
	w.open = append(w.open[:at:at], w.open[at+1:]...)
	w.begin(RoleTool)
	w.raw(`,"tool_call_id":`)
	w.text(wire)
	w.raw(`,"content":`)
	text, images := w.sort(shortenData(m.Text), m.Images)
	if strings.TrimSpace(text) == "" {
		text = noOutput
		if len(images) > 0 {
			text = "(a picture; it follows)"
		}
	}
	w.text(text)
	w.raw(`}`)
	if len(images) > 0 {
		w.images = append(w.images, pictureMessages{m.Tool, images})
	}
}

var (
	plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	dataURI = regexp.MustCompile(`data:([a-zA-Z0-9.+/-]+);base64,[A-Za-z0-9+/=_\\-]{512,}`)
)

// wireID is an id the endpoint takes that no earlier call of the request has.
func (w *writer) wireID(id string) string {
	pattern := plainID
	if w.profile.IDs == IDsShort {
		pattern = shortID
	}
	wire := id
	for n := 0; !pattern.MatchString(wire) || w.used[wire]; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, n))
		if w.profile.IDs == IDsShort {
			wire = fmt.Sprintf("%x", sum[:5])[:9]
		} else {
			wire = fmt.Sprintf("call_%x", sum[:12])
		}
	}
	w.used[wire] = true
	return wire
}

// shortenData replaces long base64 data by a note: as text it tells a model
// nothing and fills its context.
func shortenData(s string) string {
	if !strings.Contains(s, ";base64,") {
		return s
	}
	return dataURI.ReplaceAllStringFunc(s, func(uri string) string {
		kind := dataURI.FindStringSubmatch(uri)[1]
		return fmt.Sprintf("[%s data, %d kB, left out]", kind, len(uri)*3/4/1024)
	})
}

// content writes the text and pictures of a user message.
func (w *writer) content(text string, images []Image) {
	text, images = w.sort(text, images)
	w.raw(`,"content":`)
	if len(images) == 0 {
		w.text(text)
		return
	}
	w.raw(`[`)
	if text != "" {
		w.raw(`{"type":"text","text":`)
		w.text(text)
		w.raw(`},`)
	}
	for i, img := range images {
		w.comma(i)
		w.raw(`{"type":"image_url","image_url":{"url":"data:` + img.MIMEType + `;base64,`)
		w.b = base64.StdEncoding.AppendEncode(w.b, img.Data)
		w.raw(`"}}`)
	}
	w.raw(`]`)
}

// sort separates pictures that can be sent from those that cannot, which become
// notes in the text.
func (w *writer) sort(text string, images []Image) (string, []Image) {
	var good []Image
	for _, img := range images {
		kind, ok := imageType(img.MIMEType)
		why := ""
		switch {
		case w.profile.NoImages:
			why = "this model takes no pictures"
		case !ok:
			why = "not a kind of picture models take"
		case len(img.Data) == 0:
			why = "empty"
		case len(img.Data) > maxImage:
			why = "too large"
		default:
			good = append(good, Image{kind, img.Data})
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("[picture %s, %d kB, not sent: %s]", firstLines(img.MIMEType), (len(img.Data)+1023)/1024, why)
	}
	return text, good
}

func imageType(mime string) (string, bool) {
	mime, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(mime)), ";")
	switch mime {
	case "image/jpg", "image/pjpeg":
		return "image/jpeg", true
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return mime, true
	}
	return mime, false
}
