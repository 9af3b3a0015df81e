package config

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// MoveSecrets puts what looks like a secret in a server's settings where it belongs: keep
// stores a value under a name like the suggested one and returns the name it has there;
// ${secret:NAME} then stands in its place. Nothing is moved where keep fails. The server
// that was given does not change.
func MoveSecrets(s Server, keep func(suggested, value string) (name string, err error)) (Server, error) {
	var failed error
	move := func(label, value string) string {
		if failed != nil {
			return value
		}
		name, err := keep(s.Name+"."+label, value)
		if err != nil {
			failed = err
			return value
		}
		return "${secret:" + name + "}"
	}
	s.Env, s.Headers, s.Args = maps.Clone(s.Env), maps.Clone(s.Headers), slices.Clone(s.Args)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if v := s.Env[name]; secretlike(name, v) {
			s.Env[name] = move(name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		v := s.Headers[name]
		if !secretlike(name, v) {
			continue
		}
		scheme, token, ok := strings.Cut(v, " ")
		if ok && len(scheme) < 12 && strings.TrimSpace(token) != "" { // RFC 9110, section 11.4: a scheme, then what is secret
			s.Headers[name] = scheme + " " + move(name, strings.TrimSpace(token))
			continue
		}
		s.Headers[name] = move(name, v)
	}
	for i, arg := range s.Args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined || !strings.HasPrefix(arg, "-") {
			name, value, joined = "", arg, false
			if i > 0 && strings.HasPrefix(s.Args[i-1], "-") {
				name = s.Args[i-1]
			}
		}
		if !secretlike(name, value) || strings.HasPrefix(value, "-") {
			continue
		}
		if moved := move(argumentLabel(name), value); joined {
			s.Args[i] = name + "=" + moved
		} else {
			s.Args[i] = moved
		}
	}
	if v := s.OAuth.ClientSecret; v != "" && !strings.HasPrefix(v, "${") { // a secret by what it is for, whatever it looks like
		s.OAuth.ClientSecret = move("clientSecret", v)
	}
	s.URL = moveQuery(s.URL, move)
	return s, failed
}

// argumentLabel names the secret of an argument after its option, if it has one.
func argumentLabel(option string) string { return cmp.Or(strings.TrimLeft(option, "-"), "argument") }

// moveQuery moves secret values of an address's query (RFC 3986, section 3.4), leaving the
// rest as written.
func moveQuery(address string, move func(label, value string) string) string {
	path, query, ok := strings.Cut(address, "?")
	if !ok {
		return address
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	parts := strings.Split(query, "&")
	for i, p := range parts {
		name, value, ok := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(value)
		if !ok || err != nil || plain != value || !secretlike(name, value) {
			continue // one that is escaped would have to be stored escaped; the warning stays
		}
		parts[i] = name + "=" + move(name, value)
	}
	address = path + "?" + strings.Join(parts, "&")
	if hasFragment {
		address += "#" + fragment
	}
	return address
}

// WithoutSecrets is a server as it may be shown: what looks like a secret is left out.
func WithoutSecrets(s Server) Server {
	hidden, _ := MoveSecrets(s, func(label, _ string) (string, error) { return label, nil }) // it never fails
	return hidden
}
