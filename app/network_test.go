package app

import (
	"net/url"
	"strings"
	"testing"

	"steward/app/config"
)

// How a server is reached is what its entry says, else what the settings say; a program is not concerned. The proxy's
// password is put in from the secrets, and redacted from then on.
func TestTheWayToAServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
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
