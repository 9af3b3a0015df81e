// Package markdown shows Markdown (CommonMark with the tables, strikethrough, task lists and bare links of GFM) through
// ui/text: goldmark's tree becomes blocks of styled runs, nothing of it ever reaches Fyne's own Markdown.
//
// Raw HTML is text, pictures are placeholders that name their host and are never fetched, and of all links only those to
// http and https can be opened, through OnLink alone. The source has been cleaned (app/clean) by the caller; characters
// that entities such as &#x202E; bring in afterwards are cleaned here.
package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"fyne.io/fyne/v2"

	"steward/ui/text"
	"steward/ui/theme"
)

// A Block is one top-level piece of a source. The Sources of all blocks together are the source, byte by byte.
type Block struct {
	Source string
	Parts  []Part
}

// A Part is one block of a view: a paragraph, an item of a list, a table. Of code, Block says only where it stands.
type Part struct {
	Block text.Block
	Code  *Code
}

// Code is the content of a code block, without its fence and its last newline.
type Code struct{ Lang, Source string }

const (
	indent   = 5.5 * theme.Step // of an item below its list
	barStep  = 3.5 * theme.Step // of what is quoted
	apart    = 2.5 * theme.Step // between blocks
	together = theme.Step       // between the items of a tight list
	deepest  = 8                // levels of indentation shown; deeper ones stand below each other
)

var reader = goldmark.New(goldmark.WithExtensions(
	extension.Table, extension.Strikethrough, extension.TaskList,
	extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
)).Parser()

// Plain gives the texts of a source without marks, block by block, as a view shows them. Like [Parse] it is pure.
func Plain(src string, words text.Words) []string {
	var out []string
	for _, b := range Parse(src, words) {
		for _, part := range b.Parts {
			if part.Code != nil {
				out = append(out, part.Code.Source)
			} else {
				out = append(out, part.Block.Plain())
			}
		}
	}
	return out
}

// Parse reads a whole source. It is pure and may be called from any goroutine; for sources above some tens of kilobytes
// call it off Fyne's thread, since there are sources that take goldmark quadratic time. words gives the placeholders of
// pictures and must be safe to call there.
func Parse(src string, words text.Words) []Block {
	if src == "" {
		return nil
	}
	raw := []byte(src)
	doc := reader.Parse(gtext.NewReader(raw), parser.WithContext(parser.NewContext()))
	c := &converter{src: raw, words: words}
	var blocks []Block
	start := 0
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if at := lineStart(src, n.Pos()); at > start && len(blocks) > 0 {
			blocks[len(blocks)-1].Source = src[start:at]
			start = at
			blocks = append(blocks, Block{})
		} else if len(blocks) == 0 {
			blocks = append(blocks, Block{})
		}
		last := &blocks[len(blocks)-1]
		c.parts = last.Parts
		c.block(n, place{before: apart})
		last.Parts = c.parts
	}
	if len(blocks) == 0 { // nothing but blank lines
		return []Block{{Source: src}}
	}
	blocks[len(blocks)-1].Source = src[start:]
	return gathered(blocks)
}

// gathered joins pieces that show nothing (link definitions) to the piece after them, or at the end before them: what
// stands for a piece on the screen is then copied with all of its source.
func gathered(blocks []Block) []Block {
	out := blocks[:0]
	for i, b := range blocks {
		if len(b.Parts) > 0 || len(blocks) == 1 {
			out = append(out, b)
			continue
		}
		if i+1 < len(blocks) {
			blocks[i+1].Source = b.Source + blocks[i+1].Source
		} else if len(out) > 0 {
			out[len(out)-1].Source += b.Source
		} else {
			out = append(out, b)
		}
	}
	return out
}

func lineStart(src string, at int) int {
	if at <= 0 || at > len(src) {
		return 0
	}
	return strings.LastIndexByte(src[:at], '\n') + 1
}

// place is where a block stands in those around it.
type place struct {
	indent float32
	bars   []float32
	before float32
	marker string
	task   text.Task
	level  int
}

// deeper gives the place of what stands inside.
func (p place) deeper(by float32) place {
	p.level++
	if p.level <= deepest {
		p.indent += by
	}
	return p
}

type converter struct {
	src   []byte
	words text.Words
	parts []Part
}

func (c *converter) add(at *place, b text.Block) {
	b.Indent, b.Bars, b.Before, b.Marker, b.Task = at.indent, at.bars, at.before, at.marker, at.task
	c.parts = append(c.parts, Part{Block: b})
	at.marker, at.task = "", text.NoTask
}

func (c *converter) block(n ast.Node, at place) {
	switch n := n.(type) {
	case *ast.Heading:
		if at.level == 0 {
			at.before = apart + 2*theme.Step
		}
		size := [...]float32{20, 18, 16, 14}[min(max(n.Level, 1), 4)-1]
		c.add(&at, text.Block{Size: size, Runs: c.inlines(n, text.Run{Bold: true})})
	case *ast.Paragraph, *ast.TextBlock:
		c.add(&at, text.Block{Runs: c.inlines(n, at.look())})
	case *ast.FencedCodeBlock:
		c.code(n, string(n.Language(c.src)), at)
	case *ast.CodeBlock:
		c.code(n, "", at)
	case *ast.HTMLBlock:
		s := c.linesOf(n)
		if n.HasClosure() {
			s += string(n.ClosureLine.Value(c.src))
		}
		run := at.look()
		run.Text = strings.TrimSuffix(s, "\n")
		c.add(&at, text.Block{Runs: []text.Run{run}})
	case *ast.ThematicBreak:
		c.add(&at, text.Block{Rule: true})
	case *ast.Blockquote:
		bars := append(at.bars[:len(at.bars):len(at.bars)], at.indent)
		inner := at.deeper(barStep)
		if inner.indent > at.indent {
			inner.bars = bars
		}
		c.inside(n, inner, at.before, apart)
	case *ast.List:
		c.list(n, at)
	case *east.Table:
		c.table(n, at)
	case *ast.LinkReferenceDefinition:
		// nothing to see; its source stays with its block
	default:
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil {
			c.inside(n, at, at.before, apart)
		}
	}
}

// look is the style of text in a place: quoted text is dimmer.
func (p place) look() text.Run {
	if len(p.bars) > 0 {
		return text.Run{Color: theme.Dim}
	}
	return text.Run{}
}

// inside adds the children of a container: the first with before above it, the others with between.
func (c *converter) inside(n ast.Node, at place, before, between float32) {
	at.before = before
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		had := len(c.parts)
		c.block(child, at)
		if len(c.parts) > had {
			at.before, at.marker, at.task = between, "", text.NoTask
		}
	}
}

func (c *converter) list(n *ast.List, at place) {
	between := float32(apart)
	if n.IsTight {
		between = together
	}
	number := n.Start
	before := at.before
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		inner := at.deeper(indent)
		inner.marker = "•"
		if n.IsOrdered() {
			inner.marker = strconv.Itoa(number) + string(rune(n.Marker))
			number++
		}
		if box := taskOf(item); box != nil {
			inner.marker, inner.task = "", text.OpenTask
			if box.IsChecked {
				inner.task = text.DoneTask
			}
		}
		had := len(c.parts)
		c.inside(item, inner, before, between)
		if len(c.parts) == had {
			inner.before = before
			c.add(&inner, text.Block{})
		}
		before = between
	}
}

func taskOf(item ast.Node) *east.TaskCheckBox {
	if item.FirstChild() == nil {
		return nil
	}
	box, _ := item.FirstChild().FirstChild().(*east.TaskCheckBox)
	return box
}

func (c *converter) code(n ast.Node, lang string, at place) {
	c.add(&at, text.Block{Code: true, Ground: theme.CodeGround})
	c.parts[len(c.parts)-1].Code = &Code{Lang: decode(lang), Source: strings.TrimSuffix(c.linesOf(n), "\n")}
}

func (c *converter) linesOf(n ast.Node) string {
	var all strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		s := lines.At(i)
		all.Write(s.Value(c.src))
	}
	return all.String()
}

func (c *converter) table(n *east.Table, at place) {
	t := &text.Table{}
	for _, a := range n.Alignments {
		t.Align = append(t.Align, map[east.Alignment]fyne.TextAlign{
			east.AlignRight: fyne.TextAlignTrailing, east.AlignCenter: fyne.TextAlignCenter,
		}[a])
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []text.Cell
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			runs := c.inlines(cell, at.look())
			for i := range runs {
				runs[i].Text = strings.ReplaceAll(runs[i].Text, "\n", " ")
			}
			cells = append(cells, runs)
		}
		for len(cells) < len(n.Alignments) {
			cells = append(cells, nil)
		}
		t.Rows = append(t.Rows, cells)
	}
	c.add(&at, text.Block{Table: t, Size: theme.MonoSize}) // a step smaller, as in print
}
