// Package signinserver is a small MCP server over Streamable HTTP behind the guard of
// package authserver: it answers only those who are signed in, for tests of the program
// around that.
package signinserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"steward/testdata/authserver"
)

// Server is one server. Its fields may be changed before the first request.
type Server struct {
	Unregistered bool     // it takes no dynamic registration
	Scopes       []string // that it asks for at first
	// Step is the scope that a call of its tool "write" needs; "" is none.
	Step string
	URL  string // of the MCP endpoint

	*authserver.Server
}

// Start starts a server that ends with the test.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{Scopes: []string{"read"}}
	s.Server = authserver.Start(authserver.Options{
		Metadata: func(_ *authserver.Server, m map[string]any) {
			if s.Unregistered {
				delete(m, "registration_endpoint")
			}
		},
		Challenge: func(a *authserver.Server) []string {
			return []string{fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="%s"`, a.MCP.URL, strings.Join(s.Scopes, " "))}
		},
		Need: func(method, name string) []string {
			if method == "tools/call" && name == "write" && s.Step != "" {
				return []string{s.Step}
			}
			return nil
		},
	}, http.HandlerFunc(answer))
	s.URL = s.Endpoint()
	t.Cleanup(s.Close)
	return s
}

// ByHand adds a client as if a person had registered it, and takes no other any more.
func (s *Server) ByHand(id, secret string) {
	method := "client_secret_basic"
	if secret == "" {
		method = "none"
	}
	s.Unregistered = true
	s.AddClient(id, secret, method)
}

// Heard counts the requests to the authorization server for a path.
func (s *Server) Heard(path string) int { return len(s.Requests("as", path)) }

// Leaks are the tokens, codes, verifiers and client secrets that stand in a text: all that
// were ever sent to the two servers, and those that were given out.
func (s *Server) Leaks(text string) []string {
	secrets := s.Secrets()
	for _, r := range append(s.Requests("as", ""), s.Requests("mcp", "")...) {
		for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "token"} {
			secrets = append(secrets, r.Form[name]...)
		}
		if _, token, ok := strings.Cut(r.Authorization, " "); ok {
			secrets = append(secrets, token)
		}
	}
	slices.Sort(secrets)
	return slices.DeleteFunc(slices.Compact(secrets), func(v string) bool { return v == "" || !strings.Contains(text, v) })
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

// answer is the MCP server itself. Its tools give the token away, which must then be
// written and shown nowhere.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
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
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") // alone it has the form of nothing secret
		result = `{"content":[{"type":"text","text":"You are signed in with ` + token + `."}]}`
	default:
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		authserver.WriteJSON(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "not found"}})
		return
	}
	authserver.WriteJSON(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": json.RawMessage(result)})
}
