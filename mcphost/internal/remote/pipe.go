package remote

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// feed is a stream for the library. Its write end may be used by several
// goroutines.
type feed struct {
	mu sync.Mutex
	w  *io.PipeWriter
}

// answerNow makes the response that the library gets at once, before anything
// is known of the server's: a stream that is fed later. The library's context
// ends it.
func answerNow(req *http.Request, follow bool) (*http.Response, *feed) {
	r, w := io.Pipe()
	f := &feed{w: w}
	if follow {
		context.AfterFunc(req.Context(), func() { f.close(req.Context().Err()) })
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: r, ContentLength: -1, Request: req,
	}, f
}

// put hands messages to the library. Where it no longer reads, they are dropped:
// whoever waits for the answers themselves has them from the Tap.
func (f *feed) put(messages ...[]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range messages {
		if len(m) > 0 && writeEvent(f.w, "", m) != nil {
			return
		}
	}
}

// endpoint hands on where to post to (2024-11-05).
func (f *feed) endpoint(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = writeEvent(f.w, "endpoint", []byte(address)) // as in put
}

func (f *feed) close(err error) { _ = f.w.CloseWithError(err) } // never fails

// accepted is the answer to a notification.
func accepted(req *http.Request) *http.Response {
	return &http.Response{
		Status: "202 Accepted", StatusCode: http.StatusAccepted, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// take reads the body of one of the library's requests.
func take(req *http.Request) ([]byte, error) {
	defer func() { _ = req.Body.Close() }() // a reader over memory
	return io.ReadAll(req.Body)
}
