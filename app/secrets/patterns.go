package secrets

import (
	"slices"
	"strings"
)

// prefixes begin keys whose issuers mark them, with the least number of
// characters that must follow.
var prefixes = []struct {
	anchor string
	least  int
	label  string
}{
	{"sk-", 16, "key"}, {"sk_live_", 16, "key"}, {"sk_test_", 16, "key"}, {"rk_live_", 16, "key"},
	{"ghp_", 20, "token"}, {"gho_", 20, "token"}, {"ghu_", 20, "token"}, {"ghs_", 20, "token"}, {"ghr_", 20, "token"}, {"github_pat_", 20, "token"},
	{"glpat-", 16, "token"}, {"npm_", 30, "token"}, {"pypi-", 30, "token"}, {"hf_", 20, "token"}, {"gsk_", 20, "key"}, {"xai-", 20, "key"},
	{"xoxb-", 10, "token"}, {"xoxp-", 10, "token"}, {"xoxa-", 10, "token"}, {"xoxr-", 10, "token"}, {"xoxs-", 10, "token"}, {"xapp-", 10, "token"},
	{"AKIA", 16, "key"}, {"ASIA", 16, "key"}, {"AIza", 30, "key"}, {"ya29.", 20, "token"},
}

// secretFields are the names under which JSON, forms and queries carry secrets.
var secretFields = []string{
	"password", "passwd", "passphrase", "secret", "client_secret", "clientsecret", "token", "access_token", "accesstoken", "refresh_token", "refreshtoken",
	"id_token", "auth_token", "authtoken", "session_token", "api_key", "apikey", "api-key", "x-api-key", "private_key", "privatekey",
	"authorization", "code_verifier", "client_assertion", "bearer_token",
}

// queryFields are secret in an address only, where they carry sign-in codes.
var queryFields = []string{"code", "state", "key", "sig", "signature", "auth"}

// patterns finds secrets nobody told us about, by their form. It is never changed.
var patterns = newMatcher(patternRules())

func patternRules() []rule {
	var rules []rule
	for _, p := range prefixes {
		rules = append(rules, rule{anchor: p.anchor, label: p.label, find: issued(p.anchor, p.least)})
	}
	rules = append(rules,
		rule{anchor: "eyJ", label: "jwt", find: jwt},
		rule{anchor: "-----BEGIN ", label: "private-key", find: pem},
		rule{anchor: "://", label: "userinfo", find: userinfo},
		rule{anchor: "bearer ", label: "bearer", fold: true, find: credentials},
		rule{anchor: "basic ", label: "basic", fold: true, find: basic},
	)
	for _, name := range secretFields {
		rules = append(rules, rule{anchor: name, label: name, fold: true, find: field(name)})
	}
	for _, name := range append(queryFields, secretFields...) {
		for _, sep := range []string{"?", "&"} {
			rules = append(rules, rule{anchor: sep + name + "=", label: name, fold: true, find: queryValue(len(name) + 2)})
		}
	}
	return rules
}

// issued finds a key that begins with its issuer's mark.
func issued(prefix string, least int) func(string, int) (int, int) {
	return func(s string, at int) (int, int) {
		if at > 0 && (isWord(s[at-1]) || s[at-1] == '-') {
			return 0, 0
		}
		end := span(s, at+len(prefix), isKeyByte)
		if end-at-len(prefix) < least {
			return 0, 0
		}
		return at, end
	}
}

// jwt finds header.payload.signature (RFC 7519); the signature may be empty.
func jwt(s string, at int) (int, int) {
	if at > 0 && (isWord(s[at-1]) || s[at-1] == '-') {
		return 0, 0
	}
	first := span(s, at, isKeyByte)
	if first-at < 12 || first >= len(s) || s[first] != '.' {
		return 0, 0
	}
	second := span(s, first+1, isKeyByte)
	if second-first < 8 {
		return 0, 0
	}
	if second < len(s) && s[second] == '.' {
		second = span(s, second+1, isKeyByte)
	}
	return at, second
}

// pem finds a private key block (RFC 7468), or its rest where the end is missing.
func pem(s string, at int) (int, int) {
	const most = 64 << 10
	window := s[at:min(len(s), at+most)]
	head := strings.Index(window[min(len(window), 11):], "-----")
	if head < 0 || head > 40 || !strings.Contains(window[:11+head], "PRIVATE KEY") {
		return 0, 0
	}
	if tail := strings.Index(window[11+head:], "-----END "); tail >= 0 {
		rest := 11 + head + tail + 9
		if stop := strings.Index(window[rest:], "-----"); stop >= 0 && stop <= 40 {
			return at, at + rest + stop + 5
		}
	}
	end := span(s[:at+len(window)], at+11+head+5, func(c byte) bool {
		return isWord(c) && c < 0x80 || strings.IndexByte("+/=\\\r\n -:,", c) >= 0
	})
	return at, end
}

// userinfo finds user:password before the host of an address (RFC 3986, 3.2.1).
func userinfo(s string, at int) (int, int) {
	if at == 0 || !isWord(s[at-1]) {
		return 0, 0
	}
	start := at + 3
	end := span(s, start, func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte(`/?#"'<>\`, c) < 0 })
	if host := strings.LastIndexByte(s[start:end], '@'); host > 0 {
		return start, start + host
	}
	return 0, 0
}

// credentials finds what follows Bearer (RFC 6750).
func credentials(s string, at int) (int, int) {
	if at > 0 && isWord(s[at-1]) {
		return 0, 0
	}
	start := span(s, at+len("bearer "), func(c byte) bool { return c == ' ' })
	end := span(s, start, func(c byte) bool { return isKeyByte(c) || strings.IndexByte(".~+/=", c) >= 0 })
	if challenged(s[start:end]) {
		return 0, 0
	}
	if end-start < 8 || !strings.ContainsAny(s[start:end], "0123456789-_.~+/=") && end-start < 20 {
		return 0, 0 // the word in a sentence
	}
	return start, end
}

// challengeNames are the parameters with which a server says what it wants after Bearer,
// in WWW-Authenticate (RFC 6750, 3; RFC 9728, 5.1; RFC 9470, 3).
var challengeNames = []string{
	"realm", "scope", "error", "error_description", "error_uri", "resource_metadata", "acr_values", "max_age", "authorization_uri", "resource_id", "client_id",
}

// challenged reports whether a text begins as such a parameter does. No token can: "="
// stands at the end of one alone (RFC 6750, 2.1).
func challenged(s string) bool {
	name, value, ok := strings.Cut(s, "=")
	return ok && !strings.HasPrefix(value, "=") && slices.ContainsFunc(challengeNames, func(n string) bool { return strings.EqualFold(n, name) })
}

// basic finds what follows Basic (RFC 7617), which is base64 of user:password.
func basic(s string, at int) (int, int) {
	if at > 0 && isWord(s[at-1]) {
		return 0, 0
	}
	start := at + len("basic ")
	end := span(s, start, func(c byte) bool { return isWord(c) && c < 0x80 && c != '_' || c == '+' || c == '/' })
	for end < len(s) && s[end] == '=' {
		end++
	}
	text := s[start:end]
	if (end-start)%4 != 0 || end-start < 8 || !strings.ContainsAny(text, "0123456789=+/") && strings.ToLower(text) == text {
		return 0, 0
	}
	return start, end
}

// field finds the value that stands under a secret's name: in JSON, also in
// JSON that is itself text (\"token\":\"…\"), in a header line, and after =.
func field(name string) func(string, int) (int, int) {
	return func(s string, at int) (int, int) {
		if at > 0 && (isWord(s[at-1]) && s[at-1] != '_' || s[at-1] == '?' || s[at-1] == '&') {
			return 0, 0 // part of another word, or of a query
		}
		i := at + len(name)
		keyQuote := quote(s, i)
		i += len(keyQuote)
		i = span(s, i, isSpace)
		if i >= len(s) || s[i] != ':' && s[i] != '=' {
			return 0, 0
		}
		assigned := s[i] == '='
		i = span(s, i+1, isSpace)
		if placeholder(s, i) {
			return 0, 0
		}
		if open := quote(s, i); open != "" && (keyQuote != "" || assigned) {
			start := i + len(open)
			return start, closing(s, start, open)
		}
		if name == "authorization" && !assigned {
			return headerValue(s, i)
		}
		if !assigned || keyQuote != "" {
			return 0, 0
		}
		end := span(s, i, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`,;&<>\\)}]", c) < 0 })
		if end-i < minFree {
			return 0, 0
		}
		return i, end
	}
}

// headerValue is the rest of an Authorization line, without the scheme.
func headerValue(s string, i int) (int, int) {
	const most = 8 << 10 // servers accept no longer header lines
	if scheme := strings.IndexByte(s[i:min(len(s), i+12)], ' '); scheme > 0 {
		i += scheme + 1
	}
	if placeholder(s, i) {
		return 0, 0
	}
	end := span(s[:min(len(s), i+most)], i, func(c byte) bool { return c >= ' ' && strings.IndexByte(`"'\`, c) < 0 })
	if end-i < 8 {
		return 0, 0
	}
	return i, end
}

// quote gives the quotation mark at i with the backslashes before it, or "".
func quote(s string, i int) string {
	end := span(s, i, func(c byte) bool { return c == '\\' })
	if end < len(s) && s[end] == '"' {
		return s[i : end+1]
	}
	if end == i && end < len(s) && s[end] == '\'' {
		return "'"
	}
	return ""
}

// closing finds the mark that ends a text begun with open. Deeper escaped
// quotes belong to the text. An end that is missing is the end of s.
func closing(s string, start int, open string) int {
	for i := start; i < len(s); i++ {
		if s[i] == '\\' && open != "'" {
			n := span(s, i, func(c byte) bool { return c == '\\' }) - i
			if n == len(open)-1 && i+n < len(s) && s[i+n] == '"' {
				return i
			}
			i += n // and the character the last of them escapes
			continue
		}
		if s[i] == open[len(open)-1] && len(open) == 1 {
			return i
		}
	}
	return len(s)
}

// queryValue finds the value of a query parameter whose name and marks take
// size bytes.
func queryValue(size int) func(string, int) (int, int) {
	return func(s string, at int) (int, int) {
		start := at + size
		if placeholder(s, start) {
			return 0, 0
		}
		return start, span(s, start, func(c byte) bool { return c > ' ' && strings.IndexByte(`&#"'<>\`, c) < 0 })
	}
}

// span returns the end of the bytes from i on that ok accepts.
func span(s string, i int, ok func(byte) bool) int {
	for i < len(s) && ok(s[i]) {
		i++
	}
	return min(i, len(s))
}

func isSpace(c byte) bool   { return c == ' ' || c == '\t' }
func isKeyByte(c byte) bool { return isWord(c) && c < 0x80 || c == '-' }

// LooksSecret reports whether a value has the form of a key, token or private
// key, so that it should not stand in a file that is shared.
func LooksSecret(value string) bool {
	return patterns.replace(value, 0) != value
}

// SecretName reports whether a variable, header or option of that name usually
// holds a secret: API_TOKEN, x-api-key, --password.
func SecretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(name))
	for _, end := range []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "secretkey", "authkey", "authorization", "credential", "credentials", "cookie"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
