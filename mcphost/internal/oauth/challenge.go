package oauth

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Denial is a server's refusal to answer a request without (other) authorization.
type Denial struct {
	Status     int
	Challenges []string // the values of WWW-Authenticate, as they came
	Token      string   // what the request was sent with; "" without any
}

// Asks reports whether a sign-in may help: the server wants one (401), or more
// than was granted (403 with insufficient_scope; RFC 6750, 3.1).
func (d Denial) Asks() bool { return d.Status == http.StatusUnauthorized || d.more() }

// more reports whether the server wants more than was granted before.
func (d Denial) more() bool {
	return d.Status == http.StatusForbidden && d.challenge()["error"] == "insufficient_scope"
}

// How much of what a server writes into WWW-Authenticate is looked at.
const (
	maxChallenges = 16
	maxChallenge  = 8 << 10
)

// challenge returns the parameters of the Bearer challenge that says most, by
// their names in lower case (RFC 9110, 11.6.1). What cannot be read is left out.
func (d Denial) challenge() map[string]string {
	best, most := map[string]string{}, -1
	for _, header := range d.Challenges[:min(len(d.Challenges), maxChallenges)] {
		for _, params := range bearers(header[:min(len(header), maxChallenge)]) {
			weight := len(params)
			if params["resource_metadata"] != "" {
				weight += maxChallenge
			}
			if weight > most {
				best, most = params, weight
			}
		}
	}
	return best
}

// bearers reads the challenges of one header and returns the parameters of those
// of the scheme Bearer.
func bearers(s string) []map[string]string {
	var out []map[string]string
	var current map[string]string // nil in a challenge of another scheme
	for {
		s = strings.TrimLeft(s, " \t,")
		if s == "" {
			return out
		}
		word := s[:tokenLength(s)]
		if word == "" {
			s = s[1:] // nothing that can be read; go on behind it
			continue
		}
		s = s[len(word):]
		rest := strings.TrimLeft(s, " \t")
		if !strings.HasPrefix(rest, "=") {
			current = nil
			if strings.EqualFold(word, "Bearer") {
				current = map[string]string{}
				out = append(out, current)
			}
			continue
		}
		var value string
		value, s = parameter(strings.TrimLeft(rest[1:], " \t"))
		name := strings.ToLower(word)
		if _, twice := current[name]; current != nil && !twice {
			current[name] = value
		}
	}
}

// parameter reads a token or a quoted string at the beginning of s.
func parameter(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		n := strings.IndexAny(s, " \t,")
		if n < 0 {
			n = len(s)
		}
		return s[:n], s[n:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "" // it never ends: what it would say is not trusted
}

// tokenLength is the length of the token that s begins with (RFC 9110, 5.6.2).
func tokenLength(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !httpguts.IsTokenRune(r) }); i >= 0 {
		return i
	}
	return len(s)
}
