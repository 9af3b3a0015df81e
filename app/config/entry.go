package config

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"steward/app/secrets"
)

// Longest and shortest waiting that a file may ask for.
const (
	minTimeout = 100 * time.Millisecond
	maxTimeout = 24 * time.Hour
)

// reader collects what one file yields.
type reader struct {
	data     []byte
	ends     []int // where the lines of data end
	servers  []Server
	problems []Problem
	seen     map[string]int // name to line
}

func newReader(data []byte) *reader {
	r := &reader{data: data, seen: map[string]int{}}
	for i, c := range data {
		if c == '\n' {
			r.ends = append(r.ends, i)
		}
	}
	return r
}

// line gives the line of an offset, from 1. Unlike position it does not read the
// file again, which for every field of a large file would take minutes.
func (r *reader) line(offset int) int {
	return 1 + sort.SearchInts(r.ends, offset)
}

// problem records a fault, up to maxProblems of them.
func (r *reader) problem(server string, line int, message, hint string) {
	switch {
	case len(r.problems) < maxProblems:
		r.problems = append(r.problems, Problem{server, fmt.Sprintf("line %d: %s", line, message), hint, false})
	case len(r.problems) == maxProblems:
		r.problems = append(r.problems, Problem{"", fmt.Sprintf("line %d: there are more problems than the %d listed", line, maxProblems), "Correct these first.", false})
	}
}

// entry reads one server; the first broken field makes it unusable, and all
// broken fields are told.
type entry struct {
	r      *reader
	s      Server
	broken bool
	given  map[string]int // canonical field to line
}

// server reads the value that stands under a name.
func (r *reader) server(name string, line int, v hujson.Value) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.problem(name, line, "a server must be an object, but this is "+kind(v.Value), `Write {"command": "…", "args": […]} or {"url": "https://…"}.`)
		return
	}
	e := &entry{r: r, s: Server{Name: name}, given: map[string]int{}}
	for _, m := range obj.Members {
		e.field(m)
	}
	e.check(line)
	if !e.broken {
		r.servers = append(r.servers, e.s)
	}
}

// breaks records a fault that makes the entry unusable.
func (e *entry) breaks(line int, message, hint string) {
	e.broken = true
	e.r.problem(e.s.Name, line, message, hint)
}

// warns records something that does not.
func (e *entry) warns(line int, message, hint string) {
	e.r.problem(e.s.Name, line, message, hint)
}

func (e *entry) line(v hujson.Value) int { return e.r.line(v.StartOffset) }

// Fields of an entry, and the names other hosts use for them.
var fieldNames = map[string]string{
	"command": "command", "args": "args", "env": "env", "cwd": "cwd",
	"url": "url", "httpUrl": "url", "serverUrl": "url",
	"headers": "headers", "type": "type", "transport": "type",
	"disabled": "disabled", "enabled": "enabled", "roots": "roots",
	"timeout": "timeout", "startTimeout": "startTimeout", "sampling": "sampling",
	"allowHttp": "allowHttp", "allowHTTP": "allowHttp", "proxy": "proxy", "caFile": "caFile",
	"maxMessage": "maxMessage", "oauth": "oauth", "auth": "oauth",
}

// Fields that say nothing about how to reach a server.
var harmless = map[string]bool{
	"name": true, "title": true, "description": true, "icon": true, "iconUrl": true, "version": true,
	"gallery": true, "homepage": true, "$schema": true, "comment": true, "note": true,
}

// field reads one member into the server. null counts as not given.
func (e *entry) field(m hujson.ObjectMember) {
	raw, line := memberName(m), e.line(m.Name)
	name, known := fieldNames[raw]
	if !known {
		e.unknown(raw, line)
		return
	}
	if kind(m.Value.Value) == "null" {
		return
	}
	if first, dup := e.given[name]; dup {
		e.breaks(line, fmt.Sprintf("%q is given a second time (first on line %d)", raw, first), "Keep one of them.")
		return
	}
	e.given[name] = line
	switch name {
	case "command":
		e.text(raw, m.Value, &e.s.Command)
	case "args":
		e.texts(raw, m.Value, &e.s.Args)
	case "env":
		e.table(raw, m.Value, &e.s.Env)
	case "cwd":
		e.text(raw, m.Value, &e.s.Cwd)
	case "url":
		e.text(raw, m.Value, &e.s.URL)
	case "headers":
		e.table(raw, m.Value, &e.s.Headers)
	case "type":
		e.text(raw, m.Value, &e.s.Transport)
	case "disabled":
		e.flag(raw, m.Value, &e.s.Disabled)
	case "enabled":
		on := true
		e.flag(raw, m.Value, &on)
		e.s.Disabled = e.s.Disabled || !on
	case "roots":
		e.texts(raw, m.Value, &e.s.Roots)
	case "timeout":
		e.duration(raw, m.Value, &e.s.ToolTimeout)
	case "startTimeout":
		e.duration(raw, m.Value, &e.s.StartTimeout)
	case "maxMessage":
		e.size(raw, m.Value, &e.s.MaxMessage)
	case "sampling":
		e.flag(raw, m.Value, &e.s.Sampling)
	case "allowHttp":
		e.flag(raw, m.Value, &e.s.AllowHTTP)
	case "oauth":
		e.oauth(raw, m.Value)
	case "proxy":
		e.text(raw, m.Value, &e.s.Proxy)
	case "caFile":
		e.text(raw, m.Value, &e.s.CAFile)
	}
}

// unknown tells what is ignored, because a field that is misspelt, or that
// grants something in another host, would otherwise seem to work.
func (e *entry) unknown(name string, line int) {
	if harmless[name] || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "//") {
		return
	}
	switch name {
	case "autoApprove", "alwaysAllow", "trust":
		e.warns(line, fmt.Sprintf("%q is ignored: nothing runs here without your yes", name), "Give a standing yes in the approval itself.")
		return
	case "envFile":
		e.warns(line, `"envFile" is ignored: the file is not read`, `Put the variables into "env".`)
		return
	}
	hint := ""
	for known := range fieldNames {
		if strings.EqualFold(known, name) || strings.EqualFold(known+"s", name) || strings.EqualFold(known, name+"s") {
			hint = fmt.Sprintf("Did you mean %q?", known)
		}
	}
	e.warns(line, fmt.Sprintf("the field %q is not known and is ignored", shorten(name)), hint)
}

func (e *entry) wrong(field, want string, v hujson.Value, hint string) {
	e.breaks(e.line(v), fmt.Sprintf("%q must be %s, but is %s", field, want, kind(v.Value)), hint)
}

func (e *entry) text(field string, v hujson.Value, into *string) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		hint := ""
		if field == "command" && kind(v.Value) == "a list" {
			hint = `Put the program into "command" and the rest into "args".`
		}
		e.wrong(field, "text", v, hint)
		return
	}
	*into = lit.String()
	if strings.ContainsRune(*into, 0) {
		e.breaks(e.line(v), fmt.Sprintf("%q holds a NUL character, which no program can receive", field), "Remove \\u0000.")
	}
}

func (e *entry) texts(field string, v hujson.Value, into *[]string) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		hint := ""
		if kind(v.Value) == "text" {
			hint = fmt.Sprintf(`Write one element per argument: "%s": ["…", "…"]; it is never split at spaces.`, field)
		}
		e.wrong(field, "a list of texts", v, hint)
		return
	}
	all := make([]string, 0, len(list.Elements))
	for i, item := range list.Elements {
		var s string
		name := ""
		if i > 0 && strings.HasPrefix(all[i-1], "-") {
			name = all[i-1]
		}
		e.value(fmt.Sprintf("%s[%d]", field, i), name, item, &s)
		all = append(all, s)
	}
	*into = all
}

func (e *entry) table(field string, v hujson.Value, into *map[string]string) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		e.wrong(field, "an object of texts", v, fmt.Sprintf(`Write "%s": {"NAME": "value"}.`, field))
		return
	}
	all := make(map[string]string, len(obj.Members))
	for _, m := range obj.Members {
		name := memberName(m)
		if _, dup := all[name]; dup {
			e.breaks(e.line(m.Name), fmt.Sprintf("%q holds %q twice", field, shorten(name)), "Keep one of them.")
			continue
		}
		var s string
		e.value(field+"."+shorten(name), name, m.Value, &s)
		all[name] = s
	}
	*into = all
}

// value reads a text inside a list or table, and says how to write a number. Under a
// name that holds secrets it does not repeat it.
func (e *entry) value(field, name string, v hujson.Value, into *string) {
	if lit, ok := v.Value.(hujson.Literal); ok && (kind(lit) == "a number" || kind(lit) == "true or false") {
		hint := "Write it in quotes."
		if !secrets.SecretName(name) {
			hint = fmt.Sprintf("Write it in quotes: %q.", shorten(string(lit)))
		}
		e.wrong(field, "text", v, hint)
		return
	}
	e.text(field, v, into)
}

func (e *entry) flag(field string, v hujson.Value, into *bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || kind(lit) != "true or false" {
		e.wrong(field, "true or false", v, "Write it without quotes.")
		return
	}
	*into = lit.Bool()
}

// duration reads seconds as a number, or text such as "90s" or "5m". What is
// out of bounds is left at the default, with a warning: other hosts count in
// milliseconds.
func (e *entry) duration(field string, v hujson.Value, into *time.Duration) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok {
		e.wrong(field, "a time", v, `Write seconds, or text such as "90s".`)
		return
	}
	var d time.Duration
	switch kind(lit) {
	case "a number":
		seconds := lit.Float()
		d = time.Duration(math.Min(seconds, 1e9) * float64(time.Second))
	case "text":
		var err error
		if d, err = time.ParseDuration(lit.String()); err != nil {
			e.wrong(field, "a time", v, `Write seconds, or text such as "90s" or "5m".`)
			return
		}
	default:
		e.wrong(field, "a time", v, `Write seconds, or text such as "90s".`)
		return
	}
	if d < minTimeout || d > maxTimeout {
		e.warns(e.line(v), fmt.Sprintf("%q is %s, outside of %s to %s, so the default is used", field, d, minTimeout, maxTimeout),
			`A number counts seconds; write "60s" to be sure.`)
		return
	}
	if kind(lit) == "a number" && d >= 1000*time.Second && lit.Float() == math.Trunc(lit.Float()) {
		e.warns(e.line(v), fmt.Sprintf("%q is %s, because a number counts seconds", field, d), `If milliseconds were meant, write text such as "60s".`)
	}
	*into = d
}

func memberName(m hujson.ObjectMember) string {
	lit, _ := m.Name.Value.(hujson.Literal)
	return lit.String()
}

// kind names a JSON value for a person.
func kind(v hujson.ValueTrimmed) string {
	if v == nil {
		return "nothing"
	}
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

// shorten keeps foreign text in a message short; control characters in it are
// made visible by the %q it is printed with.
func shorten(s string) string {
	const most = 60
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}
