package llm

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

var version = regexp.MustCompile(`/v\d+[a-z0-9]*(/|$)`)

// WithScheme gives an address that was typed without one its scheme: https, or http where it is this machine.
func WithScheme(address string) string {
	address = strings.TrimSpace(address)
	if address == "" || strings.Contains(address, "://") {
		return address
	}
	if u, err := url.Parse("http://" + address); err == nil && loopback(u.Hostname()) {
		return "http://" + address
	}
	return "https://" + address
}

// parseBase puts a pasted address right and refuses what is not safe. The
// returned URL has no trailing slash.
func parseBase(raw string) (*url.URL, *Error) {
	wrong := func(why string) *Error { return &Error{Kind: KindConfig, Message: why} }
	text := strings.TrimSpace(raw)
	if text == "" {
		return nil, wrong("There is no base URL of a model endpoint. Give one with --base-url, for example http://localhost:11434/v1.")
	}
	u, err := url.Parse(WithScheme(text))
	if err != nil {
		return nil, wrong("The base URL of the model endpoint cannot be read. It should look like https://host/v1.")
	}
	if u.User != nil {
		return nil, wrong("The base URL of the model endpoint holds a user name or password (" + where(u) + "). Remove it and give the key with --api-key-env.")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, wrong("The base URL of the model endpoint starts with " + u.Scheme + "://; only https:// and http:// can be used.")
	}
	if u.Hostname() == "" {
		return nil, wrong("The base URL of the model endpoint names no host. It should look like https://host/v1.")
	}
	u.Fragment, u.RawFragment = "", ""
	path := strings.TrimRight(u.EscapedPath(), "/")
	pasted := false
	for _, suffix := range []string{"/chat/completions", "/completions", "/models"} {
		if p, ok := strings.CutSuffix(path, suffix); ok {
			path, pasted = strings.TrimRight(p, "/"), true
			break
		}
	}
	if !pasted && !version.MatchString(path) {
		path = rootOf(u, path)
	}
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, wrong("The path in the base URL of " + where(u) + " cannot be read.")
	}
	u.RawPath = path
	return u, nil
}

// rootOf completes a path that names no version of the API, or a part of the one that all
// addresses of a host have.
func rootOf(u *url.URL, path string) string {
	root := "/v1"
	if e := byHost(u); e != nil && e.root != "" {
		root = strings.TrimSuffix(e.root, "/")
		if root == "" || path != "" && strings.HasPrefix(root, path+"/") {
			return root
		}
	}
	if path == "" {
		return root
	}
	return path
}

// loopback tells whether a host name is this machine by definition (RFC 6761
// §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkKey refuses to send a key where others on the way could read it.
func checkKey(u *url.URL, key string, allowHTTP bool) *Error {
	if key == "" || u.Scheme == "https" || allowHTTP || loopback(u.Hostname()) {
		return nil
	}
	return &Error{Kind: KindConfig, Message: "The API key was not sent: " + where(u) + " is plain http on another machine, where others could read the key. Use https, or leave the key out if the endpoint needs none."}
}

// where names an endpoint in a sentence.
func where(u *url.URL) string {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" {
		host = net.JoinHostPort(u.Hostname(), p)
	}
	return u.Scheme + "://" + host
}

// at is the URL of a path below the base.
func at(base *url.URL, path string) *url.URL {
	u := *base
	u.Path += path
	u.RawPath += path
	return &u
}
