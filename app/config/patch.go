package config

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// This file changes single members of a document and leaves everything around them as the
// person wrote it.

// setField puts a value under the field's own name or the one it stands under already;
// with remove it takes the field out, under all of its names.
func setField(obj *hujson.Object, field string, v hujson.ValueTrimmed, remove bool, indent string) {
	kept := false
	for i := len(obj.Members) - 1; i >= 0; i-- {
		name := memberName(obj.Members[i])
		if name != field && (fieldNames[name] != field || field == "disabled" && name == "enabled") {
			continue
		}
		if remove || kept {
			removeMember(obj, i)
			continue
		}
		obj.Members[i].Value.Value, kept = v, true
	}
	if !remove && !kept {
		appendMember(obj, field, v, indent)
	}
}

// appendMember adds a member at the end, on a line of its own with the given indent, and
// returns it. A comment behind the last member stays with that.
func appendMember(obj *hujson.Object, name string, v hujson.ValueTrimmed, indent string) *hujson.ObjectMember {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: v}}
	closing := hujson.Extra("\n" + strings.TrimSuffix(indent, "  "))
	comment := bytes.TrimRight(obj.AfterExtra, " \t\r\n")
	if n := len(obj.Members); n > 0 || len(comment) > 0 {
		if i := bytes.LastIndexByte(obj.AfterExtra, '\n'); i >= 0 {
			closing = slices.Clone(obj.AfterExtra[i:])
		}
		if n > 0 && obj.Members[n-1].Value.AfterExtra != nil {
			m.Value.AfterExtra = hujson.Extra{} // there was a comma behind the last one, so there is again
		}
	}
	m.Name.BeforeExtra = slices.Concat(hujson.Extra(comment), hujson.Extra("\n"+indent))
	obj.AfterExtra = closing
	obj.Members = append(obj.Members, m)
	return &obj.Members[len(obj.Members)-1]
}

// removeMember takes a member out, with the comment above it. What stands on the line of
// the member before it stays.
func removeMember(obj *hujson.Object, i int) {
	before := obj.Members[i].Name.BeforeExtra
	line := before
	if k := bytes.IndexByte(before, '\n'); k >= 0 {
		line = before[:k+1]
	}
	rest := hujson.Extra(nil)
	if len(bytes.TrimSpace(line)) > 0 && i > 0 {
		rest = slices.Clone(line)
	}
	comma := obj.Members[i].Value.AfterExtra
	obj.Members = slices.Delete(obj.Members, i, i+1)
	if i > 0 && i == len(obj.Members) && comma != nil && obj.Members[i-1].Value.AfterExtra == nil {
		obj.Members[i-1].Value.AfterExtra = hujson.Extra{} // there was a comma behind the last one, so there is again
	}
	if len(rest) == 0 {
		return
	}
	if i < len(obj.Members) {
		next := &obj.Members[i].Name
		next.BeforeExtra = slices.Concat(rest, bytes.TrimLeft(next.BeforeExtra, "\r\n"))
		return
	}
	obj.AfterExtra = slices.Concat(rest, bytes.TrimLeft(obj.AfterExtra, "\r\n"))
}

// childIndent is how the members of an object are indented; otherwise where it has none
// on lines of their own.
func childIndent(obj *hujson.Object, otherwise string) string {
	for _, m := range obj.Members {
		if indent, ok := lastLine(m.Name.BeforeExtra); ok {
			return indent
		}
	}
	return otherwise
}

// outerIndent is how a member itself is indented.
func outerIndent(m *hujson.ObjectMember) string {
	indent, _ := lastLine(m.Name.BeforeExtra)
	return indent
}

func lastLine(extra hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	line := string(extra[i+1:])
	return line, strings.TrimLeft(line, " \t") == ""
}

func texts(list []string) hujson.ValueTrimmed {
	a := &hujson.Array{}
	for i, s := range list {
		v := hujson.Value{Value: hujson.String(s)}
		if i > 0 {
			v.BeforeExtra = hujson.Extra(" ")
		}
		a.Elements = append(a.Elements, v)
	}
	return a
}

func table(m map[string]string, indent string) hujson.ValueTrimmed {
	obj := &hujson.Object{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		appendMember(obj, k, hujson.String(m[k]), indent+"  ")
	}
	return obj
}

var atLine = regexp.MustCompile(`^line \d+: `)

// withoutLine is a problem's message where there is no file that lines could be counted
// in.
func withoutLine(message string) string { return atLine.ReplaceAllString(message, "") }

func plain(p Problem) string {
	return strings.TrimSpace(withoutLine(p.Message) + " " + p.Hint)
}
