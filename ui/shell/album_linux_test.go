package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"steward/testdata/signinserver"
)

// ask begins a chat with a question.
func (a *album) ask(question string) {
	a.t.Helper()
	a.key("ctrl+n", "ctrl+l")
	a.still()
	a.write(question)
	a.key("Return")
	a.still()
}

// The three questions that an empty chat offers, in the window's language.
const (
	report = iota
	trip
	flight
)

// try begins a chat with one of them.
func (a *album) try(which int) {
	a.t.Helper()
	a.key("ctrl+n")
	a.still()
	a.tap(760, a.cards()[which])
}

// cards are where the middle of each card of an empty chat is, from above.
func (a *album) cards() (middles []int) {
	a.t.Helper()
	const inside, beside, least = 485, 470, 40 // columns of the window, and a height
	p := a.still()
	at := func(x, y int) int { return p.colour(y*a.scale*p.width + x*a.scale) }
	for y, begun := 0, 0; y < p.height/a.scale; y++ {
		if c := at(inside, y); c == at(inside, begun) && c != at(beside, y) {
			continue
		}
		if y-begun >= least {
			middles = append(middles, (begun+y)/2)
		}
		begun = y
	}
	if len(middles) <= flight {
		a.t.Fatalf("an empty chat shows cards at %v", middles)
	}
	return middles
}

// signIn is a server that wants the person to sign in, in a window of its own.
func (a *album) signIn() {
	server := signinserver.Start(a.t)
	bin, opened := signinserver.Browser(a.t)
	list := filepath.Join(a.folder, "team.json")
	if err := os.WriteFile(list, fmt.Appendf(nil, `{"mcpServers":{"team":{"url":%q}}}`, server.URL), 0o600); err != nil {
		a.t.Fatal(err)
	}
	data := filepath.Join(a.folder, "signing-in")
	a.prepare(data, "")
	a.open(data, []string{"PATH=" + bin + ":" + a.path()}, "--servers", list)
	a.key("ctrl+j")
	a.take("sign-in")
	a.answer("ctrl+Return")
	a.until("the page was opened", func() bool { return len(opened()) == 1 })
	a.key("ctrl+j")
	a.take("sign-in-browser")
	a.key("Escape")
	a.done()
}

// chat opens one by its number in the side bar, which begins with the newest.
func (a *album) chat(n int) {
	a.t.Helper()
	a.click(120, 149+33*n) // it may be shown already
	a.still()
}

// answer goes to what has waited longest and presses a key there.
func (a *album) answer(key string) {
	a.t.Helper()
	a.key("ctrl+j")
	a.still()
	time.Sleep(time.Second) // a card can be answered only once it could be read
	a.key(key)
	a.still()
}
