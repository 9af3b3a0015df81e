package mcphost

import (
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// How many log messages of a server are kept in its log, and how many are
// observed: so many at once, so many a second afterwards. Those of a warning and
// worse are counted apart, so that a flood of the others hides none of them.
const (
	keptBurst, keptRate = 200, 50
	toldBurst, toldRate = 20, 2
)

// messages is what is known of the log messages of one connection. The zero
// messages is ready. Connection.mu guards it.
type messages struct {
	kept, told [2]flood // of lesser ones, and of a warning and worse
}

// flood lets some of many through. The zero flood is ready.
type flood struct {
	limit  *rate.Limiter
	unsaid int
}

// take reports for how many messages this one stands, those left out before it
// included; 0 if it is left out itself.
func (f *flood) take(now time.Time, perSecond rate.Limit, burst int) int {
	if f.limit == nil {
		f.limit = rate.NewLimiter(perSecond, burst)
	}
	f.unsaid++
	if !f.limit.AllowN(now, 1) {
		return 0
	}
	n := f.unsaid
	f.unsaid = 0
	return n
}

// severe reports whether a level is a warning or worse (RFC 5424). A level that
// is none of the protocol's is not.
func severe(level string) bool {
	switch level {
	case "warning", "error", "critical", "alert", "emergency":
		return true
	}
	return false
}

// logged takes a log message of the server (MCP 2025-11-25, server/utilities/logging).
func (c *Connection) logged(params json.RawMessage) {
	m, _ := fields(params)
	level := short(str(m["level"]), 20)
	class := 0
	if severe(level) {
		class = 1
	}
	now := c.now()
	c.mu.Lock()
	kept := c.messages.kept[class].take(now, keptRate, keptBurst)
	told := c.messages.told[class].take(now, toldRate, toldBurst)
	c.mu.Unlock()
	if kept == 0 {
		c.gather.message()
	}
	if kept == 0 && told == 0 {
		return
	}
	text := str(m["data"])
	if text == "" && !absent(m["data"]) {
		text = string(m["data"])
	}
	text = short(c.redact(short(text, maxLogLine+seam)), maxLogLine) // a secret is found as a whole alone
	logger := c.redact(short(str(m["logger"]), 100))
	if kept > 0 {
		line := text
		if logger != "" {
			line = logger + ": " + text
		}
		c.keep(LogLine{Time: now, Kind: "message", Level: level, Text: strings.ToValidUTF8(line, "\uFFFD")})
	}
	if told > 0 {
		c.events.put(LogMessage{Server: c.cfg.ID, Level: level, Logger: logger, Text: text, Count: told})
	}
}
