package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/tailscale/hujson"
)

// Refusals of the functions that change a servers file, for errors.Is.
var (
	ErrTaken  = errors.New("there is a server of that name already")
	ErrAbsent = errors.New("there is no server of that name")
)

const emptyFile = "{\n  \"mcpServers\": {}\n}\n"

// EditFile changes a servers file as a whole or not at all: change gets its text, or that
// of an empty list where there is no file yet, and what it returns takes its place. The
// rights of the file stay; a new one is for its owner alone. A file that somebody else
// changes between reading and writing is not written over.
func EditFile(path string, change func(data []byte) ([]byte, error)) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file itself, not the link to it
	}
	before, err := readFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	text := before
	if missing {
		text = []byte(emptyFile)
	}
	after, err := change(text)
	if err != nil {
		return err
	}
	return replaceFile(path, before, missing, after)
}

// replaceFile writes beside the file and then takes its place, so that a crash leaves
// either the old or the new one.
func replaceFile(path string, before []byte, missing bool, after []byte) (err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".servers-*.json")
	if err != nil {
		return fmt.Errorf("the servers file cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(after)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("the servers file cannot be written: %w", err)
	}
	now, err := readFile(path)
	if err != nil && !(missing && errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	if !slices.Equal(now, before) {
		return fmt.Errorf("%s was changed by another program just now, and nothing was written; try again", path)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("the servers file cannot be written: %w", err)
	}
	return nil
}

// PutServer writes a server into the text of a servers file: in place of the one called
// old, or as a new one where old is empty. Comments, order, and fields that are not known
// here stay. The error says what in the server cannot be used (nothing is changed then), or
// is ErrTaken or ErrAbsent.
func PutServer(data []byte, old string, s Server) ([]byte, error) {
	if s.Transport == "" {
		s.Transport = transportOf(s)
	}
	doc, lists, err := openLists(data)
	if err != nil {
		return nil, err
	}
	if s.Name != old && lists.find(s.Name) != nil {
		return nil, fmt.Errorf("%w: %q", ErrTaken, shorten(s.Name))
	}
	member := (*hujson.ObjectMember)(nil)
	if old == "" {
		member = appendMember(lists[0].obj, s.Name, &hujson.Object{}, lists[0].indent)
	} else if member = lists.find(old); member == nil {
		return nil, fmt.Errorf("%w: %q", ErrAbsent, shorten(old))
	}
	if s.Name != old {
		member.Name.Value = hujson.String(s.Name)
	}
	if err := putFields(member, s); err != nil {
		return nil, err
	}
	out := doc.Pack()
	return out, checkWritten(out, s)
}

// RemoveServer takes a server out of the text of a servers file; ErrAbsent.
func RemoveServer(data []byte, name string) ([]byte, error) {
	doc, lists, err := openLists(data)
	if err != nil {
		return nil, err
	}
	removed := false
	for _, l := range lists {
		for i := len(l.obj.Members) - 1; i >= 0; i-- {
			if memberName(l.obj.Members[i]) == name {
				removeMember(l.obj, i)
				removed = true
			}
		}
	}
	if !removed {
		return nil, fmt.Errorf("%w: %q", ErrAbsent, shorten(name))
	}
	return doc.Pack(), nil
}

// editLists are the objects of servers in a document that is being changed.
type editLists []editList

type editList struct {
	obj    *hujson.Object
	indent string // of a server in it
}

func openLists(data []byte) (*hujson.Value, editLists, error) {
	const name = "servers.json"
	data, err := decodeText(name, data)
	if err == nil {
		err = checkDepth(name, data)
	}
	if err != nil {
		return nil, nil, err
	}
	doc, err := hujson.Parse(data)
	if err != nil {
		return nil, nil, syntaxError(name, data, err)
	}
	top, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil, nil, fmt.Errorf("%s: expected an object such as {\"mcpServers\": {…}}, found %s", name, kind(doc.Value))
	}
	if len(top.Members) == 0 {
		appendMember(top, "mcpServers", &hujson.Object{}, "  ")
	}
	found, err := newReader(data).lists(name, top)
	if err != nil {
		return nil, nil, err
	}
	var out editLists
	for _, l := range found {
		out = append(out, editList{l.obj, childIndent(l.obj, "    ")})
	}
	return &doc, out, nil
}

func (l editLists) find(name string) *hujson.ObjectMember {
	for _, list := range l {
		for i := range list.obj.Members {
			if memberName(list.obj.Members[i]) == name {
				return &list.obj.Members[i]
			}
		}
	}
	return nil
}

// putFields makes an entry say what the server says, touching only fields that differ.
func putFields(member *hujson.ObjectMember, s Server) error {
	obj, ok := member.Value.Value.(*hujson.Object)
	if !ok {
		obj = &hujson.Object{}
		member.Value.Value = obj
	}
	before := entry{r: newReader(nil), s: Server{Name: s.Name}, given: map[string]int{}}
	for _, m := range obj.Members {
		before.field(m)
	}
	now := before.s
	before.checkTransport(0)
	derived := before.s.Transport
	indent := childIndent(obj, outerIndent(member)+"  ")
	put := func(field string, differs, empty bool, v hujson.ValueTrimmed) {
		if differs {
			setField(obj, field, v, empty, indent)
		}
	}
	put("type", s.Transport != derived, s.Transport == transportOf(s), hujson.String(s.Transport))
	put("command", s.Command != now.Command, s.Command == "", hujson.String(s.Command))
	put("args", !slices.Equal(s.Args, now.Args), len(s.Args) == 0, texts(s.Args))
	put("env", !maps.Equal(s.Env, now.Env), len(s.Env) == 0, table(s.Env, indent))
	put("cwd", s.Cwd != now.Cwd, s.Cwd == "", hujson.String(s.Cwd))
	put("url", s.URL != now.URL, s.URL == "", hujson.String(s.URL))
	put("headers", !maps.Equal(s.Headers, now.Headers), len(s.Headers) == 0, table(s.Headers, indent))
	put("roots", !slices.Equal(s.Roots, now.Roots), len(s.Roots) == 0, texts(s.Roots))
	put("timeout", s.ToolTimeout != now.ToolTimeout, s.ToolTimeout == 0, hujson.String(span(s.ToolTimeout)))
	put("startTimeout", s.StartTimeout != now.StartTimeout, s.StartTimeout == 0, hujson.String(span(s.StartTimeout)))
	put("maxMessage", s.MaxMessage != now.MaxMessage, s.MaxMessage == 0, hujson.String(sizeText(s.MaxMessage)))
	put("sampling", s.Sampling != now.Sampling, !s.Sampling, hujson.Bool(true))
	put("allowHttp", s.AllowHTTP != now.AllowHTTP, !s.AllowHTTP, hujson.Bool(true))
	put("oauth", !s.OAuth.equal(now.OAuth), s.OAuth.Empty(), oauthValue(s.OAuth, indent))
	put("proxy", s.Proxy != now.Proxy, s.Proxy == "", hujson.String(s.Proxy))
	put("caFile", s.CAFile != now.CAFile, s.CAFile == "", hujson.String(s.CAFile))
	if s.Disabled != now.Disabled {
		setField(obj, "enabled", nil, true, indent)
		setField(obj, "disabled", hujson.Bool(true), !s.Disabled, indent)
	}
	return nil
}

func transportOf(s Server) string {
	if s.URL != "" {
		return HTTP
	}
	return Stdio
}

func span(d time.Duration) string { return d.String() }

// checkWritten reads what was written as the program will.
func checkWritten(data []byte, want Server) error {
	servers, problems, err := ParseServers("servers.json", data)
	if err != nil {
		return err
	}
	got, ok := Find(servers, want.Name)
	if !ok {
		var faults []error
		for _, p := range problems {
			if p.Server == want.Name || p.Server == shorten(want.Name) {
				faults = append(faults, errors.New(plain(p)))
			}
		}
		return fmt.Errorf("the server %q cannot be used: %w", shorten(want.Name), errors.Join(faults...))
	}
	if !reflect.DeepEqual(normalised(got), normalised(want)) {
		return fmt.Errorf("the server %q could not be written as it was meant; check its times and its transport", shorten(want.Name))
	}
	return nil
}

// normalised makes an empty list or table and none the same.
func normalised(s Server) Server {
	if len(s.Args) == 0 {
		s.Args = nil
	}
	if len(s.Roots) == 0 {
		s.Roots = nil
	}
	if len(s.Env) == 0 {
		s.Env = nil
	}
	if len(s.Headers) == 0 {
		s.Headers = nil
	}
	if len(s.OAuth.Scopes) == 0 {
		s.OAuth.Scopes = nil
	}
	return s
}

// CheckServer says whether an entry can be used, and what the person should know of it.
func CheckServer(s Server) (usable bool, problems []Problem) {
	data, err := PutServer([]byte(emptyFile), "", s)
	if data == nil {
		return false, []Problem{{Server: s.Name, Message: err.Error()}}
	}
	servers, problems, parseErr := ParseServers("", data)
	for i := range problems {
		problems[i].Message = withoutLine(problems[i].Message)
	}
	if _, ok := Find(servers, s.Name); !ok {
		return false, problems
	}
	if err = errors.Join(err, parseErr); err != nil {
		return false, append(problems, Problem{Server: s.Name, Message: err.Error()})
	}
	return true, problems
}
