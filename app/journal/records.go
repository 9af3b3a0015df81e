package journal

import (
	"context"
	"errors"
	"fmt"

	"steward/storage"
)

// Numbers gives the numbers of all records that the filter chooses, the newest first; its limit is ignored. With them
// and Records any part of a long list can be read at the same cost.
func (j *Journal) Numbers(ctx context.Context, f Filter) (numbers []int64, err error) {
	err = j.store.Read(ctx, func(s *storage.Snapshot) error {
		numbers, err = s.RecordNumbers(f.rows())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	return numbers, nil
}

// Records fills in the records whose numbers are the keys, all as of one moment. Of
// those that are not there the value stays as it is.
func (j *Journal) Records(ctx context.Context, into map[int64]Record) error {
	err := j.store.Read(ctx, func(s *storage.Snapshot) error {
		for n := range into {
			row, err := s.Record(n)
			if errors.Is(err, storage.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			into[n] = recordOf(row)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading records of the journal: %w", err)
	}
	return nil
}
