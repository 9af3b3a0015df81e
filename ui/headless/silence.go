package headless

import (
	"fmt"
	"io"
	"strings"
	"time"

	"steward/app/clean"
	"steward/app/event"
)

// Times of what is said while nothing else is: a silence is explained after quietTime,
// and a call's progress is shown every progressTime at most.
const (
	quietTime    = 2 * time.Second
	progressTime = 500 * time.Millisecond
	pulseTime    = 100 * time.Millisecond
)

// waits is what an output knows about what is being waited for.
type waits struct {
	host     func() string   // where the model is; nil: no model is asked
	starting func() []string // servers being started
	since    time.Time       // the last thing said
	calls    int             // under way
	told     map[string]bool // what was said already
	over     bool            // the turn has ended
}

// pulse says what is being waited for and shows progress that was held back. It owns one
// goroutine until end is called.
func (o *output) pulse(host func() string, starting func() []string) (end func()) {
	if o.lines {
		return func() {}
	}
	o.busy.Lock()
	o.waits = waits{host: host, starting: starting, since: time.Now(), told: map[string]bool{}}
	o.busy.Unlock()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pulseTime)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				o.beat(now)
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// beat says what is due. While a question stands nothing is: the person knows.
func (o *output) beat(now time.Time) {
	if o.term != nil {
		if !o.term.mu.TryLock() {
			return
		}
		defer o.term.mu.Unlock()
	}
	if !o.busy.TryLock() {
		return
	}
	defer o.busy.Unlock()
	if len(o.unreviewed) > 0 && now.Sub(o.heard) >= pulseTime {
		o.tellUnreviewed()
	}
	for call, p := range o.progress {
		if p.held != nil && now.Sub(p.said) >= progressTime {
			o.tellProgress(call, now)
		}
	}
	if o.waits.over || o.waits.told == nil || now.Sub(o.waits.since) < quietTime {
		return
	}
	if names := o.waits.starting(); len(names) > 0 {
		o.once(fmt.Sprintf("waiting for %s: %s…", counted(len(names), "server"), firstNames(names)), "servers")
	} else if o.waits.host != nil && o.waits.calls == 0 {
		o.once(fmt.Sprintf("waiting for the model at %s… Ctrl+C stops", orWords(o.waits.host(), "this program's demo")), "model")
	}
}

func (o *output) once(s, what string) {
	if !o.waits.told[what] {
		o.waits.told[what] = true
		o.say(s)
	}
}

// heed notes what an event says about what is being waited for.
func (o *output) heed(e event.Event) {
	o.waits.since = time.Now()
	switch e.(type) {
	case event.Call:
		o.waits.calls++
	case event.Result:
		o.waits.calls--
	case event.Turn:
		o.waits.over = true
	}
}

// shownProgress is what was shown of one call's progress.
type shownProgress struct {
	said time.Time
	held *event.Progress // came too soon; the last one
}

// noteProgress shows a report, or keeps it until it may be shown.
func (o *output) noteProgress(e event.Progress, now time.Time) {
	if o.progress == nil {
		o.progress = map[string]*shownProgress{}
	}
	p := o.progress[e.Call]
	if p == nil {
		p = &shownProgress{}
		o.progress[e.Call] = p
	}
	p.held = &e
	if now.Sub(p.said) >= progressTime {
		o.tellProgress(e.Call, now)
	}
}

func (o *output) tellProgress(call string, now time.Time) {
	if p := o.progress[call]; p != nil && p.held != nil {
		o.say(progressText(*p.held))
		p.held, p.said = nil, now
	}
}

// noteUnreviewed keeps the notices of servers that nobody has reviewed, which come one
// after the other, so that many of them are said in one.
func (o *output) noteUnreviewed(n event.Notice) {
	o.unreviewed = append(o.unreviewed, n)
	o.heard = time.Now()
}

func (o *output) tellUnreviewed() {
	all := o.unreviewed
	o.unreviewed = nil
	if len(all) <= 2 {
		for _, n := range all {
			o.say("Notice: " + clean.Clean(n.Message))
		}
		return
	}
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = n.Server
	}
	o.say(fmt.Sprintf("Notice: %s are not used, or not all of what they offer, because nobody has reviewed them as they are now: %s. Read what one runs and offers with: steward servers review NAME; then: steward servers trust NAME (or several names)", counted(len(all), "server"), firstNames(names)))
}

// firstNames is a list of names that stays short.
func firstNames(names []string) string {
	const shown = 5
	var out []string
	for _, n := range names[:min(shown, len(names))] {
		out = append(out, cutShort(clean.Reveal(n), nameCharacters))
	}
	s := strings.Join(out, ", ")
	if more := len(names) - shown; more > 0 {
		s += fmt.Sprintf(" and %s more", thousands(more))
	}
	return s
}

// toGoOn says how to continue the conversation, to a person who reads along.
func (r *run) toGoOn(id string) {
	if _, screen := terminalFile(r.Err); !screen || id == "" {
		return
	}
	more := ""
	for _, f := range []struct{ name, value string }{{"--data", r.data}, {"--servers", r.serversFile}, {"--base-url", r.baseURL}, {"--model", r.model}, {"--api-key-env", r.keyEnv}} {
		if f.value != "" {
			more += " " + f.name + " " + shellWord(f.value)
		}
	}
	io.WriteString(r.Err, fmt.Sprintf("Conversation %s; to go on: steward ask%s --conversation %s \"…\"\n", id, more, id)) //nolint:errcheck // nobody reads then
}

// shellWord writes a word so that a shell takes it as one.
func shellWord(s string) string {
	s = clean.Reveal(s)
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
