package mcphost

import (
	"context"
	"fmt"
	"time"

	"steward/mcphost/process"
)

// lotsWritten is how much a program must have written, in bytes, to be watched for a flood.
const lotsWritten = 64 << 10

// floodSample is how long standard error is watched for [Connection.StderrRate].
const floodSample = 500 * time.Millisecond

// flooded notes once for each start that a program writes too much to standard error.
func (c *Connection) flooded(rate int64) {
	c.mu.Lock()
	c.flood = rate
	c.mu.Unlock()
	c.note("warning", "", fmt.Sprintf("it writes %s a second to standard error; only the last 256 kB are kept", megabytes(rate)))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// StderrFlood is how much the program writes to standard error, in bytes a second, where
// that was found to be too much; else 0. It does not block.
func (c *Connection) StderrFlood() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flood
}

// StderrRate is [Connection.StderrFlood] that watches a program which has written much for
// half a second, within ctx.
func (c *Connection) StderrRate(ctx context.Context) int64 {
	if known := c.StderrFlood(); known > 0 {
		return known
	}
	c.mu.Lock()
	written := func() int64 { return 0 }
	if c.live != nil {
		written = c.live.written
	}
	c.mu.Unlock()
	before, since := written(), time.Now()
	if before < lotsWritten {
		return 0
	}
	timer := time.NewTimer(floodSample)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return 0
	}
	if rate := int64(float64(written()-before) / time.Since(since).Seconds()); rate >= process.FloodRate {
		return rate
	}
	return 0
}
