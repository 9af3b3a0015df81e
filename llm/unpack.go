package llm

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// unpack has the body of an answer read unpacked: packing is never asked for, but some gateways do it all the same, and
// some say that they do and do not, or the other way round. It returns the packing (Content-Encoding) that it does not
// know, "" if there is none.
func unpack(resp *http.Response) string {
	kind := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	resp.Body = &unpacker{src: resp.Body, deflated: kind == "deflate"}
	switch kind {
	case "", "identity", "gzip", "x-gzip", "deflate":
		return ""
	}
	return kind
}

// unpacker unpacks what begins like something packed. It looks no earlier than it is read, since an answer may begin late.
type unpacker struct {
	src      io.ReadCloser
	deflated bool // the server says so
	r        io.Reader
}

// Read reads what is unpacked.
func (u *unpacker) Read(p []byte) (int, error) {
	if u.r == nil {
		if err := u.begin(); err != nil {
			return 0, err
		}
	}
	return u.r.Read(p)
}

// begin looks at the first two bytes: RFC 1952 §2.3.1 and RFC 1950 §2.2. Raw deflate data, which some send as "deflate",
// has no mark.
func (u *unpacker) begin() error {
	b := bufio.NewReader(u.src)
	u.r = b
	first, err := b.Peek(2)
	switch {
	case len(first) < 2:
		return nil // reading tells again why
	case first[0] == 0x1f && first[1] == 0x8b:
		u.r, err = gzip.NewReader(b)
	case u.deflated && first[0]&0x0f == 8 && (uint(first[0])<<8|uint(first[1]))%31 == 0:
		u.r, err = zlib.NewReader(b)
	case u.deflated && !readable(first):
		u.r = flate.NewReader(b)
	}
	if err != nil {
		u.r = b
	}
	return err
}

// readable tells whether an answer may begin with b as it is.
func readable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f && c != 0xef && c != 0xbb {
			return false
		}
	}
	return true
}

// Close closes the body.
func (u *unpacker) Close() error { return u.src.Close() }
