package storage

import (
	"context"
	"fmt"
	"os"
)

// erasing is what is left to do after a deletion, in this order. That there is
// something left stands in the file too (meta, "erasing"), so that a killed
// run's work is finished by the next.
//
// secure_delete zeroes a deleted cell, but when SQLite has moved cells between
// pages before, it leaves copies in the unused middle of a page
// (rebuildPage in btree.c). Only rebuilding the file drops these.
type erasing int

const (
	erasingNothing erasing = iota
	// erasingPages: pages may hold copies of deleted text; the file is rebuilt.
	erasingPages
	// erasingLog: the WAL may hold earlier pages; it is emptied.
	erasingLog
)

// eraseAtOnce is the size, in bytes, up to which the file is rebuilt before the
// deleting Write returns. A larger one is rebuilt when nobody wants to write.
const eraseAtOnce = 128 << 20

// rebuildInMemory is the size up to which the rebuilding uses memory and no
// temporary file.
const rebuildInMemory = 256 << 20

func (w *writer) quickToErase() bool {
	info, err := os.Stat(w.db.path)
	return err == nil && info.Size() <= eraseAtOnce
}

// erase does what is left. A reader in the middle of a query keeps it from
// emptying the log; it then goes on later.
func (w *writer) erase() {
	if w.conn == nil || w.scrub == erasingNothing {
		return
	}
	ctx := context.Background()
	if w.scrub == erasingPages {
		if err := w.rebuild(ctx); err != nil {
			if isBusy(err) {
				return
			}
			w.report(explain("erasing deleted text for good (it will be tried again when the folder is next opened)", w.db.path, err))
			w.scrub = erasingNothing
			if _, err := w.truncateWAL(ctx); err != nil {
				w.report(explain("emptying the log of the data file", w.db.path, err))
			}
			return
		}
		w.scrub = erasingLog
	}
	done, err := w.truncateWAL(ctx)
	if err != nil {
		w.report(explain("erasing deleted text from the log of the data file", w.db.path, err))
		w.scrub = erasingNothing
		return
	}
	if !done {
		return
	}
	w.scrub = erasingNothing
	if _, err := w.conn.ExecContext(ctx, "DELETE FROM meta WHERE key = 'erasing'"); err != nil {
		w.report(explain("noting that deleted text is erased", w.db.path, err))
	}
	if err := removeBackups(w.db.dir); err != nil {
		w.report(err)
	}
	if err := placeBallast(w.db.dir); err != nil {
		w.report(err)
	}
}

// rebuild writes the live content anew (VACUUM), in one transaction.
func (w *writer) rebuild(ctx context.Context) error {
	store := "MEMORY"
	if info, err := os.Stat(w.db.path); err != nil || info.Size() > rebuildInMemory {
		store = "FILE"
	}
	if _, err := w.conn.ExecContext(ctx, "PRAGMA temp_store="+store); err != nil {
		return err
	}
	_, err := w.conn.ExecContext(ctx, "VACUUM")
	if _, back := w.conn.ExecContext(ctx, "PRAGMA temp_store=MEMORY"); back != nil && err == nil {
		err = back
	}
	return err
}

// truncateWAL folds the WAL into the file and empties it. It says whether it
// could; readers are waited for only briefly.
func (w *writer) truncateWAL(ctx context.Context) (bool, error) {
	if w.conn == nil {
		return false, nil
	}
	if _, err := w.conn.ExecContext(ctx, "PRAGMA busy_timeout=100"); err != nil {
		return false, err
	}
	var busy, pages, moved int
	err := w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	_, back := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", writerBusyMillis))
	if err == nil {
		err = back
	}
	if isBusy(err) {
		return false, nil
	}
	return err == nil && busy == 0, err
}
