package text

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, words string
		want        []Found
	}{
		{"One one ONE", "one", []Found{{0, 3}, {4, 7}, {8, 11}}}, {"aaa", "aa", []Found{{0, 2}}}, {"a", "", nil}, {"", "a", nil},
		{"测试环境部署", "环境", []Found{{6, 12}}}, {"ÄPFEL", "äpfel", []Found{{0, 6}}}, {"\xff\xfea", "a", []Found{{2, 3}}}, {"İi", "i", []Found{{0, 2}, {2, 3}}},
		{"ab", "abc", nil},
	} {
		got := Find(c.text, c.words)
		if len(got) != len(c.want) {
			t.Errorf("%q in %q gives %v", c.words, c.text, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q in %q gives %v", c.words, c.text, got)
			}
		}
	}
}

// What is found is marked over all blocks, the current place more than the others, and its height is known.
func TestMark(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.New("light"))
	v := NewView(Words{})
	table := &Block{Table: &Table{Rows: [][]Cell{{{{Text: "Risk"}}, {{Text: "Source"}}}, {{{Text: "late risk"}}, {{Text: "x"}}}}}, Before: 10}
	v.SetBlocks([]*Block{{Runs: []Run{{Text: "A risk is a ri"}, {Text: "sk", Bold: true}}}, table})
	w := test.NewTempWindow(t, v)
	w.Resize(fyne.NewSize(400, 300))
	v.Mark("RISK", 1)
	v.objects()
	strong := 0
	for _, m := range v.marks {
		if m.(*canvas.Rectangle).StrokeWidth > 1 {
			strong++
		}
	}
	if len(v.marks) != 4 || strong != 1 {
		t.Errorf("%d marks, %d of them strong", len(v.marks), strong)
	}
	first, _, _ := v.Marked(1)
	last, _, ok := v.Marked(3)
	if _, _, beyond := v.Marked(4); !ok || last <= first || beyond {
		t.Errorf("the places are at %v and %v", first, last)
	}
	v.SetBlocks([]*Block{{Runs: []Run{{Text: "another risk"}}}})
	v.objects()
	if len(v.marks) != 1 {
		t.Errorf("another text has %d marks", len(v.marks))
	}
	v.Mark("", 0)
	if len(v.marks) != 0 {
		t.Errorf("without words there are %d marks", len(v.marks))
	}
}
