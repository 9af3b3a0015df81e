package shell

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
)

// quiet is how long at least lies between two of the desktop's notifications.
const quiet = 10 * time.Second

// notifier tells the desktop that something waits, while the window is not in front. It tells how many and no names: a
// notification may be shown on a locked screen, and some desktops read markup in it.
type notifier struct {
	send  func(*fyne.Notification)
	after func(d time.Duration, f func()) (stop func())
	now   func() time.Time

	front   bool
	waiting []string // ids of what waited at the last look
	unsaid  int      // things that came since the last notification
	last    time.Time
	planned bool
}

// waits is told what waits now, by ids: something that came as another went is new all the same.
func (n *notifier) waits(ids []string) {
	came := 0
	for _, id := range ids {
		if !slices.Contains(n.waiting, id) {
			came++
		}
	}
	n.waiting = ids
	if n.front || len(ids) == 0 {
		n.unsaid = 0
		return
	}
	if came > 0 {
		n.unsaid += came
		n.say()
	}
}

// calling are the ids of what the person is to be called for: not of a page for signing in that is open in the browser,
// where the person is.
func calling(items []consent.Item) []string {
	ids := make([]string, 0, len(items))
	for _, i := range items {
		if i.SignIn == nil || i.SignIn.Phase != consent.SignInBrowser {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// inFront is told whether the person sees the window.
func (n *notifier) inFront(yes bool) {
	n.front = yes
	if yes {
		n.unsaid = 0
	}
}

func (n *notifier) say() {
	if n.planned || n.unsaid == 0 || n.front {
		return
	}
	if wait := quiet - n.now().Sub(n.last); wait > 0 && !n.last.IsZero() {
		n.planned = true
		n.after(wait, func() {
			n.planned = false
			n.say()
		})
		return
	}
	n.last, n.unsaid = n.now(), 0
	words := lang.X("shell.thing_waits", "Something waits for your answer.")
	if count := len(n.waiting); count > 1 {
		words = lang.X("shell.things_wait", "{{.count}} things wait for your answer.", map[string]any{"count": count})
	}
	n.send(fyne.NewNotification(lang.X("common.app", "Steward"), words))
}
