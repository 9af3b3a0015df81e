package journal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"steward/storage"
)

// Record is one line of the journal, as "journal list --json" prints it. Time
// is written in UTC with milliseconds.
type Record struct {
	Record       int64     `json:"record"`
	Kind         Kind      `json:"kind"`
	Parent       int64     `json:"parent"`
	Time         time.Time `json:"time"`
	Conversation string    `json:"conversation"`
	Server       string    `json:"server"`
	Tool         string    `json:"tool"`
	Arguments    string    `json:"arguments"`
	Decision     string    `json:"decision"`
	By           string    `json:"by"`
	Outcome      string    `json:"outcome"`
	Effect       string    `json:"effect"`
	Seconds      float64   `json:"seconds"`
	Model        string    `json:"model"`
}

// recordShape is Record with its time as text; the fields and their order are
// those of the list.
type recordShape struct {
	Record       int64   `json:"record"`
	Kind         Kind    `json:"kind"`
	Parent       int64   `json:"parent"`
	Time         string  `json:"time"`
	Conversation string  `json:"conversation"`
	Server       string  `json:"server"`
	Tool         string  `json:"tool"`
	Arguments    string  `json:"arguments"`
	Decision     string  `json:"decision"`
	By           string  `json:"by"`
	Outcome      string  `json:"outcome"`
	Effect       string  `json:"effect"`
	Seconds      float64 `json:"seconds"`
	Model        string  `json:"model"`
}

func (r Record) shape() recordShape {
	return recordShape{
		Record: r.Record, Kind: r.Kind, Parent: r.Parent, Time: clock(r.Time), Conversation: r.Conversation,
		Server: r.Server, Tool: r.Tool, Arguments: r.Arguments, Decision: r.Decision, By: r.By,
		Outcome: r.Outcome, Effect: r.Effect, Seconds: r.Seconds, Model: r.Model,
	}
}

// MarshalJSON escapes nothing but what JSON asks for. An encoder around it must
// be told the same (SetEscapeHTML(false)), or it escapes again.
func (r Record) MarshalJSON() ([]byte, error) { return encode(r.shape()) }

func recordOf(r storage.Record) Record {
	return Record{
		Record: r.N, Kind: Kind(r.Kind), Parent: r.Parent, Time: r.Time, Conversation: r.Conversation,
		Server: r.Server, Tool: r.Tool, Arguments: r.Arguments, Decision: r.Decision, By: r.By,
		Outcome: r.Outcome, Effect: r.Effect, Seconds: r.Seconds, Model: r.Model,
	}
}

func (f Filter) rows() storage.RecordFilter {
	return storage.RecordFilter{
		Kind: f.Kind, Server: f.Server, Tool: f.Tool, Decision: f.Decision, Outcome: f.Outcome,
		Conversation: f.Conversation, Search: f.Search,
		Since: f.Since, Until: f.Until, Limit: f.Limit, Before: f.After, Open: []string{Waiting, Running},
	}
}

// List gives the records that the filter chooses, the newest first.
func (j *Journal) List(ctx context.Context, f Filter) ([]Record, error) {
	list := []Record{}
	err := j.store.Read(ctx, func(s *storage.Snapshot) error {
		rows, err := s.Records(f.rows())
		for _, r := range rows {
			list = append(list, recordOf(r))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the journal: %w", err)
	}
	return list, nil
}

// Detail is a record with all that is kept of it. It is written as the record's
// own fields, then definition, reason, events, result and frames.
type Detail struct {
	Record
	Definition string
	Reason     string // of the outcome
	Events     []Event
	Result     json.RawMessage // as received, secrets replaced; nil where there is none (any more)
	Length     int64           // of the whole result, in bytes
	Cut        bool            // Result holds only the beginning, as a string
	Frames     []Frame         // secrets replaced, cut to size
	Erased     bool            // the texts went with their conversation

	exchange string // the hash of what is kept beside the chain
}

// Event is one event of a record. Data is what it says, as a JSON object.
type Event struct {
	Seq   int64           `json:"seq"`
	Event string          `json:"event"`
	Time  time.Time       `json:"-"`
	Run   string          `json:"run"`
	Hash  string          `json:"hash"`
	Data  json.RawMessage `json:"data"`
}

// MarshalJSON writes the time as every time of the journal.
func (e Event) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Seq   int64           `json:"seq"`
		Event string          `json:"event"`
		Time  string          `json:"time"`
		Run   string          `json:"run"`
		Hash  string          `json:"hash"`
		Data  json.RawMessage `json:"data"`
	}{e.Seq, e.Event, clock(e.Time), e.Run, e.Hash, e.Data})
}

// MarshalJSON writes the shape of "journal show N --json".
func (d Detail) MarshalJSON() ([]byte, error) {
	frames := make([]keptFrame, 0, len(d.Frames))
	for _, f := range d.Frames {
		frames = append(frames, shownFrame(f))
	}
	return encode(struct {
		recordShape
		Definition   string          `json:"definition"`
		Reason       string          `json:"reason"`
		Events       []Event         `json:"events"`
		Result       json.RawMessage `json:"result"`
		ResultLength int64           `json:"result_length"`
		ResultCut    bool            `json:"result_cut"`
		Frames       []keptFrame     `json:"frames"`
		Erased       bool            `json:"erased"`
	}{d.shape(), d.Definition, d.Reason, d.Events, orNull(d.Result), d.Length, d.Cut, frames, d.Erased})
}

func orNull(r json.RawMessage) json.RawMessage {
	if len(r) == 0 {
		return json.RawMessage("null")
	}
	return r
}

// Show gives one record with everything that is kept of it;
// storage.ErrNotFound.
func (j *Journal) Show(ctx context.Context, n int64) (Detail, error) {
	var d Detail
	err := j.store.Read(ctx, func(s *storage.Snapshot) error {
		row, err := s.Record(n)
		if err != nil {
			return err
		}
		d.Record = recordOf(row)
		events, err := s.EventsOf(n)
		if err != nil {
			return err
		}
		d.Events = make([]Event, 0, len(events))
		for _, e := range events {
			if err := d.add(e); err != nil {
				return fmt.Errorf("event %d: %w", e.Seq, err)
			}
		}
		if d.exchange != "" {
			return d.withExchange(s, d.exchange)
		}
		return nil
	})
	if err != nil {
		return Detail{}, fmt.Errorf("showing record %d: %w", n, err)
	}
	return d, nil
}

// add takes an event into the detail.
func (d *Detail) add(e storage.Event) error {
	m, err := readMeta(e)
	if err != nil {
		return err
	}
	c, err := readContent(e)
	if err != nil {
		return err
	}
	d.Erased = d.Erased || (e.Body != nil && e.Body.Erased)
	if first(e.Kind) {
		d.Definition = m.Definition
	}
	if c.Exchange != "" {
		d.exchange = c.Exchange
	}
	if e.Kind == evOutcome || single(e.Kind) {
		d.Reason = c.Reason
		if c.Result != nil {
			if d.Result, err = resultOf(c.Result); err != nil {
				return err
			}
			d.Length, d.Cut = c.Result.Length, c.Result.Cut
		}
	}
	for _, f := range c.Frames {
		d.Frames = append(d.Frames, frameOf(f))
	}
	c.Frames = nil // they stand by themselves
	data, err := encode(struct {
		meta
		content
	}{m, c})
	if err != nil {
		return err
	}
	d.Events = append(d.Events, Event{Seq: e.Seq, Event: e.Kind, Time: e.Time, Run: e.Run, Hash: hex.EncodeToString(e.Hash), Data: data})
	return nil
}

func frameOf(k keptFrame) Frame {
	f := Frame{Direction: k.Direction, Bytes: []byte(k.Text), Length: k.Length, Cut: k.Cut}
	if len(k.Base64) > 0 {
		f.Bytes = k.Base64
	}
	if t, err := time.Parse(time.RFC3339, k.Time); err == nil {
		f.Time = t
	}
	return f
}

func shownFrame(f Frame) keptFrame {
	k := keptFrame{Time: clock(f.Time), Direction: f.Direction, Length: f.Length, Cut: f.Cut}
	k.setBytes(f.Bytes)
	return k
}
