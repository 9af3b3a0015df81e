package journal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/storage"
)

// Secrets are replaced in everything before it is written or hashed; the keyed
// hash is of the bytes as they were.
func TestSecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary-0123456789"
	dir := t.TempDir()
	db := testStore(t, dir)
	j := testJournal(t, Options{Store: db, Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[secret:x]") }})
	args := `{"key":"` + secret + `"}`
	p := callOf(args)
	p.Detail = map[string]string{"header": secret}
	p.Server, p.Tool = "s"+secret, "t"+secret
	e := propose(t, j, p)
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: secret, Reason: secret, Scope: secret}))
	if _, err := e.Intent(bg, []byte(`{"other":"`+secret+`"}`)); err != nil {
		t.Fatal(err)
	}
	e.Frames([]Frame{{Time: time.Now(), Direction: "out", Bytes: []byte("frame " + secret)}, {Bytes: []byte("\xff" + secret)}})
	ok(t, e.Attempt(bg, secret, []string{secret}))
	ok(t, e.Outcome(bg, Outcome{Outcome: OK, Reason: secret, Result: json.RawMessage(`{"r":"` + secret + `"}`)}))
	ok(t, e.Late(bg, []byte(secret)))
	if _, err := j.Note(bg, Proposal{Kind: KindSettings, Detail: secret}, Outcome{Reason: secret}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, format := range []string{FormatJSONL, FormatCSV, FormatHTML} {
		ok(t, j.Export(bg, &out, format, Filter{}))
	}
	d := show(t, j, 1)
	if d.Arguments != `{"key":"[secret:x]"}` || string(d.Result) != `{"r":"[secret:x]"}` || d.Server != "s[secret:x]" {
		t.Errorf("%+v", d)
	}
	mac := hmac.New(sha256.New, db.JournalKey())
	mac.Write([]byte(args))
	if want := hex.EncodeToString(mac.Sum(nil)); !strings.Contains(string(d.Events[0].Data), want) {
		t.Errorf("the keyed hash of the exact bytes is missing: %s", d.Events[0].Data)
	}
	holds(t, j)
	ok(t, j.Close(bg))
	for name, content := range files(t, dir) {
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds the secret", name)
		}
	}
	if bytes.Contains(out.Bytes(), []byte(secret)) {
		t.Error("an export holds the secret")
	}
	if strings.Count(out.String(), "[secret:x]") == 0 {
		t.Error("nothing was replaced: this test would not notice")
	}
}

func TestARedactorThatFails(t *testing.T) {
	t.Parallel()
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Redact: func(s string) string { panic("boom") }})
	n := call(t, j, `{"key":"secret"}`, `{}`)
	if d := show(t, j, n); strings.Contains(d.Arguments, "secret\"") {
		t.Errorf("%+v", d)
	}
	holds(t, j)
}

func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Large, odd and invalid texts are kept by their beginning, with the whole
// length, and never break the record.
func TestOddTexts(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	long := `{"text":"` + strings.Repeat("长", 2<<20/3) + `"}`
	for _, c := range []struct {
		result string
		want   string // "" : any JSON string
		cut    bool
	}{
		{long, "", true},
		{`{"big":12345678901234567890123,"dup":1,"dup":2,"e":"\u4e2d<&>"}`, `{"big":12345678901234567890123,"dup":1,"dup":2,"e":"\u4e2d<&>"}`, false},
		{"not json", `"not json"`, false},
		{"\xff\x00broken", "", false},
		{`"a\u0000b"`, `"a\u0000b"`, false},
	} {
		e, _ := intended(t, j, "{\"odd\":\"\u202e\u0000\U0001F680\"}")
		ok(t, e.Outcome(bg, Outcome{Outcome: OK, Result: json.RawMessage(c.result)}))
		d := show(t, j, e.Number())
		if d.Length != int64(len(c.result)) || d.Cut != c.cut || (c.want != "" && string(d.Result) != c.want) || !json.Valid(d.Result) {
			t.Errorf("%.40q: %.60q, %d bytes, cut %v", c.result, d.Result, d.Length, d.Cut)
		}
		if len(d.Result) > maxText+100 {
			t.Errorf("%d bytes are kept", len(d.Result))
		}
		if text, err := json.Marshal(d); err != nil || !json.Valid(text) {
			t.Error(err)
		}
	}
	e, _ := intended(t, j, `{}`)
	var many []Frame
	for i := range 100 {
		many = append(many, Frame{Time: time.Now(), Direction: "in", Bytes: bytes.Repeat([]byte{byte('a' + i%26)}, 10000)})
	}
	many[1].Bytes = []byte("\xfe\xff")
	many[2] = Frame{Direction: "in", Bytes: []byte("its beginning"), Length: 1 << 30, Cut: true}
	e.Frames(many)
	ok(t, e.Outcome(bg, Outcome{Outcome: OK, Seconds: -5}))
	d := show(t, j, e.Number())
	kept := 0
	for _, f := range d.Frames {
		kept += len(f.Bytes)
	}
	if len(d.Frames) != 100 || kept > maxFrames || d.Frames[99].Length != 10000 || !d.Frames[99].Cut || d.Frames[3].Cut || d.Frames[2].Length != 1<<30 || !d.Frames[2].Cut || string(d.Frames[1].Bytes) != "\xfe\xff" || d.Seconds != 0 {
		t.Errorf("%d frames, %d bytes", len(d.Frames), kept)
	}
	holds(t, j)
}

// A deleted conversation takes its texts out of the journal; the chain holds,
// and what comes later for it is not kept either.
func TestDeletedConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := testStore(t, dir)
	j := testJournal(t, Options{Store: db})
	ok(t, db.Write(bg, func(tx *storage.Tx) error { return tx.PutConversation(storage.Conversation{ID: "c_1"}) }))
	const marker = "zebramarker"
	for range 50 {
		call(t, j, `{"a":"`+marker+`"}`, `{"r":"`+marker+`"}`)
	}
	p := callOf(`{"a":"stays"}`)
	p.Conversation = "c_2"
	stays := propose(t, j, p)
	ok(t, stays.Decided(bg, Decision{Decision: Denied, Reason: "stays"}))
	ok(t, stays.Outcome(bg, Outcome{Outcome: Denied}))
	open, _ := intended(t, j, `{"b":"`+marker+`"}`)
	open.Frames([]Frame{{Bytes: []byte(marker)}})
	before := holds(t, j).Events
	ok(t, j.Erase(bg, "c_1"))
	if err := j.Erase(bg, "c_1"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("erased twice: %v", err)
	}
	ok(t, open.Outcome(bg, Outcome{Outcome: OK, Reason: marker, Result: json.RawMessage(`"` + marker + `"`)}))
	ok(t, open.Late(bg, []byte(marker)))
	call(t, j, `{"after":"`+marker+`"}`, `{"r":"`+marker+`"}`) // by something that had not heard of it
	if v := holds(t, j); v.Events != before+4+5 {
		t.Errorf("%d events, before %d", v.Events, before)
	}
	d := show(t, j, 1)
	if d.Arguments != "" || d.Result != nil || !d.Erased || d.Server != "weekly-report" || d.Outcome != OK {
		t.Errorf("%+v", d)
	}
	if l, err := j.List(bg, Filter{Search: marker}); err != nil || len(l) != 0 {
		t.Error(l, err)
	}
	if l, err := j.List(bg, Filter{Search: "stays"}); err != nil || len(l) != 1 {
		t.Error(l, err)
	}
	var out bytes.Buffer
	ok(t, j.Export(bg, &out, FormatJSONL, Filter{}))
	if v, err := VerifyExport(&out); err != nil || !v.OK {
		t.Errorf("%+v %v", v, err)
	}
	ok(t, j.Close(bg))
	ok(t, db.Close())
	for name, content := range files(t, dir) {
		if bytes.Contains(content, []byte(marker)) {
			t.Errorf("%s still holds the text", name)
		}
	}
}

// A clock that goes back changes no order and breaks nothing.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2106, 2, 8, 0, 0, 0, 0, time.UTC)
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Now: func() time.Time { now = now.Add(-time.Hour * 24 * 365 * 10); return now }})
	call(t, j, `{"n":1}`, `{}`)
	call(t, j, `{"n":2}`, `{}`)
	l, err := j.List(bg, Filter{})
	if err != nil || len(l) != 2 || l[0].Record != 2 || l[0].Time.After(l[1].Time) {
		t.Errorf("%+v %v", l, err)
	}
	holds(t, j)
}

func TestShowOfNothing(t *testing.T) {
	t.Parallel()
	if _, err := newJournal(t).Show(bg, 7); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}
