package app

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"steward/mcphost"
)

// network says how a server over HTTP is reached: as its entry says, else as the settings do. The
// proxy's password is redacted from then on.
func (s *servers) network(cfg *mcphost.ServerConfig, server, proxy, caFile string) error {
	if cfg.URL == "" {
		return nil
	}
	limits := s.limitsNow()
	cfg.CAFile = cmp.Or(caFile, limits.caFile)
	var err error
	if cfg.Proxy, err = s.address(server, cmp.Or(proxy, limits.proxy)); err != nil {
		return err
	}
	learnProxy(s.learn, server, cfg.Proxy)
	return nil
}

// learnProxy has the password of a proxy redacted from now on, in each form that it is sent in.
func learnProxy(learn func(label, value string), owner, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if password, ok := u.User.Password(); ok {
		learn(owner+" proxy", password)
		learn(owner+" proxy", url.QueryEscape(password))
		learn(owner+" proxy", strings.ReplaceAll(url.QueryEscape(password), "+", "%20"))
	}
}

// proxySecret is the name under which the password of the settings' proxy is kept.
const proxySecret = "settings-proxy"

// KeepProxyPassword keeps a password for the settings' proxy among the secrets, and returns the
// proxy's address with the name of the secret in the password's place. The address names the
// user. It may wait for the keyring, some seconds.
func (a *App) KeepProxyPassword(ctx context.Context, address, password string) (string, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	at := strings.LastIndex(rest, "@")
	user, _, _ := strings.Cut(rest[:max(at, 0)], ":")
	if !ok || user == "" {
		return "", errors.New("the proxy's address names no user for the password; write it as http://NAME@proxy:3128")
	}
	if err := a.SetSecret(ctx, proxySecret, password); err != nil {
		return "", err
	}
	return scheme + "://" + user + ":${secret:" + proxySecret + "}" + rest[at:], a.noteSecret(ctx, "", proxySecret)
}

var secretReference = regexp.MustCompile(`\$\{secret:[^}]*\}`)

// address puts the secrets into an address. A password before the host is escaped there:
// with a / or # of its own the address would end in it, and the rest of it, or what
// precedes it, would be looked up as the host.
func (s *servers) address(server, text string) (string, error) {
	return fillAddress(text, func(part string) (string, error) { return s.secret(server, part) })
}

func fillAddress(text string, secret func(string) (string, error)) (string, error) {
	from, to := userPart(text)
	if from == to {
		return secret(text)
	}
	var failed error
	user := secretReference.ReplaceAllStringFunc(text[from:to], func(reference string) string {
		value, err := secret(reference)
		if err != nil {
			failed = err
		}
		return strings.TrimPrefix(url.UserPassword("", value).String(), ":")
	})
	if failed != nil {
		return "", failed
	}
	rest, err := secret(text[to:])
	return text[:from] + user + rest, err
}

// userPart finds the user and the password in an address with references; from is to
// where there are none.
func userPart(text string) (from, to int) {
	scheme := strings.Index(text, "://")
	if scheme < 0 {
		return 0, 0
	}
	from = scheme + len("://")
	masked := secretReference.ReplaceAllStringFunc(text, func(reference string) string { return strings.Repeat("x", len(reference)) })
	end := len(text)
	if i := strings.IndexAny(masked[from:], "/?#"); i >= 0 {
		end = from + i
	}
	if at := strings.LastIndexByte(masked[from:end], '@'); at >= 0 {
		return from, from + at
	}
	return from, from
}
