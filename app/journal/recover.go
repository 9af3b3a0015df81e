package journal

import (
	"context"
	"errors"
	"fmt"

	"steward/storage"
)

// reasonCrash stands with what a crash left open.
const reasonCrash = "crash"

// recover closes what a crash left open: what was intended may have happened,
// what was not was never sent. Only a call that its server works on as a task stays
// open, because how it ends can still be learned. Crashing in the middle of it changes nothing,
// because it is one transaction.
func (j *Journal) recover(ctx context.Context, r *Recovery) error {
	var open []storage.Record
	err := j.store.Read(ctx, func(s *storage.Snapshot) error {
		for _, word := range []string{Running, Waiting} {
			found, err := s.Records(storage.RecordFilter{Outcome: word, Limit: -1, Oldest: true})
			if err != nil {
				return err
			}
			for _, row := range found {
				t, ok, err := j.openTask(s, row)
				if err != nil {
					return err
				}
				if !ok {
					open = append(open, row)
					continue
				}
				j.keepOpen(row)
				r.Tasks = append(r.Tasks, t)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking for what a crash left open: %w", err)
	}
	var batch []*item
	for _, row := range open {
		j.keepOpen(row)
		m := meta{Outcome: Withdrawn, Effect: EffectNone}
		if row.Outcome == Running {
			m = meta{Outcome: Unknown, Effect: EffectUnknown}
		}
		d, err := j.draft(row.N, evOutcome, m, &content{Reason: reasonCrash})
		if err != nil {
			return err
		}
		d.words = reasonCrash
		batch = append(batch, &item{draft: d, keep: true, done: make(chan error, 1)})
		row.Outcome, row.Effect, row.Seconds = m.Outcome, m.Effect, m.Seconds
		if m.Outcome == Unknown {
			r.Unknown = append(r.Unknown, recordOf(row))
		} else {
			r.Withdrawn = append(r.Withdrawn, recordOf(row))
		}
	}
	if len(batch) == 0 {
		return nil
	}
	j.queue = append(j.queue, batch...)
	err = j.commit(batch)
	if err != nil && (errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrReadOnly) || errors.Is(err, errForked)) {
		return fmt.Errorf("closing what a crash left open: %w", err)
	}
	if err != nil { // a full disk; the loop goes on trying
		j.wake <- struct{}{}
	}
	return nil
}

func (j *Journal) keepOpen(row storage.Record) {
	j.open[row.N] = &projection{row: row, words: row.Server + "\n" + row.Tool + "\n" + findable(row.Arguments) + "\n"}
}
