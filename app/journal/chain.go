package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"steward/storage"
)

// The events of a record. A single event is named after its record's kind.
const (
	evOpened   = "opened" // the first of every run; of no record
	evProposed = "proposed"
	evShown    = "shown"
	evDecided  = "decided"
	evIntent   = "intent"
	evSent     = "sent"
	evAttempt  = "attempt"
	evFrames   = "frames"
	evOutcome  = "outcome"
	evLate     = "late"
)

// versionTag begins what is hashed; another layout gets another tag.
const versionTag = "steward-journal-1\n"

// meta is what stays of an event for good: names and words, no text of a
// conversation. It is hashed as the JSON it is stored as.
type meta struct {
	// opened
	Folder  string `json:"folder,omitempty"`
	Program string `json:"program,omitempty"`
	Schema  int    `json:"schema,omitempty"`
	Boot    string `json:"boot,omitempty"`
	// proposed, single
	Kind         Kind   `json:"kind,omitempty"`
	Parent       int64  `json:"parent,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Server       string `json:"server,omitempty"`
	Tool         string `json:"tool,omitempty"`
	Model        string `json:"model,omitempty"`
	Definition   string `json:"definition,omitempty"`
	// shown, decided
	Shown    string `json:"shown,omitempty"`
	Decision string `json:"decision,omitempty"`
	By       string `json:"by,omitempty"`
	Scope    string `json:"scope,omitempty"`
	// intent: the bytes are those of the proposal's arguments
	Same bool `json:"same,omitempty"`
	// attempt; the single event of an erasure
	What string `json:"what,omitempty"`
	// outcome, single
	Outcome string  `json:"outcome,omitempty"`
	Effect  string  `json:"effect,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	// Redacted: a secret was replaced in the body.
	Redacted bool `json:"redacted,omitempty"`
}

// content is the erasable part of an event.
type content struct {
	Arguments *kept           `json:"arguments,omitempty"`
	Exact     *kept           `json:"exact,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Result    *kept           `json:"result,omitempty"`
	Frames    []keptFrame     `json:"frames,omitempty"`
	// Exchange is the hash of what is kept beside the chain, see Entry.Exchanged.
	Exchange string `json:"exchange,omitempty"`
}

// kept is a text as recorded, with the length and the keyed hash
// (HMAC-SHA-256) of the bytes as they really were.
type kept struct {
	Text   string `json:"text"`
	Length int64  `json:"length"`
	HMAC   string `json:"hmac"`
	Cut    bool   `json:"cut,omitempty"`
}

// keptFrame is a frame as recorded. Base64 stands in place of Text where the
// bytes are no UTF-8.
type keptFrame struct {
	Time      string `json:"time"`
	Direction string `json:"direction"`
	Text      string `json:"text,omitempty"`
	Base64    []byte `json:"base64,omitempty"`
	Length    int64  `json:"length"`
	Cut       bool   `json:"cut,omitempty"`
}

// encode writes JSON without escaping more than JSON asks for.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// keyed is the HMAC-SHA-256 of the bytes under the file's key, in hex.
func (j *Journal) keyed(exact []byte) string {
	mac := hmac.New(sha256.New, j.key)
	mac.Write(exact)
	return hex.EncodeToString(mac.Sum(nil))
}

// bodyHash covers the nonce and the bytes; without the nonce, which goes with
// the body, the hash left behind tells nothing about a short text.
func bodyHash(b *storage.Body) []byte {
	h := sha256.New()
	field(h, b.Nonce)
	field(h, b.Bytes)
	return h.Sum(nil)
}

// field writes a length-prefixed field, so that no two lists of fields are
// hashed alike.
func field(w interface{ Write([]byte) (int, error) }, b []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	_, _ = w.Write(n[:]) // a hash never fails
	_, _ = w.Write(b)
}

// eventHash is SHA-256 over the version tag and every field of the event, the
// hash of the one before included.
func eventHash(e storage.Event) []byte {
	h := sha256.New()
	h.Write([]byte(versionTag))
	var number [8]byte
	integer := func(n int64) {
		binary.BigEndian.PutUint64(number[:], uint64(n))
		field(h, number[:])
	}
	integer(e.Seq)
	integer(e.Record)
	field(h, []byte(e.Kind))
	integer(nanos(e.Time))
	integer(e.Mono)
	field(h, []byte(e.Run))
	field(h, []byte(e.Meta))
	field(h, e.BodyHash)
	field(h, e.Prev)
	return h.Sum(nil)
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// draft is an event before it has its place in the chain.
type draft struct {
	record int64
	kind   string
	time   time.Time
	mono   int64
	meta   meta
	text   string // meta as stored
	body   *storage.Body
	hash   []byte // of the body
	// arguments and words go to the projection and the search index.
	arguments string
	words     string
}

// draft prepares an event: everything that needs no place in the chain.
func (j *Journal) draft(record int64, kind string, m meta, c *content) (draft, error) {
	d := draft{record: record, kind: kind, time: j.now().UTC(), mono: time.Since(j.start).Nanoseconds(), meta: m}
	if c != nil {
		text, err := encode(c)
		if err != nil {
			return d, fmt.Errorf("recording %s: %w", kind, err)
		}
		if string(text) != "{}" {
			nonce := make([]byte, 16)
			if _, err := rand.Read(nonce); err != nil {
				return d, fmt.Errorf("recording %s: %w", kind, err)
			}
			d.body = &storage.Body{Nonce: nonce, Bytes: text}
			d.hash = bodyHash(d.body)
		}
	}
	text, err := encode(m)
	if err != nil {
		return d, fmt.Errorf("recording %s: %w", kind, err)
	}
	d.text = string(text)
	return d, nil
}

// place gives the draft its place after head.
func (d *draft) place(head storage.Head, run string) storage.Event {
	e := storage.Event{
		Seq: head.Seq + 1, Record: d.record, Kind: d.kind, Time: d.time, Mono: d.mono, Run: run,
		Meta: d.text, BodyHash: d.hash, Prev: head.Hash, Body: d.body,
	}
	e.Hash = eventHash(e)
	return e
}
