package journal

import (
	"context"
	"errors"
	"fmt"

	"steward/storage"
)

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
