package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// OAuth is what an entry sets about signing in to an HTTP server (OAuth 2.1; MCP
// 2026-07-28, authorization). All of it is optional: what is not set is asked of the
// authorization server.
type OAuth struct {
	ClientID     string   // of this program, registered beforehand
	ClientSecret string   // its secret, where it has one; usually ${secret:NAME}
	MetadataURL  string   // https address of this program's client id metadata document
	Scopes       []string // asked for instead of those that the server names
	CallbackPort int      // on 127.0.0.1, that the browser comes back to; 0: any
}

// Empty says that nothing is set.
func (o OAuth) Empty() bool {
	return o.ClientID == "" && o.ClientSecret == "" && o.MetadataURL == "" && len(o.Scopes) == 0 && o.CallbackPort == 0
}

func (o OAuth) equal(p OAuth) bool {
	return o.ClientID == p.ClientID && o.ClientSecret == p.ClientSecret && o.MetadataURL == p.MetadataURL &&
		slices.Equal(o.Scopes, p.Scopes) && o.CallbackPort == p.CallbackPort
}

// oauthNames are the members of "oauth", and the names other hosts use for them.
var oauthNames = map[string]string{
	"clientId": "clientId", "client_id": "clientId", "CLIENT_ID": "clientId",
	"clientSecret": "clientSecret", "client_secret": "clientSecret", "CLIENT_SECRET": "clientSecret",
	"clientMetadataUrl": "clientMetadataUrl", "client_metadata_url": "clientMetadataUrl",
	"scopes": "scopes", "scope": "scopes",
	"callbackPort": "callbackPort", "callback_port": "callbackPort", "redirectPort": "callbackPort",
}

// oauth reads the object. true is what some hosts write for "sign in where the server
// wants it", which is what happens anyway.
func (e *entry) oauth(field string, v hujson.Value) {
	if lit, ok := v.Value.(hujson.Literal); ok && kind(lit) == "true or false" {
		if !lit.Bool() {
			e.warns(e.line(v), fmt.Sprintf("%q is ignored: a server that wants you to sign in says so, and nothing is opened without your yes", field), "")
		}
		return
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok && field == "auth" { // some hosts name another way of signing in here
		e.unknown(field, e.line(v))
		return
	}
	if !ok {
		e.wrong(field, "an object", v, fmt.Sprintf(`Write "%s": {"clientId": "…"}.`, field))
		return
	}
	into, seen := &e.s.OAuth, map[string]bool{}
	for _, m := range obj.Members {
		raw := memberName(m)
		name := field + "." + shorten(raw)
		if kind(m.Value.Value) == "null" {
			continue
		}
		if known := oauthNames[raw]; known != "" && seen[known] {
			e.breaks(e.line(m.Name), fmt.Sprintf("%q is given a second time", name), "Keep one of them.")
			continue
		}
		seen[oauthNames[raw]] = true
		switch oauthNames[raw] {
		case "clientId":
			e.text(name, m.Value, &into.ClientID)
		case "clientSecret":
			e.text(name, m.Value, &into.ClientSecret)
		case "clientMetadataUrl":
			e.text(name, m.Value, &into.MetadataURL)
		case "scopes":
			e.scopes(name, m.Value)
		case "callbackPort":
			e.port(name, m.Value)
		default:
			if raw != "enabled" && raw != "type" && !strings.HasPrefix(raw, "_") {
				e.warns(e.line(m.Name), fmt.Sprintf("the field %q is not known and is ignored", name), "")
			}
		}
	}
}

// scopes reads a list, or a text with spaces between (RFC 6749, section 3.3).
func (e *entry) scopes(field string, v hujson.Value) {
	if lit, ok := v.Value.(hujson.Literal); ok && kind(lit) == "text" {
		e.s.OAuth.Scopes = strings.Fields(lit.String())
		return
	}
	e.texts(field, v, &e.s.OAuth.Scopes)
}

func (e *entry) port(field string, v hujson.Value) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || kind(lit) != "a number" {
		e.wrong(field, "a number", v, "Write the port without quotes, such as 8765.")
		return
	}
	port := lit.Float()
	if port < 1 || port > 65535 || port != float64(int(port)) {
		e.breaks(e.line(v), fmt.Sprintf("%q is %s, which is no port", field, shorten(string(lit))), "Use a whole number from 1024 to 65535, or leave it out.")
		return
	}
	e.s.OAuth.CallbackPort = int(port)
}

// checkOAuth looks at the object as a whole.
func (e *entry) checkOAuth() {
	o, line := e.s.OAuth, e.at("oauth")
	if o.Empty() {
		return
	}
	if e.s.Command != "" {
		e.warns(line, `"oauth" is ignored for a local program`, `Only servers with a "url" are signed in to.`)
	}
	if !visible(o.ClientID) || !visible(o.ClientSecret) {
		e.breaks(line, `"clientId" or "clientSecret" holds characters that neither can have`, "Copy it anew; it is made of plain ASCII characters.")
	}
	if o.ClientSecret != "" && o.ClientID == "" {
		e.breaks(line, `"clientSecret" is given without "clientId"`, `Write the "clientId" that it belongs to.`)
	}
	for _, s := range o.Scopes {
		if !scopeToken(s) {
			e.breaks(line, fmt.Sprintf("%q cannot be a scope", shorten(s)), `Write each scope as one element: "scopes": ["read", "write"].`)
		}
	}
	if o.MetadataURL != "" && !metadataAddress(o.MetadataURL) {
		e.breaks(line, `"clientMetadataUrl" must be an https address with a host and a path`, `Write it as "https://host/path".`)
	}
}

// visible reports whether s is made of VSCHAR (RFC 6749, appendix A.1 and A.2).
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// scopeToken reports whether s is one (RFC 6749, appendix A.4).
func scopeToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// metadataAddress reports whether an address can be a client id (OAuth client id metadata
// document, section 3): https, with a path, without a user, a fragment or dot segments.
func metadataAddress(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !visible(s) || strings.Contains(s, " ") {
		return false
	}
	dots := slices.ContainsFunc(strings.Split(u.Path, "/"), func(p string) bool { return p == "." || p == ".." })
	return u.Scheme == "https" && u.Hostname() != "" && u.User == nil && u.Fragment == "" && u.Path != "" && u.Path != "/" && !dots
}

// oauthValue is the object as it stands in a file.
func oauthValue(o OAuth, indent string) hujson.ValueTrimmed {
	obj := &hujson.Object{}
	put := func(name string, set bool, v hujson.ValueTrimmed) {
		if set {
			appendMember(obj, name, v, indent+"  ")
		}
	}
	put("clientId", o.ClientID != "", hujson.String(o.ClientID))
	put("clientSecret", o.ClientSecret != "", hujson.String(o.ClientSecret))
	put("clientMetadataUrl", o.MetadataURL != "", hujson.String(o.MetadataURL))
	put("scopes", len(o.Scopes) > 0, texts(o.Scopes))
	put("callbackPort", o.CallbackPort != 0, hujson.Int(int64(o.CallbackPort)))
	return obj
}
