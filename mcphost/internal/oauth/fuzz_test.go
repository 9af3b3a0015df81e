package oauth

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzChallenge gives anything as WWW-Authenticate. Names are tokens in lower case, values no longer than the header,
// and a challenge behind one that has no quotes, or in a header of its own, is read whole.
func FuzzChallenge(f *testing.F) {
	for _, s := range []string{
		`Bearer`, `Basic realm="x", Bearer error="insufficient_scope", scope="a b"`, `bearer a=b,c="d\"e",,`, `Negotiate abc==, Bearer realm=x`,
		`Bearer resource_metadata="https://h/.well-known/x"`, `Bearer x = y`, `=,"`, "Bearer a=\"\xff\x00", `Bearer a="b" c`, `@{} x`,
	} {
		f.Add(s)
	}
	const good = `Bearer resource_metadata="https://h/m", scope="a \"b"`
	want := map[string]string{"resource_metadata": "https://h/m", "scope": `a "b`}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			return
		}
		for _, c := range bearers(s) {
			for name, value := range c {
				if name == "" || name != strings.ToLower(name) || tokenLength(name) != len(name) || len(value) > len(s) {
					t.Fatalf("%q: %q is %q", s, name, value)
				}
			}
		}
		if !strings.Contains(s, `"`) {
			all := bearers(s + ", " + good)
			if len(all) == 0 || !reflect.DeepEqual(all[len(all)-1], want) {
				t.Fatalf("behind %q: %v", s, all)
			}
		}
		if !strings.Contains(strings.ToLower(s), "resource_metadata") {
			d := Denial{Status: 401, Challenges: []string{s, good, s}}
			if got := d.challenge(); !reflect.DeepEqual(got, want) {
				t.Fatalf("beside %q: %v", s, got)
			}
		}
	})
}

// FuzzMetadata gives anything as the metadata of an authorization server and of a resource. What is taken has
// addresses that may be used and PKCE, and is about this server; good metadata are taken whatever else they hold.
func FuzzMetadata(f *testing.F) {
	for _, s := range []string{
		`{"authorization_endpoint":"https://h/a","token_endpoint":"https://h/t","code_challenge_methods_supported":["S256"]}`, `{"resource":"https://h/mcp"}`,
		`{"authorization_endpoint":"javascript:x","token_endpoint":"http://169.254.169.254/"}`, `{"scopes_supported":[1,null,"a"]}`, `{"resource":"https://u@h/mcp#x"}`,
		`[]`, `null`, `{"issuer":{}}`, `{"resource":"https://h:443/mcp/"}`,
	} {
		f.Add([]byte(s))
	}
	server, err := url.Parse("https://h/mcp")
	if err != nil {
		f.Fatal(err)
	}
	d := discovery{fetch: &fetcher{}, server: server}
	f.Fuzz(func(t *testing.T, in []byte) {
		o, ok := answer{json: true, body: in}.object()
		if !ok {
			return
		}
		if s, wrong := d.read(o, "https://h"); wrong != nil {
			if wrong.Message == "" || wrong.Hint == "" {
				t.Fatalf("%s: %+v", in, wrong)
			}
		} else {
			for _, address := range []string{s.authorize, s.token} {
				if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
					t.Fatalf("%s: the address %q was taken", in, address)
				}
			}
			if !slices.Contains(o.list("code_challenge_methods_supported"), "S256") {
				t.Fatalf("%s: taken without PKCE", in)
			}
		}
		if p, _, err := d.readResource(o); err == nil {
			if u, err := url.Parse(p.resource); err != nil || u.Scheme != "https" || u.Host != "h" && u.Host != "h:443" && !strings.EqualFold(u.Hostname(), "h") || u.User != nil {
				t.Fatalf("%s: taken for the resource %q", in, p.resource)
			}
		}
		for name, value := range map[string]string{
			"authorization_endpoint": `"https://h/a"`, "token_endpoint": `"https://h/t"`, "code_challenge_methods_supported": `["plain","S256"]`,
			"registration_endpoint": `"https://h/r"`, "revocation_endpoint": `null`, "resource": `"https://h/mcp"`,
		} {
			o[name] = json.RawMessage(value)
		}
		if s, wrong := d.read(o, "https://h"); wrong != nil || s.authorize != "https://h/a" || s.token != "https://h/t" || s.register != "https://h/r" {
			t.Fatalf("%s: good metadata were refused: %v", in, wrong)
		}
		if p, _, err := d.readResource(o); err != nil || p.resource != "https://h/mcp" {
			t.Fatalf("%s: a good resource was refused: %v", in, err)
		}
	})
}
