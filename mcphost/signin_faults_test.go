package mcphost_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// TestSignInPlaces checks where metadata are looked for, and in which order.
func TestSignInPlaces(t *testing.T) {
	t.Parallel()
	bare := func(*authserver.Server) []string { return []string{"Bearer"} }
	tests := map[string]struct {
		o       authserver.Options
		mcp, as string // the paths that were asked for, in order
	}{
		"named by the server": {
			authserver.Options{ResourceAt: []string{"/elsewhere"}, Challenge: func(s *authserver.Server) []string {
				return []string{`Basic realm="x"`, fmt.Sprintf(`Bearer realm="a, b", resource_metadata=%q`, s.MCP.URL+"/elsewhere")}
			}},
			"/elsewhere", "/.well-known/oauth-authorization-server",
		},
		"for the path": {authserver.Options{Challenge: bare}, "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"},
		"for the origin": {
			authserver.Options{Challenge: bare, ResourceAt: []string{"/.well-known/oauth-protected-resource"}, Resource: func(s *authserver.Server, m map[string]any) { m["resource"] = s.MCP.URL }},
			"/.well-known/oauth-protected-resource/mcp /.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server",
		},
		"OpenID": {
			authserver.Options{WellKnown: []string{"/.well-known/openid-configuration"}},
			"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server /.well-known/openid-configuration",
		},
		"path put behind": {
			authserver.Options{Path: "/tenant", WellKnown: []string{"/tenant/.well-known/openid-configuration"}},
			"/.well-known/oauth-protected-resource/mcp",
			"/.well-known/oauth-authorization-server/tenant /.well-known/openid-configuration/tenant /tenant/.well-known/openid-configuration",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, tt.o)
			_, c := signedIn(t, s, newSigner())
			if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK {
				t.Errorf("%+v, %v", r, err)
			}
			if got := gets(s, "mcp", "/mcp"); got != tt.mcp {
				t.Errorf("asked the server for %s", got)
			}
			if got := gets(s, "as", tt.o.Path+"/authorize"); got != tt.as {
				t.Errorf("asked the authorization server for %s", got)
			}
		})
	}
}

// gets are the paths that were fetched, but one.
func gets(s *authserver.Server, server, but string) string {
	var out []string
	for _, r := range s.Requests(server, "") {
		if r.Method == http.MethodGet && r.Path != but {
			out = append(out, r.Path)
		}
	}
	return strings.Join(out, " ")
}

// TestSignInRefused checks what is not signed in to: nobody is asked, no page is
// opened, and the reason is said.
func TestSignInRefused(t *testing.T) {
	t.Parallel()
	endpoint := func(name, address string) authserver.Options {
		return authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) { m[name] = address }}
	}
	resource := func(f func(s *authserver.Server) string) authserver.Options {
		return authserver.Options{Resource: func(s *authserver.Server, m map[string]any) { m["resource"] = f(s) }}
	}
	challenge := func(address string) authserver.Options {
		return authserver.Options{Challenge: func(*authserver.Server) []string {
			return []string{fmt.Sprintf("Bearer resource_metadata=%q", address)}
		}}
	}
	tests := map[string]struct {
		o    authserver.Options
		want string
	}{
		"another's resource":    {resource(func(*authserver.Server) string { return "https://evil.example/mcp" }), "not its address"},
		"a slash more":          {resource(func(s *authserver.Server) string { return s.Endpoint() + "/" }), "not its address"},
		"another path":          {resource(func(s *authserver.Server) string { return s.MCP.URL + "/other" }), "not its address"},
		"no resource":           {authserver.Options{Resource: func(_ *authserver.Server, m map[string]any) { delete(m, "resource") }}, "not its address"},
		"another issuer":        {endpoint("issuer", "https://evil.example"), "says that it is another"},
		"a slash in the issuer": {authserver.Options{Metadata: func(s *authserver.Server, m map[string]any) { m["issuer"] = s.Issuer() + "/" }}, "says that it is another"},
		"no PKCE":               {authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) { delete(m, "code_challenge_methods_supported") }}, "PKCE"},
		"plain PKCE": {authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) {
			m["code_challenge_methods_supported"] = []string{"plain"}
		}}, "PKCE"},
		"a file":              {endpoint("authorization_endpoint", "file://localhost/etc/passwd"), "neither https nor http"},
		"a program":           {endpoint("authorization_endpoint", "vscode://127.0.0.1/x"), "neither https nor http"},
		"a script":            {endpoint("authorization_endpoint", "javascript:alert(1)"), "names no computer"},
		"a flag":              {endpoint("authorization_endpoint", "--help"), "names no computer"},
		"a shell":             {endpoint("authorization_endpoint", "https://u$(id)@127.0.0.1/x"), "name or a password"},
		"no host":             {endpoint("authorization_endpoint", "https:///x"), "names no computer"},
		"a line break":        {endpoint("authorization_endpoint", "https://a.example/\nx"), "characters"},
		"tokens over http":    {endpoint("token_endpoint", "http://auth.example/token"), "neither https nor http"},
		"registering by file": {endpoint("registration_endpoint", "file:///etc/passwd"), "names no computer"},
		"revoking by http":    {endpoint("revocation_endpoint", "http://auth.example/revoke"), "neither https nor http"},
		"no token endpoint":   {endpoint("token_endpoint", ""), "token_endpoint"},
		"a fragment": {authserver.Options{Metadata: func(s *authserver.Server, m map[string]any) {
			m["authorization_endpoint"] = s.Issuer() + "/authorize#x"
		}}, "fragment"},
		"the cloud's secrets":  {challenge("https://169.254.169.254/latest"), "169.254.169.254"},
		"the same in IPv6":     {challenge("https://[::ffff:169.254.169.254]/"), "address of this computer"},
		"a number as the host": {challenge("http://2130706433/"), "a number in a form"},
		"metadata by file":     {challenge("file:///etc/passwd"), "names no computer"},
		"issuer by http": {authserver.Options{Resource: func(_ *authserver.Server, m map[string]any) {
			m["authorization_servers"] = []string{"http://auth.example"}
		}}, "neither https nor http"},
		"issuer with a query":     {authserver.Options{Resource: func(s *authserver.Server, m map[string]any) { m["authorization_servers"] = []string{s.Issuer() + "?x"} }}, "query"},
		"redirected to secrets":   {redirected("/.well-known/oauth-authorization-server", "https://169.254.169.254/x"), "169.254.169.254"},
		"redirected to a file":    {redirected("/.well-known/oauth-authorization-server", "file:///etc/passwd"), "not followed"},
		"redirected for ever":     {redirected("/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server"), "redirected more than"},
		"endless metadata":        {authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) { m["x"] = strings.Repeat("x", 2<<20) }}, "larger than 1 MiB"},
		"authorization down":      {authserver.Options{Take: fails(503)}, "503"},
		"metadata of it are HTML": {authserver.Options{Take: fails(200)}, "could not be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, tt.o)
			p := newSigner()
			se := failedStart(t, p, guardedConfig(s))
			if se.Stage != mcphost.StageSignIn || !strings.Contains(se.Message, tt.want) || se.Hint == "" {
				t.Errorf("%s: %s %s", se.Stage, se.Message, se.Hint)
			}
			if n := len(s.Requests("as", "/authorize")) + len(s.Requests("as", "/register")); n != 0 || p.count() != 0 || len(p.keys("")) != 0 {
				t.Errorf("%d requests, %d visits, kept %q", n, p.count(), p.keys(""))
			}
		})
	}
}

// redirected is an authorization server that sends requests for a path elsewhere.
func redirected(path, to string) authserver.Options {
	return authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return true
	}}
}

// fails answers everything with a page.
func fails(status int) func(*authserver.Server, http.ResponseWriter, *http.Request) bool {
	return func(_ *authserver.Server, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, "<html>")
		return true
	}
}

// TestSignInWithoutMetadata checks the rules of 2025-03-26: the server is its own
// authorization server, with metadata or without; and one that only wants a key
// is not taken for one.
func TestSignInWithoutMetadata(t *testing.T) {
	t.Parallel()
	for name, metadata := range map[string]bool{"metadata": true, "none": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, authserver.Options{
				ResourceAt: []string{}, Challenge: func(*authserver.Server) []string { return nil },
				// The MCP server's origin answers for the authorization server.
				TakeMCP: func(s *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
					known := r.URL.Path == "/.well-known/oauth-authorization-server"
					if r.URL.Path == "/mcp" || known && !metadata {
						return false
					}
					return s.AnswerAs(w, r)
				},
				Back: func(s *authserver.Server, q url.Values) { q.Set("iss", s.MCP.URL) },
				Metadata: func(s *authserver.Server, m map[string]any) {
					for k, v := range m {
						if text, ok := v.(string); ok {
							m[k] = strings.ReplaceAll(text, s.AS.URL, s.MCP.URL)
						}
					}
				},
			})
			p := newSigner()
			_, c := signedIn(t, s, p)
			if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK {
				t.Errorf("%+v, %v", r, err)
			}
			if p.visits[0].Issuer != s.MCP.URL || p.visits[0].Resource != s.Endpoint() {
				t.Errorf("%+v", p.visits[0])
			}
		})
	}
	s := guarded(t, authserver.Options{ResourceAt: []string{}, Challenge: func(*authserver.Server) []string { return nil }})
	p := newSigner()
	se := failedStart(t, p, guardedConfig(s))
	if se.Stage != mcphost.StageSignIn || !strings.Contains(se.Hint, "key") || p.count() != 0 || len(p.asked) != 0 {
		t.Errorf("a server that wants a key: %+v, %d visits", se, p.count())
	}
}

// TestSignInLoops checks that a server that is never content is left alone.
func TestSignInLoops(t *testing.T) {
	t.Parallel()
	deny := func(status int, challenge string) authserver.Options {
		return authserver.Options{TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/mcp" || r.Header.Get("Authorization") == "" {
				return false
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(status)
			return true
		}}
	}
	tests := map[string]struct {
		o    authserver.Options
		most int
	}{
		"401":            {deny(401, "Bearer"), 1},
		"403":            {deny(403, `Bearer error="insufficient_scope", scope="admin"`), 3},
		"403, no scopes": {deny(403, `Bearer error="insufficient_scope"`), 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, tt.o)
			p := newSigner()
			se := failedStart(t, p, guardedConfig(s))
			if se.Stage != mcphost.StageSignIn || p.count() == 0 || p.count() > tt.most {
				t.Errorf("%d visits: %+v", p.count(), se)
			}
		})
	}
}

// TestSignInMore checks step-up authorization: the scopes asked for grow, never
// lose what there was, and the person is told.
func TestSignInMore(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{
		Resource: func(_ *authserver.Server, m map[string]any) { m["scopes_supported"] = []string{"read"} },
		Metadata: func(_ *authserver.Server, m map[string]any) {
			m["scopes_supported"] = []string{"read", "offline_access"}
		},
		Need: func(method, _ string) []string {
			if method == "tools/call" {
				return []string{"read", "write"}
			}
			return []string{"read"}
		},
	})
	p := newSigner()
	_, c := signedIn(t, s, p)
	n := 0
	if r, err := send.Tool(t.Context(), toolCall(t, c, &n)); err != nil || r.Outcome != send.OK || n != 1 {
		t.Errorf("%+v, %v, %d attempts", r, err, n)
	}
	all := s.Requests("as", "/authorize")
	if len(all) != 2 || all[0].Query.Get("scope") != "read offline_access" || all[1].Query.Get("scope") != "read offline_access write" || !p.visits[1].More {
		t.Errorf("%+v", all)
	}
	// What is configured is asked for instead.
	cfg := guardedConfig(s)
	cfg.OAuth.Scopes = []string{"read", "mine"}
	h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner()})
	trial.Connect(t, h, cfg)
	all = s.Requests("as", "/authorize")
	if got := all[len(all)-1].Query.Get("scope"); got != "read mine" {
		t.Errorf("configured: %q", got)
	}
}

// TestSignInChallenges checks that no header that can be sent breaks anything.
func TestSignInChallenges(t *testing.T) {
	t.Parallel()
	for name, challenges := range map[string][]string{
		"none":         nil,
		"empty":        {""},
		"unfinished":   {`Bearer realm="x, resource_metadata="`},
		"no scheme":    {`="x", ,, ==`},
		"several":      {`Negotiate, Basic realm="Bearer resource_metadata=\"file:///x\""`, `DPoP algs="ES256", Bearer`},
		"100 kB":       {"Bearer x=\"" + strings.Repeat("y", 100<<10) + "\""},
		"thousands":    {strings.Repeat("Bearer a=b, ", 8000)},
		"odd bytes":    {"Bearer realm=\"\xff\xfe\x80\""},
		"repeated":     {`Bearer scope="a", scope="b"`},
		"100 of them":  strings.Split(strings.Repeat("Bearer a=b\n", 100), "\n"),
		"no separator": {`Bearer error="x"resource_metadata`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, authserver.Options{Challenge: func(*authserver.Server) []string { return challenges }})
			signedIn(t, s, newSigner())
		})
	}
}
