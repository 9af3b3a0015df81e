package app

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"steward/app/config"
	"steward/app/secrets"
)

// This file finds what is secret in a server's settings, so that it is redacted wherever
// it turns up afterwards: in what the server says, in the record, on a screen.

// masked returns what shows a server's settings without what is secret in them. The
// server need not have been started.
func masked(c config.Server) func(string) string {
	var r secrets.Redactor
	learn := func(label, value string) {
		if !strings.Contains(value, "${secret:") { // names a secret, and is none
			r.Learn(label, value)
		}
	}
	learnURL(learn, c.Name, c.URL)
	learnArgs(learn, c.Name, c.Args)
	return r.Redact
}

// learnURL marks user information and query values that look like secrets.
func learnURL(learn func(label, value string), server, address string) {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return // the host will say what is wrong with it
	}
	if p, ok := u.User.Password(); ok {
		learn(server+" url", p)
	} else if name := u.User.Username(); isSecret("token", name) {
		learn(server+" url", name)
	}
	for k, vs := range u.Query() {
		for _, v := range vs {
			if isSecret(k, v) {
				learn(server+" url "+k, v)
			}
		}
	}
}

// learnArgs marks the values of options such as --api-key=… and --token ….
func learnArgs(learn func(label, value string), server string, list []string) {
	for i, a := range list {
		if isPath(a) {
			continue
		}
		name, v, joined := strings.Cut(a, "=")
		switch {
		case strings.HasPrefix(a, "-") && joined && isSecret(name, v):
			learn(server+" argument", v)
		case strings.HasPrefix(a, "-") && !joined && i+1 < len(list) && !strings.HasPrefix(list[i+1], "-") && isSecret(a, list[i+1]):
			learn(server+" argument", list[i+1])
		case isSecret("", a), !strings.HasPrefix(a, "-") && looksKey(a):
			learn(server+" argument", a)
		}
	}
}

// isSecret says whether a value under this name is to be redacted from now on. It errs on
// the side of redacting: a value that is none is only replaced in the record and on screen.
func isSecret(name, value string) bool {
	if secrets.SecretName(name) || secrets.LooksSecret(value) || looksRandom(value) {
		return true
	}
	if len(value) < 6 || len(value) < 12 && !mixed(value) {
		return false // short words and numbers stand in ordinary text as well
	}
	name = strings.ToLower(name)
	for _, part := range []string{"key", "pass", "pwd", "auth", "secret", "token", "credential", "session", "cookie", "private", "signature", "jwt", "dsn"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// ordinary are variables of every system whose values stand in ordinary text as well.
var ordinary = map[string]bool{
	"USER": true, "LOGNAME": true, "USERNAME": true, "HOME": true, "USERPROFILE": true, "PATH": true, "PWD": true, "SHELL": true, "TERM": true,
	"LANG": true, "LANGUAGE": true, "LC_ALL": true, "LC_CTYPE": true, "TZ": true, "HOST": true, "HOSTNAME": true, "DISPLAY": true, "EDITOR": true, "TMPDIR": true, "TEMP": true, "TMP": true,
}

// insertedSecret says whether what a variable puts into a server's settings counts as
// secret: everything but what is plainly something else, such as a number or a path.
func insertedSecret(name, value string) bool {
	switch {
	case isSecret(name, value):
		return true
	case len(value) < 6, ordinary[strings.ToUpper(name)], isPath(value):
		return false
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return false
	}
	if _, err := strconv.ParseBool(value); err == nil {
		return false
	}
	u, err := url.Parse(value)
	return err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.RawQuery != ""
}

// isPath says whether there are files or folders of this name, or a list of them.
func isPath(value string) bool {
	list := filepath.SplitList(value)
	for _, p := range list {
		if !filepath.IsAbs(p) {
			return false // a bare word that happens to name a file here may be a password all the same
		}
		if _, err := os.Lstat(p); err != nil {
			return false
		}
	}
	return len(list) > 0
}

// looksKey finds a key that stands by itself among arguments: one run of 16 letters and
// digits or more, both often changing into the other, as no word, date or name with a
// version has them.
func looksKey(value string) bool {
	if strings.ContainsAny(value, " /\\:.@") {
		return false
	}
	for _, run := range strings.FieldsFunc(value, func(c rune) bool { return class(c) == 0 }) {
		digits, changes := 0, 0
		for i, c := range run {
			if class(c) == '0' {
				digits++
			}
			if i > 0 && (class(c) == '0') != (class(rune(run[i-1])) == '0') {
				changes++
			}
		}
		if len(run) >= 16 && digits >= 3 && changes >= 4 {
			return true
		}
	}
	return false
}

// mixed says whether a value has letters as well as digits.
func mixed(value string) bool {
	return strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, func(c rune) bool { return class(c) == 'a' || class(c) == 'A' })
}

// class is the kind of a character in a key: a small or a capital letter, a digit, or none.
func class(c rune) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

// looksRandom finds what no person wrote: somewhere in the value are ten letters and
// digits or more among which small letters, capitals and digits change all the time, or
// 32 hexadecimal digits. Paths and addresses are none, names with a year neither.
func looksRandom(value string) bool {
	if strings.ContainsAny(value, " /\\:") {
		return false
	}
	for _, run := range strings.FieldsFunc(value, func(c rune) bool { return class(c) == 0 }) {
		seen, changes := map[byte]bool{}, 0
		for i, c := range run {
			seen[class(c)] = true
			if i > 0 && class(c) != class(rune(run[i-1])) {
				changes++
			}
		}
		if len(run) >= 10 && len(seen) == 3 && 5*changes >= 2*len(run) {
			return true
		}
		if len(run) >= 32 && len(seen) == 2 && strings.Trim(strings.ToLower(run), "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}
