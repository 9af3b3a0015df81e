// Package signinserver is an MCP server over Streamable HTTP that answers only those who
// are signed in, together with the authorization server that signs them in: OAuth 2.1 with
// dynamic registration, PKCE and refresh, on loopback. It checks what a client must send
// and notes what it got, for tests.
package signinserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Server is one server. Its fields may be changed before the first request.
type Server struct {
	// Unregistered takes no dynamic registration: only Client may sign in.
	Unregistered bool
	Client       string // a client that was registered by hand
	Secret       string // its secret
	Scopes       []string
	// Step asks for this scope where the tool "write" is called without it.
	Step string

	URL string // of the MCP endpoint

	base string

	mu      sync.Mutex
	clients map[string][]string // redirect addresses by client
	codes   map[string]url.Values
	granted map[string]string // scopes by access token
	refresh map[string]string // scopes by refresh token
	count   int
	heard   []string // "METHOD path" of every request
	revoked []string
	faults  []string
}

// Start starts a server that ends with the test, which fails where a client did something
// that it must not.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{Scopes: []string{"read"}, clients: map[string][]string{}, codes: map[string]url.Values{}, granted: map[string]string{}, refresh: map[string]string{}}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		for _, f := range s.Faults() {
			t.Errorf("the server that wants a sign-in: %s", f)
		}
	})
	s.base, s.URL = h.URL, h.URL+"/mcp"
	return s
}

// Issuer is the authorization server.
func (s *Server) Issuer() string { return s.base }

// Faults are sentences about what clients did wrong.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// Heard counts the requests for a path.
func (s *Server) Heard(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, h := range s.heard {
		if h == path {
			n++
		}
	}
	return n
}

// Revoked are the tokens that were revoked.
func (s *Server) Revoked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.revoked)
}

// Expire makes every access token worthless; refresh tokens stay good where keep is set.
func (s *Server) Expire(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.granted)
	if !keep {
		clear(s.refresh)
	}
}

// Visit does what a person does in the browser: it opens the page, agrees, and follows the
// way back. It returns what the browser is shown in the end.
func Visit(page string) (string, error) {
	resp, err := http.Get(page)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}

func (s *Server) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// ServeHTTP is net/http's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, r.URL.Path)
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		answer(w, http.StatusOK, map[string]any{"resource": s.URL, "authorization_servers": []string{s.base}, "scopes_supported": s.Scopes})
	case "/.well-known/oauth-authorization-server":
		answer(w, http.StatusOK, s.metadata())
	case "/register":
		s.register(w, r)
	case "/authorize":
		s.authorize(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		s.revoke(w, r)
	case "/mcp":
		s.mcp(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *Server) metadata() map[string]any {
	m := map[string]any{
		"issuer": s.base, "authorization_endpoint": s.base + "/authorize", "token_endpoint": s.base + "/token", "revocation_endpoint": s.base + "/revoke",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_post", "client_secret_basic"},
		"scopes_supported": s.Scopes,
	}
	if !s.Unregistered {
		m["registration_endpoint"] = s.base + "/register"
	}
	return m
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Redirects) == 0 || s.Unregistered {
		s.fault("a registration that is none: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.count++
	id := fmt.Sprintf("client-%d", s.count)
	s.clients[id] = in.Redirects
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": in.Redirects, "token_endpoint_auth_method": "none"})
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	client, back := q.Get("client_id"), q.Get("redirect_uri")
	known := client == s.Client && client != "" || slices.Contains(s.clients[client], back)
	u, err := url.Parse(back)
	switch {
	case !known:
		s.fault("the client %q with the redirect %q is not registered", client, back)
	case err != nil || u.Hostname() != "127.0.0.1":
		s.fault("the redirect %q is not on this computer", back)
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("state") == "":
		s.fault("the page was asked for without PKCE or state: %v", q)
	case q.Get("resource") != s.URL:
		s.fault("the page was asked for without the resource: %v", q)
	default:
		s.count++
		code := fmt.Sprintf("SENTINEL-code-%d", s.count)
		s.codes[code] = q
		out := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {s.base}}
		http.Redirect(w, r, back+"?"+out.Encode(), http.StatusFound)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fault("the form for a token cannot be read: %v", err)
	}
	if r.Form.Get("resource") != s.URL {
		s.fault("a token was asked for without the resource: %s", r.Form.Get("grant_type"))
	}
	refuse := func(why string) { answer(w, http.StatusBadRequest, map[string]any{"error": why}) }
	scopes := ""
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		q, ok := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || r.Form.Get("redirect_uri") != q.Get("redirect_uri") {
			s.fault("a code was not to be redeemed")
			refuse("invalid_grant")
			return
		}
		if s.Secret != "" && q.Get("client_id") == s.Client && !s.secretGiven(r) {
			refuse("invalid_client")
			return
		}
		scopes = q.Get("scope")
	case "refresh_token":
		var ok bool
		if scopes, ok = s.refresh[r.Form.Get("refresh_token")]; !ok {
			refuse("invalid_grant")
			return
		}
		delete(s.refresh, r.Form.Get("refresh_token"))
	default:
		refuse("unsupported_grant_type")
		return
	}
	s.count++
	access, refresh := fmt.Sprintf("SENTINEL-access-%d", s.count), fmt.Sprintf("SENTINEL-refresh-%d", s.count)
	s.granted[access], s.refresh[refresh] = scopes, scopes
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": 3600, "scope": scopes})
}

func (s *Server) secretGiven(r *http.Request) bool {
	_, basic, _ := r.BasicAuth()
	return r.Form.Get("client_secret") == s.Secret || basic == url.QueryEscape(s.Secret)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fault("the form for revoking cannot be read: %v", err)
	}
	token := r.Form.Get("token")
	s.revoked = append(s.revoked, token)
	delete(s.granted, token)
	delete(s.refresh, token)
	w.WriteHeader(http.StatusOK)
}

func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	scopes, ok := s.granted[token]
	if !ok {
		s.challenge(w, http.StatusUnauthorized, "", strings.Join(s.Scopes, " "))
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name            string
			ProtocolVersion string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "tools/call" && m.Params.Name == "write" && s.Step != "" && !slices.Contains(strings.Fields(scopes), s.Step) {
		s.challenge(w, http.StatusForbidden, "insufficient_scope", s.Step)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"team","version":"1"}}`
	case "ping":
		result = `{}`
	case "tools/list":
		result = `{"tools":[{"name":"who","description":"Says who is signed in.","inputSchema":{"type":"object"}},{"name":"write","description":"Writes.","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"You are signed in for ` + scopes + `; your token is ` + token + `."}]}`
	default:
		answer(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "not found"}})
		return
	}
	answer(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": json.RawMessage(result)})
}

// challenge says how to sign in (RFC 6750, section 3; RFC 9728, section 5.1).
func (s *Server) challenge(w http.ResponseWriter, status int, why, scope string) {
	words := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="%s"`, s.base, scope)
	if why != "" {
		words += fmt.Sprintf(`, error="%s"`, why)
	}
	w.Header().Set("WWW-Authenticate", words)
	w.WriteHeader(status)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who does not read the answer is gone
}
