package config

import (
	"strings"
	"testing"
)

func TestTheWayToAServer(t *testing.T) {
	t.Parallel()
	s, ok, problems := one(t, `{"url":"https://x.example/mcp","proxy":"http://me:${secret:proxy}@proxy:3128","caFile":"~/ca.pem"}`)
	if !ok || len(problems) != 0 || s.Proxy != "http://me:${secret:proxy}@proxy:3128" || s.CAFile != "~/ca.pem" {
		t.Errorf("%+v, %v", s, problems)
	}
	x, _ := Expand(s, func(string) (string, bool) { return "", false }, "/home/me")
	if x.CAFile != "/home/me/ca.pem" || x.Proxy != s.Proxy {
		t.Errorf("expanded %q %q", x.Proxy, x.CAFile)
	}
	plain := s
	plain.Proxy, plain.CAFile = "", ""
	direct := plain
	direct.Proxy = Direct
	if s.Hash() == plain.Hash() || direct.Hash() == plain.Hash() {
		t.Error("the way to a server changes nothing about its review")
	}
	written, err := PutServer([]byte(emptyFile), "", s)
	if err != nil || !strings.Contains(string(written), `"caFile": "~/ca.pem"`) || !strings.Contains(string(written), `"proxy": "http://me:${secret:proxy}@proxy:3128"`) {
		t.Errorf("written %s, %v", written, err)
	}
	for entry, want := range map[string]string{
		`{"url":"https://x.example","proxy":"proxy:3128"}`:                "no address of a proxy",
		`{"url":"https://x.example","proxy":"ftp://proxy"}`:               "no address of a proxy",
		`{"url":"https://x.example","proxy":"http://me:hunter22@p:3128"}`: "holds a password",
		`{"url":"https://x.example","proxy":7}`:                           "must be text",
		`{"command":"x","proxy":"direct"}`:                                "ignored for a local program",
		`{"command":"x","caFile":"/a.pem"}`:                               "ignored for a local program",
		`{"url":"https://x.example","proxy":"http://${PROXY}:3128"}`:      "no address of a proxy",
	} {
		_, _, problems := one(t, entry)
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) || strings.Contains(problems[0].String(), "hunter22") {
			t.Errorf("%s: %v", entry, problems)
		}
	}
}

func TestTheWayInSettings(t *testing.T) {
	t.Parallel()
	s := DefaultSettings()
	s.Proxy, s.CAFile = "http://me:${secret:proxy}@proxy:3128", "/etc/ca.pem"
	got, err := LoadSettings(s.Encode())
	if err != nil || got.Proxy != s.Proxy || got.CAFile != s.CAFile {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []Settings{{Proxy: "proxy"}, {Proxy: "http://me:hunter22@proxy"}, {CAFile: "ca.pem"}} {
		s := DefaultSettings()
		s.Proxy, s.CAFile = bad.Proxy, bad.CAFile
		if err := s.Check(); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
