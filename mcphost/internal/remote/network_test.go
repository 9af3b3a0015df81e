package remote

import (
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestProxyOfTheEnvironment checks which proxy is taken: what was set before what the environment says, this computer
// and what NO_PROXY names never.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HTTPS_PROXY": "http://secure:1", "http_proxy": "http://plain:2", "NO_PROXY": "inside.example,.corp.example"}
	for _, tt := range []struct {
		setting string
		env     map[string]string
		target  string
		want    string
	}{
		{"", env, "https://x.example/mcp", "http://secure:1"},
		{"", env, "http://x.example/mcp", "http://plain:2"},
		{"", env, "https://inside.example/mcp", ""},
		{"", env, "https://a.corp.example/mcp", ""},
		{"", env, "http://127.0.0.1:8080/mcp", ""},
		{"", env, "http://localhost:8080/mcp", ""},
		{"", env, "http://[::1]/mcp", ""},
		{"", nil, "https://x.example/mcp", ""},
		{"", map[string]string{"ALL_PROXY": "socks5://all:3"}, "https://x.example/mcp", "socks5://all:3"},
		{NoProxy, env, "https://x.example/mcp", ""},
		{"https://mine:4", env, "https://x.example/mcp", "https://mine:4"},
		{"https://mine:4", env, "http://x.example/mcp", "https://mine:4"},
		{"https://mine:4", env, "https://inside.example/mcp", ""},
		{"https://mine:4", nil, "http://localhost/mcp", ""},
	} {
		find, err := Network{Proxy: tt.setting}.proxy(func(name string) string { return tt.env[name] })
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if find != nil {
			p, err := find(&http.Request{URL: u})
			if err != nil {
				t.Fatal(err)
			}
			if p != nil {
				got = p.String()
			}
		}
		if got != tt.want {
			t.Errorf("%q, to %s: %q, want %q", tt.setting, tt.target, got, tt.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]string{
		"": "", "0": "", "-5": "", "soon": "", "90": " It asks to wait for 1m30s.", " 5 ": " It asks to wait for 5s.",
		"1000000000": " It asks to wait for more than a day.", "99999999999999999999": "",
		"Mon, 30 Nov 2026 12:00:30 GMT": " It asks to wait for 30s.", "Mon, 02 Jan 2006 15:04:05 GMT": "",
		"Mon, 30 Nov 2099 12:00:30 GMT": " It asks to wait for more than a day.",
	} {
		if got := after(header, now); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

func TestEncodedHeaderValues(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"us-west1": "us-west1", "": "", "a b": "a b", " padded ": "=?base64?IHBhZGRlZCA=?=", "Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
		"line1\nline2": "=?base64?bGluZTEKbGluZTI=?=", "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "\ttab": "=?base64?CXRhYg==?=",
	} {
		if got := encode(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
