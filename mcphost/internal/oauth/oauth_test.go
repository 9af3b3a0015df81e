package oauth

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestReach checks which addresses a server elsewhere may have this program speak
// to, in all the ways in which they can be written.
func TestReach(t *testing.T) {
	t.Parallel()
	internet, network, here := reach{}, reach{private: true}, reach{loopback: true, private: true, here: true}
	tests := []struct {
		ip                      string
		internet, network, here bool
	}{
		{"93.184.216.34", true, true, true},
		{"2606:2800:220:1::1", true, true, true},
		{"127.0.0.1", false, false, true},
		{"127.9.9.9", false, false, true},
		{"::1", false, false, true},
		{"0.0.0.0", false, false, true},
		{"::ffff:127.0.0.1", false, false, true},
		{"10.1.2.3", false, true, true},
		{"172.31.0.1", false, true, true},
		{"192.168.0.1", false, true, true},
		{"100.64.0.1", false, true, true},
		{"fd00::1", false, true, true},
		{"::ffff:10.0.0.1", false, true, true},
		{"64:ff9b::a00:1", false, true, true},        // 10.0.0.1
		{"2002:a9fe:a9fe::1", false, false, false},   // 169.254.169.254
		{"64:ff9b:1:a00:0:100::", false, true, true}, // 10.0.0.1, for some (RFC 6052, 2.2)
		{"64:ff9b:1::808:808", false, true, true},
		{"::ffff:0:10.0.0.1", false, true, true}, // RFC 2765
		{"fec0::1", false, true, true},
		{"::127.0.0.1", false, false, false},
		{"::10.0.0.1", false, false, false},
		{"2001:0:a00:1::1", false, false, false}, // Teredo
		{"169.254.169.254", false, false, false},
		{"fe80::1", false, false, false},
		{"fe80::1%eth0", false, false, false},
		{"224.0.0.1", false, false, false},
		{"255.255.255.255", false, false, false},
		{"ff02::1", false, false, false},
	}
	for _, tt := range tests {
		ip := netip.MustParseAddr(tt.ip)
		if a, b, c := internet.permits(ip), network.permits(ip), here.permits(ip); a != tt.internet || b != tt.network || c != tt.here {
			t.Errorf("%s: from the internet %v, the network %v, here %v", tt.ip, a, b, c)
		}
		if err := internet.control("tcp", netip.AddrPortFrom(ip, 443).String(), nil); (err == nil) != tt.internet {
			t.Errorf("%s, dialled: %v", tt.ip, err)
		}
	}
	for server, want := range map[string]reach{
		"http://127.0.0.1:1/mcp": here, "http://localhost/mcp": here, "https://10.0.0.1/mcp": network,
		"https://93.184.216.34/mcp": internet, "https://169.254.1.1/mcp": {link: true}, "https://name.invalid/mcp": internet,
		"http://LOCALHOST./mcp": here,
	} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachOf(t.Context(), u); got != want {
			t.Errorf("%s: %+v", server, got)
		}
	}
}

// TestAddresses checks which addresses a server on the internet may name.
func TestAddresses(t *testing.T) {
	t.Parallel()
	var internet reach
	for address, good := range map[string]bool{
		"https://as.example/authorize?a=b": true, "HTTPS://as.example": true, "https://[2606:2800:220:1::1]/": true,
		"http://as.example/": false, "http://localhost:1/": false, "https://localhost/": false, "https://127.0.0.1/": false, "https://10.0.0.1/": false,
		"https://[::ffff:10.0.0.1]/": false, "https://0.0.0.0/": false, "": false, "as.example": false, "//as.example/": false, "https:as.example": false,
		"https://:443/": false, "https://user@as.example/": false, "https://as.example/a b": false, "https://as.example\\@evil.example/": false,
		"https://2130706433/": false, "https://127.1/": false, "https://0x7f000001/": false, "https://0177.0.0.1/": false, "https://10.1.": false,
		"https://LocalHost./": false, "https://as.localhost/": false, "https://127.0.0.1./": false, "https://./": false, "https://as.example./": true, "https://3as.example/": true,
		"https://１２７.0.0.1/": false, "https://127。0。0。1/": false, "https://ⓛocalhost/": false, "https://２１３０７０６４３３/": false, "https://bücher.example/": true,
		"ftp://as.example/": false, "data:text/html,x": false, "vbscript:x": false, "smb://localhost/share": false, "a:$(x)": false,
		"https://as.example/" + strings.Repeat("x", maxAddress): false, "https://as.example/\x00": false,
	} {
		if _, err := internet.check(address); (err == nil) != good {
			t.Errorf("%q: %v", short(address), err)
		}
	}
	for _, address := range []string{"http://localhost:1/", "http://localhost.:1/", "http://a.localhost/", "http://[::1]/"} {
		if _, err := (reach{loopback: true, here: true}).check(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestReachOfNames checks that a server may name this computer only where nobody on
// the internet says where the server's own name leads.
func TestReachOfNames(t *testing.T) {
	t.Parallel()
	lookup := func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}, nil
	}
	for server, want := range map[string]bool{
		"https://evil.example/mcp": false, "https://evil.example./mcp": false, "https://localhost.evil.example/mcp": false,
		"http://desk/mcp": true, "http://a.localhost/mcp": true, "https://dev.test/mcp": true,
	} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		r := reachBy(t.Context(), u, lookup)
		for _, address := range []string{"http://127.0.0.1:631/", "http://localhost/", "https://127.0.0.1/", "https://[::1]/"} {
			if _, err := r.check(address); (err == nil) != want {
				t.Errorf("%s names %s: %v", server, address, err)
			}
		}
	}
}

// TestChallenges checks what is read out of WWW-Authenticate.
func TestChallenges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		headers               []string
		scope, metadata, code string
	}{
		{[]string{`Bearer`}, "", "", ""},
		{[]string{`bearer scope="a b",error=insufficient_scope`}, "a b", "", "insufficient_scope"},
		{[]string{`Bearer Scope = "a" , resource_metadata = "https://x/y"`}, "a", "https://x/y", ""},
		{[]string{`Basic realm="a, Bearer scope=\"evil\"", Bearer scope="b"`}, "b", "", ""},
		{[]string{`Bearer scope="a"`, `Bearer resource_metadata="https://x"`}, "", "https://x", ""},
		{[]string{`Bearer realm="\"q\"", scope="a", scope="evil"`}, "a", "", ""},
		{[]string{`Negotiate abc==, Bearer scope="a"`}, "a", "", ""},
		{[]string{`DPoP scope="evil"`, `Basic`}, "", "", ""},
		{[]string{`Bearer scope="never ends`}, "", "", ""},
		{[]string{strings.Repeat("x", 20<<10) + `, Bearer scope="too far"`}, "", "", ""},
	}
	for _, tt := range tests {
		got := Denial{Status: 401, Challenges: tt.headers}.challenge()
		if got["scope"] != tt.scope || got["resource_metadata"] != tt.metadata || got["error"] != tt.code {
			t.Errorf("%q: %q", tt.headers, got)
		}
	}
	for status, want := range map[int]bool{401: true, 403: true, 400: false, 200: false} {
		if got := (Denial{Status: status, Challenges: []string{`Bearer error="insufficient_scope"`}}).Asks(); got != want {
			t.Errorf("%d asks: %v", status, got)
		}
	}
	if (Denial{Status: 403, Challenges: []string{"Bearer"}}).Asks() {
		t.Error("a plain 403 is taken for the wish for more rights")
	}
}

// TestRedact checks that secrets leave texts, the longest first, and that short
// words stay.
func TestRedact(t *testing.T) {
	t.Parallel()
	a := New(Options{})
	if got := a.Redact("nothing to hide"); got != "nothing to hide" {
		t.Error(got)
	}
	a.hide("secret-one", "secret-one-longer", "", "short")
	if got := a.Redact("x secret-one y secret-one-longer z short"); got != "x "+instead+" y "+instead+" z short" {
		t.Error(got)
	}
	for range 3 * maxSecrets {
		a.hide(strings.Repeat("y", len(a.secrets.values)+leastSecret))
	}
	if len(a.secrets.values) > maxSecrets {
		t.Errorf("%d secrets are kept", len(a.secrets.values))
	}
}

// TestClosed checks that a closed account asks for nothing.
func TestClosed(t *testing.T) {
	t.Parallel()
	a := New(Options{Changed: func() {}})
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Admit(context.Background(), Denial{Status: 401}, &Tries{}); err == nil {
		t.Error("it began a sign-in")
	}
	a = New(Options{Changed: func() { t.Error("it began to renew tokens") }, Now: time.Now})
	a.token = tokens{Access: "access", Refresh: "refresh", Expires: time.Now().Add(-time.Hour)}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if token, err := a.Token(context.Background()); token != "access" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}
