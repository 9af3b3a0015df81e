package markdown

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
)

// message is some 20 KB of what a model writes.
func message() string {
	var b strings.Builder
	for i := 0; b.Len() < 20<<10; i++ {
		fmt.Fprintf(&b, "## Part %d 第%d部分\n\nThe report lists **%d risks** and *some* `code`, see https://example.com/%d for more. 这里是一段中文说明，用来测试换行。Another sentence follows so that the paragraph takes several lines.\n\n- first item\n- second item with `code`\n  - nested\n\n", i, i, i, i)
		if i%6 == 0 {
			b.WriteString("```go\nfunc main() {\n\tfmt.Println(1)\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n")
		}
	}
	return b.String()
}

// steps cuts a message into that many growing beginnings, at rune boundaries.
func steps(src string, n int) []string {
	var out []string
	for i := 1; i <= n; i++ {
		end := len(src) * i / n
		for end < len(src) && src[end]&0xc0 == 0x80 {
			end++
		}
		out = append(out, src[:end])
	}
	return out
}

func draw(w fyne.Widget, width float32) {
	w.Resize(fyne.NewSize(width, w.MinSize().Height))
	test.WidgetRenderer(w).Objects()
}

// BenchmarkStreaming shows 20 KB in 600 updates; the baseline is Fyne's own Markdown.
func BenchmarkStreaming(b *testing.B) {
	updates := steps(message(), 600)
	b.Run("view", func(b *testing.B) {
		for range b.N {
			v := NewView(Config{Words: words()})
			v.Resize(fyne.NewSize(720, 10))
			for i, s := range updates {
				v.SetSource(s, i == len(updates)-1)
				draw(v, 720)
			}
		}
	})
	b.Run("baseline-RichText", func(b *testing.B) {
		for range b.N {
			r := widget.NewRichText()
			r.Wrapping = fyne.TextWrapWord
			r.Resize(fyne.NewSize(720, 10))
			for _, s := range updates {
				r.ParseMarkdown(s)
				draw(r, 720)
			}
		}
	})
}

// BenchmarkRelayout breaks 20 KB anew for another width.
func BenchmarkRelayout(b *testing.B) {
	src := message()
	b.Run("view", func(b *testing.B) {
		v := NewView(Config{Words: words()})
		v.SetSource(src, true)
		draw(v, 720) // the words are measured once; after that only lines are broken anew
		b.ResetTimer()
		for i := range b.N {
			draw(v, 500+float32(i%200))
		}
	})
	b.Run("baseline-RichText", func(b *testing.B) {
		r := widget.NewRichTextFromMarkdown(src)
		r.Wrapping = fyne.TextWrapWord
		draw(r, 720)
		b.ResetTimer()
		for i := range b.N {
			draw(r, 500+float32(i%200))
		}
	})
}

// BenchmarkOpenMegabyte opens 1 MB of plain text: as a message, in a view, and in a viewer of lines.
func BenchmarkOpenMegabyte(b *testing.B) {
	src := strings.Repeat("Some ordinary line of a long text with 中文 in it and more words.\n", 15000)
	b.Run("message", func(b *testing.B) {
		for range b.N {
			v := NewView(Config{Words: words()})
			v.Resize(fyne.NewSize(720, 10))
			v.SetSource(src, true)
			draw(v, 720)
		}
	})
	b.Run("view", func(b *testing.B) {
		for range b.N {
			v := text.NewView(words())
			v.Resize(fyne.NewSize(720, 10))
			v.SetText(src, text.Run{})
			draw(v, 720)
		}
	})
	b.Run("pane", func(b *testing.B) {
		for range b.N {
			p := text.NewPane(words())
			p.Resize(fyne.NewSize(720, 500))
			p.SetBlocks([]*text.Block{{Runs: []text.Run{{Text: src}}, Code: true, NoWrap: true, Number: true}})
			test.WidgetRenderer(p).Objects()
		}
	})
	b.Run("baseline-RichText-100KB", func(b *testing.B) {
		for range b.N {
			r := widget.NewRichTextFromMarkdown(src[:100<<10])
			r.Wrapping = fyne.TextWrapWord
			draw(r, 720)
		}
	})
}
