package theme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// Every mark that the window's code draws is in its own fonts: on a machine without others it would be a box.
func TestMarksInTheCodeAreInTheFonts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "headless") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for _, r := range s {
				if r < 0x80 || !unicode.IsPrint(r) {
					continue
				}
				seen++
				if resource, _ := FontFor(r, Style{}); resource == nil {
					t.Errorf("%s draws %c (%U), which no font of the window has", path, r, r)
				}
			}
			return true
		})
	}
	if seen < 20 {
		t.Errorf("only %d marks were looked at", seen)
	}
}
