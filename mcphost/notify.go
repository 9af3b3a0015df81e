package mcphost

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"steward/mcphost/internal/wire"
)

// notified takes a notification of the server. It is called where messages are
// read, so it only queues.
func (c *Connection) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		c.mark("tools")
	case "notifications/prompts/list_changed":
		c.mark("prompts")
	case "notifications/resources/list_changed":
		c.mark("resources")
	case "notifications/resources/updated":
		m, _ := fields(params)
		if uri := str(m["uri"]); uri != "" {
			if c.gather.update(uri) {
				c.events.put(ResourceUpdated{Server: c.cfg.ID, URI: uri})
			}
		}
	case "notifications/message":
		c.logged(params)
	case "notifications/elicitation/complete":
		m, _ := fields(params)
		if id := str(m["elicitationId"]); id != "" {
			c.elicitationDone(id)
			c.events.put(ElicitationDone{Server: c.cfg.ID, ElicitationID: id})
		}
	case "notifications/tasks/status", "notifications/tasks":
		c.taskHint(params)
	case "notifications/progress": // of no request that is open
		c.taskProgress(params)
	case "notifications/subscriptions/acknowledged":
	default:
		c.note("warning", "", "it sent a notification that is not known: "+short(method, 100))
	}
}

// noised takes output that is no message.
func (c *Connection) noised(n wire.Noise) {
	line := c.redact(n.Line)
	if len(n.Line) >= wire.NoiseKept-utf8.UTFMax { // it may go on where it was clipped
		line = beforeSeam(line)
	}
	text := line
	if n.Count > 1 {
		text = fmt.Sprintf("%s (and %d more like it)", line, n.Count-1)
	}
	c.note("stdout", "", text)
	c.events.put(Noise{Server: c.cfg.ID, Line: line, Count: n.Count})
}

// late takes an answer that nobody waits for.
func (c *Connection) late(l wire.Late) {
	c.mu.Lock()
	owner, on := c.recent.owner[l.Token], c.live
	c.mu.Unlock()
	what := "an answer to a request that had ended"
	if l.Duplicate {
		what = "a second answer to a request"
	}
	if l.Method == "" && l.Token == "" {
		what = "an answer to a request that was never made"
	}
	c.note("warning", "", "it sent "+what)
	if owner != "" && !l.Duplicate {
		c.events.put(Late{Server: c.cfg.ID, Owner: owner, Raw: l.Raw})
		// A task of a call that was stopped before it was known is not wanted either.
		m, _ := fields(l.Raw)
		if t, ok := readCreated(m["result"]); ok && t.ID != "" && on != nil {
			c.cancelTask(on, t, owner)
		}
	}
}
