package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"steward/app/clean"
)

// mainArgument is what a tool card says of a call's arguments in its one line: the first argument that is not empty,
// safe to show. Numbers and strings stay as they were written.
func mainArgument(arguments string) (name, value string) {
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", ""
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return "", ""
		}
		k, _ := key.(string)
		v := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil && bytes.HasPrefix(raw, []byte(`"`)) {
			v = s
		}
		if v == "" || v == "null" {
			continue
		}
		return clean.Reveal(cut(k, 60)), clean.Reveal(cut(v, 200))
	}
	return "", ""
}

// cut shortens a text for one line.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// seconds words how long something took.
func seconds(s float64) string {
	switch {
	case s < 10:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case s < 60:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	return elapsed(time.Duration(s * float64(time.Second)))
}

// elapsed words a time that goes on.
func elapsed(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// count words a number of tokens.
func count(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
}

// size words a number of bytes.
func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

// revealLines is clean.Reveal for a text of several lines, whose line ends stay line ends.
func revealLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clean.Reveal(l)
	}
	return strings.Join(lines, "\n")
}
