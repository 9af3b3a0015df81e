package storage

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// unindexed counts the rows that wait for their search table.
func unindexed(t testing.TB, db *DB) (n int) {
	t.Helper()
	if err := db.read.QueryRow("SELECT count(*) FROM unindexed").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func putMessages(t testing.TB, db *DB, from, to int) {
	t.Helper()
	write(t, db, func(tx *Tx) error {
		if err := tx.PutConversation(conversation("c", "")); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := tx.PutMessage(message(fmt.Sprint("m", i), "c", fmt.Sprint("common word", i))); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestWordsAreMovedWhenNobodyWrites(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	putMessages(t, db, 0, 3*indexAtOnce+1)
	for end := time.Now().Add(20 * time.Second); unindexed(t, db) > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d rows still wait", unindexed(t, db))
		}
		time.Sleep(5 * time.Millisecond)
	}
	var n int
	if err := db.read.QueryRow("SELECT count(*) FROM message_search WHERE words MATCH 'common'").Scan(&n); err != nil || n != 3*indexAtOnce+1 {
		t.Errorf("%d are in the search table, %v", n, err)
	}
}

func TestClosingMovesAllWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openTest(t, dir)
	putMessages(t, db, 0, 2*indexAtOnce+7)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := Open(context.Background(), Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if n := unindexed(t, read); n != 0 {
		t.Errorf("%d rows were left", n)
	}
}

// A reader finds what the writer has not moved yet, and what was changed or taken back is not found by its old words.
func TestASearchLooksAtWhatWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openTest(t, dir)
	write(t, db, func(tx *Tx) error { // held open, so that nothing is moved meanwhile
		if err := tx.PutConversation(conversation("c", "")); err != nil {
			return err
		}
		for id, text := range map[string]string{"a": "first words", "b": "second words"} {
			if err := tx.PutMessage(message(id, "c", text)); err != nil {
				return err
			}
		}
		if err := tx.PutMessage(message("a", "c", "third words")); err != nil {
			return err
		}
		m := message("b", "c", "second words")
		m.State = StateStreaming
		return tx.PutMessage(m)
	})
	for _, moved := range []bool{false, true} {
		if moved {
			moveWords(t, db)
		}
		for typed, want := range map[string]string{"first": "", "second": "", "third": "a", "words": "a"} {
			if got := strings.TrimSpace(searchMessages(t, db, typed)); got != want {
				t.Errorf("moved %v: %q finds %q, want %q", moved, typed, got, want)
			}
		}
		hit, err := db.MessageHit(t.Context(), "c", "third")
		if err != nil || hit.ID != "a" {
			t.Errorf("moved %v: the message found is %q, %v", moved, hit.ID, err)
		}
		list, err := db.Conversations(t.Context(), ConversationFilter{Search: "third", Limit: 5})
		if err != nil || len(list) != 1 {
			t.Errorf("moved %v: %d conversations are found, %v", moved, len(list), err)
		}
	}
}

func TestRecordsThatWaitAreFound(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	for i := range int64(5) {
		write(t, db, func(tx *Tx) error {
			n := i + 1
			r := Record{N: n, Kind: "call", Time: time.Now(), Server: "s", Tool: "t", Outcome: "ok"}
			if n%2 == 0 {
				r.Tool = "other"
			}
			if err := tx.PutRecord(r); err != nil {
				return err
			}
			return tx.IndexRecord(n, fmt.Sprint("common 部署方案 word", n))
		})
		if i == 2 {
			moveWords(t, db)
		}
	}
	for _, c := range []struct {
		filter RecordFilter
		want   []int64
	}{
		{RecordFilter{Search: "common"}, []int64{5, 4, 3, 2, 1}},
		{RecordFilter{Search: "common", Oldest: true, Limit: 4}, []int64{1, 2, 3, 4}},
		{RecordFilter{Search: "方案", Before: 5}, []int64{4, 3, 2, 1}},
		{RecordFilter{Search: "部署", After: 3}, []int64{5, 4}},
		{RecordFilter{Search: "word5"}, []int64{5}},
		{RecordFilter{Search: "common", Tool: "other"}, []int64{4, 2}},
		{RecordFilter{Search: "common nothing"}, nil},
	} {
		err := db.Read(t.Context(), func(s *Snapshot) error {
			got, err := s.Records(c.filter)
			var ns []int64
			for _, r := range got {
				ns = append(ns, r.N)
			}
			if fmt.Sprint(ns) != fmt.Sprint(c.want) {
				t.Errorf("%+v finds %v, want %v", c.filter, ns, c.want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What waits is found by the same words as what was moved, in every script.
func TestWaitingWordsMatchAsMovedOnes(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	texts := []string{
		"각나 가나다", "がくせい かき", "й и", "café CAFE\u0301", "ÅNGSTRÖM ångström", "हिन्दी", "ไทย ภาษา", "İstanbul ISTANBUL ıl", "ΑΘΗΝΑ Σίσυφος ς",
		"ё е", "ắ â a", "ǖ ü", "a\u200db", "x_y a-b", "１２３ ½ Ⅷ", "straße STRASSE", "שָׁלוֹם שלום", "مُحَمَّد محمد", "①② ㋿", "foo\ue000bar", "ß", "ﬁn",
		"🙂x", "naïve", "Ǆ", "ệ", "Ω", "ѐ", "a\u0327b", "q\u0345r", "Ḝ", "部署方案 部",
	}
	queries := strings.Fields("が か 가 и е a u cafe naive angstrom हन b 署方 σισυφος")
	for _, text := range texts {
		for _, w := range strings.Fields(text) {
			r := []rune(w)
			queries = append(queries, w, string(r[:1]), string(r[len(r)-1:]), string(r[:(len(r)+1)/2]), strings.ToUpper(w), strings.ToLower(w))
		}
	}
	write(t, db, func(tx *Tx) error {
		for i, text := range texts {
			if err := tx.putWords("record_search", int64(i), text, false); err != nil {
				return err
			}
		}
		return nil
	})
	for _, typed := range queries {
		match := matchFor(typed)
		if match == "" {
			continue
		}
		moved := map[int64]bool{}
		rows, err := db.read.QueryContext(t.Context(), "SELECT docid FROM record_search WHERE words MATCH ?", match)
		if err == nil {
			err = each(rows, func() error {
				var n int64
				err := rows.Scan(&n)
				moved[n] = true
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if waits := holds(tokens(text), phrases(typed)); waits != moved[int64(i)] {
				t.Errorf("%+q finds %+q while it waits: %v, once it was moved: %v", typed, text, waits, moved[int64(i)])
			}
		}
	}
}
