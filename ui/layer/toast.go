package layer

import (
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"steward/ui/button"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	offerTime   = 10 * time.Second
	toastTime   = 4 * time.Second
	perChar     = 40 * time.Millisecond // longer sentences stay longer
	toastAtMost = 12 * time.Second
	maxChars    = 400
)

// toast is a sentence at the foot of the window, perhaps with a button.
type toast struct {
	layer *Layer
	frame *frame
	body  *toastBody
	stop  func()
	ended func()
}

// Toast shows a sentence for a few seconds.
func (l *Layer) Toast(sentence string) {
	l.toast(sentence, "", nil, nil, min(toastTime+time.Duration(utf8.RuneCountInString(sentence))*perChar, toastAtMost))
}

// Offer shows a sentence with a button for ten seconds.
func (l *Layer) Offer(sentence, caption string, do, ended func()) {
	l.toast(sentence, caption, do, ended, offerTime)
}

func (l *Layer) toast(sentence, caption string, do, ended func(), stays time.Duration) {
	if r := []rune(sentence); len(r) > maxChars {
		sentence = string(r[:maxChars]) + "…"
	}
	t := &toast{layer: l, ended: ended}
	t.body = &toastBody{sentence: sentence, label: text.NewLabel(sentence, text.Run{}, text.Wrap)}
	if caption != "" {
		t.body.button = button.New(button.Strong, "", caption, func() {
			if t.remove() && do != nil {
				do()
			}
		})
	}
	t.body.ExtendBaseWidget(t.body)
	t.frame = newFrame(t.body)
	if len(l.toasts) == toasts {
		l.toasts[0].end()
	}
	l.toasts = append(l.toasts, t)
	l.root.Objects = append(l.root.Objects, t.frame)
	t.stop = l.after(stays, t.end)
	l.arrange()
}

// end takes the toast away unused.
func (t *toast) end() {
	if t.remove() && t.ended != nil {
		t.ended()
	}
}

func (t *toast) remove() bool {
	for i, other := range t.layer.toasts {
		if other == t {
			t.layer.toasts = append(t.layer.toasts[:i:i], t.layer.toasts[i+1:]...)
			t.stop()
			t.layer.remove(t.frame)
			return true
		}
	}
	return false
}

// arrange puts the toast above bottom and returns its height.
func (t *toast) arrange(window, bottom float32) float32 {
	width := min(t.body.natural(), maxToast, max(window-2*edge, 0))
	height := t.body.heightFor(width)
	t.frame.Resize(fyne.NewSize(width, height))
	t.frame.Move(fyne.NewPos((window-width)/2, bottom-height))
	return height
}

// toastBody lays the sentence out beside its button.
type toastBody struct {
	widget.BaseWidget
	sentence string
	label    *text.Label
	button   *button.Button
}

const (
	toastSide = 4 * theme.Step
	toastTop  = 3 * theme.Step
)

func (b *toastBody) beside() float32 {
	if b.button == nil {
		return 2 * toastSide
	}
	return 2*toastSide + b.button.MinSize().Width + 3*theme.Step
}

// natural is the width of the sentence on one line.
func (b *toastBody) natural() float32 {
	whole := text.NewLabel(b.sentence, text.Run{}, text.Whole)
	return whole.MinSize().Width + 1 + b.beside()
}

func (b *toastBody) heightFor(width float32) float32 {
	height := b.label.HeightFor(max(width-b.beside(), 1))
	if b.button != nil {
		height = max(height, b.button.MinSize().Height)
	}
	return height + 2*toastTop
}

// CreateRenderer is Fyne's.
func (b *toastBody) CreateRenderer() fyne.WidgetRenderer {
	objects := []fyne.CanvasObject{b.label}
	if b.button != nil {
		objects = append(objects, b.button)
	}
	return widget.NewSimpleRenderer(&fyne.Container{Layout: (*toastLayout)(b), Objects: objects})
}

type toastLayout toastBody

// MinSize is small: the layer gives a toast its size.
func (*toastLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(1, 1) }

// Layout is Fyne's.
func (t *toastLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	b := (*toastBody)(t)
	width := max(size.Width-b.beside(), 1)
	height := b.label.HeightFor(width)
	b.label.Resize(fyne.NewSize(width, height))
	b.label.Move(fyne.NewPos(toastSide, (size.Height-height)/2))
	if b.button != nil {
		min := b.button.MinSize()
		b.button.Resize(min)
		b.button.Move(fyne.NewPos(size.Width-toastSide-min.Width, (size.Height-min.Height)/2))
	}
}
