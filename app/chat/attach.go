package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"steward/app/clean"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/mcphost"
)

// Kinds of an Attachment.
const (
	KindFile     = "file"
	KindImage    = "image"
	KindResource = "resource"
	KindPrompt   = "prompt"
)

// Limits of what one message may carry, in bytes.
const (
	MaxFile  = 512 << 10 // each text file
	MaxText  = 1 << 20   // what the person types
	MaxTotal = 16 << 20  // all attachments of a message
)

// maxPicture is the largest picture that is read to be made smaller, in bytes.
const maxPicture = 64 << 20

// Attachment is something sent along with a message. Text is used for every kind
// but image, Data for image.
type Attachment struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	MIMEType string `json:"mime,omitempty"`
	URI      string `json:"uri,omitempty"`
	Server   string `json:"server,omitempty"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"`
}

// inline words the attachment for the model, with its origin.
func (a Attachment) inline() string {
	from, text := "", a.Text
	if a.Server != "" {
		text = withoutData(text)
		from = " from the server " + clean.Line(a.Server, 100)
	}
	name := clean.Line(a.Name, 200)
	return fmt.Sprintf("[attached %s%s: %s]\n%s\n[end of %s]", a.Kind, from, name, text, name)
}

// Warning says what a person should know before the attachment is sent; empty
// where there is nothing.
func (a Attachment) Warning() string {
	if secrets.LooksSecret(a.Text) {
		return fmt.Sprintf("%s holds something that looks like a key or password; it goes to the model.", clean.Line(a.Name, 200))
	}
	return ""
}

// ReadFile makes an attachment of a text file or a picture (PNG, JPEG, GIF,
// WebP; a large one is made smaller). Anything else, and what is too large, is refused in a sentence.
func ReadFile(path string) (Attachment, error) {
	st, err := os.Stat(path) // before opening: to open a named pipe waits for its writer
	if err != nil {
		return Attachment{}, config.Unreadable("the attachment", path, err)
	}
	if !st.Mode().IsRegular() {
		return Attachment{}, fmt.Errorf("%s cannot be attached because it is not a plain file", clean.Reveal(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return Attachment{}, config.Unreadable("the attachment", path, err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxPicture+1))
	if err != nil {
		return Attachment{}, config.Unreadable("the attachment", path, err)
	}
	return fromBytes(filepath.Base(path), data)
}

func fromBytes(name string, data []byte) (Attachment, error) {
	kind := http.DetectContentType(data)
	switch {
	case kind == "image/png" || kind == "image/jpeg" || kind == "image/gif" || kind == "image/webp":
		img, ok := consent.Picture(data)
		if !ok || len(data) > maxPicture {
			return Attachment{}, fmt.Errorf("%s is too large to be attached, and could not be made smaller than %d bytes", clean.Reveal(name), consent.MaxImage)
		}
		return Attachment{Kind: KindImage, Name: name, MIMEType: img.MIMEType, Data: img.Data}, nil
	case len(data) > MaxFile:
		return Attachment{}, fmt.Errorf("%s is too large to be attached: text files may have at most %d bytes", clean.Reveal(name), MaxFile)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return Attachment{}, fmt.Errorf("%s cannot be attached: it is neither text in UTF-8 nor a picture (PNG, JPEG, GIF or WebP)", clean.Reveal(name))
	}
	return Attachment{Kind: KindFile, Name: name, MIMEType: "text/plain", Text: clean.Clean(string(data))}, nil
}

// AttachResource reads a resource of a reviewed server for a message. The reading
// is recorded.
func (e *Engine) AttachResource(ctx context.Context, conversation string, conn *mcphost.Connection, uri string) (Attachment, error) {
	switch why, err := e.o.Gate.Blocked(ctx, conn); {
	case err != nil:
		return Attachment{}, err
	case why != "":
		return Attachment{}, fmt.Errorf("nothing of the server %s can be attached: %s; review it first", conn.Server(), why)
	}
	start := e.o.Now()
	res, err := conn.ReadResource(ctx, uri)
	if noteErr := e.note(ctx, journal.KindResource, conversation, conn.Server(), uri, res.Raw, start, err); noteErr != nil {
		return Attachment{}, noteErr
	}
	if err != nil {
		return Attachment{}, fmt.Errorf("the resource %s of the server %s could not be read: %w", clean.Reveal(uri), conn.Server(), err)
	}
	a := Attachment{Kind: KindResource, Name: uri, URI: uri, Server: conn.Server()}
	var parts []string
	for _, c := range res.Contents {
		if len(c.Data) == 0 {
			parts = append(parts, clean.Clean(e.o.Redact(c.Text)))
			continue
		}
		img, err := fromBytes(uri, c.Data)
		if err == nil && img.Kind == KindImage && len(res.Contents) == 1 {
			img.URI, img.Server = uri, conn.Server()
			return img, nil
		}
		parts = append(parts, fmt.Sprintf("[%s, %d bytes]", clean.Line(c.MIMEType, 60), len(c.Data)))
	}
	parts = append(parts, e.odd(res.Notes)...)
	a.Text = Shorten(strings.Join(parts, "\n"), MaxFile)
	return a, nil
}

// AttachPrompt has a server fill in a reviewed prompt; the text comes back to be shown
// before it is sent. Whatever roles the server gives its messages, they become
// text of the person's own message: a server never speaks as the model or the
// system. The request is recorded.
func (e *Engine) AttachPrompt(ctx context.Context, conversation string, conn *mcphost.Connection, name string, args map[string]string) (Attachment, error) {
	prompt, err := e.reviewed(ctx, conn, name)
	if err != nil {
		return Attachment{}, err
	}
	if missing := missingArguments(prompt, args); missing != "" {
		return Attachment{}, fmt.Errorf("the prompt %s of the server %s was not asked for, because it needs what is missing: %s", clean.Reveal(name), conn.Server(), missing)
	}
	start := e.o.Now()
	res, err := conn.GetPrompt(ctx, name, args)
	if noteErr := e.note(ctx, journal.KindPrompt, conversation, conn.Server(), name, res.Raw, start, err); noteErr != nil {
		return Attachment{}, noteErr
	}
	if err != nil {
		return Attachment{}, fmt.Errorf("the prompt %s of the server %s could not be filled in: %w", clean.Reveal(name), conn.Server(), err)
	}
	var parts []string
	for _, m := range res.Messages {
		text := clean.Clean(e.o.Redact(m.Content.Text))
		if len(m.Content.Data) > 0 {
			text = fmt.Sprintf("[%s, %d bytes]", clean.Line(m.Content.MIMEType, 60), len(m.Content.Data))
		}
		if m.Role == "assistant" {
			text = "Assistant: " + text
		}
		parts = append(parts, text)
	}
	parts = append(parts, e.odd(res.Notes)...)
	return Attachment{Kind: KindPrompt, Name: name, Server: conn.Server(), Text: Shorten(strings.Join(parts, "\n\n"), MaxFile)}, nil
}

// odd words what was odd about something that a server sent, so that neither the person nor
// the model takes what is there for all of it.
func (e *Engine) odd(notes []string) []string {
	var out []string
	for _, n := range notes {
		out = append(out, "["+clean.Line(e.o.Redact(n), 300)+"]")
	}
	return out
}

// missingArguments names the arguments that a prompt needs and that are not given, "" for
// none (MCP 2025-11-25, server/prompts).
func missingArguments(p mcphost.Prompt, given map[string]string) string {
	var missing []string
	for _, a := range p.Arguments {
		if a.Required && given[a.Name] == "" {
			missing = append(missing, clean.Reveal(a.Name))
		}
	}
	return strings.Join(missing, ", ")
}

// reviewed returns a prompt that may be filled in, or says why it may not be.
func (e *Engine) reviewed(ctx context.Context, conn *mcphost.Connection, name string) (mcphost.Prompt, error) {
	offered, err := conn.Prompts(ctx)
	if err != nil {
		return mcphost.Prompt{}, fmt.Errorf("the prompts of the server %s could not be read: %w", conn.Server(), err)
	}
	i := slices.IndexFunc(offered, func(p mcphost.Prompt) bool { return p.Name == name })
	if i < 0 {
		return mcphost.Prompt{}, fmt.Errorf("the server %s offers no prompt named %s", conn.Server(), clean.Reveal(name))
	}
	ok, err := e.o.Gate.PromptReviewed(ctx, conn, offered[i])
	if err == nil && !ok {
		err = fmt.Errorf("the prompt %s of the server %s is new or has changed; review it first", clean.Reveal(name), conn.Server())
	}
	return offered[i], err
}

// note records something that needed no decision.
func (e *Engine) note(ctx context.Context, kind journal.Kind, conversation, server, what string, raw []byte, start time.Time, failed error) error {
	o := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Result: raw, Seconds: e.o.Now().Sub(start).Seconds()}
	if failed != nil {
		o.Outcome, o.Effect, o.Reason = journal.ProtocolError, journal.EffectUnknown, clean.Line(e.o.Redact(failed.Error()), 500)
	}
	_, err := e.o.Journal.Note(context.WithoutCancel(ctx), journal.Proposal{Kind: kind, Conversation: conversation, Server: server, Tool: what}, o)
	if err != nil {
		return fmt.Errorf("%s of the server %s could not be recorded: %w", clean.Reveal(what), server, errors.Join(err, failed))
	}
	return nil
}
