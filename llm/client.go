package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
)

// Client talks to one endpoint. It may be used from any goroutine, for several
// requests at once.
type Client struct {
	endpoint Endpoint
	options  Options
	base     *url.URL
	http     *http.Client // go-openai's
	openai   *openai.Client
	own      *http.Transport                            // nil if the owner gave one
	pause    func(context.Context, time.Duration) error // between attempts
	random   func(n int64) int64                        // below n, for the length of pauses

	mu      sync.Mutex
	profile Profile // learns from refusals

	closing context.Context
	close   context.CancelFunc
}

// New checks the endpoint's settings and makes a client for it. Nothing is sent.
// The error is an *Error of KindConfig.
func New(e Endpoint, o Options) (*Client, error) {
	base, problem := parseBase(e.BaseURL)
	if problem != nil {
		return nil, problem
	}
	p, problem := findProfile(e, base)
	if problem != nil {
		return nil, problem
	}
	o.FirstToken = cmp.Or(o.FirstToken, 15*time.Minute)
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{endpoint: e, options: o, base: base, profile: p, pause: pause, random: rand.Int64N}
	if e.Key != nil {
		if problem := checkKey(base, strings.TrimSpace(e.Key()), e.AllowHTTP); problem != nil {
			return nil, problem
		}
	}
	if problem := checkHeader(base, e); problem != nil {
		return nil, problem
	}
	transport := o.Transport
	if transport == nil {
		c.own = newTransport(o)
		transport = c.own
	}
	config := openai.DefaultConfig("") // the key is added at the door
	config.BaseURL = base.String()
	c.http = &http.Client{
		Transport:     door{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	config.HTTPClient = c.http
	c.openai = openai.NewClientWithConfig(config)
	c.closing, c.close = context.WithCancel(context.Background())
	return c, nil
}

// Close ends the client's connections. Requests in progress end as stopped.
func (c *Client) Close() {
	c.close()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// exchange prepares one request below the base URL.
func (c *Client) exchange(path string, body []byte, tools []Tool) (*exchange, *Error) {
	p := c.Profile()
	x := &exchange{url: withVersion(at(c.base, path), p), body: body, tools: tools, keyHeader: p.KeyHeader, now: c.options.Now, alive: func() {}, first: func() {}}
	if c.endpoint.Key != nil {
		x.key = strings.TrimSpace(c.endpoint.Key())
	}
	if strings.ContainsFunc(x.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &Error{Kind: KindConfig, Message: "The API key holds characters a key cannot have, such as a line break. Look at the variable that --api-key-env names."}
	}
	if c.endpoint.Header != nil {
		x.header = c.endpoint.Header()
	}
	return x, checkKey(c.base, x.key, c.endpoint.AllowHTTP)
}

// bounded is ctx with a limit, ended by Close too.
func (c *Client) bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(c.closing, cancel)
	return ctx, func() { stop(); cancel() }
}

// explain turns an error of the HTTP client into an *Error.
func (c *Client) explain(x *exchange, err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = networkError(x.where(), err)
	}
	return c.redact(x, e)
}

// redact removes the key, and what the owner knows to be secret, from an error.
func (c *Client) redact(x *exchange, e *Error) *Error {
	clean := func(s string) string {
		if len(x.key) >= 4 {
			s = strings.ReplaceAll(s, x.key, "[secret]")
		}
		if c.options.Redact != nil {
			s = c.options.Redact(s)
		}
		return s
	}
	e.Message, e.reason, e.Body = clean(e.Message), clean(e.reason), clean(e.Body)
	return e
}

// inside is the error of a fault in this program, found while it read an answer.
func inside(where string, v any) *Error {
	return &Error{Kind: KindProtocol, Message: fmt.Sprintf("Reading the answer of %s failed through a fault in this program (%v). Please report it.", where, v)}
}
