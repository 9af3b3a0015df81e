package llm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// checkHeader refuses to send a secret header where others on the way could read it, as
// checkKey does the key.
func checkHeader(base *url.URL, e Endpoint) *Error {
	if e.Header == nil || !e.SecretHeader {
		return nil
	}
	if problem := checkKey(base, "secret", e.AllowHTTP); problem != nil {
		problem.Message = strings.Replace(problem.Message, "The API key was not sent", "The endpoint's headers hold a secret and were not sent", 1)
		return problem
	}
	return nil
}

// usable makes an error of the owner's own one that is not tried again. It must not repeat
// the proxy's address, which may hold a password.
func usable(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		u, err := proxy(r)
		if err != nil {
			return nil, &Error{Kind: KindConfig, cause: err,
				Message: fmt.Sprintf("Nothing was sent to %s (%v). Look at Settings, Network, or at HTTPS_PROXY in the environment.", where(r.URL), err)}
		}
		return u, nil
	}
}

// proxyRefusal is a proxy's no to CONNECT (RFC 9110 §9.3.6).
type proxyRefusal struct {
	host   string
	status int
}

func (e *proxyRefusal) Error() string {
	return fmt.Sprintf("the proxy %s answered %d %s", e.host, e.status, http.StatusText(e.status))
}

func (e *proxyRefusal) explain(out *Error, where string) {
	out.Status = e.status
	out.Retryable = e.status >= 500
	words := "The proxy %s let nothing through to %s: it answered %s. Ask whoever runs it, or set another proxy in Settings, Network."
	if e.status == http.StatusProxyAuthRequired {
		words = "The proxy %s let nothing through to %s: it answered %s. It wants a user and a password: enter them in Settings, Network."
	}
	out.Message = fmt.Sprintf(words, e.host, where, statusText(e.status))
}

func refusedByProxy(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{proxy.Host, resp.StatusCode}
}

// throughProxy tells whether a connection failed on the way to the proxy: that is how
// net/http names it then.
func throughProxy(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect")
}

// dialed is why the proxy could not be reached, without its address, which may hold a user.
func dialed(err error) string {
	var op *net.OpError
	for errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return err.Error()
}
