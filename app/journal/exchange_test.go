package journal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"steward/storage"
)

// asked is a request to a model whose intent is on the disk.
func asked(t testing.TB, j *Journal, conversation string) *Entry {
	t.Helper()
	e := propose(t, j, Proposal{Kind: KindModel, Conversation: conversation, Model: "m", Arguments: `{"purpose":"turn"}`})
	if _, err := e.Intent(bg, []byte(`{"purpose":"turn"}`)); err != nil {
		t.Fatal(err)
	}
	return e
}

func withConversation(t testing.TB, store *storage.DB, id string) {
	t.Helper()
	ok(t, store.Write(bg, func(tx *storage.Tx) error { return tx.PutConversation(storage.Conversation{ID: id, Title: "x"}) }))
}

func wire(out, in string) []Frame {
	return []Frame{
		{Time: time.Now(), Direction: "out", Bytes: []byte(out), Length: int64(len(out))},
		{Time: time.Now(), Direction: "in", Bytes: []byte(in), Length: int64(len(in))},
	}
}

func shown(t testing.TB, j *Journal, n int64) Detail {
	t.Helper()
	d, err := j.Show(bg, n)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhatWentToAModelIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	store := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: store, Redact: func(s string) string { return strings.ReplaceAll(s, "SENTINEL", "[secret]") }})
	withConversation(t, store, "c_1")
	withConversation(t, store, "c_2")
	var numbers []int64
	for i := range 25 {
		e := asked(t, j, "c_1")
		e.Attempted("request", map[string]any{"status": 200})
		ok(t, e.Exchanged(bg, Outcome{Outcome: OK, Result: []byte(`{"output_tokens":7}`)}, wire(fmt.Sprint("ask SENTINEL ", i), "data: x\n\n"), true))
		numbers = append(numbers, e.Number())
	}
	other := asked(t, j, "c_2")
	ok(t, other.Exchanged(bg, Outcome{Outcome: OK}, wire("other", "answer"), true))
	none := asked(t, j, "")
	ok(t, none.Exchanged(bg, Outcome{Outcome: OK}, wire("by hand", "answer"), true))

	d := shown(t, j, numbers[24])
	if len(d.Frames) != 2 || string(d.Frames[0].Bytes) != "ask [secret] 24" || d.Frames[0].Length != int64(len("ask SENTINEL 24")) || string(d.Frames[1].Bytes) != "data: x\n\n" {
		t.Errorf("%+v", d.Frames)
	}
	var kinds []string
	for _, e := range d.Events {
		kinds = append(kinds, e.Event)
	}
	if got := strings.Join(kinds, " "); got != "proposed intent attempt outcome" || d.Outcome != OK || string(d.Result) != `{"output_tokens":7}` {
		t.Error(got, d.Outcome, string(d.Result))
	}
	for n, want := range map[int64]int{numbers[4]: 0, numbers[5]: 2, other.Number(): 2, none.Number(): 0} {
		if got := shown(t, j, n).Frames; len(got) != want {
			t.Errorf("record %d: %d frames, want %d", n, len(got), want)
		}
	}
	if v, err := j.Verify(bg); err != nil || !v.OK {
		t.Fatal(v, err)
	}
	ok(t, j.Erase(bg, "c_1"))
	if got := shown(t, j, numbers[24]); len(got.Frames) != 0 || !got.Erased {
		t.Errorf("after erasing: %+v", got)
	}
	if v, err := j.Verify(bg); err != nil || !v.OK {
		t.Error(v, err)
	}
}

// One that ends after its conversation is erased leaves nothing behind.
func TestAnExchangeAfterItsConversation(t *testing.T) {
	t.Parallel()
	store := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: store})
	withConversation(t, store, "c_1")
	e := asked(t, j, "c_1")
	ok(t, j.Erase(bg, "c_1"))
	ok(t, e.Exchanged(bg, Outcome{Outcome: OK}, wire("ask", "answer"), false))
	for end := time.Now().Add(30 * time.Second); shown(t, j, e.Number()).Outcome != OK; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the outcome is not on the disk, though nobody waits for it")
		}
	}
	if d := shown(t, j, e.Number()); len(d.Frames) != 0 {
		t.Errorf("%+v", d.Frames)
	}
	if v, err := j.Verify(bg); err != nil || !v.OK {
		t.Error(v, err)
	}
}

// What is longer than is kept keeps both ends, no half of a secret, and no half of a character.
func TestLongExchangesAreCut(t *testing.T) {
	t.Parallel()
	const secret = "SENTINEL-0123456789"
	store := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: store, Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }})
	withConversation(t, store, "c_1")
	for shift := range 7 { // the cuts fall into every place of a secret and of a character
		long := "BEGIN" + strings.Repeat("x", shift) + strings.Repeat("\u4f60"+secret, 100_000) + "END"
		e := asked(t, j, "c_1")
		ok(t, e.Exchanged(bg, Outcome{Outcome: OK}, wire(long, "short"), true))
		f := shown(t, j, e.Number()).Frames[0]
		got := string(f.Bytes)
		if !f.Cut || f.Length != int64(len(long)) || len(f.Bytes) > maxExchange || !strings.HasPrefix(got, "BEGIN") || !strings.HasSuffix(got, "END") {
			t.Fatal(f.Cut, f.Length, len(f.Bytes), got[:20], got[len(got)-20:])
		}
		head, tail := Halves(f.Bytes)
		rest := strings.NewReplacer("[secret]", "", "\u4f60", "", "BEGIN", "", "x", "", "END", "").Replace(string(head) + "|" + string(tail))
		if len(tail) == 0 || !utf8.ValidString(got) || strings.Contains(got, "SENTINEL") || strings.Contains(got, "0123456789") || strings.Contains(got, "\ufffd") || len(rest) > 2*len("[secret]") {
			t.Errorf("shift %d: %q", shift, rest)
		}
	}
}

// What lies beside the chain is checked against it.
func TestAChangedExchangeIsFound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"changed": "UPDATE exchange SET bytes = x'5b5d'",
		"put in":  "INSERT INTO exchange(record, conversation, size, bytes) SELECT record - 1, conversation, 1, x'5b5d' FROM exchange",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store := testStore(t, dir)
			j := testJournal(t, Options{Store: store})
			withConversation(t, store, "c_1")
			ok(t, asked(t, j, "c_1").Exchanged(bg, Outcome{Outcome: OK}, nil, true))
			e := asked(t, j, "c_1")
			ok(t, e.Exchanged(bg, Outcome{Outcome: OK}, wire("ask", "answer"), true))
			tampered(t, dir, change)
			v, err := j.Verify(bg)
			if err != nil || v.OK || v.BadRecord == 0 || !strings.Contains(v.Problem, "to the model") {
				t.Error(v, err)
			}
			if name == "changed" && !bytes.Contains(shown(t, j, e.Number()).Frames[0].Bytes, []byte("was changed")) {
				t.Error("it is shown as if it were what was sent")
			}
		})
	}
}

// A request that a crash left open may have been answered.
func TestARequestLeftOpenIsUnknown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := child(t, "ask and die", dir)
	if out, err := child.CombinedOutput(); err == nil {
		t.Fatalf("it went on: %s", out)
	}
	j, r, err := Open(bg, Options{Store: testStore(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ok(t, j.Close(bg)) })
	if len(r.Unknown) != 1 || r.Unknown[0].Kind != KindModel || r.Unknown[0].Outcome != Unknown || r.Unknown[0].Model != "m" {
		t.Errorf("%+v", r)
	}
	if v, err := j.Verify(bg); err != nil || !v.OK {
		t.Error(v, err)
	}
}

func init() {
	children["ask and die"] = func(dir string) error {
		db, err := storage.Open(bg, storage.Options{Dir: dir, Program: "child"})
		if err != nil {
			return err
		}
		j, _, err := Open(bg, Options{Store: db})
		if err != nil {
			return err
		}
		e, err := j.Propose(bg, Proposal{Kind: KindModel, Model: "m"})
		if err == nil {
			_, err = e.Intent(bg, []byte("x"))
		}
		if err != nil {
			return err
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Kill(); err != nil {
			return err
		}
		select {} // until it dies
	}
}
