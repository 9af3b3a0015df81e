package remote

import (
	"bufio"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"steward/mcphost/internal/wire"
)

// observed keeps in the log of messages what HTTP itself says beside them: an answer that
// is no success, with the beginning of its body, the streams that are opened, and the end of
// a session. Headers are not kept; they hold what is secret.
type observed struct {
	base http.RoundTripper
	tap  *wire.Tap
}

// maxNoted is how much is kept of a body that is no message, in bytes.
const maxNoted = 4 << 10

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	quiet := req.Method == http.MethodPost
	if !quiet {
		o.tap.Note(true, nil, []byte(req.Method+" "+req.URL.Path))
	}
	resp, err := o.base.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode < 300 && quiet:
		return resp, nil
	}
	note := "HTTP " + resp.Status
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
		note += " " + kind
	}
	if resp.StatusCode >= 300 && resp.Body != nil {
		body := limited(resp.Body)
		begin, _ := body.Peek(maxNoted) // what ends it is for the one who reads on
		resp.Body = body
		if text := strings.TrimSpace(string(begin)); text != "" {
			note += "\n\n" + text
		}
	}
	o.tap.Note(false, sentIn(req), []byte(note))
	return resp, nil
}

// brief is a body that is closed when it has not come to its end in time.
type brief struct {
	*bufio.Reader
	io.Closer
	timer *time.Timer
}

func limited(body io.ReadCloser) *brief {
	return &brief{bufio.NewReaderSize(body, maxNoted), body, time.AfterFunc(errorLimit, func() { _ = body.Close() })} // whoever reads gets an error
}

func (b *brief) Close() error {
	b.timer.Stop()
	return b.Closer.Close()
}

// explanation is what a server says with an error, as far as it came.
func explanation(resp *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // the status says that it has failed
	return body
}

// sentIn is the message that a request carried; nil if it carried none.
func sentIn(req *http.Request) []byte {
	if req.Method != http.MethodPost || req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	defer func() { _ = body.Close() }() // it is in memory
	frame, err := io.ReadAll(body)
	if err != nil {
		return nil
	}
	return frame
}
