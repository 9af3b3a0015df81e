package headless

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/app"
	"steward/app/clean"
	"steward/app/journal"
)

// Of a text at the head of a record so many characters are shown, and of a frame; the
// details and --json hold more.
const (
	maxHeadText  = 4000
	maxFrameText = 300
)

// recordText is a record as a person reads it: what was sent, who decided, what came back;
// then everything that is kept of it, and the frames on the wire last.
func recordText(d journal.Detail) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Record %d of %s: %s\n", d.Record.Record, d.Time.Local().Format("2006-01-02 15:04:05"), recordTitle(d))
	head := func(label, text string) {
		if text = clean.Clean(text); text != "" {
			indent(&b, label, shortened(text, maxHeadText))
		}
	}
	asked := app.ReadModelRecord(d)
	if d.Kind == journal.KindModel {
		head("  For:       ", asked.Purpose)
		head("  Endpoint:  ", clean.Reveal(asked.Endpoint))
		head("  Why:       ", asked.Why)
		head("  Asked:     ", asked.Prompt)
	} else {
		head("  Sent:      ", clean.Reveal(d.Arguments))
	}
	if d.Decision != "" {
		by := ""
		if d.By != "" {
			by = " by " + d.By
		}
		head("  Decided:   ", d.Decision+by)
	}
	came := d.Outcome
	if d.Effect != "" {
		came += ", effect " + d.Effect
	}
	if d.Seconds > 0 {
		came += fmt.Sprintf(", %.3f s", d.Seconds)
	}
	head("  Came back: ", came)
	if d.Kind == journal.KindModel {
		head("  Tokens:    ", asked.Tokens())
		head("  Answer:    ", asked.Answer)
	} else {
		head("  Result:    ", string(d.Result))
	}
	head("  Reason:    ", d.Reason)

	frames := d.Frames
	d.Frames = nil
	var raw strings.Builder
	if err := json.NewEncoder(&raw).Encode(d); err != nil {
		return "", err
	}
	dec := json.NewDecoder(strings.NewReader(raw.String()))
	dec.UseNumber()
	tree, err := ordered(dec)
	if err != nil {
		return "", err
	}
	b.WriteString("\nDetails\n")
	tree.write(&b, "")
	if len(frames) > 0 {
		b.WriteString("\nOn the wire (whole with --json)\n")
	}
	for _, f := range frames {
		arrow := "->"
		if f.Direction == "in" {
			arrow = "<-"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", f.Time.Local().Format("15:04:05.000"), arrow, shortened(clean.Reveal(string(f.Bytes)), maxFrameText))
	}
	return b.String(), nil
}

func recordTitle(d journal.Detail) string {
	title := string(d.Kind)
	if d.Tool != "" {
		title += " of " + clean.Reveal(d.Tool)
	}
	if d.Server != "" {
		title += " on " + clean.Reveal(d.Server)
	}
	if d.Tool == "" && d.Server == "" && d.Model != "" {
		title += " " + clean.Reveal(d.Model)
	}
	return title
}

func shortened(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return fmt.Sprintf("%s […] (%d characters)", string(runes[:most]), len(runes))
}
