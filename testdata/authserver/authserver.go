// Package authserver is an OAuth 2.1 authorization server and the guard of an MCP
// server that takes its tokens, for tests. It checks what it is sent as a strict
// server does (PKCE, exact redirect URIs, the client's way of showing who it is,
// one use of codes and refresh tokens, the resource), and misbehaves where it is
// told to.
package authserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Options say what the servers are, and where they misbehave. All may be left
// out. Functions are called with one request at a time.
type Options struct {
	// Path is the path of the issuer, "" or like "/tenant".
	Path string
	// MCPPath is the path of the MCP server; "" is /mcp.
	MCPPath string
	// Take may answer a request to the authorization server itself; else false.
	Take func(s *Server, w http.ResponseWriter, r *http.Request) bool
	// TakeMCP is the same for the MCP server, before anything is checked there.
	TakeMCP func(s *Server, w http.ResponseWriter, r *http.Request) bool
	// Metadata and Resource change the two documents before they are sent.
	Metadata, Resource func(s *Server, m map[string]any)
	// WellKnown are the paths at which Metadata stand; nil is that of RFC 8414.
	WellKnown []string
	// ResourceAt are the paths at which Resource stands; nil is that of RFC 9728
	// for the path of the MCP server.
	ResourceAt []string
	// Challenge gives the values of WWW-Authenticate of a 401.
	Challenge func(s *Server) []string
	// Back changes the parameters that the browser brings back.
	Back func(s *Server, q url.Values)
	// Grant changes the answer of the token endpoint.
	Grant func(s *Server, m map[string]any)
	// Need names the scopes that a request needs, by its method and name.
	Need func(method, name string) []string
	// ExpiresIn is how long tokens are said to last, in seconds; 0 is an hour.
	ExpiresIn int
}

// Server is the pair of servers. Close ends both.
type Server struct {
	o   Options
	AS  *httptest.Server
	MCP *httptest.Server

	mu      sync.Mutex
	clients map[string]client
	codes   map[string]grant
	refresh map[string]grant
	access  map[string]grant
	seen    []Seen
}

// Seen is one request that was received.
type Seen struct {
	Server        string // "as" or "mcp"
	Method, Path  string
	Query, Form   url.Values
	Authorization string
	Body          string // of a POST that is no form
	Header        http.Header
}

type client struct {
	secret, method string
	redirects      []string
}

type grant struct {
	client, redirect, resource, challenge string
	scopes                                []string
}

// Start starts both servers; mcp is what the guard protects.
func Start(o Options, mcp http.Handler) *Server {
	s := &Server{o: o, clients: map[string]client{}, codes: map[string]grant{}, refresh: map[string]grant{}, access: map[string]grant{}}
	s.AS = httptest.NewServer(http.HandlerFunc(s.serveAS))
	s.MCP = httptest.NewServer(s.guard(mcp))
	return s
}

// Close ends both servers.
func (s *Server) Close() {
	for _, one := range []*httptest.Server{s.AS, s.MCP} {
		one.CloseClientConnections()
		one.Close()
	}
}

// Issuer is the issuer's identifier; Endpoint the MCP server's address.
func (s *Server) Issuer() string   { return s.AS.URL + s.o.Path }
func (s *Server) Endpoint() string { return s.MCP.URL + s.mcpPath() }

func (s *Server) mcpPath() string {
	if s.o.MCPPath == "" {
		return "/mcp"
	}
	return s.o.MCPPath
}

// AddClient adds a client registered by hand; method is "none",
// "client_secret_basic" or "client_secret_post". Without redirects any is taken.
func (s *Server) AddClient(id, secret, method string, redirects ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = client{secret: secret, method: method, redirects: redirects}
}

// PurgeClients forgets all clients, RevokeAccess all access tokens, and
// RevokeRefresh all refresh tokens.
func (s *Server) PurgeClients()  { s.clear(func() { clear(s.clients) }) }
func (s *Server) RevokeAccess()  { s.clear(func() { clear(s.access) }) }
func (s *Server) RevokeRefresh() { s.clear(func() { clear(s.refresh) }) }

func (s *Server) clear(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Requests returns the requests received at a server ("as", "mcp") for a path, for the
// authorization server below its issuer's; "" is all.
func (s *Server) Requests(server, path string) []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Seen
	for _, r := range s.seen {
		if r.Server == server && (path == "" || r.Path == path || server == "as" && r.Path == s.o.Path+path) {
			out = append(out, r)
		}
	}
	return out
}

// Secrets returns all tokens, codes and client secrets given out and valid.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Collect(maps.Keys(s.access))
	out = slices.AppendSeq(out, maps.Keys(s.refresh))
	for _, c := range s.clients {
		if c.secret != "" {
			out = append(out, c.secret)
		}
	}
	return out
}

func (s *Server) note(server string, r *http.Request) Seen {
	seen := Seen{
		Server: server, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Authorization: r.Header.Get("Authorization"), Header: r.Header.Clone(),
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		seen.Body = string(data)
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			seen.Form, _ = url.ParseQuery(seen.Body) // a broken one has no members
		}
		r.Body = io.NopCloser(strings.NewReader(seen.Body))
	}
	s.mu.Lock()
	s.seen = append(s.seen, seen)
	s.mu.Unlock()
	return seen
}

func (s *Server) serveAS(w http.ResponseWriter, r *http.Request) {
	seen := s.note("as", r)
	known := s.o.WellKnown
	if known == nil {
		known = []string{"/.well-known/oauth-authorization-server" + s.o.Path}
	}
	switch path := r.URL.Path; {
	case s.o.Take != nil && s.o.Take(s, w, r):
	case r.Method == http.MethodGet && slices.Contains(known, path):
		s.metadata(w)
	case r.Method == http.MethodPost && path == s.o.Path+"/register":
		s.register(w, seen)
	case r.Method == http.MethodGet && path == s.o.Path+"/authorize":
		s.authorize(w, r, seen.Query)
	case r.Method == http.MethodPost && path == s.o.Path+"/token":
		s.token(w, seen)
	case r.Method == http.MethodPost && path == s.o.Path+"/revoke":
		s.mu.Lock()
		delete(s.access, seen.Form.Get("token"))
		delete(s.refresh, seen.Form.Get("token"))
		s.mu.Unlock()
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) metadata(w http.ResponseWriter) {
	base := s.Issuer()
	m := map[string]any{
		"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
		"registration_endpoint": base + "/register", "revocation_endpoint": base + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.o.Metadata != nil {
		s.o.Metadata(s, m)
	}
	WriteJSON(w, http.StatusOK, m)
}

// WriteJSON answers with a JSON value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}

// Refuse answers with an error of OAuth.
func Refuse(w http.ResponseWriter, status int, code string) {
	WriteJSON(w, status, map[string]any{"error": code, "error_description": "refused: " + code})
}

func (s *Server) register(w http.ResponseWriter, seen Seen) {
	var q struct {
		Redirects   []string `json:"redirect_uris"`
		Method      string   `json:"token_endpoint_auth_method"`
		Application string   `json:"application_type"`
	}
	if json.Unmarshal([]byte(seen.Body), &q) != nil || len(q.Redirects) == 0 || q.Application != "native" {
		Refuse(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	if q.Method == "" {
		q.Method = "client_secret_basic"
	}
	id, c := "client-"+rand.Text(), client{method: q.Method, redirects: q.Redirects}
	m := map[string]any{"client_id": id, "redirect_uris": q.Redirects, "token_endpoint_auth_method": q.Method}
	if q.Method != "none" {
		c.secret = "secret-" + rand.Text()
		m["client_secret"] = c.secret
	}
	s.mu.Lock()
	s.clients[id] = c
	s.mu.Unlock()
	WriteJSON(w, http.StatusCreated, m)
}

// authorize is the page; the person who sees it agrees at once.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request, q url.Values) {
	s.mu.Lock()
	c, ok := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	redirect := q.Get("redirect_uri")
	if !ok || len(c.redirects) > 0 && !slices.Contains(c.redirects, redirect) {
		http.Error(w, "<p>unknown client or redirect URI", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {s.Issuer()}}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") == "" {
		back.Set("error", "invalid_request")
	} else {
		code := "code-" + rand.Text()
		s.mu.Lock()
		s.codes[code] = grant{
			client: q.Get("client_id"), redirect: redirect, resource: q.Get("resource"),
			challenge: q.Get("code_challenge"), scopes: strings.Fields(q.Get("scope")),
		}
		s.mu.Unlock()
		back.Set("code", code)
	}
	if s.o.Back != nil {
		s.o.Back(s, back)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

// who finds the client of a token request; false where it is none.
func (s *Server) who(seen Seen) (string, bool) {
	id, secret, method := seen.Form.Get("client_id"), seen.Form.Get("client_secret"), "none"
	if secret != "" {
		method = "client_secret_post"
	}
	if rest, ok := strings.CutPrefix(seen.Authorization, "Basic "); ok {
		plain, err := base64.StdEncoding.DecodeString(rest)
		user, password, _ := strings.Cut(string(plain), ":")
		var errs [2]error
		id, errs[0] = url.QueryUnescape(user)
		secret, errs[1] = url.QueryUnescape(password)
		if err != nil || errs[0] != nil || errs[1] != nil {
			return "", false
		}
		method = "client_secret_basic"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.clients[id]
	return id, ok && c.secret == secret && c.method == method
}

func (s *Server) token(w http.ResponseWriter, seen Seen) {
	id, ok := s.who(seen)
	if !ok {
		Refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	var from map[string]grant
	var key string
	switch seen.Form.Get("grant_type") {
	case "authorization_code":
		from, key = s.codes, seen.Form.Get("code")
	case "refresh_token":
		from, key = s.refresh, seen.Form.Get("refresh_token")
	default:
		Refuse(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	s.mu.Lock()
	g, ok := from[key]
	delete(from, key) // each is used once
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(seen.Form.Get("code_verifier")))
	switch {
	case !ok, g.client != id, g.challenge != "" && base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge,
		g.redirect != seen.Form.Get("redirect_uri"):
		Refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	case g.resource != seen.Form.Get("resource"):
		Refuse(w, http.StatusBadRequest, "invalid_target")
		return
	}
	WriteJSON(w, http.StatusOK, s.give(g))
}

// give makes tokens of a grant.
func (s *Server) give(g grant) map[string]any {
	g.challenge, g.redirect = "", ""
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	expires := s.o.ExpiresIn
	if expires == 0 {
		expires = 3600
	}
	s.mu.Lock()
	s.access[access], s.refresh[refresh] = g, g
	s.mu.Unlock()
	m := map[string]any{"access_token": access, "token_type": "bearer", "refresh_token": refresh, "expires_in": expires}
	if len(g.scopes) > 0 {
		m["scope"] = strings.Join(g.scopes, " ")
	}
	if s.o.Grant != nil {
		s.o.Grant(s, m)
	}
	return m
}

// guard protects an MCP server, and publishes where tokens for it come from.
func (s *Server) guard(mcp http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := s.note("mcp", r)
		at := s.o.ResourceAt
		if at == nil {
			at = []string{"/.well-known/oauth-protected-resource" + s.mcpPath()}
		}
		switch {
		case s.o.TakeMCP != nil && s.o.TakeMCP(s, w, r):
		case slices.Contains(at, r.URL.Path):
			m := map[string]any{"resource": s.Endpoint(), "authorization_servers": []string{s.Issuer()}}
			if s.o.Resource != nil {
				s.o.Resource(s, m)
			}
			WriteJSON(w, http.StatusOK, m)
		case r.URL.Path != s.mcpPath():
			http.NotFound(w, r)
		default:
			s.protect(w, r, seen, mcp)
		}
	})
}

func (s *Server) protect(w http.ResponseWriter, r *http.Request, seen Seen, mcp http.Handler) {
	token, _ := strings.CutPrefix(seen.Authorization, "Bearer ")
	s.mu.Lock()
	g, ok := s.access[token]
	s.mu.Unlock()
	if !ok || !strings.HasPrefix(g.resource, s.MCP.URL) {
		challenges := []string{fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource%s"`, s.MCP.URL, s.mcpPath())}
		if s.o.Challenge != nil {
			challenges = s.o.Challenge(s)
		}
		for _, c := range challenges {
			w.Header().Add("WWW-Authenticate", c)
		}
		Refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	_ = json.Unmarshal([]byte(seen.Body), &m) // a GET has none
	if s.o.Need != nil {
		for _, scope := range s.o.Need(m.Method, m.Params.Name) {
			if !slices.Contains(g.scopes, scope) {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, scope))
				Refuse(w, http.StatusForbidden, "insufficient_scope")
				return
			}
		}
	}
	mcp.ServeHTTP(w, r)
}

// AnswerAs has another server answer a request as the authorization server would;
// false for paths that it does not have.
func (s *Server) AnswerAs(w http.ResponseWriter, r *http.Request) bool {
	path := strings.TrimPrefix(r.URL.Path, s.o.Path)
	if !slices.Contains([]string{"/authorize", "/token", "/register", "/revoke"}, path) && !strings.HasPrefix(path, "/.well-known/oauth-authorization-server") {
		return false
	}
	s.serveAS(w, r)
	return true
}
