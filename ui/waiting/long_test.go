package waiting

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
)

// longQuestion has a message of 3,500 letters and 300 fields.
func longQuestion() string {
	fields := make([]string, 300)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"f%d":{"type":"string"}`, i)
	}
	return `{"message":"` + strings.Repeat("word ", 700) + `END","requestedSchema":{"type":"object","properties":{` + strings.Join(fields, ",") + `}}}`
}

// TestTheAnswersToALongQuestionAreInSight: whatever part of it is looked at, its answers stand below that part.
func TestTheAnswersToALongQuestionAreInSight(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", "tool:book=@ask elicitation/create "+longQuestion(), "--step", "tool:book=@text ${answer}")
	r.call(context.Background(), "book", "{}")
	r.item(consent.KindElicitation)
	p := newPlace(r.d)
	defer p.Close()
	w := test.NewTempWindow(t, p.Canvas())
	w.Resize(fyne.NewSize(820, 700))
	p.Shown()
	r.pass(settle)
	var c *Card
	for _, c = range p.cards {
	}
	b := c.body.(*formBody)
	driver := fyne.CurrentApp().Driver()
	for _, scroll := range []float32{0, -300, -4000, -1e6, 1e6} {
		p.list.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: scroll}})
		at := driver.AbsolutePositionForObject(b.cancel)
		if end := at.Y + b.cancel.Size().Height; at.Y < 100 || end > 700 {
			t.Errorf("scrolled by %v, Cancel stands from %v to %v", scroll, at.Y, end)
		}
		below := driver.AbsolutePositionForObject(c.sight).Y + c.sight.Size().Height
		if below > at.Y {
			t.Errorf("scrolled by %v, the question covers its answers: %v > %v", scroll, below, at.Y)
		}
		if dir := os.Getenv("STEWARD_PICTURES"); dir != "" {
			picture(t, filepath.Join(dir, fmt.Sprintf("long%v.png", scroll)), w)
		}
	}
	if got := shownText(b.message); strings.Contains(got, "END") || !strings.Contains(got, "3503") {
		t.Errorf("the long message is not folded: %.100q … %.100q", got, got[max(0, len(got)-100):])
	}
	b.submit()
	if c.busy {
		t.Fatal("it was accepted with its message folded")
	}
	b.opened = true
	b.showMessage()
	c.changed()
	if !strings.Contains(shownText(b.message), "END") {
		t.Error("the message is not shown whole")
	}
	test.Tap(b.cancel)
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
}
