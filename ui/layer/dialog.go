package layer

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/button"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// askWidth is how wide the text of a question is.
const askWidth float32 = 420

// dialog is an overlay: while it is shown, keys and pointer reach nothing else.
type dialog struct {
	widget.BaseWidget
	layer   *Layer
	veil    *canvas.Rectangle
	frame   *frame
	top     bool // near the upper side instead of in the middle
	onClose func()
}

// Dialog shows content in the middle of the window and keeps the keyboard inside.
func (l *Layer) Dialog(content fyne.CanvasObject, onClose func()) (close func()) {
	pad := 5 * theme.Step
	return l.dialog(container.New(layout.NewCustomPaddedLayout(pad, pad, pad, pad), content), false, onClose).close
}

// Palette shows content near the upper side, without padding. Otherwise it is a dialog.
func (l *Layer) Palette(content fyne.CanvasObject, onClose func()) (close func()) {
	return l.dialog(content, true, onClose).close
}

func (l *Layer) dialog(content fyne.CanvasObject, top bool, onClose func()) *dialog {
	if l.popup != nil {
		l.popup.close()
	}
	d := &dialog{layer: l, veil: canvas.NewRectangle(color.Transparent), frame: newFrame(content), top: top, onClose: onClose}
	d.ExtendBaseWidget(d)
	d.paint()
	l.dialogs = append(l.dialogs, d)
	l.canvas.Overlays().Add(d)
	d.Resize(l.canvas.Size())
	return d
}

func (d *dialog) close() {
	for i, other := range d.layer.dialogs {
		if other != d {
			continue
		}
		// The toolkit takes away with an overlay all those above it.
		above := append([]*dialog(nil), d.layer.dialogs[i:]...)
		d.layer.dialogs = d.layer.dialogs[:i]
		d.layer.canvas.Overlays().Remove(d)
		for n := len(above) - 1; n >= 0; n-- {
			if above[n].onClose != nil {
				above[n].onClose()
			}
		}
		return
	}
}

func (d *dialog) paint() {
	d.veil.FillColor = color.NRGBA{A: 0x66}
}

// Tapped keeps taps beside the dialog from reaching what lies below; they do not close it, for something may have been
// filled in.
func (d *dialog) Tapped(*fyne.PointEvent) {
	if d.top {
		d.close()
	}
}

// CreateRenderer is Fyne's.
func (d *dialog) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(&fyne.Container{Layout: (*dialogLayout)(d), Objects: []fyne.CanvasObject{d.veil, d.frame}})
}

type dialogLayout dialog

// MinSize asks for nothing.
func (*dialogLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// Layout is Fyne's.
func (d *dialogLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	d.veil.Resize(size)
	want := d.frame.MinSize()
	want.Width = min(want.Width, size.Width-2*edge)
	want.Height = min(want.Height, size.Height-2*edge)
	y := (size.Height - want.Height) / 2
	if d.top {
		y = min(y, size.Height/8)
	}
	d.frame.Resize(want)
	d.frame.Move(fyne.NewPos((size.Width-want.Width)/2, max(y, 0)))
}

// Ask shows a question; the first button is what Escape does and has the focus.
func (l *Layer) Ask(title, body string, buttons ...place.Button) {
	head := text.NewLabel(title, text.Run{Bold: true}, text.Wrap)
	words := text.NewLabel(body, text.Run{}, text.Wrap)
	row := container.NewHBox(layout.NewSpacer())
	var d *dialog
	chosen := false
	made := make([]*button.Button, len(buttons))
	for i, b := range buttons {
		made[i] = button.New(looks[b.Look], "", b.Label, func() {
			chosen = true
			d.close()
			if b.Do != nil {
				b.Do()
			}
		})
		made[i].OnKey = func(e *fyne.KeyEvent) bool {
			by, moves := steps[e.Name]
			if moves {
				l.canvas.Focus(made[(i+by+len(made))%len(made)])
			} else if e.Name == fyne.KeyEscape {
				d.close()
			}
			return moves || e.Name == fyne.KeyEscape
		}
		row.Add(made[i])
	}
	pad := 5 * theme.Step
	content := container.New(layout.NewCustomPaddedLayout(pad, pad, pad, pad),
		container.New(layout.NewCustomPaddedVBoxLayout(3*theme.Step), fixed(head, askWidth), fixed(words, askWidth), row))
	d = l.dialog(content, false, func() {
		if !chosen && len(buttons) > 0 && buttons[0].Do != nil {
			buttons[0].Do()
		}
	})
	if len(made) > 0 {
		l.canvas.Focus(made[0])
	}
}

// The buttons of a question: how they look, and where the arrows lead.
var (
	looks = map[place.Look]button.Look{place.Strong: button.Strong, place.Dangerous: button.Refusing}
	steps = map[fyne.KeyName]int{fyne.KeyLeft: -1, fyne.KeyUp: -1, fyne.KeyRight: 1, fyne.KeyDown: 1}
)

// fixed gives a label that wraps a width of its own.
func fixed(l *text.Label, width float32) fyne.CanvasObject {
	return &fyne.Container{Layout: fixedWidth{width}, Objects: []fyne.CanvasObject{l}}
}

type fixedWidth struct{ width float32 }

// MinSize is Fyne's.
func (f fixedWidth) MinSize(objects []fyne.CanvasObject) fyne.Size {
	l, _ := objects[0].(*text.Label)
	return fyne.NewSize(f.width, l.HeightFor(f.width))
}

// Layout is Fyne's.
func (f fixedWidth) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }
