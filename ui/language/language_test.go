package language

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"fyne.io/fyne/v2/lang"
	"go.uber.org/goleak"

	"steward/app"
	"steward/assets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTheChosenLanguageIsShown runs through systems that speak other languages, one after the other in one process, as
// a person does who changes the setting; Fyne's own words must follow too.
func TestTheChosenLanguageIsShown(t *testing.T) {
	words := map[string][2]string{"en": {"Servers", "Cancel"}, "zh-Hans": {"服务器", "取消"}}
	for _, c := range []struct{ locale, choice, want string }{
		{"en_US.UTF-8", FollowSystem, "en"},
		{"en_US.UTF-8", "zh-Hans", "zh-Hans"},
		{"en_US.UTF-8", "en", "en"},
		{"zh_CN.UTF-8", FollowSystem, "zh-Hans"},
		{"zh_CN.UTF-8", "en", "en"},
		{"zh_CN.UTF-8", "zh-Hans", "zh-Hans"},
		{"zh_TW.UTF-8", FollowSystem, "zh-Hans"},
		{"de_DE.UTF-8", FollowSystem, "en"},
		{"de_DE.UTF-8", "zh-Hans", "zh-Hans"},
		{"de_DE.UTF-8", "en", "en"},
		{"fi_FI.UTF-8", "zh-Hans", "zh-Hans"},
		{"C", FollowSystem, "en"},
		{"C", "zh-Hans", "zh-Hans"},
		{"C.UTF-8", "", "en"},
	} {
		t.Setenv("LANGUAGE", "")
		t.Setenv("LC_ALL", c.locale)
		t.Setenv("LANG", c.locale)
		if err := Load(c.choice); err != nil {
			t.Errorf("%s on a system in %s: %v", c.choice, c.locale, err)
			continue
		}
		if Current() != c.want {
			t.Errorf("%q on a system in %s gives %q", c.choice, c.locale, Current())
		}
		if got := lang.X("servers.title", ""); got != words[c.want][0] {
			t.Errorf("%q on a system in %s: our word is %q", c.choice, c.locale, got)
		}
		if got := lang.L("Cancel"); got != words[c.want][1] {
			t.Errorf("%q on a system in %s: Fyne's word is %q", c.choice, c.locale, got)
		}
	}
}

func TestAnUnknownLanguageIsRefused(t *testing.T) {
	if err := Load("tlh"); err == nil || !strings.Contains(err.Error(), "tlh") {
		t.Errorf("a language that is not there: %v", err)
	}
}

func TestMessages(t *testing.T) {
	if err := Load("en"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("The disk makes noises."), "The disk makes noises."},
		{&app.Message{Key: "tool_unknown", Args: map[string]string{"server": "a", "tool": "{{.server}}", "tools": "x, y"}},
			"The server a has no tool named {{.server}}; it has: x, y."},
		{&app.Message{Key: "stopped"}, "Stopped."},
		{&app.Message{Key: "a key of a later core", Args: map[string]string{"detail": "What happened."}}, "What happened."},
		{fmt.Errorf("opening: %w", fs.ErrPermission), "opening: permission denied Check who may read and write there."},
	} {
		if got := Message(c.err); got != c.want {
			t.Errorf("%v is worded %q, not %q", c.err, got, c.want)
		}
	}
}

// TestEveryMessageOfTheCoreHasWords reads the keys from the core's source.
func TestEveryMessageOfTheCoreHasWords(t *testing.T) {
	t.Parallel()
	texts, err := assets.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	keys := messageKeys(t, "../../app")
	if len(keys) < 15 {
		t.Fatalf("only %d messages of the core were found", len(keys))
	}
	for _, key := range keys {
		if texts["message."+key] == "" {
			t.Errorf("the core's message %q has no text", key)
		}
	}
}
