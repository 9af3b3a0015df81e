package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// The listener that a browser comes back to (RFC 8252, 7.3 and 8.3).
const (
	callbackPath    = "/callback"
	callbackRequest = 5 * time.Second // reading a request, and writing its answer
	maxCallers      = 16              // connections at once
	maxCallback     = 8 << 10         // of the query
)

// callback waits on this computer for the answer of one authorization request.
type callback struct {
	port    int
	answers chan url.Values // one, the first that is right
	strays  chan struct{}   // holds one; see Page
	state   string
	server  *http.Server
	serving sync.WaitGroup

	mu   sync.Mutex
	used bool
}

// redirectOn is the redirect URI with a port.
func redirectOn(port int) string {
	return "http://127.0.0.1:" + strconv.Itoa(port) + callbackPath
}

// listen opens the listener; port 0 takes any that is free.
func listen(port int, state string) (*callback, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("listening at %v", l.Addr()), l.Close())
	}
	c := &callback{port: addr.Port, answers: make(chan url.Values, 1), strays: make(chan struct{}, 1), state: state}
	c.server = &http.Server{
		Handler: c, ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 16 << 10,
		ReadTimeout: callbackRequest, WriteTimeout: callbackRequest, IdleTimeout: callbackRequest,
	}
	c.server.SetKeepAlivesEnabled(false)
	c.serving.Go(func() {
		_ = c.server.Serve(netutil.LimitListener(l, maxCallers)) // ends with close
	})
	return c, nil
}

// redirect is the redirect URI that leads here.
func (c *callback) redirect() string { return redirectOn(c.port) }

// close ends the listener; a page that is being sent is sent to its end.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close() // nothing that is wanted is still under way
	}
	c.serving.Wait()
}

// ServeHTTP takes the browser's request. What it answers holds nothing of what it
// was sent. Whatever is not the awaited answer changes nothing.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	status, page := c.take(r)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, page) // a browser that has gone needs no page
}

func (c *callback) take(r *http.Request) (status int, page string) {
	switch {
	case r.Host != net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) && (c.port != 80 || r.Host != "127.0.0.1"): // 80 is left out by browsers
		return http.StatusForbidden, pageWrong // another name that leads here is not ours
	case r.URL.EscapedPath() != callbackPath:
		return http.StatusNotFound, pageWrong
	case r.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, pageWrong
	case r.ContentLength != 0 || len(r.URL.RawQuery) > maxCallback:
		return http.StatusRequestEntityTooLarge, pageWrong
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !single(q, "state", "code", "error", "iss", "error_description") || q.Get("code") == "" && q.Get("error") == "" ||
		subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 {
		select {
		case c.strays <- struct{}{}:
		default: // it is known already
		}
		return http.StatusBadRequest, pageWrong
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used {
		return http.StatusGone, pageWrong
	}
	c.used = true
	c.answers <- q
	if q.Get("error") != "" {
		return http.StatusOK, pageRefused
	}
	return http.StatusOK, pageDone
}

// single reports whether none of the parameters is there twice (RFC 6749, 3.1).
func single(q url.Values, names ...string) bool {
	for _, name := range names {
		if len(q[name]) > 1 {
			return false
		}
	}
	return true
}

// The pages that a browser gets, in both languages of the program: which one the
// person reads is not known here.
const (
	pageBegin   = `<!DOCTYPE html><meta charset="utf-8"><title>Steward 管家</title>`
	pageDone    = pageBegin + `<p>The sign-in has come back to Steward. You can close this page.</p><p lang="zh-Hans">登录结果已交给管家，可以关闭此页面。</p>`
	pageRefused = pageBegin + `<p>The sign-in was not granted. You can close this page; Steward says more.</p><p lang="zh-Hans">登录未获准许，可以关闭此页面；详情请看管家。</p>`
	pageWrong   = pageBegin + `<p>This does not belong to a sign-in that Steward waits for.</p><p lang="zh-Hans">这不属于管家正在等待的登录。</p>`
)
