package language

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"steward/assets"
)

// sources parses the program's files below a directory, without tests and without the terminal's own words.
func sources(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/headless/") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, files
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// messageKeys lists the keys of app.Message literals, and of the table in Explain.
func messageKeys(t *testing.T, dir string) []string {
	t.Helper()
	found := make(map[string]bool)
	_, files := sources(t, dir)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			l, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if id, ok := l.Type.(*ast.Ident); ok && id.Name == "Message" {
				for _, e := range l.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && fmt.Sprint(kv.Key) == "Key" {
						if key, ok := literal(kv.Value); ok {
							found[key] = true
						}
					}
				}
			}
			if l.Type == nil && len(l.Elts) == 2 { // {storage.ErrNewer, "folder_newer"}
				if s, ok := l.Elts[0].(*ast.SelectorExpr); ok {
					if key, ok := literal(l.Elts[1]); ok && !strings.Contains(key, " ") && s.Sel.IsExported() {
						found[key] = true
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// showing are the calls whose text a person reads, with the place of that text among the arguments.
var showing = map[string][]int{
	"widget.NewLabel": {0}, "widget.NewLabelWithStyle": {0}, "widget.NewButton": {0}, "widget.NewButtonWithIcon": {0},
	"widget.NewCheck": {0}, "widget.NewCard": {0, 1}, "widget.NewFormItem": {0}, "widget.NewAccordionItem": {0},
	"widget.NewHyperlink": {0}, "widget.NewRichTextWithText": {0}, "widget.NewTextGridFromString": {0},
	"canvas.NewText": {0}, "container.NewTabItem": {0}, "container.NewTabItemWithIcon": {0},
	"dialog.NewInformation": {0, 1}, "dialog.ShowInformation": {0, 1}, "dialog.NewConfirm": {0, 1}, "dialog.ShowConfirm": {0, 1},
	"dialog.NewCustom": {0, 1}, "dialog.ShowCustom": {0, 1}, "dialog.NewForm": {0, 1, 2}, "dialog.ShowForm": {0, 1, 2},
	"dialog.NewCustomConfirm": {0, 1, 2}, "dialog.ShowCustomConfirm": {0, 1, 2}, "dialog.NewCustomWithoutButtons": {0},
	"fyne.NewMenu": {0}, "fyne.NewMenuItem": {0}, "fyne.NewMenuItemWithIcon": {0}, "fyne.NewNotification": {0, 1},
	".SetPlaceHolder": {0}, ".SetText": {0}, ".SetTitle": {0}, ".NewWindow": {0}, ".NewLabel": {0},
}

// shownFields are the fields whose text a person reads.
var shownFields = []string{"PlaceHolder", "HintText", "Text", "Label", "Title", "SubmitText", "CancelText"}

func readable(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// faults tells what is wrong with a file's texts: a key that has no text, or a text that has no key.
func faults(set *token.FileSet, file *ast.File, texts map[string]string) []string {
	var found []string
	say := func(n ast.Node, format string, args ...any) {
		found = append(found, set.Position(n.Pos()).String()+": "+fmt.Sprintf(format, args...))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name := fmt.Sprintf("%v.%s", s.X, s.Sel.Name)
			if name == "lang.X" || name == "lang.XN" {
				if key, ok := literal(n.Args[0]); ok && texts[key] == "" {
					say(n, "the key %q has no text", key)
				}
				return true
			}
			places, ok := showing[name]
			if !ok {
				places = showing["."+s.Sel.Name]
			}
			for _, i := range places {
				if i < len(n.Args) {
					if text, ok := literal(n.Args[i]); ok && readable(text) {
						say(n, "the text %q is in one language only", text)
					}
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(shownFields, key.Name) {
				if text, ok := literal(n.Value); ok && readable(text) {
					say(n, "the text %q is in one language only", text)
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				s, ok := left.(*ast.SelectorExpr)
				if !ok || i >= len(n.Rhs) || !slices.Contains(shownFields, s.Sel.Name) {
					continue
				}
				if text, ok := literal(n.Rhs[i]); ok && readable(text) {
					say(n, "the text %q is in one language only", text)
				}
			}
		}
		return true
	})
	return found
}

func TestEveryTextOfTheWindowIsTranslated(t *testing.T) {
	t.Parallel()
	texts, err := assets.Texts("en")
	if err != nil {
		t.Fatal(err)
	}
	set, files := sources(t, "..")
	if len(files) < 4 {
		t.Fatalf("only %d files of the window were found", len(files))
	}
	for _, file := range files {
		for _, fault := range faults(set, file, texts) {
			t.Error(fault)
		}
	}
}

func TestUntranslatedTextsAreNoticed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		`widget.NewButton("Send", nil)`:                            1,
		`widget.NewButton(lang.X("chat.send", "Send"), nil)`:       0,
		`widget.NewButton(lang.X("chat.sent", "Sent"), nil)`:       1,
		`dialog.ShowInformation("Title", "Text", w)`:               2,
		`e.SetPlaceHolder("Search")`:                               1,
		`e.SetPlaceHolder("…")`:                                    0,
		`e.PlaceHolder = "Search"`:                                 1,
		`_ = canvas.Text{Text: "Hello"}`:                           1,
		`a.NewWindow("Steward")`:                                   1,
		`uitext.NewLabel("Hello", style)`:                          1,
		`x.Read("file")`:                                           0,
		`container.NewTabItem(lang.X("servers.log", ""), nil)`:     0,
		`fyne.NewMenuItem("复制", nil)`:                              1,
		`widget.NewLabelWithStyle("Hello", fyne.TextAlignLeading)`: 1,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{"chat.send": "Send", "servers.log": "Log"}
		if found := faults(set, file, texts); len(found) != want {
			t.Errorf("%s has %d faults, found: %v", code, want, found)
		}
	}
}
