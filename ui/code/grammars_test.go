package code

import (
	"slices"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// The languages whose lexers are more than a grammar, which data cannot express.
var beyond = []string{"Common Lisp", "ERB", "EmacsLisp", "Go HTML Template", "HTTP", "Haxe", "PHTML", "Raku", "Svelte", "YAML+Jinja"}

func TestEveryLanguageOfTheLibraryIsThere(t *testing.T) {
	t.Parallel()
	for _, theirs := range lexers.GlobalLexerRegistry.Lexers {
		c := theirs.Config()
		if slices.Contains(beyond, c.Name) {
			continue
		}
		ours := registry().Get(c.Name)
		if ours == nil || ours.Config().Name != c.Name || !slices.Equal(ours.Config().Aliases, c.Aliases) || !slices.Equal(ours.Config().Filenames, c.Filenames) {
			t.Errorf("%s is missing or not what it was: run assets/grammars/make.go", c.Name)
		}
	}
}

// What the data says is what the library says, word by word.
func TestTheGrammarsAreTheLibrarys(t *testing.T) {
	t.Parallel()
	for lang, src := range map[string]string{
		"go":         "package main\n\n// hello\nfunc main() { var x = 0x1F; s := \"a\\n\"; for range 3 { println(x, s, 'c', true) } }\n",
		"python":     "import os\n@dec\ndef f(x: int) -> str:\n    \"\"\"doc\"\"\"\n    return f\"{x!r} {1e3}\"  # done\n",
		"javascript": "const f = async (x) => `${x + 1}`; // c\nclass A extends B { get y() { return /re/g } }\n",
		"typescript": "interface A<T> { readonly x?: T }\nexport type B = A<string> | null;\n",
		"json":       "{\"a\": [1, -2.5e3, true, null, \"é\\u00e9\"]}\n",
		"yaml":       "a: &x 1\nb:\n  - *x\n  - \"q\" # c\n",
		"bash":       "#!/bin/sh\nfor f in *.txt; do echo \"$f\" | grep -q 'x' && exit 1; done\n",
		"html":       "<!DOCTYPE html><p class=\"a\">x<script>let a = 1</script><style>p { color: red }</style></p>\n",
		"sql":        "SELECT a, count(*) FROM t WHERE b LIKE '%x' -- c\nGROUP BY a;\n",
		"rust":       "fn main() -> Result<(), E> { let x: &'a str = \"y\"; println!(\"{}\", x); }\n",
		"c":          "#include <stdio.h>\nint main(void) { return 0x1u; /* c */ }\n",
		"java":       "@Override public int f(String s) { return s == null ? 1 : 2; }\n",
		"diff":       "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
		"markdown":   "# H\n\n*a* **b** `c`\n\n- x\n",
		"xml":        "<?xml version=\"1.0\"?><a b=\"c\"><!-- d --></a>\n",
	} {
		ours, theirs := tokens(t, registry().Get(lang), src), tokens(t, lexers.Get(lang), src)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s is read as\n%v\nand the library reads\n%v", lang, ours, theirs)
		}
		if len(Highlight(lang, src)) < 2 {
			t.Errorf("%s is not coloured", lang)
		}
	}
}

func tokens(t *testing.T, l chroma.Lexer, src string) []chroma.Token {
	t.Helper()
	next, err := l.Tokenise(nil, src)
	if err != nil {
		t.Fatal(err)
	}
	return next.Tokens()
}
