package markdown

import (
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"steward/app/clean"
	"steward/ui/text"
	"steward/ui/theme"
)

// inlines gives the runs of a block.
func (c *converter) inlines(n ast.Node, look text.Run) []text.Run {
	in := &inliner{c: c}
	in.children(n, look)
	in.flush()
	return in.runs
}

type inliner struct {
	c    *converter
	runs []text.Run
	look text.Run // of what is in buf
	buf  strings.Builder
}

// add appends text, to the run before when it looks the same.
func (in *inliner) add(s string, look text.Run) {
	if s == "" {
		return
	}
	if look != in.look {
		in.flush()
		in.look = look
	}
	in.buf.WriteString(s)
}

func (in *inliner) flush() {
	if in.buf.Len() > 0 {
		run := in.look
		run.Text = in.buf.String()
		in.runs = append(in.runs, run)
		in.buf = strings.Builder{}
	}
}

func (in *inliner) children(n ast.Node, look text.Run) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		in.node(child, look)
	}
}

func (in *inliner) node(n ast.Node, look text.Run) {
	src := in.c.src
	switch n := n.(type) {
	case *ast.Text:
		s := string(n.Segment.Value(src))
		if !n.IsRaw() {
			s = decode(s)
		}
		in.add(s, look)
		if n.SoftLineBreak() || n.HardLineBreak() { // who writes in a chat means the line to end where it ends
			in.add("\n", look)
		}
	case *ast.String:
		in.add(string(n.Value), look)
	case *ast.CodeSpan:
		look.Mono, look.Ground = true, theme.Hover
		in.add(strings.ReplaceAll(rawText(n, src), "\n", " "), look)
	case *ast.Emphasis:
		if n.Level >= 2 {
			look.Bold = true
		} else {
			look.Italic = true
		}
		in.children(n, look)
	case *east.Strikethrough:
		look.Strike = true
		in.children(n, look)
	case *ast.Link:
		look.Link = decode(string(n.Destination))
		in.children(n, look)
	case *ast.AutoLink:
		look.Link = string(n.URL(src))
		in.add(string(n.Label(src)), look)
	case *ast.Image:
		in.image(n, look)
	case *ast.RawHTML:
		in.html(n, look)
	case *east.TaskCheckBox:
		// drawn as the item's box
	default:
		in.children(n, look)
	}
}

// image puts a placeholder in place of a picture. It leads to the picture, which is fetched by nobody here.
func (in *inliner) image(n *ast.Image, look text.Run) {
	link := decode(string(n.Destination))
	host := ""
	if u, err := url.Parse(link); err == nil {
		host = u.Host
	}
	alt := &inliner{c: in.c}
	alt.children(n, text.Run{})
	alt.flush()
	var words strings.Builder
	for _, r := range alt.runs {
		words.WriteString(r.Text)
	}
	if look.Link == "" {
		look.Link = link
	}
	look.Ground = theme.Hover
	in.add(in.c.words.Picture(host, words.String()), look)
}

func (in *inliner) html(n *ast.RawHTML, look text.Run) {
	var all strings.Builder
	for i := range n.Segments.Len() {
		s := n.Segments.At(i)
		all.Write(s.Value(in.c.src))
	}
	switch s := all.String(); strings.ToLower(strings.TrimRight(strings.Trim(s, "<>"), " /")) {
	case "br":
		in.add("\n", look)
	default:
		in.add(s, look)
	}
}

// rawText is the source of what is inside a code span.
func rawText(n ast.Node, src []byte) string {
	var all strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch t := child.(type) {
		case *ast.Text:
			all.Write(t.Segment.Value(src))
		case *ast.String:
			all.Write(t.Value)
		}
	}
	return all.String()
}

// longestEntity is more than the name of any character in HTML has bytes.
const longestEntity = 40

// decode resolves backslash escapes and entities (CommonMark 2.4, 2.5). An entity can name any character, so what it
// gives is cleaned like the source was.
func decode(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && punctuation(s[i+1]):
			i++
			out.WriteByte(s[i])
		case s[i] == '&':
			end := strings.IndexByte(s[i:min(len(s), i+longestEntity)], ';')
			if end < 0 {
				out.WriteByte('&')
				continue
			}
			name := s[i : i+end+1]
			if value := html.UnescapeString(name); value != name {
				out.WriteString(clean.Clean(value))
				i += end
				continue
			}
			out.WriteByte('&')
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

func punctuation(b byte) bool {
	return b >= '!' && b <= '/' || b >= ':' && b <= '@' || b >= '[' && b <= '`' || b >= '{' && b <= '~'
}
