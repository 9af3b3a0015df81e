package code

import (
	"crypto/sha256"
	"io/fs"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"github.com/alecthomas/chroma/v2"

	"steward/assets"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	maxHighlight = 200 << 10       // bytes; longer code stays plain
	maxTime      = 2 * time.Second // for one text; what is not reached stays plain
	maxCached    = 4 << 20         // bytes of source whose runs are kept
)

// registry is every language that is known, read when the first code is coloured (tens of milliseconds). A grammar that
// cannot be read leaves its language plain.
var registry = sync.OnceValue(func() *chroma.LexerRegistry {
	r := chroma.NewLexerRegistry()
	grammars, err := assets.Grammars()
	if err != nil {
		return r
	}
	names, err := fs.Glob(grammars, "*.xml")
	if err != nil {
		return r
	}
	for _, name := range names {
		if lexer, err := chroma.NewXMLLexer(grammars, name); err == nil {
			r.Register(lexer)
		}
	}
	return r
})

// Highlight splits code into runs of one colour. It is slow (some megabytes a second, and tens of milliseconds for the
// first text in a language) and pure: call it off Fyne's thread, from any goroutine. The runs together are src, byte by
// byte. nil means there is nothing to colour: unknown language, too long, or not to be read by the lexer without loss.
func Highlight(lang, src string) []text.Run {
	if src == "" || len(src) > maxHighlight {
		return nil
	}
	lexer := registry().Get(lang)
	if lang == "" || lexer == nil {
		return nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, src)
	if err != nil {
		return nil
	}
	var runs []text.Run
	at, first := 0, 0
	stop := time.Now().Add(maxTime)
	for n := 0; ; n++ {
		token := next()
		if token == chroma.EOF {
			break
		}
		value := token.Value
		if at+len(value) > len(src) { // a newline added at the end
			value = strings.TrimSuffix(value, "\n")
		}
		if !strings.HasPrefix(src[at:], value) {
			return nil
		}
		runs, first = appendRun(runs, src, first, at, at+len(value), colour(token.Type))
		at += len(value)
		if n%64 == 0 && time.Now().After(stop) {
			break
		}
	}
	runs, _ = appendRun(runs, src, first, at, len(src), "")
	return runs
}

// appendRun adds src[from:to]; first is where the last run begins. Runs of one colour are merged, and white space into
// the run before: fewer objects to draw.
func appendRun(runs []text.Run, src string, first, from, to int, name fyne.ThemeColorName) ([]text.Run, int) {
	if from == to {
		return runs, first
	}
	if n := len(runs) - 1; n >= 0 && (runs[n].Color == name || strings.TrimSpace(src[from:to]) == "") {
		runs[n].Text = src[first:to]
		return runs, first
	}
	return append(runs, text.Run{Text: src[from:to], Color: name}), from
}

// colour maps chroma's token types to the theme's few colours, so that code follows the theme.
func colour(t chroma.TokenType) fyne.ThemeColorName {
	switch {
	case t.InCategory(chroma.Comment):
		return theme.SynComment
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin:
		return theme.SynType
	case t.InCategory(chroma.Keyword):
		return theme.SynKeyword
	case t.InSubCategory(chroma.LiteralString):
		return theme.SynString
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.KeywordConstant:
		return theme.SynNumber
	case t == chroma.NameFunction, t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameDecorator, t == chroma.NameProperty:
		return theme.SynName
	case t.InCategory(chroma.Punctuation), t.InCategory(chroma.Operator):
		return theme.SynPunct
	case t == chroma.GenericDeleted:
		return theme.Refusal
	case t == chroma.GenericInserted:
		return theme.Good
	}
	return ""
}

// cache keeps the runs of what was highlighted, oldest out first.
var cache = struct {
	sync.Mutex
	runs  map[cacheKey][]text.Run
	order []cacheKey
	bytes int
}{runs: map[cacheKey][]text.Run{}}

type cacheKey struct {
	lang string
	hash [sha256.Size]byte
	size int
}

func keyOf(lang, src string) cacheKey { return cacheKey{lang, sha256.Sum256([]byte(src)), len(src)} }

func cached(key cacheKey) ([]text.Run, bool) {
	cache.Lock()
	defer cache.Unlock()
	runs, ok := cache.runs[key]
	return runs, ok
}

func keep(key cacheKey, runs []text.Run) {
	cache.Lock()
	defer cache.Unlock()
	if _, ok := cache.runs[key]; ok {
		return
	}
	cache.runs[key] = runs
	cache.order = append(cache.order, key)
	cache.bytes += key.size
	for cache.bytes > maxCached && len(cache.order) > 1 {
		old := cache.order[0]
		cache.order = cache.order[1:]
		cache.bytes -= old.size
		delete(cache.runs, old)
	}
}

// highlight gives the runs at once when they are known; else it has them made and calls then with them on Fyne's thread.
func highlight(pool *Pool, lang, src string, then func([]text.Run)) []text.Run {
	if lang == "" || src == "" || len(src) > maxHighlight {
		return nil
	}
	key := keyOf(lang, src)
	if runs, ok := cached(key); ok {
		return runs
	}
	if pool == nil {
		return nil
	}
	var runs []text.Run
	pool.Run(func() {
		runs = Highlight(lang, src)
		keep(key, runs)
	}, func() {
		if runs != nil {
			then(runs)
		}
	})
	return nil
}
