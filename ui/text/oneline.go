package text

import "strings"

// longest is as much of a text as one cut line can show.
const longest = 4 * longLine

var spaced = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ", "\r", " ")

// oneLine gives the beginning of runs without newlines and tabs.
func oneLine(runs []Run) []Run {
	out := make([]Run, 0, len(runs))
	room := longest
	for _, r := range runs {
		if len(r.Text) > room {
			r.Text = r.Text[:runeStart(r.Text, room)]
		}
		room -= len(r.Text)
		r.Text = spaced.Replace(r.Text)
		out = append(out, r)
		if room == 0 {
			break
		}
	}
	return out
}
