package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func ids(messages []Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, m.ID)
	}
	return strings.Join(all, " ")
}

func TestMessagesByPage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	write(t, db, func(tx *Tx) error {
		if err := errors.Join(tx.PutConversation(conversation("c_1", "")), tx.PutConversation(conversation("c_2", ""))); err != nil {
			return err
		}
		for i := range 10 {
			if err := errors.Join(tx.PutMessage(message(fmt.Sprint("a", i), "c_1", "x")), tx.PutMessage(message(fmt.Sprint("b", i), "c_2", "x"))); err != nil {
				return err
			}
		}
		return nil
	})
	var pages []string
	for before := int64(0); ; {
		page, err := db.Messages(ctx, "c_1", before, 4)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		pages = append(pages, ids(page))
		before = page[0].Seq
	}
	if got := strings.Join(pages, "|"); got != "a6 a7 a8 a9|a2 a3 a4 a5|a0 a1" {
		t.Error(got)
	}
	// a change keeps the place
	write(t, db, func(tx *Tx) error { m := message("a3", "c_1", "changed"); m.Seq = 99; return tx.PutMessage(m) })
	all, err := db.Messages(ctx, "c_1", 0, -1)
	if err != nil || len(all) != 10 || all[3].Text != "changed" {
		t.Errorf("%v %v", all, err)
	}
	for _, bad := range []Message{message("a3", "c_2", "moved"), message("n", "none", "orphan"), message("", "c_1", "no id")} {
		if err := db.Write(ctx, func(tx *Tx) error { return tx.PutMessage(bad) }); err == nil {
			t.Errorf("accepted: %+v", bad)
		} else if bad.Conversation == "none" && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
}

func TestConversationsList(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	write(t, db, func(tx *Tx) error {
		for i := range 6 {
			c := conversation(fmt.Sprint("c", i), fmt.Sprint("title", i))
			c.Updated = noon.Add(time.Duration(i) * time.Hour)
			c.Archived = i == 2
			if i == 3 {
				c.Deleted = noon
			}
			if err := tx.PutConversation(c); err != nil {
				return err
			}
			if err := tx.PutMessage(message(fmt.Sprint("m", i), c.ID, fmt.Sprint("hello number", i))); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		f    ConversationFilter
		want string
	}{
		{ConversationFilter{}, "title5;title4;title1;title0;"},
		{ConversationFilter{Archived: true}, "title2;"},
		{ConversationFilter{Limit: 2}, "title5;title4;"},
		{ConversationFilter{Limit: 2, Before: noon.Add(4 * time.Hour)}, "title1;title0;"},
		{ConversationFilter{Search: "hello"}, "title5;title4;title1;title0;"},
		{ConversationFilter{Search: "title1"}, "title1;"},
		{ConversationFilter{Search: "number4"}, "title4;"},
		{ConversationFilter{Search: "hello", Before: noon.Add(2 * time.Hour)}, "title1;title0;"},
		{ConversationFilter{Search: "hello", Archived: true}, "title2;"},
		{ConversationFilter{Search: "title9"}, ""},
	} {
		list, err := db.Conversations(ctx, c.f)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, one := range list {
			got += one.Title + ";"
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
	// a new title replaces the old one in the search, and deletes no message
	write(t, db, func(tx *Tx) error { return tx.PutConversation(conversation("c1", "renamed")) })
	if l, err := db.Conversations(ctx, ConversationFilter{Search: "title1"}); err != nil || len(l) != 0 {
		t.Error(l, err)
	}
	if m, err := db.Messages(ctx, "c1", 0, 0); err != nil || len(m) != 1 {
		t.Error(m, err)
	}
}

func TestInterruptStreamingDeletesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	states := []string{StateComplete, StateStreaming, StateInterrupted, StateStopped, StateFailed, StateStreaming}
	write(t, db, func(tx *Tx) error {
		if err := tx.PutConversation(conversation("c", "")); err != nil {
			return err
		}
		for i := range 500 {
			m := message(fmt.Sprint("m", i), "c", fmt.Sprint("text", i))
			m.State = states[i%len(states)]
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	n, err := db.InterruptStreaming(ctx)
	if err != nil || n != 167 {
		t.Error(n, err)
	}
	if n, err := db.InterruptStreaming(ctx); err != nil || n != 0 {
		t.Error(n, err)
	}
	all, err := db.Messages(ctx, "c", 0, -1)
	if err != nil || len(all) != 500 {
		t.Fatal(len(all), err)
	}
	for i, m := range all {
		want := states[i%len(states)]
		if want == StateStreaming {
			want = StateInterrupted
		}
		if m.State != want || m.Text != fmt.Sprint("text", i) {
			t.Errorf("%+v", m)
		}
	}
	if hits := searchMessages(t, db, "text1"); !strings.Contains(hits, "m1 ") {
		t.Error("what was interrupted cannot be found:", hits)
	}
}

func searchMessages(t testing.TB, db *DB, typed string) string {
	t.Helper()
	match := matchFor(typed)
	if match == "" {
		return ""
	}
	late, err := waiting(context.Background(), db.read, messageWords, typed)
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.texts(context.Background(), "SELECT id FROM message WHERE seq IN (SELECT docid FROM message_search WHERE words MATCH ?) OR seq IN ("+late+") ORDER BY seq", match)
	if err != nil {
		t.Fatalf("%q: %v", typed, err)
	}
	return strings.Join(append(all, ""), " ")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	texts := map[string]string{
		"zh": "今天讨论了部署方案", "ja": "サンドボックス修正テスト", "mixed": "重跑gen-itgc后", "half": "ﾊﾝｶｸカナ", "wide": "ＦＵＬＬ　width",
		"ko": "한국어를 공부합니다", "en": "The weekly_report for café MÜLLER, v1.2.3", "emoji": "shipped 🚀 today", "edge": "字abc尾",
		"other": "部署 一个 方案", "quote": `say "hello" AND (world) OR NOT near/5 *x* ^y col:z -minus`,
	}
	write(t, db, func(tx *Tx) error {
		if err := tx.PutConversation(conversation("c", "")); err != nil {
			return err
		}
		for id, text := range texts {
			if err := tx.PutMessage(message(id, "c", text)); err != nil {
				return err
			}
		}
		return nil
	})
	wanted := map[string]string{
		"部署方案": "zh", "署": "zh other", "案": "zh other", "今": "zh", "讨论了部": "zh", "方案部署": "", "案方": "", "部署 方案": "zh other",
		"サンド": "ja", "ボックス": "ja", "ト": "ja", "テスト": "ja", "itgc": "mixed", "gen-itgc": "mixed", "跑gen": "mixed", "itgc后": "mixed", "ITGC": "mixed", "重跑gen-itgc后": "mixed",
		"ハンカク": "half", "full": "wide", "ｗｉｄｔｈ": "wide", "국어": "ko", "공부": "ko", "weekly": "en", "week": "en", "weekly_report": "en", "cafe": "en", "CAFÉ": "en", "müller": "en", "v1.2": "en",
		"🚀": "emoji", "🎉": "", "字": "edge", "尾": "edge", "bc": "", "abc尾": "edge",
		"hello": "quote", `"hello"`: "quote", "AND": "quote", "world)": "quote", "NOT near": "quote", "near/5": "quote", "col:z": "quote", "-minus": "quote", "hello world": "quote", "hello today": "",
	}
	check := func(when string) {
		for typed, want := range wanted {
			got := strings.Fields(searchMessages(t, db, typed))
			ok := len(got) == len(strings.Fields(want))
			for _, id := range strings.Fields(want) {
				ok = ok && strings.Contains(" "+strings.Join(got, " ")+" ", " "+id+" ")
			}
			if !ok {
				t.Errorf("%s: %q finds %v, want %s", when, typed, got, want)
			}
		}
	}
	check("before the words are moved")
	moveWords(t, db)
	if ids, err := waiting(t.Context(), db.read, messageWords, "weekly"); err != nil || ids != "" {
		t.Errorf("%q still waits, %v", ids, err)
	}
	check("after they were moved")
}

// moveWords does at once what the writer does when nobody wants to write.
func moveWords(t testing.TB, db *DB) {
	t.Helper()
	for moved := indexAtOnce; moved == indexAtOnce; {
		write(t, db, func(tx *Tx) (err error) {
			moved, err = tx.moveWords()
			return err
		})
	}
}

// Nothing that a person can type is an error.
func FuzzSearch(f *testing.F) {
	dir := f.TempDir()
	db := openTest(f, dir)
	write(f, db, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(conversation("c", "")), tx.PutMessage(message("m", "c", "some 文字 here")))
	})
	for _, s := range []string{`"`, `""`, `*`, `"*`, `(`, `)`, `((`, `AND`, `OR`, `NOT`, `NEAR`, `NEAR/`, `a NEAR/2 b`, `-`, `a-`, `^`, `^a`, `:`, `words:x`, `'`, `;--`, "\x00", "a\x00b", "\xff", "\u0301", "\u200d", "a\u0301*", "ー", "文", "文*", "％", strings.Repeat("(", 500), strings.Repeat("a ", 500), strings.Repeat("文", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := db.Conversations(context.Background(), ConversationFilter{Search: s}); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if err := db.Read(context.Background(), func(r *Snapshot) error {
			_, err := r.Records(RecordFilter{Search: s, Open: []string{"waiting"}})
			return err
		}); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}

// found looks for a marker in every file of the folder.
func foundIn(t testing.TB, dir, marker string) []string {
	t.Helper()
	var hits []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(bytes.ToLower(content), []byte(marker)) {
			hits = append(hits, filepath.Base(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// A deleted conversation leaves no word of its text in any file, however its
// rows lay between others and however often they were rewritten.
func TestDeletedTextIsGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	db := openTest(t, dir)
	backup := filepath.Join(dir, backupName(1))
	if err := os.WriteFile(backup, []byte("zebramarker in an old backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := func(i int) string { return fmt.Sprintf("zebramarker%d ", i) + strings.Repeat("zebramarker ", i%97) }
	for round := range 3 { // in several commits, so that the log and the index have parts
		write(t, db, func(tx *Tx) error {
			gone := conversation("c_gone", "zebramarker title")
			gone.Meta = []byte(`{"note":"zebramarker"}`)
			if err := errors.Join(tx.PutConversation(gone), tx.PutConversation(conversation("c_stays", "staysmarker"))); err != nil {
				return err
			}
			for i := range 300 {
				m := message(fmt.Sprint("g", i), "c_gone", secret(i*(round+1)))
				m.Reasoning, m.Calls = "zebramarker", []byte(`["zebramarker"]`)
				if i == 7 {
					m.Text = strings.Repeat("zebramarker ", 20000) // overflow pages
					m.State = StateStreaming
				}
				if err := errors.Join(tx.PutMessage(m), tx.PutMessage(message(fmt.Sprint("s", i), "c_stays", strings.Repeat("staysmarker ", (i*31)%200)))); err != nil {
					return err
				}
			}
			exchange := []byte(strings.Repeat("zebramarker ", 2000))
			return errors.Join(tx.PutExchange(int64(round+1), "c_gone", exchange), tx.PutGrant(Grant{ID: "g", Conversation: "c_gone", Tool: "zebramarker"}))
		})
	}
	if hits := foundIn(t, dir, "zebramarker"); len(hits) < 2 {
		t.Fatalf("before deleting it is found only in %v: this test would not notice", hits)
	}
	write(t, db, func(tx *Tx) error { return tx.DeleteConversation("c_gone") })
	if hits := foundIn(t, dir, "zebramarker"); len(hits) > 0 {
		content, _ := os.ReadFile(filepath.Join(dir, fileName))
		os.WriteFile("/tmp/trace.db", content, 0o600)
		t.Errorf("still found in %v", hits)
	}
	if hits := foundIn(t, dir, "staysmarker"); len(hits) == 0 {
		t.Error("what should stay is gone")
	}
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
	if l, err := db.Conversations(ctx, ConversationFilter{Search: "staysmarker"}); err != nil || len(l) != 1 {
		t.Error(l, err)
	}
	if err := db.Write(ctx, func(tx *Tx) error { return tx.DeleteConversation("c_gone") }); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	closeTest(t, db)
	if hits := foundIn(t, dir, "zebramarker"); len(hits) > 0 {
		t.Errorf("after closing found in %v", hits)
	}
}
