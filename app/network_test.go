package app

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"steward/app/config"
)

// How a server is reached is what its entry says, else what the settings say; a program is not concerned. The proxy's
// password is put in from the secrets, and redacted from then on.
func TestTheWayToAServer(t *testing.T) {
	t.Parallel()
	off := map[string]any{"url": "https://x.example/mcp", "disabled": true}
	r := newRig(t, map[string]any{"plain": off, "direct": map[string]any{"url": "https://x.example/mcp", "disabled": true, "proxy": "direct"}, "program": map[string]any{"command": "x", "disabled": true}})
	r.app.UseSecretsMemory()
	check(t, r.app.SetSecret(t.Context(), "proxy", "CANARY-pass-55"))
	s, err := r.app.Settings(t.Context())
	check(t, err)
	s.Proxy, s.CAFile = "http://me:${secret:proxy}@proxy.example:3128", "/etc/company.pem"
	check(t, r.app.SaveSettings(t.Context(), s))

	remote := config.Server{Name: "r", URL: "https://x.example/mcp", Transport: config.HTTP}
	cfg, err := r.app.servers.resolve(remote)
	check(t, err)
	if cfg.Proxy != "http://me:CANARY-pass-55@proxy.example:3128" || cfg.CAFile != "/etc/company.pem" {
		t.Errorf("by the settings: %q %q", cfg.Proxy, cfg.CAFile)
	}
	if out := r.app.secrets.Redactor().Redact("it said CANARY-pass-55"); strings.Contains(out, "CANARY") {
		t.Errorf("shown: %s", out)
	}
	remote.Proxy, remote.CAFile = config.Direct, "/etc/other.pem"
	cfg, err = r.app.servers.resolve(remote)
	check(t, err)
	if cfg.Proxy != config.Direct || cfg.CAFile != "/etc/other.pem" {
		t.Errorf("by its entry: %q %q", cfg.Proxy, cfg.CAFile)
	}
	cfg, err = r.app.servers.resolve(config.Server{Name: "p", Command: "x", Transport: config.Stdio})
	check(t, err)
	if cfg.Proxy != "" || cfg.CAFile != "" {
		t.Errorf("a program: %q %q", cfg.Proxy, cfg.CAFile)
	}
	for _, c := range []struct {
		server string
		named  bool
	}{{"plain", true}, {"direct", false}, {"program", false}} {
		if err := r.app.NamesSecret(c.server, "proxy"); (err == nil) != c.named {
			t.Errorf("%s names the secret of the settings' proxy: %v", c.server, err)
		}
	}
	s.Proxy = "http://me:in-the-open@proxy.example"
	if err := r.app.SaveSettings(t.Context(), s); err == nil || strings.Contains(err.Error(), "in-the-open") {
		t.Errorf("a password in the settings: %v", err)
	}
}

// A password that is put into an address stays the password, whatever is in it: none of it becomes the host, or where
// else the address leads.
func TestAPasswordStaysInItsPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.app.UseSecretsMemory()
	const password = "12/3#4?5@6:7%389"
	check(t, r.app.SetSecret(t.Context(), "pw", password))
	server := config.Server{
		Name: "r", URL: "https://me:${secret:pw}@x.example/a@b/${secret:pw}", Transport: config.HTTP,
		Proxy: "http://me%40corp:${secret:pw}@proxy.example:3128",
	}
	cfg, err := r.app.servers.resolve(server)
	check(t, err)
	for address, host := range map[string]string{cfg.URL: "x.example", cfg.Proxy: "proxy.example:3128"} {
		u, err := url.Parse(address)
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		if got, _ := u.User.Password(); got != password || u.Host != host {
			t.Errorf("%s: the host is %q, the password %q", host, u.Host, got)
		}
	}
	if !strings.HasPrefix(cfg.Proxy, "http://me%40corp:") || !strings.Contains(cfg.URL, "x.example/a@b/"+password) {
		t.Errorf("%q, %q", cfg.Proxy, cfg.URL)
	}
	server.URL, server.Proxy = "https://x.example/?a=${secret:pw}@b", "${secret:pw}"
	cfg, err = r.app.servers.resolve(server)
	check(t, err)
	if cfg.URL != "https://x.example/?a="+password+"@b" || cfg.Proxy != password {
		t.Errorf("%q, %q", cfg.Proxy, cfg.URL)
	}
}

// A proxy's password may hold anything that a person can type, also what means something in an address.
func TestAPasswordOfAProxyIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.app.UseSecretsMemory()
	const user, password = `corp\me@x:y`, `p@ss:w/rd#1?%41 +ü`
	check(t, r.app.SetSecret(t.Context(), "user", user))
	check(t, r.app.SetSecret(t.Context(), "proxy", password))
	cfg, err := r.app.servers.resolve(config.Server{Name: "r", URL: "https://x.example/mcp", Transport: config.HTTP, Proxy: "http://${secret:user}:${secret:proxy}@proxy.example:3128"})
	check(t, err)
	u, err := url.Parse(cfg.Proxy)
	check(t, err)
	if got, _ := u.User.Password(); got != password || u.User.Username() != user || u.Host != "proxy.example:3128" {
		t.Errorf("%q with %q at %q", u.User.Username(), got, u.Host)
	}
	for _, form := range []string{password, u.User.String(), base64.StdEncoding.EncodeToString([]byte(user + ":" + password))} {
		if out := r.app.secrets.Redactor().Redact("it said " + form); strings.Contains(out, form) {
			t.Errorf("shown: %s", out)
		}
	}
}
