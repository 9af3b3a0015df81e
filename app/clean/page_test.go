package clean

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the table into docs/text.md")

const (
	page  = "../../docs/text.md"
	begin = "<!-- table: begin -->\n"
	end   = "<!-- table: end -->\n"
)

// pageTable is the table of classes as the page shows it. Both functions are
// run on the examples, so that the page cannot promise what they do not do.
func pageTable() string {
	var b strings.Builder
	b.WriteString("| Class | Characters | Clean | Reveal | Example | Clean gives | Reveal gives |\n|---|---|---|---|---|---|---|\n")
	for _, c := range classes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", c.name, c.members, c.says, c.reveal, code(c.example), code(Clean(c.example)), code(Reveal(c.example)))
	}
	return b.String()
}

// code writes a text as it is where nothing in it is odd, and otherwise as Go
// would quote it, so that the page itself holds nothing odd.
func code(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && r != open && classOf(r) != none || !unicode.IsGraphic(r) }) || !utf8.ValidString(s) {
		s = strings.Trim(fmt.Sprintf("%q", s), `"`)
		for r := rune(0xa0); r <= unicode.MaxRune; r++ {
			if classOf(r) != none && r != open && strings.ContainsRune(s, r) {
				s = strings.ReplaceAll(s, string(r), strings.Trim(fmt.Sprintf("%+q", r), "'"))
			}
		}
	}
	s = longGap.ReplaceAllStringFunc(s, func(gap string) string { return fmt.Sprintf("…(%d spaces)…", len(gap)) })
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

var longGap = regexp.MustCompile(" {9,}")

func TestPageShowsTheTable(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/text.md holds no %q and %q", begin, end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+"\n"+pageTable()+"\n"+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if strings.TrimSpace(table) != strings.TrimSpace(pageTable()) {
		t.Errorf("docs/text.md differs from the table in code; run go test ./app/clean -run TestPageShowsTheTable -update\n%s", pageTable())
	}
}

func TestClassesDoNotOverlap(t *testing.T) {
	t.Parallel()
	for i := 1; i < len(lookup); i++ {
		if lookup[i].lo <= lookup[i-1].hi {
			t.Errorf("%U is in two classes, %q and %q", lookup[i].lo, classes[lookup[i-1].class].name, classes[lookup[i].class].name)
		}
	}
	for _, e := range lookup {
		for r := e.lo; r <= e.hi; r++ {
			if plain(r) {
				t.Fatalf("%U is odd and in a block that is not searched", r)
			}
		}
	}
}
