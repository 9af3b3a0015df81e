package chat

import "testing"

// The dialogs that choose a file and a folder open, and Escape or Cancel leaves everything as it is.
func TestFileDialogsOpen(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	for name, open := range map[string]func(){"file": b.attachFile, "folder": b.shareFolder} {
		before := len(b.window.Canvas().Overlays().List())
		open()
		if n := len(b.window.Canvas().Overlays().List()); n != before+1 {
			t.Errorf("%s: %d dialogs are open, want %d", name, n, before+1)
		}
		b.window.Canvas().Overlays().Top().Hide()
	}
	if len(b.composer.attach) != 0 || len(b.settings.Roots) != 0 {
		t.Error("a dialog that only opened attached or shared something")
	}
}
