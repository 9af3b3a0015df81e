package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// NoProxy as [Network.Proxy] reaches servers directly, whatever the environment says.
const NoProxy = "direct"

// maxCAFile bounds the file of further certificates, in bytes.
const maxCAFile = 4 << 20

// Network says how servers are reached. The zero Network is the system's.
type Network struct {
	// Proxy is an address such as http://user:password@proxy:3128 (also https:// and
	// socks5://), or NoProxy; "" is what the environment says (HTTPS_PROXY, HTTP_PROXY,
	// NO_PROXY). This computer itself is always reached directly, and hosts that NO_PROXY
	// names too.
	Proxy string
	// CAFile is a PEM file of certificates that are trusted besides the system's; "" for none.
	CAFile string
}

// Transport makes a transport of this network. Its errors are *[Error]s that name
// neither the proxy's password nor its user.
func (n Network) Transport() (*http.Transport, error) {
	proxy, roots, err := n.Route()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: dialLimit, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    dialLimit,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		OnProxyConnectResponse: refusedByProxy,
	}
	if roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

// Route gives the proxy for a request (nil: none for any) and the certificates that are
// trusted (nil: the system's), for transports of others.
func (n Network) Route() (proxy func(*http.Request) (*url.URL, error), roots *x509.CertPool, err error) {
	if proxy, err = n.proxy(os.Getenv); err != nil {
		return nil, nil, err
	}
	roots, err = n.roots()
	return proxy, roots, err
}

// proxy returns which proxy a request goes through.
func (n Network) proxy(getenv func(string) string) (func(*http.Request) (*url.URL, error), error) {
	either := func(upper string) string {
		if v := getenv(upper); v != "" {
			return v
		}
		return getenv(strings.ToLower(upper))
	}
	c := httpproxy.Config{NoProxy: either("NO_PROXY")}
	switch n.Proxy {
	case NoProxy:
		return nil, nil
	case "":
		c.HTTPProxy, c.HTTPSProxy = either("HTTP_PROXY"), either("HTTPS_PROXY")
		if all := either("ALL_PROXY"); all != "" {
			c.HTTPProxy, c.HTTPSProxy = orElse(c.HTTPProxy, all), orElse(c.HTTPSProxy, all)
		}
	default:
		if err := CheckProxy(n.Proxy); err != nil {
			return nil, err
		}
		c.HTTPProxy, c.HTTPSProxy = n.Proxy, n.Proxy
	}
	find := c.ProxyFunc() // never one for loopback
	return func(r *http.Request) (*url.URL, error) {
		u, err := find(r.URL)
		if err != nil {
			return nil, errBadProxy // its text holds the whole address
		}
		return u, nil
	}, nil
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var errBadProxy = errors.New("the address of the proxy cannot be used")

// CheckProxy says what is wrong with the address of a proxy, without repeating it.
func CheckProxy(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Hostname() != "" {
		switch u.Scheme {
		case "http", "https", "socks5", "socks5h":
			return nil
		}
	}
	return &Error{
		Message: "the address of the proxy cannot be used",
		Hint:    "Write it as http://proxy:3128, or direct for none.",
	}
}

// proxyRefusal is a proxy's no to CONNECT (RFC 9110, 9.3.6).
type proxyRefusal struct {
	host   string
	status int
}

func (e *proxyRefusal) Error() string {
	return fmt.Sprintf("the proxy %s answered %d %s", e.host, e.status, http.StatusText(e.status))
}

func refusedByProxy(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{proxy.Host, resp.StatusCode}
}

// roots are the system's certificates with those of the file; nil leaves the system's.
func (n Network) roots() (*x509.CertPool, error) {
	if n.CAFile == "" {
		return nil, nil
	}
	bad := func(why string, err error) error {
		return &Error{Message: fmt.Sprintf("the file of further certificates %s %s", n.CAFile, why), Err: err,
			Hint: "Name a file in PEM form, with lines such as -----BEGIN CERTIFICATE-----."}
	}
	info, err := os.Stat(n.CAFile)
	switch {
	case err != nil:
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, bad(fmt.Sprintf("cannot be read: %v", err), err)
	case !info.Mode().IsRegular() || info.Size() > maxCAFile:
		return nil, bad("is no file of certificates", nil)
	}
	pem, err := os.ReadFile(n.CAFile)
	if err != nil {
		return nil, bad("cannot be read", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without certificates of its own; the file's are enough
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, bad("holds no certificate", nil)
	}
	return pool, nil
}
