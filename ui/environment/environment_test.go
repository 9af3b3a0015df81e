package environment

import (
	"os"
	"testing"
)

func TestForWindowNamesALanguageOnlyWhereThereIsNone(t *testing.T) {
	for _, c := range []struct{ locale, languages, want string }{
		{"C.UTF-8", "", "en"},
		{"nonsense.UTF-8", "", "en"},
		{"zh_CN.UTF-8", "", ""},
		{"en_US", "C:de:x", "de"},
		{"en_US", "zh_CN:en", "zh_CN:en"},
		{"C", "", ""},
		{"", "", ""},
	} {
		for _, name := range []string{all, "LC_MESSAGES", "LANG", "LANGUAGE"} {
			t.Setenv(name, "")
		}
		t.Setenv("LANG", c.locale)
		t.Setenv("LANGUAGE", c.languages)
		forLanguage()
		if got := os.Getenv("LANGUAGE"); got != c.want {
			t.Errorf("LANG=%s LANGUAGE=%s: LANGUAGE becomes %q, want %q", c.locale, c.languages, got, c.want)
		}
	}
}

func TestRestoreGivesBackWhatWas(t *testing.T) {
	for _, v := range []variable{{"de_DE", true}, {"", true}, {"", false}} {
		t.Setenv(all, "C")
		before = v
		Restore()
		if got, set := os.LookupEnv(all); got != v.value || set != v.set {
			t.Errorf("%s is %q (%v), want %q (%v)", all, got, set, v.value, v.set)
		}
	}
	if os.Getenv("FYNE_CACHE") == "" {
		t.Error("the toolkit's cache keeps its own time")
	}
}
