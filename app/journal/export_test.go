package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestExport(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	evil := `=cmd|' /C calc'!A0`
	for i, args := range []string{evil, "+1", "-1", "@x", "\tx", "\rx", "＝1", `<script>alert(1)</script><img src="http://evil/x">`, "bidi \u202e text\u0000\u200b", `{"ok":"中文"}`} {
		p := callOf(args)
		p.Server = fmt.Sprint("s", i%2)
		e := propose(t, j, p)
		ok(t, e.Outcome(bg, Outcome{Outcome: Denied}))
	}
	var lines bytes.Buffer
	ok(t, j.Export(bg, &lines, FormatJSONL, Filter{}))
	text := lines.Bytes()
	if v, err := VerifyExport(bytes.NewReader(text)); err != nil || !v.OK || v.Events != 20 {
		t.Errorf("%+v %v", v, err)
	}
	split := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(split) != 11 || !bytes.HasPrefix(split[10], []byte(`{"manifest":`)) || !bytes.HasPrefix(split[0], []byte(`{"record":1,"kind":"call",`)) || !bytes.Contains(split[9], []byte("中文")) {
		t.Errorf("%d lines: %s", len(split), split[10])
	}
	// As the documentation says: the manifest's sha256 is that of the lines before it.
	before := sha256.Sum256(text[:bytes.LastIndex(text, []byte(`{"manifest":`))])
	if !bytes.Contains(split[10], []byte(`"sha256":"`+hex.EncodeToString(before[:])+`"`)) {
		t.Errorf("the lines before the manifest have the SHA-256 %x: %s", before, split[10])
	}
	for at := 0; at < len(text); at += 13 { // every change, and every cut
		changed := append([]byte(nil), text...)
		changed[at] ^= 1
		if v, err := VerifyExport(bytes.NewReader(changed)); err != nil || v.OK {
			t.Errorf("byte %d: %+v %v", at, v, err)
		}
		if v, err := VerifyExport(bytes.NewReader(text[:at])); err != nil || v.OK {
			t.Errorf("cut at %d: %+v %v", at, v, err)
		}
	}
	swapped := bytes.Join([][]byte{bytes.Join(split[1:10], []byte("\n")), split[10], nil}, []byte("\n"))
	if v, err := VerifyExport(bytes.NewReader(swapped)); err != nil || v.OK {
		t.Error("a removed line is not noticed")
	}

	for _, c := range []struct {
		f    Filter
		want int
	}{{Filter{Server: "s0"}, 5}, {Filter{Limit: 3}, 3}, {Filter{Server: "s1", Limit: 2}, 2}, {Filter{Kind: "grant"}, 0}, {Filter{Search: "中文"}, 1}} {
		var some bytes.Buffer
		ok(t, j.Export(bg, &some, FormatJSONL, c.f))
		if v, err := VerifyExport(bytes.NewReader(some.Bytes())); err != nil || !v.OK || bytes.Count(some.Bytes(), []byte("\n")) != c.want+1 {
			t.Errorf("%+v: %+v %v\n%s", c.f, v, err, some.String())
		}
	}

	var sheet bytes.Buffer
	ok(t, j.Export(bg, &sheet, FormatCSV, Filter{}))
	for _, line := range strings.Split(sheet.String(), "\n") {
		for _, cell := range strings.Split(line, ",") {
			if cell = strings.TrimPrefix(cell, `"`); cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("a formula: %q", cell)
			}
		}
	}
	if !strings.Contains(sheet.String(), "'"+evil) || !strings.HasPrefix(sheet.String(), "record,kind,parent,time,") {
		t.Error(sheet.String())
	}

	var page bytes.Buffer
	ok(t, j.Export(bg, &page, FormatHTML, Filter{}))
	for _, bad := range []string{"<script", "<img", "\u202e", "\x00", "src=", "href="} {
		if strings.Contains(page.String(), bad) && bad != "src=" {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page.String(), "202E]") || !strings.Contains(page.String(), "&lt;script&gt;") {
		t.Error(page.String())
	}
	if j.Export(bg, &page, "xml", Filter{}) == nil {
		t.Error("a format that is none")
	}
	if err := j.Export(bg, failing{}, FormatCSV, Filter{}); err == nil {
		t.Error("a full disk is not noticed")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }

// The shapes are fixed: other programs read them.
func TestShapes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 14, 1, 58, 123456789, time.FixedZone("CET", 3600))
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Now: func() time.Time { return at }})
	p := Proposal{Kind: KindCall, Conversation: "c_8x", Server: "weekly-report", Tool: "get_weekly_report", Arguments: `{"date":"<2025-03-17>","中":"文"}`, Model: "fake"}
	e := propose(t, j, p)
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: "person"}))
	if _, err := e.Intent(bg, []byte(p.Arguments)); err != nil {
		t.Fatal(err)
	}
	ok(t, e.Outcome(bg, Outcome{Outcome: OK, Seconds: 0.021, Result: json.RawMessage(`{"a":1}`)}))
	l, err := j.List(bg, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := encode(l)
	ok(t, err)
	want := `[{"record":1,"kind":"call","parent":0,"time":"2026-11-30T13:01:58.123Z","conversation":"c_8x","server":"weekly-report","tool":"get_weekly_report","arguments":"{\"date\":\"<2025-03-17>\",\"中\":\"文\"}","decision":"allowed","by":"person","outcome":"ok","effect":"done","seconds":0.021,"model":"fake"}]`
	if string(got) != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	detail, err := encode(show(t, j, 1))
	ok(t, err)
	if !strings.HasPrefix(string(detail), strings.TrimSuffix(strings.TrimPrefix(want, "["), "}]")+`,"definition":"",`) || !strings.Contains(string(detail), `"result":{"a":1}`) || !strings.Contains(string(detail), `"frames":[]`) {
		t.Errorf("%s", detail)
	}
	empty, err := j.List(bg, Filter{Kind: "none"})
	if text, _ := encode(empty); err != nil || string(text) != "[]" {
		t.Errorf("%s %v", text, err)
	}
	var back []Record
	ok(t, json.Unmarshal(got, &back))
	if back[0].Arguments != p.Arguments || !reflect.DeepEqual(back[0].Time, at.UTC().Truncate(time.Millisecond)) {
		t.Errorf("%+v", back)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	for i := range 120 {
		mu.Lock()
		now = now.Add(time.Hour)
		mu.Unlock()
		p := Proposal{Kind: []Kind{KindCall, KindModel}[i%2], Server: fmt.Sprint("s", i%3), Tool: fmt.Sprint("t", i%4), Conversation: fmt.Sprint("c", i%5), Arguments: fmt.Sprintf(`{"text":"\u90e8\u7f72 word%d"}`, i)}
		e := propose(t, j, p)
		if i < 119 {
			ok(t, e.Outcome(bg, Outcome{Outcome: []string{Denied, Expired}[i/60]}))
		} else {
			ok(t, e.Shown(bg, "h"))
		}
	}
	for name, c := range map[string]struct {
		f           Filter
		count       int
		first, last int64
	}{
		"none":         {Filter{}, 50, 120, 71},
		"next page":    {Filter{After: 71}, 50, 70, 21},
		"all":          {Filter{Limit: -1}, 120, 120, 1},
		"limit":        {Filter{Limit: 3}, 3, 120, 118},
		"kind":         {Filter{Kind: "model", Limit: -1}, 60, 120, 2},
		"server":       {Filter{Server: "s1", Limit: -1}, 40, 119, 2},
		"tool":         {Filter{Server: "s1", Tool: "t1", Limit: -1}, 10, 110, 2},
		"conversation": {Filter{Conversation: "c0", Limit: -1}, 24, 116, 1},
		"outcome":      {Filter{Outcome: Denied, Limit: -1}, 60, 60, 1},
		"waiting":      {Filter{Outcome: Waiting}, 1, 120, 120},
		"since":        {Filter{Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(100 * time.Hour), Limit: -1}, 21, 120, 100},
		"until":        {Filter{Until: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(100 * time.Hour), Limit: -1}, 99, 99, 1},
		"search":       {Filter{Search: "部署", Limit: -1}, 119, 119, 1},
		"search page":  {Filter{Search: "部署", Limit: 10, After: 50}, 10, 49, 40},
		"search open":  {Filter{Search: "word119", Limit: -1}, 1, 120, 120},
		"search both":  {Filter{Search: "部署 word7", Kind: "call", Limit: -1}, 5, 79, 71},
	} {
		l, err := j.List(bg, c.f)
		if err != nil || len(l) != c.count {
			t.Errorf("%s: %d records (%v), want %d", name, len(l), err, c.count)
			continue
		}
		if l[0].Record != c.first || l[len(l)-1].Record != c.last {
			t.Errorf("%s: %d … %d, want %d … %d", name, l[0].Record, l[len(l)-1].Record, c.first, c.last)
		}
	}
}
