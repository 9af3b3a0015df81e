package storage

import (
	"bytes"
	"slices"
	"testing"
)

func exchanges(t *testing.T, db *DB, conversation string) (list []int64) {
	t.Helper()
	err := db.Read(t.Context(), func(s *Snapshot) (err error) {
		list, err = s.Exchanges(conversation)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestTheLastExchangesOfAConversationAreKept(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	defer closeTest(t, db)
	write(t, db, func(tx *Tx) error { return tx.PutConversation(conversation("c", "a")) })
	write(t, db, func(tx *Tx) error { return tx.PutConversation(conversation("d", "b")) })
	put := func(n int64, conversation string, size int) {
		t.Helper()
		write(t, db, func(tx *Tx) error { return tx.PutExchange(n, conversation, bytes.Repeat([]byte("x"), size)) })
	}
	put(1, "d", 10)
	for n := int64(2); n < 40; n++ {
		put(n, "c", 10)
	}
	if got := exchanges(t, db, "c"); len(got) != keptExchanges || got[0] != 20 || got[len(got)-1] != 39 {
		t.Error("of a conversation are kept", got)
	}
	if got := exchanges(t, db, "d"); !slices.Equal(got, []int64{1}) {
		t.Error("of the other", got)
	}
	put(40, "c", keptExchangeBytes-15)
	if got := exchanges(t, db, "c"); !slices.Equal(got, []int64{39, 40}) {
		t.Error("beyond the size are kept", got)
	}
	put(41, "c", keptExchangeBytes+1)
	if got := exchanges(t, db, "c"); !slices.Equal(got, []int64{41}) {
		t.Error("the last one is kept however large it is:", got)
	}
	put(42, "gone", 10)
	if got := exchanges(t, db, "gone"); len(got) != 0 {
		t.Error("of no conversation are kept", got)
	}
	write(t, db, func(tx *Tx) error { return tx.ForgetConversation("c") })
	if got := exchanges(t, db, "c"); len(got) != 0 {
		t.Error("after its conversation are kept", got)
	}
}

func TestAllExchangesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	defer closeTest(t, db)
	const each = keptExchangeBytes - 100
	names := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	large := make([]byte, each)
	for i, c := range names[:allExchangeBytes/each+3] {
		write(t, db, func(tx *Tx) error {
			if err := tx.PutConversation(conversation(string(c), "x")); err != nil {
				return err
			}
			return tx.PutExchange(int64(i+1), string(c), large)
		})
	}
	var all []int64
	err := db.Read(t.Context(), func(s *Snapshot) (err error) { all, err = s.AllExchanges(); return err })
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all); n != allExchangeBytes/each || all[n-1] != allExchangeBytes/each+3 {
		t.Error("kept", all)
	}
}
