// Package environment prepares the process's environment for the window's toolkit, before that begins to work.
//
// Fyne reads some variables while its packages are initialised, and says on stderr what it does not like about them,
// even in a process that never opens a window. So this package does its work in init. Go initialises packages in the
// order of their import paths as soon as what they import is ready (Go specification, "Program initialization"): this
// one imports os and strings alone and is ready before Fyne's, which need far more. A test of main holds that.
package environment

import (
	"os"
	"strings"
)

// cacheTime is how long Fyne keeps what it drew after its last use. Its own minute is long for a text that grows with
// every piece of an answer: each state of its last line is a texture.
const cacheTime = "15s"

var before = begin()

// variable is what stood in the environment.
type variable struct {
	value string
	set   bool
}

func begin() variable {
	if os.Getenv("FYNE_CACHE") == "" {
		os.Setenv("FYNE_CACHE", cacheTime)
	}
	var v variable
	v.value, v.set = os.LookupEnv(all)
	os.Setenv(all, "C")
	return v
}

const all = "LC_ALL"

// Restore gives the environment back as it was found, apart from Fyne's own variables. main calls it first, before any
// goroutine or child process could see it.
func Restore() {
	if before.set {
		os.Setenv(all, before.value)
	} else {
		os.Unsetenv(all)
	}
}

// ForCommand prepares what a command in the terminal alone needs. It is called before the command begins.
func ForCommand() { forMemory() }

// ForWindow prepares what the window alone needs. It is called before the toolkit's app is made.
func ForWindow() {
	forLanguage()
	forBus("/run/user")
	forCache()
}

// forCache makes the person's folder of caches where there is none yet (XDG Base Directory Specification: 0700). The
// toolkit makes its own inside, and complains where the outer one is missing.
func forCache() {
	if dir, err := os.UserCacheDir(); err == nil {
		_ = os.MkdirAll(dir, 0o700) // without it the toolkit does without, and says so
	}
}

// forLanguage lets Fyne find a language in a locale that names none, such as C.UTF-8: it would complain at every look.
// The characters' encoding, which input methods need, stays what it is.
func forLanguage() {
	locale := ""
	for _, name := range [...]string{all, "LC_MESSAGES", "LANG"} {
		if locale = os.Getenv(name); locale != "" {
			break
		}
	}
	if locale == "" || locale == "C" || locale == "POSIX" {
		return
	}
	languages := os.Getenv("LANGUAGE")
	if languages == "" {
		languages = locale
	}
	var named []string
	for l := range strings.SplitSeq(languages, ":") {
		if namesLanguage(l) {
			named = append(named, l)
		}
	}
	if len(named) == 0 {
		named = []string{"en"}
	}
	if list := strings.Join(named, ":"); list != languages {
		os.Setenv("LANGUAGE", list)
	}
}

// namesLanguage says whether a locale begins with a language of ISO 639: two or three letters.
func namesLanguage(locale string) bool {
	word, _, _ := strings.Cut(locale, ".")
	word, _, _ = strings.Cut(word, "@")
	word, _, _ = strings.Cut(word, "_")
	word, _, _ = strings.Cut(word, "-")
	if len(word) != 2 && len(word) != 3 {
		return false
	}
	for _, c := range []byte(strings.ToLower(word)) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}
