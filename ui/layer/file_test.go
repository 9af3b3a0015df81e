package layer

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynedialog "fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/test"
)

func TestEscapeDismissesADialogForFiles(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewTempWindow(t, container.NewStack())
	w.Resize(fyne.NewSize(900, 700))
	l := New(w.Canvas(), func(time.Duration, func()) func() { return func() {} })
	told := 0
	show := func() {
		l.File(fynedialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
			if u != nil || err != nil {
				t.Errorf("a dialog that was dismissed gave %v, %v", u, err)
			}
			told++
		}, w))
	}
	show()
	if !l.Modal() || !l.Open() || w.Canvas().Overlays().Top() == nil {
		t.Fatal("it is not shown, or not known as shown")
	}
	if !l.Escape() || l.Modal() || told != 1 || w.Canvas().Overlays().Top() != nil {
		t.Errorf("after Escape: modal %v, told %d times, over the window %v", l.Modal(), told, w.Canvas().Overlays().Top())
	}
	if l.Escape() {
		t.Error("there was nothing left to close")
	}
	show()
	l.Close()
	if told != 2 || l.Modal() {
		t.Error("the end of the layer left it open")
	}
}
