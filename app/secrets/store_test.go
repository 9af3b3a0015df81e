//go:build linux

package secrets

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// patient is longer than anything here takes; what is not to be waited for
// shows by a test that does not end.
const patient = time.Minute

var values = map[string]string{
	"short":      "s3cr3t",
	"2,500":      strings.Repeat("a", 2500),
	"3,500":      strings.Repeat("管", 1166) + "xy",
	"10,000":     strings.Repeat("0123456789", 1000),
	"odd":        "line\nline \"quoted\" 'x' \\ пароль 🔑\r\n",
	"marks":      partsMark + "x:1:y",
	"just whole": strings.Repeat("b", maxItem-len(wholeMark)),
	"just parts": strings.Repeat("b", maxItem-len(wholeMark)+1),
}

// exercise is what every place for secrets has to do.
func exercise(t *testing.T, s *Store) {
	t.Helper()
	ctx := withLimit(t, patient)
	if names, err := s.Names(ctx); err != nil || len(names) != 0 {
		t.Fatalf("names at first: %v, %v", names, err)
	}
	if _, err := s.Get(ctx, "short"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a secret that is not there: %v", err)
	}
	for name, value := range values {
		if err := s.Set(ctx, name, NewSecret("before "+value)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Set(ctx, name, NewSecret(value)); err != nil {
			t.Fatalf("%s again: %v", name, err)
		}
		if text := s.Redactor().Redact("<" + value + ">"); text != "<[secret:"+name+"]>" {
			t.Errorf("%s is redacted to %.60q", name, text)
		}
	}
	for name, value := range values {
		got, err := s.Get(ctx, name)
		if err != nil || got.Reveal() != value {
			t.Errorf("%s: %d bytes came back as %d, %v", name, len(value), len(got.Reveal()), err)
		}
	}
	if names, err := s.Names(ctx); err != nil || len(names) != len(values) || !reflect.DeepEqual(names[:2], []string{"10,000", "2,500"}) {
		t.Errorf("names: %v, %v", names, err)
	}
	text, err := s.Expand(ctx, "a ${secret:short} b ${secret:odd}${HOME}")
	if err != nil || text != "a s3cr3t b "+values["odd"]+"${HOME}" {
		t.Errorf("expanded: %q, %v", text, err)
	}
	if _, err := s.Expand(ctx, "${secret:nope}"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "nope") {
		t.Errorf("expanding what is not there: %v", err)
	}
	for _, name := range []string{"short", "10,000"} {
		if err := s.Delete(ctx, name); err != nil {
			t.Errorf("deleting %s: %v", name, err)
		}
		if _, err := s.Get(ctx, name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s after deleting: %v", name, err)
		}
		if err := s.Delete(ctx, name); !errors.Is(err, ErrNotFound) {
			t.Errorf("deleting %s again: %v", name, err)
		}
	}
	if names, err := s.Names(ctx); err != nil || len(names) != len(values)-2 {
		t.Errorf("names afterwards: %v, %v", names, err)
	}
	for _, name := range []string{"", " a", "a}", "a\nb", "a\x00", "${x", "\xff", strings.Repeat("n", 101)} {
		if err := s.Set(ctx, name, NewSecret("value")); err == nil {
			t.Errorf("a secret was stored as %q", name)
		}
	}
	if err := s.Set(ctx, "large", NewSecret(strings.Repeat("x", 1<<20))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("1 MB: %v", err)
	}
	if err := s.Set(ctx, "empty", NewSecret("")); err == nil {
		t.Error("an empty secret was stored")
	}
}

func exerciseAnchor(t *testing.T, s *Store) {
	t.Helper()
	ctx := withLimit(t, patient)
	a := s.Anchor()
	if got, err := a.Load(ctx); got != "" || err != nil {
		t.Errorf("the anchor at first: %q, %v", got, err)
	}
	for _, text := range []string{"12 sha256:ab", "13 sha256:cd"} {
		if err := a.Save(ctx, text); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Load(ctx); got != text || err != nil {
			t.Errorf("the anchor: %q, %v", got, err)
		}
	}
	if names, err := s.Names(ctx); err != nil || strings.Contains(strings.Join(names, " "), "anchor") {
		t.Errorf("names: %v, %v", names, err)
	}
}

func TestMemory(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	s := opened(t, patient)
	s.UseMemory()
	wantState(t, s.State(t.Context()), KindMemory, "until Steward ends")
	exercise(t, s)
	if err := s.Anchor().Save(t.Context(), "x"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("an anchor in memory: %v", err)
	}
	if left, err := os.ReadDir(s.o.Dir); err != nil || len(left) > 0 {
		t.Errorf("memory leaves %v, %v", left, err)
	}
}
