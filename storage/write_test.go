package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many goroutines read and then write in one transaction, while one streams
// and others read: nothing fails and nothing is lost.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	write(t, db, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(conversation("c_1", "chat")), tx.PutSetting("count", []byte("0")))
	})
	const writers, each = 20, 25
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range writers {
		wg.Go(func() {
			for n := range each {
				err := db.Write(ctx, func(tx *Tx) error {
					var count int
					if err := tx.one("counting", "SELECT value FROM setting WHERE key = 'count'", nil, &count); err != nil {
						return err
					}
					return errors.Join(
						tx.PutSetting("count", fmt.Appendf(nil, "%d", count+1)),
						tx.PutMessage(message(fmt.Sprintf("m_%d_%d", i, n), "c_1", "a message")))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	var background sync.WaitGroup
	background.Go(func() { // a stream
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				m := message("m_stream", "c_1", strings.Repeat("token ", n))
				m.State = StateStreaming
				db.Later(func(tx *Tx) error { return tx.PutMessage(m) })
			}
		}
	})
	for range 3 {
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := db.Messages(ctx, "c_1", 0, 20); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	background.Wait()
	if err := db.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	count, err := db.Setting(ctx, "count")
	if err != nil || string(count) != fmt.Sprint(writers*each) {
		t.Errorf("counted %s (%v)", count, err)
	}
	all, err := db.Messages(ctx, "c_1", 0, -1)
	if err != nil || len(all) < writers*each {
		t.Errorf("%d messages (%v)", len(all), err)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Seq <= all[i-1].Seq {
			t.Fatal("out of order")
		}
	}
}

// One caller's failure, or panic, is its own, although it shares a commit.
func TestFailuresAreNotShared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	release := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // keeps the writer busy until the rest is queued
		_ = db.Write(ctx, func(*Tx) error { <-release; return nil })
	})
	own := errors.New("my own")
	var failed, saved atomic.Int32
	for i := range 30 {
		wg.Go(func() {
			err := db.Write(ctx, func(tx *Tx) error {
				if err := tx.PutSetting(fmt.Sprint(i), []byte("1")); err != nil {
					return err
				}
				switch i % 3 {
				case 0:
					return own
				case 1:
					panic("a fault")
				}
				return nil
			})
			switch {
			case i%3 == 2 && err == nil:
				saved.Add(1)
			case i%3 == 0 && errors.Is(err, own), i%3 == 1 && err != nil && strings.Contains(err.Error(), "a fault"):
				failed.Add(1)
			default:
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	wg.Wait()
	for i := range 30 {
		_, err := db.Setting(ctx, fmt.Sprint(i))
		if (err == nil) != (i%3 == 2) {
			t.Errorf("%d: %v", i, err)
		}
	}
	var kept *Tx
	write(t, db, func(tx *Tx) error { kept = tx; return nil })
	if err := kept.PutSetting("x", nil); err == nil {
		t.Error("a transaction works after its end")
	}
}

func TestLaterGoesWithTheNextWriteOrSoon(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	failures := make(chan error, 10)
	db := openWith(t, Options{Dir: t.TempDir(), OnError: func(err error) { failures <- err }})
	for i := range 10 { // in the order of the calls
		db.Later(func(tx *Tx) error { return tx.PutSetting("later", fmt.Appendf(nil, "%d", i)) })
	}
	write(t, db, func(tx *Tx) error {
		var v string
		if err := tx.one("reading", "SELECT value FROM setting WHERE key = 'later'", nil, &v); err != nil {
			return err
		}
		return tx.PutSetting("seen", []byte(v))
	})
	if v, err := db.Setting(ctx, "seen"); err != nil || string(v) != "9" {
		t.Errorf("%s %v", v, err)
	}
	db.Later(func(tx *Tx) error { return tx.PutSetting("alone", []byte("1")) })
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := db.Setting(ctx, "alone"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it was never written")
		}
	}
	own := errors.New("my own")
	db.Later(func(*Tx) error { return own })
	if err := <-failures; !errors.Is(err, own) {
		t.Error(err)
	}
	db.Later(func(tx *Tx) error { return tx.PutSetting("last", []byte("1")) })
	closeTest(t, db)
	again := openWith(t, Options{Dir: db.Dir(), ReadOnly: true})
	if _, err := again.Setting(ctx, "last"); err != nil {
		t.Errorf("closing lost it: %v", err)
	}
}

// Another program holds the file: saving waits and says so, who does not want
// to wait leaves without anything being written, and it goes on by itself.
func TestAnotherProgramHoldsTheFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	said := make(chan error, 10)
	db := openWith(t, Options{Dir: t.TempDir(), OnError: func(err error) { said <- err }})
	other := rawSQL(t, db.Dir(), "PRAGMA locking_mode=NORMAL", "BEGIN EXCLUSIVE")
	defer other.Close()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	err := db.Write(short, func(tx *Tx) error { return tx.PutSetting("left", []byte("1")) })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- db.Write(ctx, func(tx *Tx) error { return tx.PutSetting("stayed", []byte("1")) })
	}()
	if err := <-said; !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if _, err := db.Conversations(ctx, ConversationFilter{}); err != nil {
		t.Errorf("reading: %v", err)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := db.Setting(ctx, "left"); !errors.Is(err, ErrNotFound) {
		t.Errorf("what its caller left was written all the same: %v", err)
	}
	if _, err := db.Setting(ctx, "stayed"); err != nil {
		t.Error(err)
	}
}
