package mcphost

import (
	"crypto/x509"
	"net/http"
	"net/url"

	"steward/mcphost/internal/remote"
)

// Route is how addresses on the network are reached.
type Route struct {
	// Proxy gives the proxy for a request, nil for none. Its errors do not repeat the
	// proxy's address.
	Proxy func(*http.Request) (*url.URL, error)
	// Roots are the certificates that are trusted; nil is the system's.
	Roots *x509.CertPool
}

// NewRoute makes of the settings of the network what servers are reached by, for whatever
// else the program reaches on it: proxy is an address such as http://user:password@proxy:3128,
// "direct", or "" for what the environment says, and is never used for this computer; caFile
// is a PEM file of certificates trusted besides the system's, "" for none, and may begin with
// "~/". The file is read now. The error is a sentence for a person, without the proxy's address.
func NewRoute(proxy, caFile string) (Route, error) {
	find, roots, err := remote.Network{Proxy: proxy, CAFile: expandHome(caFile)}.Route()
	if err != nil {
		return Route{}, err
	}
	if find == nil {
		find = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	return Route{Proxy: find, Roots: roots}, nil
}
