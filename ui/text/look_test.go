package text

import (
	"image/png"
	"os"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"

	"fyne.io/fyne/v2/test"
	"steward/ui/theme"
)

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		a := test.NewTempApp(t)
		th := theme.New(variant)
		a.Settings().SetTheme(th)
		v := NewView(Words{})
		v.SetBlocks([]*Block{
			{Runs: []Run{{Text: "Report of the week 周报", Bold: true}}, Size: 18},
			{Before: 8, Runs: []Run{{Text: "The report lists "}, {Text: "2 risks 两个风险", Bold: true}, {Text: ": see "}, {Text: "https://example.com/报告", Link: "https://example.com/x"}, {Text: " and "}, {Text: "go test ./... 测试", Mono: true, Ground: theme.CodeGround}, {Text: ". 中文段落需要按照 UAX #14 的规则换行,标点符号不能出现在行首。混排 English words 也要正确处理。 👩‍👩‍👧 🇳🇴 العربية हिन्दी "}, {Text: "struck 删除", Strike: true}, {Text: " and italic 斜体", Italic: true}}},
			{Before: 8, Indent: 22, Marker: "•", Runs: []Run{{Text: "first item with a longer text that goes on and on until it needs a second line to fit"}}},
			{Before: 4, Indent: 44, Marker: "10.", Runs: []Run{{Text: "nested 嵌套"}}},
			{Before: 4, Indent: 22, Task: DoneTask, Runs: []Run{{Text: "done"}}},
			{Before: 4, Indent: 22, Task: OpenTask, Runs: []Run{{Text: "open"}}},
			{Before: 8, Indent: 14, Bars: []float32{0}, Runs: []Run{{Text: "Quoted text", Color: theme.Dim}}},
			{Before: 8, Code: true, Ground: theme.CodeGround, Number: true, Runs: []Run{{Text: "func", Color: theme.SynKeyword}, {Text: " main() {\n\tfmt.Println(\"你好, world\") // 注释\n}"}}},
			{Before: 8, Rule: true},
			{Before: 8, Table: &Table{Rows: [][]Cell{{{{Text: "#"}}, {{Text: "Risk"}}, {{Text: "Source"}}}, {{{Text: "1"}}, {{Text: "测试环境部署延期 (test environment late)"}}, {{Text: "risks[0]"}}}, {{{Text: "2"}}, {{Text: "接口联调阻塞 (integration blocked)"}}, {{Text: "risks[1]"}}}}, Align: []fyne.TextAlign{0, 0, 2}}},
		})
		bg := canvas.NewRectangle(theme.Color(theme.Ground))
		l := NewLabel("A title that is much too long 一个太长的标题 for its row in the side bar", Run{Bold: true}, Cut)
		w := test.NewTempWindow(t, container.NewStack(bg, container.NewPadded(container.NewVBox(v, l))))
		w.SetPadded(false)
		w.Canvas().(interface{ SetScale(float32) }).SetScale(2)
		w.Resize(fyne.NewSize(520, 640))
		v.sel = selection{from: place{1, 5}, to: place{1, 5}, caret: place{3, 4}}
		v.mark()
		img := software.RenderCanvas(w.Canvas(), th)
		f, _ := os.Create("/tmp/ut/text-" + variant + ".png")
		png.Encode(f, img)
		f.Close()
	}
}
