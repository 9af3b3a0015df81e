package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/place"
)

func TestPlacesAreToldWhenTheyAreSeen(t *testing.T) {
	b := newBench(t, "light", "en", memory{place: "chat/c7"})
	b.open(place.Audit, "12")
	b.open(place.Audit, "13")
	b.open("nowhere", "")
	b.open(place.Chat, "c8")
	for name, want := range map[string][]string{
		place.Chat:  {"goto c7", "shown", "hidden", "goto c8", "shown"},
		place.Audit: {"goto 12", "shown", "goto 13", "hidden"},
	} {
		if got := b.spots[name].told; !slices.Equal(got, want) {
			t.Errorf("%s was told %q, want %q", name, got, want)
		}
	}
	if b.spots[place.Servers] != nil {
		t.Error("a place that nobody opened was made")
	}
	b.showing(place.Chat, "c9")
	b.until("the last place is remembered", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.kept[preferPlace] == "chat/c9" })
}

func TestAWindowForgetsAPlaceItDoesNotHave(t *testing.T) {
	b := newBench(t, "light", "en", memory{place: "gone/1", size: "1x1"})
	if b.current != place.Chat {
		t.Errorf("%q was opened", b.current)
	}
	for in, want := range map[string]fyne.Size{"": startSize, "x": startSize, "1x1": startSize, "1000x700": fyne.NewSize(1000, 700), "99999x9": startSize, "NaNxNaN": startSize} {
		if got := parseSize(in); got != want {
			t.Errorf("size %q is read as %v, want %v", in, got, want)
		}
	}
}

func TestEveryShortcutIsHandedOnByTheCanvas(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	seen := map[string]string{}
	for _, c := range b.commands.own {
		if c.Shortcut == nil {
			continue
		}
		name := c.Shortcut.ShortcutName()
		if seen[name] != "" {
			t.Errorf("%s and %s share a shortcut", c.ID, seen[name])
		}
		seen[name] = c.ID
	}
	for name, id := range seen {
		if !b.known[name] {
			t.Errorf("the canvas does not hand on the shortcut of %s", id)
		}
	}
	typed := func(s fyne.Shortcut) { b.shortcut(s) }
	typed(keys(fyne.KeyComma, 0))
	if b.current != place.Settings {
		t.Errorf("Ctrl+, opened %q", b.current)
	}
	typed(keys(fyne.KeyN, 0))
	if told := b.spots[place.Chat].told; told[len(told)-1] != "shown" || b.arguments[place.Chat] != "" {
		t.Errorf("Ctrl+N told the chat %q", told)
	}
	typed(keys(fyne.KeyK, 0))
	if !b.layer.Modal() {
		t.Fatal("Ctrl+K shows no palette")
	}
	typed(keys(fyne.KeyComma, 0))
	if b.current != place.Chat {
		t.Error("a shortcut reached past the palette")
	}
	if !b.press(fyne.KeyEscape, 0) || b.layer.Modal() {
		t.Error("Escape did not close the palette")
	}
}

func TestAPlaceHasItsOwnKeysWhileItIsShown(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	count, may := 0, true
	b.spots[place.Chat].more = []place.Command{
		{ID: "chat.find", Shortcut: keys(fyne.KeyF, 0), Do: func() { count++ }, Enabled: func() bool { return may }},
		{ID: "chat.waiting", Shortcut: keys(fyne.KeyJ, 0), Do: func() { count += 10 }},
		{ID: "chat.stop", Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyEscape}, Do: func() { count += 100 }},
	}
	b.open(place.Chat, "c1")
	b.press(fyne.KeyF, fyne.KeyModifierShortcutDefault)
	b.press(fyne.KeyJ, fyne.KeyModifierShortcutDefault)
	b.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if count != 111 {
		t.Errorf("the place's commands add up to %d, want 111", count)
	}
	may = false
	b.press(fyne.KeyF, fyne.KeyModifierShortcutDefault)
	b.open(place.Audit, "")
	if b.press(fyne.KeyF, fyne.KeyModifierShortcutDefault) || count != 111 {
		t.Error("a command ran that is not allowed, or of a place that is not shown")
	}
	b.press(fyne.KeyJ, fyne.KeyModifierShortcutDefault)
	if b.current != place.Waiting {
		t.Errorf("Ctrl+J opened %q", b.current)
	}
}

func TestBannerShowsWhatWaitsElsewhere(t *testing.T) {
	b := newBench(t, "light", "en", memory{place: "chat/c1"})
	b.source.items = []consent.Item{{ID: "w1", Kind: consent.KindCall, Conversation: "c1", Presentation: consent.Presentation{Server: "s", Tool: "t"}}}
	b.readAll()
	if b.banner.Visible() {
		t.Error("the banner tells of what is in front of the person")
	}
	b.open(place.Audit, "")
	if !b.banner.Visible() || b.frame.body.Position().Y == 0 {
		t.Error("no banner tells of what waits in the chat")
	}
	b.showItem(b.banner.first)
	if b.current != place.Chat || b.arguments[place.Chat] != "c1" || b.banner.Visible() {
		t.Errorf("the banner leads to %s/%s", b.current, b.arguments[b.current])
	}
	b.open(place.Waiting, "")
	if b.banner.Visible() {
		t.Error("the banner shows over the waiting list")
	}
}

func TestSideBarShowsWhyItIsEmpty(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.source.err = errors.New("the disk is gone")
	b.readAll()
	if len(b.side.rows) != 1 || b.side.rows[0].problem == nil {
		t.Fatalf("the side bar shows %v", b.side.rows)
	}
	b.source.mu.Lock()
	b.source.err = nil
	b.source.chats = []app.Conversation{{ID: "a", Title: "A", Updated: time.Now()}}
	b.source.mu.Unlock()
	b.side.openRow(0)
	b.until("the list is read again", func() bool { return len(b.side.rows) == 3 })
}

func TestSearchAsksOnceThePersonPauses(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.readAll()
	b.source.mu.Lock()
	b.source.asked = nil
	b.source.mu.Unlock()
	for _, s := range []string{"r", "re", "rep"} {
		b.side.find.SetText(s)
	}
	b.until("the search is shown", func() bool { return len(b.side.rows) == 1 && b.side.rows[0].nothing })
	b.source.mu.Lock()
	defer b.source.mu.Unlock()
	if len(b.source.asked) != 1 || b.source.asked[0].Search != "rep" {
		t.Errorf("asked: %+v", b.source.asked)
	}
}

func TestHubReadsOnceForManyEvents(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.readAll()
	b.source.mu.Lock()
	b.source.asked = nil
	b.source.chats = []app.Conversation{{ID: "a", Title: "A", Updated: time.Now()}}
	b.source.mu.Unlock()
	for range 500 {
		b.hub.told(event.TurnStart{Conversation: "a"})
		b.hub.told(event.Text{Conversation: "a", Text: "x"})
	}
	b.until("the conversation shows", func() bool { return len(b.side.rows) == 3 })
	b.source.mu.Lock()
	defer b.source.mu.Unlock()
	if n := len(b.source.asked); n != 1 {
		t.Errorf("the conversations were read %d times for one burst", n)
	}
}

func TestDaysAreThePersonsOwn(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	now := time.Date(2026, 3, 10, 0, 30, 0, 0, zone)
	for then, want := range map[time.Time]string{
		now.Add(-29 * time.Minute):                "common.today",
		now.Add(-31 * time.Minute):                "common.yesterday",
		now.Add(-24*time.Hour - 31*time.Minute):   "common.last_7_days",
		now.AddDate(0, 0, -7):                     "common.last_30_days",
		now.AddDate(0, 0, -30):                    "common.older",
		now.Add(time.Hour):                        "common.today",
		now.UTC().Add(-30 * time.Minute).In(zone): "common.today",
	} {
		if got := heading(&app.Conversation{Updated: then.UTC()}, now); got != want {
			t.Errorf("%s is %s, want %s", then, got, want)
		}
	}
	rows := group([]app.Conversation{{Pinned: true, Updated: now}, {Updated: now}, {Updated: now}}, now)
	if len(rows) != 5 || rows[0].heading != "shell.pinned" || rows[2].heading != "common.today" {
		t.Errorf("grouped as %+v", rows)
	}
}

func TestNotificationsAreRare(t *testing.T) {
	test.NewTempApp(t)
	now := time.Unix(1000, 0)
	ids := func(count int) (out []string) {
		for i := range count {
			out = append(out, fmt.Sprint(i))
		}
		return out
	}
	var sent []string
	var later func()
	n := &notifier{send: func(f *fyne.Notification) { sent = append(sent, f.Content) }, now: func() time.Time { return now },
		after: func(_ time.Duration, f func()) func() { later = f; return func() {} }}
	n.waits(ids(1))
	for i := 2; i < 50; i++ {
		n.waits(ids(i))
	}
	if len(sent) != 1 || later == nil {
		t.Fatalf("sent: %q", sent)
	}
	now = now.Add(quiet)
	later()
	if len(sent) != 2 || !strings.Contains(sent[1], "49") {
		t.Errorf("sent: %q", sent)
	}
	n.inFront(true)
	n.waits(ids(60))
	n.inFront(false)
	n.waits(ids(59))
	now = now.Add(time.Hour)
	if len(sent) != 2 {
		t.Errorf("the person was told of what was seen: %q", sent)
	}
	n.waits(ids(60))
	if len(sent) != 3 {
		t.Error("the person was not told of what came while the window was away")
	}
	now = now.Add(time.Hour)
	n.waits(append(ids(59), "another")) // one went, one came
	if len(sent) != 4 {
		t.Error("the person was not told of what came as something else went")
	}
}

func TestPaletteFindsByWordsInAnyOrder(t *testing.T) {
	newBench(t, "light", "en", memory{})
	for text, want := range map[string]bool{"": true, "CHAT new": true, "chat old": false, "ctrl": false, "new": true} {
		if got := fits("New chat", text); got != want {
			t.Errorf("fits(%q) is %v", text, got)
		}
	}
	if s := grouped(1234567); s != "1,234,567" {
		t.Errorf("a count is written %s", s)
	}
	for count, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000"} {
		if got := grouped(count); got != want {
			t.Errorf("%d is written %s", count, got)
		}
	}
	if got := fmt.Sprint(serversWords(health{known: true, servers: 4, failed: 1, pending: 2})); !strings.Contains(got, "1 failed") {
		t.Errorf("the servers are summed up as %s", got)
	}
}

func TestNoticesThatMatterStayUntilTheyAreRead(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.hub.told(event.Notice{Kind: "server_slow", Message: "not ours"})
	b.hub.told(event.Notice{Kind: "journal", Conversation: "c1", Message: "the chat's own"})
	b.hub.told(event.Notice{Kind: "key_missing", Message: "passes by"})
	for range 12 {
		b.hub.told(event.Notice{Kind: "recovered", Message: "it may or may not have happened"})
	}
	b.until("the person is told", func() bool { return b.layer.Modal() })
	if !b.press(fyne.KeyEscape, 0) || b.layer.Modal() {
		t.Error("one key does not close what was told at once")
	}
}

// Enter in the search opens what was searched for, however fast it was typed.
func TestEnterOpensWhatWasSearchedFor(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.source.chats = []app.Conversation{{ID: "c_newest", Title: "The newest"}, {ID: "c_wanted", Title: "The wanted one"}}
	b.readAll()
	b.source.mu.Lock()
	b.source.chats = []app.Conversation{{ID: "c_wanted", Title: "The wanted one"}}
	b.source.mu.Unlock()
	b.side.find.SetText("wanted")
	b.side.openFirst()
	if b.conversation() != "" {
		t.Errorf("%q was opened before anything was found", b.conversation())
	}
	b.until("it is opened", func() bool { return b.conversation() != "" })
	if b.conversation() != "c_wanted" {
		t.Errorf("%q was opened", b.conversation())
	}
}
