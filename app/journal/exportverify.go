package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"steward/storage"
)

// VerifyExport checks a jsonl export by itself: every line against the
// manifest, every event's hash, every text against its event, every record
// against its events, and the links wherever two neighbours are there. It
// cannot tell whether somebody made the whole export anew; for that, compare
// the manifest's head_hash with one that was kept elsewhere. An error says that
// r could not be read.
func VerifyExport(r io.Reader) (Verification, error) {
	v := Verification{OK: true, AnchorChecked: checkedNone}
	x := &exportWalk{sum: sha256.New(), hashes: map[int64]string{}, prevs: map[int64]string{}, seen: map[int64]uint64{}}
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return v, fmt.Errorf("reading the export: %w", err)
		}
		if len(text) == 0 {
			break
		}
		if problem := x.line(text); problem != nil {
			v.OK, v.Events = false, x.events
			v.BadEvent, v.BadRecord, v.Problem = problem.event, problem.record, fmt.Sprintf("line %d: %s", line, problem.what)
			return v, nil
		}
	}
	v.Events = x.events
	if x.manifest == nil {
		v.OK, v.Problem = false, "the manifest is missing: the export has been cut off"
	}
	return v, nil
}

type exportWalk struct {
	sum             hash.Hash
	manifest        *Manifest
	records, events int64
	// Links that are not checked yet, because the other of the two neighbours has not come: hashes of the earlier by
	// its number, prevs of the later by its number. A whole journal leaves few of them at any moment.
	hashes, prevs map[int64]string
	seen          map[int64]uint64 // a bit for each number that has come
}

func (x *exportWalk) line(text []byte) *finding {
	if x.manifest != nil {
		return &finding{what: "something follows the manifest"}
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return &finding{what: "the line is cut off"}
	}
	var end struct {
		Manifest *Manifest `json:"manifest"`
	}
	if err := json.Unmarshal(text, &end); err != nil {
		return &finding{what: fmt.Sprintf("it cannot be read: %v", err)}
	}
	if end.Manifest != nil {
		return x.close(text, end.Manifest)
	}
	_, _ = x.sum.Write(text) // a hash never fails
	var r exportedRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return &finding{what: fmt.Sprintf("it cannot be read: %v", err)}
	}
	x.records++
	return x.record(r)
}

func (x *exportWalk) close(text []byte, m *Manifest) *finding {
	again, err := m.line()
	sealed, err2 := m.sealed()
	switch {
	case err != nil || err2 != nil:
		return &finding{what: "the manifest cannot be read"}
	case !bytes.Equal(again, text) || sealed.Self != m.Self:
		return &finding{what: "the manifest was changed"}
	case m.Format != exportFormat:
		return &finding{what: fmt.Sprintf("this program does not know the format %q", m.Format)}
	case m.SHA256 != hex.EncodeToString(x.sum.Sum(nil)):
		return &finding{what: "the lines are not those that the manifest was made for"}
	case m.Records != x.records || m.Events != x.events:
		return &finding{what: "the manifest counts other records or events than there are"}
	}
	x.manifest = m
	return nil
}

func (x *exportWalk) record(r exportedRecord) *finding {
	var state *projection
	for _, out := range r.Events {
		e, err := out.event()
		if err != nil {
			return &finding{event: out.Seq, record: out.Record, what: err.Error()}
		}
		x.events++
		if e.Record != r.Record {
			return &finding{event: e.Seq, record: r.Record, what: "an event of another record stands here"}
		}
		if problem := x.event(e); problem != nil {
			return problem
		}
		m, err := readMeta(e)
		if err != nil {
			return &finding{event: e.Seq, record: e.Record, what: err.Error()}
		}
		c, err := readContent(e)
		if err != nil {
			return &finding{event: e.Seq, record: e.Record, what: err.Error()}
		}
		if state, err = project(state, e, m, argumentsOf(c)); err != nil {
			return &finding{event: e.Seq, record: e.Record, what: err.Error()}
		}
	}
	if state == nil || recordOf(state.row).shape() != r.recordShape {
		return &finding{record: r.Record, what: fmt.Sprintf("record %d is not the one that its events make", r.Record)}
	}
	return nil
}

func (x *exportWalk) event(e storage.Event) *finding {
	bad := func(what string) *finding { return &finding{event: e.Seq, record: e.Record, what: what} }
	if !bytes.Equal(e.Hash, eventHash(e)) {
		return bad(fmt.Sprintf("event %d was changed: its hash does not fit", e.Seq))
	}
	if !x.first(e.Seq) {
		return bad(fmt.Sprintf("event %d stands there twice", e.Seq))
	}
	if before, there := x.hashes[e.Seq-1]; !there {
		x.prevs[e.Seq] = string(e.Prev)
	} else if delete(x.hashes, e.Seq-1); before != string(e.Prev) {
		return bad(fmt.Sprintf("event %d does not follow event %d", e.Seq, e.Seq-1))
	}
	if after, there := x.prevs[e.Seq+1]; !there {
		x.hashes[e.Seq] = string(e.Hash)
	} else if delete(x.prevs, e.Seq+1); after != string(e.Hash) {
		return bad(fmt.Sprintf("event %d does not follow event %d", e.Seq+1, e.Seq))
	}
	var problem *finding
	if errors.As(checkBody(e), &problem) {
		return problem
	}
	return nil
}

// first notes that an event has come, and reports whether it is the first of its number.
func (x *exportWalk) first(seq int64) bool {
	word, bit := seq>>6, uint64(1)<<(seq&63)
	again := x.seen[word]&bit != 0
	x.seen[word] |= bit
	return !again
}

// event turns an exported event back.
func (x exportedEvent) event() (storage.Event, error) {
	e := storage.Event{Seq: x.Seq, Record: x.Record, Kind: x.Event, Mono: x.Mono, Run: x.Run, Meta: x.Meta}
	if x.Time != 0 {
		e.Time = time.Unix(0, x.Time).UTC()
	}
	var nonce []byte
	for _, f := range []struct {
		text string
		into *[]byte
	}{{x.BodyHash, &e.BodyHash}, {x.Prev, &e.Prev}, {x.Hash, &e.Hash}, {x.Nonce, &nonce}} {
		b, err := hex.DecodeString(f.text)
		if err != nil {
			return e, fmt.Errorf("event %d cannot be read: %w", x.Seq, err)
		}
		*f.into = b
	}
	if len(e.BodyHash) > 0 && (x.Body != "" || x.Erased) {
		e.Body = &storage.Body{Nonce: nonce, Bytes: []byte(x.Body), Erased: x.Erased}
	}
	return e, nil
}
