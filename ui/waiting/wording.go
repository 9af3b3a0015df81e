package waiting

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2/lang"

	"steward/ui/text"
	"steward/ui/theme"
)

// words are the texts of a text view.
func words() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
	}
}

// elapsed is a duration as a clock shows it: 0:12, 1:02:03.
func elapsed(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// position words "2 of 3"; what it does not understand is left out.
func position(p string) string {
	var number, total int
	if n, err := fmt.Sscanf(p, "%d of %d", &number, &total); err != nil || n != 2 {
		return ""
	}
	return lang.X("approval.position", "call {{.number}} of {{.total}}", map[string]any{"number": number, "total": total})
}

// marked splits a revealed text into runs in which the marks of odd characters stand out. After the mark of a line end
// the line really ends.
func marked(s string, base text.Run) []text.Run {
	var out []text.Run
	add := func(t string, mark bool) {
		if t == "" {
			return
		}
		r := base
		r.Text = t
		if mark {
			r.Color, r.Ground = theme.Waiting, theme.WaitingTint
		}
		out = append(out, r)
	}
	for {
		open := strings.Index(s, "⟨")
		if open < 0 {
			break
		}
		end := strings.Index(s[open:], "⟩")
		if end < 0 {
			break
		}
		end += open + len("⟩")
		add(s[:open], false)
		add(s[open:end], true)
		if s[open:end] == `⟨\n⟩` {
			add("\n", false)
		}
		s = s[end:]
	}
	add(s, false)
	return out
}

// folded is the beginning of a revealed text, cut between characters and outside of marks.
func folded(s string, most int) string {
	n := 0
	inside := false
	for i, r := range s {
		if n >= most && !inside {
			return s[:i] + "…"
		}
		switch r {
		case '⟨':
			inside = true
		case '⟩':
			inside = false
		}
		n++
	}
	return s
}
