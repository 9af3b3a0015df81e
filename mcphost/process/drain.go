package process

import "time"

const (
	// drainBuffer is what a pipe of Linux holds.
	drainBuffer = 64 << 10
	// FloodRate is how much a program may write to standard error, in bytes a second, before
	// that is said.
	FloodRate = 1 << 20
	// floodWindow is over how long it is measured, and floodWindows how often in a row it must
	// be too much: much is written at once by programs that are well, too.
	floodWindow  = time.Second
	floodWindows = 3
	// drainPause is how long a program that floods is left to fill its pipe between two
	// reads, so that reading costs little however small the pieces are in which it writes.
	drainPause = 2 * time.Millisecond
)

// drain reads standard error to its end.
func (p *Process) drain() {
	defer close(p.drained)
	buffer := make([]byte, drainBuffer)
	m := meter{since: time.Now()}
	for {
		n, err := p.stderr.Read(buffer)
		if n > 0 {
			_, _ = p.log.Write(buffer[:n]) // it never fails
			p.written.Add(int64(n))
			flood, said := m.add(n, time.Now())
			if said > 0 && p.onFlood != nil {
				p.onFlood(said)
			}
			if flood {
				time.Sleep(drainPause)
			}
		}
		if err != nil {
			return // the end of the pipe, or our own closing of it: there is no other
		}
	}
}

// meter measures how much is written.
type meter struct {
	since time.Time // when the window began
	bytes int       // in it
	heavy int       // how many windows before it, in a row, had too much
	told  bool
}

// add counts n bytes. flood says that there is too much just now; said is the rate in bytes
// a second where that is to be told, which happens once.
func (m *meter) add(n int, now time.Time) (flood bool, said int64) {
	if d := now.Sub(m.since); d >= floodWindow {
		rate := int64(float64(m.bytes) / d.Seconds())
		if m.heavy++; rate < FloodRate {
			m.heavy = 0
		}
		if m.heavy >= floodWindows && !m.told {
			m.told, said = true, rate
		}
		m.since, m.bytes = now, 0
	}
	m.bytes += n
	return m.heavy > 0 || m.bytes >= FloodRate, said
}

// StderrWritten is how many bytes of standard error have been read so far.
func (p *Process) StderrWritten() int64 { return p.written.Load() }
