package shell

import (
	"testing"

	"fyne.io/fyne/v2"

	"steward/ui/list"
)

// bare is a palette without a window.
func bare(titles ...string) *palette {
	p := &palette{unsearch: func() {}}
	p.list = list.NewEqual(list.Source{Len: func() int { return len(p.shown) }, Build: p.build}, paletteRow)
	p.list.Selectable = true
	for _, t := range titles {
		p.commands = append(p.commands, found{title: t})
	}
	return p
}

func (p *palette) chosen() string {
	if at := p.list.Selected(); at >= 0 {
		return p.shown[at].title
	}
	return ""
}

func TestPalettePutsFirstWhatBeginsWithTheSearch(t *testing.T) {
	newBench(t, "light", "en", memory{}) // a theme for the rows
	p := bare("Share a folder with the servers", "Servers", "New chat")
	for search, want := range map[string]string{"": "Share a folder with the servers", "SERV": "Servers", "folder": "Share a folder with the servers", "new c": "New chat", "nothing": ""} {
		p.search = search
		p.match()
		if got := p.chosen(); got != want {
			t.Errorf("%q chooses %q, want %q", search, got, want)
		}
	}
}

func TestWhatThePersonMovedToStaysChosen(t *testing.T) {
	newBench(t, "light", "en", memory{})
	p := bare("One", "Two", "Three")
	p.match()
	p.key(&fyne.KeyEvent{Name: fyne.KeyDown})
	p.commands = append([]found{{title: "Zero"}}, p.commands...) // found a moment later
	p.match()
	if got := p.chosen(); got != "Two" {
		t.Errorf("%q is chosen now", got)
	}
	p.moved = false // a letter was typed
	p.match()
	if got := p.chosen(); got != "Zero" {
		t.Errorf("after a letter %q is chosen", got)
	}
	p.commands = nil
	p.match()
	if p.chosen() != "" {
		t.Error("something is chosen of nothing")
	}
	p.key(&fyne.KeyEvent{Name: fyne.KeyDown})
	p.take(p.list.Selected())
}
