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
	cfg.CAFile = cmpOr(caFile, limits.caFile)
	var err error
	if cfg.Proxy, err = s.proxy(server, cmpOr(proxy, limits.proxy)); err != nil {
		return err
	}
	if u, err := url.Parse(cfg.Proxy); err == nil {
		if password, ok := u.User.Password(); ok {
			s.learn(server+" proxy", password)
			s.learn(server+" proxy", url.QueryEscape(password))
			s.learn(server+" proxy", strings.ReplaceAll(url.QueryEscape(password), "+", "%20"))
		}
	}
	return nil
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

var secretName = regexp.MustCompile(`\$\{secret:[^}]*\}`)

// proxy puts the secrets into a proxy's address. What stands before its host is encoded,
// because a password may hold what means something in an address (RFC 3986, section 3.2.1).
func (s *servers) proxy(server, address string) (string, error) {
	at := strings.LastIndex(address, "@") + 1
	var failed error
	user := secretName.ReplaceAllStringFunc(address[:at], func(name string) string {
		value, err := s.secret(server, name)
		failed = cmp.Or(failed, err)
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	})
	if failed != nil {
		return "", failed
	}
	host, err := s.secret(server, address[at:])
	return user + host, err
}
