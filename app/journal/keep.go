package journal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what is kept, in bytes. The whole length and the keyed hash are
// always of all bytes.
const (
	maxText    = 1 << 20   // arguments and results
	maxReason  = 16 << 10  // reasons and names
	maxFrame   = 64 << 10  // one frame
	maxFrames  = 256 << 10 // the frames of one call to Frames
	maxIndexed = 64 << 10  // of arguments and result each, for the search
)

// clean replaces secrets. A redactor that fails must not let them through.
func (j *Journal) clean(s string) (out string, changed bool) {
	if j.redact == nil || s == "" {
		return s, false
	}
	defer func() {
		if recover() != nil {
			out, changed = "[not recorded: the secrets in it could not be replaced]", true
		}
	}()
	out = j.redact(s)
	return out, out != s
}

// keep prepares a text of a conversation: secrets replaced, cut to size.
func (j *Journal) keep(exact []byte, m *meta) *kept {
	text, changed := j.clean(string(exact))
	m.Redacted = m.Redacted || changed
	k := &kept{Length: int64(len(exact)), HMAC: j.keyed(exact)}
	k.Text, k.Cut = cut(strings.ToValidUTF8(text, "\uFFFD"), maxText)
	return k
}

// short prepares a name or a reason.
func (j *Journal) short(s string, m *meta) string {
	text, changed := j.clean(s)
	m.Redacted = m.Redacted || changed
	text, _ = cut(strings.ToValidUTF8(text, "\uFFFD"), maxReason)
	return text
}

// detail prepares whatever a caller hands over.
func (j *Journal) detail(v any, m *meta) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	text, err := encode(v)
	if err != nil {
		return nil, fmt.Errorf("the detail cannot be written as JSON: %w", err)
	}
	clean, changed := j.clean(string(text))
	m.Redacted = m.Redacted || changed
	short, wasCut := cut(clean, maxText)
	if !wasCut && json.Valid([]byte(short)) {
		return json.RawMessage(short), nil
	}
	return encode(short)
}

// cut keeps at most limit bytes and no half character.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

func (j *Journal) frames(all []Frame, m *meta) []keptFrame {
	var out []keptFrame
	room := maxFrames
	for _, f := range all {
		text, changed := j.clean(string(f.Bytes))
		m.Redacted = m.Redacted || changed
		k := keptFrame{Time: clock(f.Time), Direction: f.Direction, Length: f.Length}
		if k.Length == 0 {
			k.Length = int64(len(f.Bytes))
		}
		limit := min(room, maxFrame)
		if !utf8.ValidString(text) {
			text, k.Cut = text[:min(len(text), limit)], len(text) > limit
		} else {
			text, k.Cut = cut(text, limit)
		}
		k.Cut = k.Cut || f.Cut
		k.setBytes([]byte(text))
		room -= len(k.Text) + len(k.Base64)
		out = append(out, k)
	}
	return out
}

func (k *keptFrame) setBytes(b []byte) {
	if utf8.Valid(b) {
		k.Text = string(b)
	} else {
		k.Base64 = b
	}
}

// clock writes a time as every JSON of the journal does: UTC, milliseconds.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// findable gives the words of a JSON text, its strings unescaped, so that a
// search finds what a person reads. What is no JSON is taken as it is.
func findable(text string) string {
	head, _ := cut(text, maxIndexed)
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(head))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch v := token.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case json.Number:
			b.WriteString(v.String())
			b.WriteByte('\n')
		}
	}
	if rest := head[min(int(dec.InputOffset()), len(head)):]; strings.TrimSpace(rest) != "" {
		b.WriteString(rest)
	}
	return b.String()
}
