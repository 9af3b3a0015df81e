package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Limits of what is fetched.
const (
	fetchLimit   = 10 * time.Second // one request, from the first byte to the last
	maxBody      = 1 << 20          // of an answer, after decompression
	maxRedirects = 3
)

// Error says why a sign-in did not come about.
type Error struct {
	Message string // a sentence without its full stop
	Hint    string // what to do; may be ""
	Err     error
}

// Error gives the message and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// fetcher speaks to authorization servers and fetches metadata.
type fetcher struct {
	reach           reach
	guarded, proxed *http.Transport
	client          *http.Client
}

// newFetcher makes one with the proxy and the certificates of base. It keeps no
// connection open.
func newFetcher(base *http.Transport, r reach) *fetcher {
	f := &fetcher{reach: r, guarded: base.Clone(), proxed: base.Clone()}
	for _, t := range []*http.Transport{f.guarded, f.proxed} {
		t.DisableKeepAlives = true
		t.MaxResponseHeaderBytes = 64 << 10
	}
	f.guarded.Proxy = nil
	f.guarded.DialContext = (&net.Dialer{Timeout: fetchLimit, Control: r.control}).DialContext
	f.client = &http.Client{Transport: f, CheckRedirect: f.redirect}
	return f
}

// RoundTrip implements http.RoundTripper. Behind a proxy it is the proxy that
// looks names up, and what it may reach is its affair; addresses in numbers have
// been checked.
func (f *fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.proxed.Proxy != nil {
		proxy, err := f.proxed.Proxy(req)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			return f.proxed.RoundTrip(req)
		}
	}
	return f.guarded.RoundTrip(req)
}

// redirect lets metadata be fetched from where it has moved to, under the same
// rules. Nothing that is posted is ever sent on.
func (f *fetcher) redirect(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("it was redirected more than %d times", maxRedirects)
	}
	if _, err := f.reach.check(req.URL.String()); err != nil {
		return fmt.Errorf("it was redirected to an address that is not followed: %w", err)
	}
	if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("it was redirected from https to http")
	}
	return nil
}

// answer is what came back.
type answer struct {
	status int
	json   bool // it is said to be JSON
	body   []byte
}

// object reads the body as a JSON object; false where it is none.
func (a answer) object() (object, bool) {
	var o object
	if !a.json || json.Unmarshal(a.body, &o) != nil || o == nil {
		return nil, false
	}
	return o, true
}

// get fetches a document.
func (f *fetcher) get(ctx context.Context, address string) (answer, error) {
	return f.do(ctx, http.MethodGet, address, nil, "", nil)
}

// post posts a form, with HTTP Basic authentication if user is not nil.
func (f *fetcher) post(ctx context.Context, address string, form url.Values, user *url.Userinfo) (answer, error) {
	return f.do(ctx, http.MethodPost, address, strings.NewReader(form.Encode()), "application/x-www-form-urlencoded", user)
}

func (f *fetcher) do(ctx context.Context, method, address string, body io.Reader, kind string, user *url.Userinfo) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return answer{}, errors.New("its address cannot be used")
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(url.QueryEscape(user.Username()), url.QueryEscape(password)) // RFC 6749, 2.3.1
	}
	resp, err := f.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the rest repeats the address
		}
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it is wanted
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("its answer broke off: %w", err)
	case len(data) > maxBody:
		return answer{}, fmt.Errorf("its answer is larger than %d MiB", maxBody>>20)
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return answer{
		status: resp.StatusCode, body: data,
		json: media == "application/json" || strings.HasSuffix(media, "+json"),
	}, nil
}

// object is a JSON object as it came.
type object map[string]json.RawMessage

func (o object) has(name string) bool { return len(o[name]) > 0 && string(o[name]) != "null" }

// text reads a string; false where there is something else.
func (o object) text(name string) (string, bool) {
	var s string
	if !o.has(name) {
		return "", true
	}
	if json.Unmarshal(o[name], &s) != nil {
		return "", false
	}
	return s, true
}

// str reads a string; "" where there is none.
func (o object) str(name string) string {
	s, _ := o.text(name)
	return s
}

// list reads an array of strings; others in it are left out.
func (o object) list(name string) []string {
	var all []json.RawMessage
	if json.Unmarshal(o[name], &all) != nil {
		return nil
	}
	var out []string
	for _, raw := range all[:min(len(all), 1000)] {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (o object) flag(name string) bool { return string(o[name]) == "true" }

// seconds reads a length of time in seconds, at most ten years; 0 where there is
// none, false where there is something else.
func (o object) seconds(name string) (time.Duration, bool) {
	var n float64
	if !o.has(name) {
		return 0, true
	}
	if json.Unmarshal(o[name], &n) != nil || n < 0 {
		return 0, false
	}
	return time.Duration(min(math.Trunc(n), 10*365*24*3600)) * time.Second, true
}

// isPermitted reports whether an error is no refusal of ours to speak to an address.
func isPermitted(err error) bool { return !errors.As(err, new(*forbiddenError)) }

// origin is the origin of an address, without a path.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	port := u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}
