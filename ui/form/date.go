package form

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
)

// stepDay goes a day on or back in a date that is complete, or begins with today.
func stepDay(e *Entry, name fyne.KeyName) bool {
	step := 0
	switch name {
	case fyne.KeyUp:
		step = 1
	case fyne.KeyDown:
		step = -1
	default:
		return false
	}
	if e.Disabled() {
		return true
	}
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(e.Text))
	switch {
	case strings.TrimSpace(e.Text) == "":
		day = time.Now()
	case err != nil:
		return true
	default:
		day = day.AddDate(0, 0, step)
	}
	if day.Year() < 1 || day.Year() > 9999 {
		return true
	}
	e.SetText(day.Format(time.DateOnly))
	return true
}
