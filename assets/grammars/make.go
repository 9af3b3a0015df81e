//go:build ignore

// This program writes grammars.zip beside it: the grammars of the pinned chroma, one XML file for each language, in
// chroma's own form. Run it in this folder (go run make.go) after chroma was changed in go.mod; a test of ui/code fails
// until then. (chroma's own list of lexers is not linked: it reads every grammar while the program starts.)
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

func main() {
	if err := write("grammars.zip"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(path string) error {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	names := lexers.Names(false)
	slices.Sort(names)
	for _, name := range names {
		data, err := grammar(lexers.Get(name))
		if err != nil {
			fmt.Printf("left out: %s: %v\n", name, err)
			continue
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: strings.ToLower(strings.ReplaceAll(name, "/", "-")) + ".xml", Method: zip.Deflate})
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// grammar gives a lexer as XML. What only code can express, inside of a grammar, becomes a plain token.
func grammar(l chroma.Lexer) ([]byte, error) {
	lexer, ok := l.(*chroma.RegexLexer)
	if !ok && l == lexers.Markdown { // beside its grammar it knows a head in YAML
		lexer, ok = reflect.ValueOf(l).Elem().FieldByName("Lexer").Interface().(*chroma.RegexLexer)
	}
	if !ok {
		return nil, errors.New("more than a grammar")
	}
	data, err := chroma.Marshal(lexer)
	if err == nil || !errors.Is(err, chroma.ErrNotSerialisable) {
		return data, err
	}
	plain := chroma.Text
	if l == lexers.Go {
		plain = chroma.LiteralString // a raw string, which could be a template
	}
	rules, err := lexer.Rules()
	if err != nil {
		return nil, err
	}
	rules = rules.Clone()
	for state, list := range rules {
		for i, rule := range list {
			one, err := chroma.NewLexer(lexer.Config(), func() chroma.Rules { return chroma.Rules{"root": {rule}} })
			if err != nil {
				return nil, err
			}
			if _, err := chroma.Marshal(one); errors.Is(err, chroma.ErrNotSerialisable) {
				rules[state][i].Type = plain
			}
		}
	}
	again, err := chroma.NewLexer(lexer.Config(), func() chroma.Rules { return rules })
	if err != nil {
		return nil, err
	}
	return chroma.Marshal(again)
}
