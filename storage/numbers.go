package storage

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RecordNumbers gives the numbers of all records that the filter chooses, the newest first: eight bytes each, so that a
// reader can go to any of a million without reading the others. Limit and Oldest are ignored.
func (s *Snapshot) RecordNumbers(f RecordFilter) ([]int64, error) {
	where, args := f.where()
	if f.Search == "" {
		return s.numbers("SELECT group_concat(n) FROM record WHERE "+where, args...)
	}
	open, err := s.openMatches(f, where, args, " ORDER BY n DESC LIMIT ?")
	if err != nil {
		return nil, err
	}
	var all []int64
	if match := matchFor(f.Search); match != "" {
		all, err = s.numbers("SELECT group_concat(s.docid) FROM record_search s CROSS JOIN record ON n = s.docid WHERE s.words MATCH ? AND "+
			f.docidBounds()+where, append([]any{match}, args...)...)
		if err != nil {
			return nil, err
		}
	}
	late, err := waiting(s.ctx, s.tx, recordWords, f.Search)
	if err != nil {
		return nil, s.explain(err)
	}
	if late != "" {
		more, err := s.numbers("SELECT group_concat(n) FROM record WHERE "+where+" AND n IN ("+late+")", args...)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	for _, r := range open {
		all = append(all, r.N)
	}
	newestFirst(all)
	return slices.Compact(all), nil
}

// numbers reads one text of all numbers. A row for each would cost the driver ten times what SQLite does for it.
func (s *Snapshot) numbers(query string, args ...any) ([]int64, error) {
	var joined sql.NullString
	if err := s.tx.QueryRowContext(s.ctx, query, args...).Scan(&joined); err != nil {
		return nil, s.explain(err)
	}
	if joined.String == "" {
		return []int64{}, nil
	}
	all := make([]int64, 0, strings.Count(joined.String, ",")+1)
	for part := range strings.SplitSeq(joined.String, ",") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, refuse(ErrDamaged, err, "a record of the journal has no number: %s", fmt.Sprintf("%.40q", part))
		}
		all = append(all, n)
	}
	newestFirst(all)
	return all, nil
}

// newestFirst sorts numbers that come in the order of an index, which is nearly theirs.
func newestFirst(all []int64) {
	slices.Sort(all)
	slices.Reverse(all)
}
