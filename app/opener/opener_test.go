package opener

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAddressesThatOpen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Shown{
		"https://accounts.example.com/a?b=c&d=%20#e": {"https://accounts.example.com/a?b=c&d=%20#e", "accounts.example.com", "example.com", ""},
		"https://h.example:8443/$(id)":               {"https://h.example:8443/$(id)", "h.example", "h.example", ""},
		"https://google.com.evil.example/":           {"https://google.com.evil.example/", "google.com.evil.example", "evil.example", ""},
		"https://a.b.co.uk/":                         {"https://a.b.co.uk/", "a.b.co.uk", "b.co.uk", ""},
		"http://localhost:1234/cb":                   {"http://localhost:1234/cb", "localhost", "localhost", ""},
		"http://127.0.0.1/":                          {"http://127.0.0.1/", "127.0.0.1", "127.0.0.1", ""},
		"http://[::1]:80/":                           {"http://[::1]:80/", "::1", "::1", ""},
		"https://my_host.example/":                   {"https://my_host.example/", "my_host.example", "my_host.example", ""},
		"HTTPS://Example.COM/Path":                   {"https://example.com/Path", "example.com", "example.com", ""},
		"https://h.example/管家?q=`\"<>":               {"https://h.example/%E7%AE%A1%E5%AE%B6?q=%60%22%3C%3E", "h.example", "h.example", ""},
	} {
		got, err := Check(in)
		if err != nil || got != want {
			t.Errorf("Check(%q) = %+v, %v\nwant %+v", in, got, err, want)
		}
		if again, err := Check(got.URL); err != nil || again != got {
			t.Errorf("checking %q again gives %+v, %v", got.URL, again, err)
		}
	}
}

func TestHostsThatLookLikeOthers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"https://xn--pple-43d.com/": {"xn--pple-43d.com", "Cyrillic, Latin", "real name is xn--pple-43d.com"},
		"https://аpple.com/x":       {"xn--pple-43d.com", "Cyrillic, Latin"},
		"https://münchen.example/":  {"xn--mnchen-3ya.example", "münchen.example"},
		"https://例え.テスト/":           {"xn--r8jz45g.xn--zckzah", "beyond a to z"},
		"https://93.184.216.34/":    {"93.184.216.34", "a number instead"},
		"https://[2001:db8::1]:4/x": {"2001:db8::1", "a number instead"},
	} {
		got, err := Check(in)
		if err != nil || got.Host != want[0] {
			t.Errorf("Check(%q) = %+v, %v", in, got, err)
			continue
		}
		for _, part := range want[1:] {
			if !strings.Contains(got.Warning, part) {
				t.Errorf("Check(%q) warns %q, want %q in it", in, got.Warning, part)
			}
		}
		for _, r := range got.URL + got.Host {
			if r >= 0x7f {
				t.Errorf("Check(%q) shows %q and %q", in, got.URL, got.Host)
			}
		}
		again, err := Check(got.URL)
		if err != nil || again.URL != got.URL || again.Warning == "" {
			t.Errorf("checking %q again gives %+v, %v", got.URL, again, err)
		}
	}
}

var refused = []string{
	"", "x", "--help", "-a", "file:///etc/passwd", "file:/c:/windows/system32/calc.exe", "file://localhost/etc/passwd", "calculator://localhost/", "vscode://127.0.0.1/x", "smb://localhost/share",
	"javascript:alert(1)", "data:text/html,x", "vbscript:x", "a:$(x)", "ms-settings:x", "mailto:a@b.example", "about:blank", "//h.example/", "/etc/passwd", "h.example", "https:h.example", "https:///x", "https://",
	"http://u$(touch /tmp/pwn)r:p@127.0.0.1:9003/authorize", "https://u$(id)@x/", "https://accounts.google.com@evil.example/", "https://u:p@h.example/", "https://@h.example/",
	"http://h.example/", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "http://10.0.0.1/", "http://169.254.169.254/", "http://0.0.0.0/", "http://2130706433/", "http://127.1/", "https://127.1/", "https://0x7f000001/",
	"https://h.example/\x00", "https://h.example/\n", "https://h.example/ x", " https://h.example/", "https://h.example\\@evil.example/", "https://h.example/\x1b[2J", "https://h.example/\u202efdp",
	"https://h\u200b.example/", "https://h.example/\u2028", "https://h.example/\u00a0", "https://h.example/\ufe0f", "https://h.example/\xff", "https://h.example:port/", "https://h.example:1:2/", "https://[::1/", "https://[fe80::1%25eth0]/",
	"https://a..b/", "https://.a/", "https://-a.example/", "https://a b.example/", "https://xn--a/", "https://h%00.example/", "https://h%41.example/", "https://h'.example/", "https://" + strings.Repeat("a", 70) + ".example/",
	"https://h.example/" + strings.Repeat("a", 8<<10),
}

func TestAddressesThatDoNot(t *testing.T) {
	t.Parallel()
	for _, in := range refused {
		got, err := Check(in)
		if err == nil || got != (Shown{}) {
			t.Errorf("Check(%.80q) = %+v, %v", in, got, err)
			continue
		}
		if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x00\n\x1b\u202e\u200b\u2028") || !utf8.ValidString(err.Error()) {
			t.Errorf("Check(%.80q): the error is not fit to show: %q", in, err)
		}
		opener := Opener{Start: func(string, ...string) error { t.Errorf("%.80q started a program", in); return nil }}
		if err := opener.Open(t.Context(), in); err == nil {
			t.Errorf("Open(%.80q) without an error", in)
		}
	}
}

func TestOpenStartsExactlyThis(t *testing.T) {
	t.Parallel()
	var got []string
	opener := Opener{Start: func(name string, args ...string) error { got = append([]string{name}, args...); return nil }}
	const address = "https://h.example/$(touch%20x);&a='b'"
	shown, err := Check(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := opener.Open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	name, args := command(runtime.GOOS, shown.URL)
	if want := append([]string{name}, args...); !reflect.DeepEqual(got, want) {
		t.Errorf("started %q, want %q", got, want)
	}
	for system, want := range map[string][]string{
		"linux": {"xdg-open", "u"}, "freebsd": {"xdg-open", "u"}, "darwin": {"open", "u"}, "windows": {"rundll32", "url.dll,FileProtocolHandler", "u"},
	} {
		name, args := command(system, "u")
		if !reflect.DeepEqual(append([]string{name}, args...), want) {
			t.Errorf("%s: %s %q", system, name, args)
		}
	}
}

func TestOnlyFoldersAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "run.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var got []string
	opener := Opener{Start: func(name string, args ...string) error { got = append([]string{name}, args...); return nil }}
	for _, path := range []string{file, filepath.Join(dir, "gone"), "relative", "", "https://h.example/"} {
		if err := opener.OpenFolder(t.Context(), path); err == nil || got != nil {
			t.Errorf("%q: %v, started %q", path, err, got)
		}
	}
	if err := opener.OpenFolder(t.Context(), dir); err != nil || len(got) < 2 || got[len(got)-1] != dir {
		t.Errorf("%v, started %q", err, got)
	}
	if name, args := folderCommand("darwin", "/a/b.app"); name != "open" || !reflect.DeepEqual(args, []string{"-R", "/a/b.app"}) {
		t.Errorf("a folder named like a program: %s %q", name, args)
	}
}

func TestOpenIsBounded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	opener := Opener{Start: func(string, ...string) error { <-release; return nil }}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := opener.Open(ctx, "https://h.example/"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a start that hangs gives %v", err)
	}
	cancel()
	opener.Start = func(string, ...string) error { t.Error("started after the end"); return nil }
	if err := opener.Open(ctx, "https://h.example/"); err == nil {
		t.Error("a context that is done opens")
	}
	opener.Start = func(string, ...string) error { return errors.New("no display") }
	if err := opener.Open(t.Context(), "https://h.example/"); err == nil || !strings.Contains(err.Error(), "open https://h.example/ yourself") {
		t.Errorf("a start that fails gives %v", err)
	}
}

// TestRealProgram runs a script in the place of the system's opener, found on
// PATH, and reads back the arguments it got.
func TestRealProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script, which Windows cannot run")
	}
	dir := t.TempDir()
	name, _ := command(runtime.GOOS, "")
	script := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > '" + dir + "/got'\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	const address = "https://h.example/$(touch%20pwned)?a=`id`;b&c"
	shown, err := Check(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := Open(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "got"))
	if err != nil || string(got) != "1\n"+shown.URL+"\n" {
		t.Errorf("the program got %q, %v", got, err)
	}
	t.Setenv("PATH", "")
	t.Chdir(dir)
	if err := Open(t.Context(), address); err == nil {
		t.Error("a program in the current folder was started")
	}
	t.Setenv("PATH", ".")
	if err := Open(t.Context(), address); err == nil {
		t.Error("a program in a relative folder was started")
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range refused {
		f.Add(s)
	}
	f.Add("https://аpple.com:1/管?x#y")
	f.Fuzz(func(t *testing.T, s string) {
		shown, err := Check(s)
		if err != nil {
			return
		}
		again, err := Check(shown.URL)
		if err != nil || again.URL != shown.URL || again.Host != shown.Host {
			t.Fatalf("Check(%q) = %+v, and of that %+v, %v", s, shown, again, err)
		}
		if !strings.HasPrefix(strings.ToLower(shown.URL), "http") || strings.ContainsAny(shown.URL, " \\\"'`<>\x7f") {
			t.Fatalf("Check(%q) = %+v", s, shown)
		}
	})
}
