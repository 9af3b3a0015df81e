package remote

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

// pieces gives what it reads in pieces of at most n bytes.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// FuzzEvents gives anything to the reader of server-sent events. How it is cut into pieces, and how its lines end,
// makes no difference, no event is larger than the limit, no more room is taken than that, and an event behind
// whatever came is always found.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\ndata:b\r\n\r\ndata: c\r\rdata", "\ufeffdata: x\n\n", ": comment\nid: 7\nretry: 10\nevent: message\ndata: {\ndata: }\n\n",
		"data: \xff\x00\n\n", "event: endpoint\ndata: /x\n\n", "id: \x00\nretry: 1e9\nretry: 99999999999999999999\n\n", "data\ndata\n\n", "\r\n\r", "data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n",
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 1 || len(in) > 1<<16 {
			return
		}
		for _, limit := range []int{64, 4 << 10} {
			sameEvents(t, in, n, limit)
		}
	})
}

// sameEvents reads what begins with in at once, in pieces of n bytes, and with other ends of lines.
func sameEvents(t *testing.T, in []byte, n, limit int) {
	const good = `{"jsonrpc":"2.0","id":1,"result":{}}`
	all := append(bytes.Clone(in), "\n\n\ndata: "+good+"\n\n"...)
	whole := readAll(t, newStream(bytes.NewReader(all), int64(limit)), limit)
	cut := readAll(t, newStream(iotest.DataErrReader(pieces{bytes.NewReader(all), n}), int64(limit)), limit)
	if len(all)+bytes.Count(all, []byte("\n")) > skipped*limit {
		return // it may be given up, sooner or later with the pieces it comes in and the ends of its lines
	}
	if !reflect.DeepEqual(whole, cut) {
		t.Fatalf("at once %+v, in pieces of %d bytes %+v", whole, n, cut)
	}
	if !bytes.Contains(in, []byte("\r")) {
		for _, end := range []string{"\r", "\r\n"} {
			other := readAll(t, newStream(bytes.NewReader(bytes.ReplaceAll(all, []byte("\n"), []byte(end))), int64(limit)), limit)
			if !reflect.DeepEqual(whole, other) {
				t.Fatalf("with lines that end with LF %+v, with %q %+v", whole, end, other)
			}
		}
	}
	if len(whole) == 0 || string(whole[len(whole)-1].data) != good {
		t.Fatalf("the last of %d events is not the good one", len(whole))
	}
}

// readAll reads a stream to its end; what was too large is an event without data. It is nil for a stream that is given up.
func readAll(t *testing.T, s *stream, limit int) (all []event) {
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, errEndless):
			return nil
		case errors.Is(err, errTooLarge):
			e = event{}
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case len(e.data) > limit:
			t.Fatalf("an event has %d bytes", len(e.data))
		}
		if cap(s.buf) > 8*limit {
			t.Fatalf("a line takes %d bytes", cap(s.buf))
		}
		if s.retry < 0 || s.retry > longestPause || len(s.lastID) > maxSessionID {
			t.Fatalf("retry %v, last id of %d bytes", s.retry, len(s.lastID))
		}
		all = append(all, e)
	}
}
