package shell

import (
	"time"

	"steward/app"
)

// sideRow is a row of the side bar's list: a heading, a conversation, or the way into the archive and back.
type sideRow struct {
	heading string // translation key
	chat    *app.Conversation
	archive bool
	problem error
	nothing bool
}

// group puts conversations under headings by the day of their last change, as the person's calendar has it. Pinned ones
// come first.
func group(chats []app.Conversation, now time.Time) []sideRow {
	var rows []sideRow
	last := ""
	for i := range chats {
		c := &chats[i]
		h := heading(c, now)
		if h != last {
			rows = append(rows, sideRow{heading: h})
			last = h
		}
		rows = append(rows, sideRow{chat: c})
	}
	return rows
}

func heading(c *app.Conversation, now time.Time) string {
	if c.Pinned {
		return "shell.pinned"
	}
	switch days := daysBetween(c.Updated, now); {
	case days <= 0: // a clock that was set back makes none of them vanish
		return "common.today"
	case days == 1:
		return "common.yesterday"
	case days < 7:
		return "common.last_7_days"
	case days < 30:
		return "common.last_30_days"
	}
	return "common.older"
}

// daysBetween counts the midnights between two times, in the zone of now. Days of 23 and 25 hours count as days.
func daysBetween(then, now time.Time) int {
	midnight := func(t time.Time) time.Time {
		y, m, d := t.In(now.Location()).Date()
		return time.Date(y, m, d, 12, 0, 0, 0, time.UTC)
	}
	return int(midnight(now).Sub(midnight(then)).Hours()/24 + 0.5)
}
