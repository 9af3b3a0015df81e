package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func oauthOf(t *testing.T, entry string) (Server, []Problem) {
	t.Helper()
	servers, problems := parse(t, `{"mcpServers": {"x": `+entry+`}}`)
	if len(servers) == 0 {
		return Server{}, problems
	}
	return servers[0], problems
}

func TestOAuthAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	const at = `{"url":"https://h.example/mcp",`
	whole := OAuth{ClientID: "abc", ClientSecret: "${secret:k}", MetadataURL: "https://me.example/client.json", Scopes: []string{"read", "write"}, CallbackPort: 8765}
	for name, c := range map[string]struct {
		entry string
		want  OAuth
	}{
		"ours":              {at + `"oauth":{"clientId":"abc","clientSecret":"${secret:k}","clientMetadataUrl":"https://me.example/client.json","scopes":["read","write"],"callbackPort":8765}}`, whole},
		"scopes as text":    {at + `"oauth":{"clientId":"a","scopes":"read  write"}}`, OAuth{ClientID: "a", Scopes: []string{"read", "write"}}},
		"Cursor":            {at + `"auth":{"CLIENT_ID":"a","CLIENT_SECRET":"${secret:k}","scopes":["r"]}}`, OAuth{ClientID: "a", ClientSecret: "${secret:k}", Scopes: []string{"r"}}},
		"words of the RFC":  {at + `"oauth":{"client_id":"a","scope":"r"}}`, OAuth{ClientID: "a", Scopes: []string{"r"}}},
		"only switched on":  {at + `"oauth":{"enabled":true,"clientId":null}}`, OAuth{}},
		"true":              {at + `"oauth":true}`, OAuth{}},
		"null":              {at + `"oauth":null}`, OAuth{}},
		"an empty object":   {at + `"oauth":{}}`, OAuth{}},
		"a port at the end": {at + `"oauth":{"callbackPort":65535}}`, OAuth{CallbackPort: 65535}},
	} {
		s, problems := oauthOf(t, c.entry)
		if s.Name == "" || len(problems) > 0 || !s.OAuth.equal(c.want) {
			t.Errorf("%s: %+v, want %+v; problems %v", name, s.OAuth, c.want, problems)
		}
	}
}

func TestOAuthThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const at = `{"url":"https://h.example/mcp","oauth":`
	for name, c := range map[string]struct{ entry, message string }{
		"text":                 {at + `"yes"}`, `"oauth" must be an object, but is text`},
		"list":                 {at + `[]}`, `"oauth" must be an object`},
		"id number":            {at + `{"clientId":7742981}}`, `"oauth.clientId" must be text`},
		"secret number":        {at + `{"clientId":"a","clientSecret":7742981}}`, `"oauth.clientSecret" must be text`},
		"secret without id":    {at + `{"clientSecret":"${secret:k}"}}`, `without "clientId"`},
		"id twice":             {at + `{"clientId":"a","client_id":"b"}}`, "second time"},
		"id with a line break": {at + `{"clientId":"a\nb"}}`, "characters that neither can have"},
		"id not ASCII":         {at + `{"clientId":"а"}}`, "characters that neither can have"},
		"scope with a space":   {at + `{"scopes":["a b"]}}`, `"a b" cannot be a scope`},
		"scope with a quote":   {at + `{"scopes":["a\""]}}`, "cannot be a scope"},
		"scope empty":          {at + `{"scopes":[""]}}`, "cannot be a scope"},
		"scopes a number":      {at + `{"scopes":1}}`, "must be a list of texts"},
		"port 0":               {at + `{"callbackPort":0}}`, "no port"},
		"port too large":       {at + `{"callbackPort":65536}}`, "no port"},
		"port huge":            {at + `{"callbackPort":1e300}}`, "no port"},
		"port broken":          {at + `{"callbackPort":80.5}}`, "no port"},
		"port text":            {at + `{"callbackPort":"80"}}`, "must be a number"},
		"metadata http":        {at + `{"clientMetadataUrl":"http://h.example/c.json"}}`, "https address"},
		"metadata no path":     {at + `{"clientMetadataUrl":"https://h.example/"}}`, "https address"},
		"metadata with a user": {at + `{"clientMetadataUrl":"https://u@h.example/c"}}`, "https address"},
		"metadata dots":        {at + `{"clientMetadataUrl":"https://h.example/a/../c"}}`, "https address"},
		"metadata fragment":    {at + `{"clientMetadataUrl":"https://h.example/c#x"}}`, "https address"},
		"metadata script":      {at + `{"clientMetadataUrl":"javascript:alert(1)"}}`, "https address"},
	} {
		s, problems := oauthOf(t, c.entry)
		if s.Name != "" || !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, c.message) }) {
			t.Errorf("%s: usable %q, problems %q, want %q", name, s.Name, problems, c.message)
		}
		if all := strings.Join(lines(problems), "\n"); strings.Contains(all, "7742981") {
			t.Errorf("%s: a problem repeats the value: %s", name, all)
		}
	}
}

func lines(problems []Problem) (out []string) {
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

func TestOAuthWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry, message string
		secret         bool
	}{
		"a secret in the open": {`{"url":"https://h/mcp","oauth":{"clientId":"a","clientSecret":"pw"}}`, "oauth.clientSecret holds what looks like a secret", true},
		"a local program":      {`{"command":"x","oauth":{"clientId":"a"}}`, "ignored for a local program", false},
		"switched off":         {`{"url":"https://h/mcp","oauth":false}`, "is ignored", false},
		"a misspelt field":     {`{"url":"https://h/mcp","oauth":{"clientID":"a"}}`, `"oauth.clientID" is not known`, false},
		"another auth":         {`{"url":"https://h/mcp","auth":"bearer"}`, `"auth" is not known`, false},
		"a question":           {`{"url":"https://h/mcp","oauth":{"clientId":"${input:id}"}}`, "another program asks", false},
	} {
		s, problems := oauthOf(t, c.entry)
		if s.Name == "" || !slices.ContainsFunc(problems, func(p Problem) bool {
			return strings.Contains(p.Message, c.message) && p.Secret == c.secret && !strings.Contains(p.String(), `"pw"`)
		}) {
			t.Errorf("%s: usable %q, problems %q, want %q", name, s.Name, problems, c.message)
		}
	}
}

func TestOAuthIsWrittenMovedAndHashed(t *testing.T) {
	t.Parallel()
	s := Server{Name: "x", Transport: HTTP, URL: "https://h.example/mcp"}
	bare := s.Hash()
	s.OAuth = OAuth{ClientID: "abc", ClientSecret: "correct horse", Scopes: []string{"read"}, CallbackPort: 8765}
	moved, err := MoveSecrets(s, func(label, value string) (string, error) {
		if label != "x.clientSecret" || value != "correct horse" {
			t.Errorf("moved %q under %q", value, label)
		}
		return "k", nil
	})
	if err != nil || moved.OAuth.ClientSecret != "${secret:k}" || s.OAuth.ClientSecret != "correct horse" {
		t.Fatalf("moved: %+v, %v", moved.OAuth, err)
	}
	data, err := PutServer([]byte("{\n  // mine\n  \"mcpServers\": {}\n}\n"), "", moved)
	if err != nil {
		t.Fatal(err)
	}
	back, problems, err := ParseServers("servers.json", data)
	if err != nil || len(problems) > 0 || !reflect.DeepEqual(back, []Server{moved}) || !strings.Contains(string(data), "// mine") {
		t.Errorf("read back %+v, %v, %v from\n%s", back, problems, err, data)
	}
	seen := map[string]bool{bare: true}
	for _, o := range []OAuth{{ClientID: "a"}, {ClientID: "b"}, {ClientID: "a", ClientSecret: "s"}, {MetadataURL: "https://h/c"}, {Scopes: []string{"a"}}, {Scopes: []string{"a", "b"}}, {CallbackPort: 1}} {
		with := s
		with.OAuth = o
		if h := with.Hash(); seen[h] {
			t.Errorf("%+v has the hash of something else", o)
		} else {
			seen[h] = true
		}
	}
	none, err := PutServer(data, "x", Server{Name: "x", Transport: HTTP, URL: "https://h.example/mcp"})
	if err != nil || strings.Contains(string(none), "oauth") {
		t.Errorf("taken out: %v\n%s", err, none)
	}
}
