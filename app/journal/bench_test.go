package journal

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

const benchArguments = `{"date":"2025-03-17","format":"markdown","sections":["open","done"]}`

// BenchmarkBareInsert is the baseline: one durable insert of one row, and no
// more, with the same driver and settings.
func BenchmarkBareInsert(b *testing.B) {
	db, err := sql.Open("sqlite3", filepath.Join(b.TempDir(), "bare.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t(n INTEGER PRIMARY KEY, v TEXT)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO t(v) VALUES(?)")
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	for b.Loop() {
		if _, err := insert.Exec(benchArguments); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCallCommits is one whole call in the journal: proposal, decision and
// intent in one durable commit, sending and outcome in the other. Two bare
// inserts are what it could cost at best.
func BenchmarkCallCommits(b *testing.B) {
	j := testJournal(b, Options{Store: testStore(b, b.TempDir())})
	for b.Loop() {
		call(b, j, benchArguments, `{"content":[{"type":"text","text":"a report of some twenty words, as a tool would give it, with a number 12345"}]}`)
	}
}

// BenchmarkCallCommitsParallel is the same from many goroutines, which share
// commits.
func BenchmarkCallCommitsParallel(b *testing.B) {
	j := testJournal(b, Options{Store: testStore(b, b.TempDir())})
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call(b, j, benchArguments, `{"content":[{"type":"text","text":"a report"}]}`)
		}
	})
}

// BenchmarkList is the newest page of a long journal.
func BenchmarkList(b *testing.B) {
	j := testJournal(b, Options{Store: testStore(b, b.TempDir())})
	for range 500 {
		call(b, j, benchArguments, `{}`)
	}
	for b.Loop() {
		if _, err := j.List(context.Background(), Filter{Search: "date"}); err != nil {
			b.Fatal(err)
		}
	}
}
