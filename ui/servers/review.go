package servers

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

// startPatience bounds the start of a server for a review: a package may have to be fetched first.
const startPatience = 5 * time.Minute

// review shows what is to be trusted. A server that nobody reviewed as it is configured is not started before the
// person has seen how it would be: first the entry alone, then, when the person starts it, all it offers.
type review struct {
	s       *Place
	page    *page
	open    bool
	server  string
	from    app.ServerDetail
	entry   string // the entry that is shown: another one must be shown first
	found   *app.Review
	busy    bool
	problem error
	notice  string
	turn    int
	shape   string // what is shown

	startIt, stopIt, trustIt, notNow, backIt *button.Button
}

func newReview(s *Place) *review {
	r := &review{s: s, page: newPage()}
	r.startIt = strongButton(lang.X("servers.review_start", "Start it and show what it offers"), r.read)
	r.stopIt = newButton(lang.X("common.stop", "Stop"), s.stopChosen)
	r.trustIt = strongButton(lang.X("servers.trust", "Trust what is shown"), r.trust)
	r.notNow = newButton(lang.X("servers.not_now", "Not now"), r.goBack)
	r.backIt = newButton(lang.X("common.back", "Back"), r.goBack)
	return r
}

// begin opens the review of the chosen server.
func (r *review) begin() {
	r.open = true
	r.server = r.s.p.chosen
	r.reset()
	r.s.detail.update()
	if r.from.Reviewed && r.from.Enabled {
		r.read()
	}
}

func (r *review) reset() {
	r.turn++
	r.found, r.busy, r.problem, r.notice = nil, false, nil, ""
}

// leave goes back to the tabs.
func (r *review) leave() {
	r.open = false
	r.reset()
}

// update is told what is known of the chosen server.
func (r *review) update(d app.ServerDetail) {
	entry := strings.Join(entryLines(d.Entry), "\n")
	if d.Name != r.server || entry != r.entry {
		r.server, r.entry = d.Name, entry
		r.reset()
		if r.open && d.Reviewed && d.Enabled {
			defer r.read()
		}
	}
	r.from = d
	if r.open || d.State == app.ServerUnreviewed || r.busy {
		r.draw()
	}
}

// read starts the server, if it does not run, and compares.
func (r *review) read() {
	r.reset()
	r.busy = true
	r.open = true
	r.draw()
	turn, d, server := r.turn, r.s.k.d, r.server
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		found, err := d.App.Review(ctx, server)
		d.Do(func() { r.have(turn, found, err) })
	})
}

func (r *review) have(turn int, found app.Review, err error) {
	if turn != r.turn {
		return
	}
	r.busy, r.problem = false, err
	if err == nil {
		r.found = &found
	}
	held := r.s.focused() == fyne.Focusable(r.startIt) || r.s.focused() == fyne.Focusable(r.stopIt)
	r.draw()
	if held { // the button is gone; the harmless one of the next step is where the person goes on
		to := r.notNow
		if err != nil {
			to = r.startIt
		}
		r.s.focus(to)
	}
	r.s.p.readDetail()
}

// trust marks what is shown, and only that, as reviewed. Where the server offers something else by now, that is shown
// instead.
func (r *review) trust() {
	if r.found == nil || r.busy {
		return
	}
	r.busy = true
	r.draw()
	turn, d, server, hash := r.turn, r.s.k.d, r.server, r.found.Hash
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		now, err := d.App.Trust(ctx, server, hash)
		d.Do(func() {
			if turn != r.turn {
				return
			}
			r.busy = false
			switch {
			case err == nil:
				d.Layer.Toast(lang.X("servers.trusted", "Trusted as it was shown."))
				r.leave()
				r.s.p.readList()
				r.s.detail.update()
				r.s.p.readDetail()
			case now.Hash != "" && now.Hash != hash:
				r.found = &now
				r.notice = lang.X("servers.changed_meanwhile", "It changed while you looked. Nothing was trusted; this is what it offers now.")
				r.draw()
			default:
				r.problem = err
				r.draw()
			}
		})
	})
}

func (r *review) draw() {
	if r.same() {
		return
	}
	out := []fyne.CanvasObject{strong(lang.X("servers.review_title", "Review of {{.server}}", map[string]any{"server": clean.Reveal(r.from.Name)}))}
	_, odd := app.CheckServer(r.from.Entry)
	odd = append(odd, r.s.k.d.App.RefusedRoots(r.server)...)
	if r.found == nil || len(odd) > 0 { // else it is the first of what was found
		out = append(out, r.s.k.entryCard(r.page, inFile(r.from.Entry, r.from.InFile), odd...))
	}
	if r.problem != nil {
		if r.from.Error == "" { // else it stands in the head
			out = append(out, note(language.Message(r.problem), theme.Refusal, theme.RefusalTint))
		}
		if stderr := r.s.k.d.App.ServerStderr(r.server); stderr != "" {
			out = append(out, r.s.k.listing(r.page, "", stderr))
		}
	}
	if r.notice != "" {
		out = append(out, note(r.notice, theme.Waiting, theme.WaitingTint))
	}
	switch {
	case r.busy:
		out = append(out, text.NewLabel(lang.X("servers.review_working", "Starting the server and reading what it offers…"), text.Run{Color: theme.Dim}, text.Wrap), left(r.stopIt))
	case !r.from.Enabled:
		out = append(out, text.NewLabel(lang.X("servers.off_body", "This server is off. Switch it on to see what it offers."), text.Run{Color: theme.Dim}, text.Wrap))
	case r.found == nil:
		words := lang.X("servers.review_first", "Nothing was started yet. A program that is started can do whatever you can do on this computer, so look at how it is started first. No model is offered its tools before you trust them.")
		r.startIt.SetText(lang.X("servers.review_start", "Start it and show what it offers"))
		if r.from.Entry.Command == "" {
			words = lang.X("servers.review_first_address", "Nothing was sent there yet. What a server at an address is sent leaves this computer, so look at the address first. No model is offered its tools before you trust them.")
		}
		if r.problem != nil {
			words = lang.X("servers.review_failed", "Nothing of it was trusted. You can start it again.")
		}
		if r.from.State == "ready" {
			words = lang.X("servers.review_running", "This server runs. What it offers now is read and compared with what you trusted.")
			r.startIt.SetText(lang.X("servers.review_show", "Show what it offers"))
		}
		out = append(out, text.NewLabel(words, text.Run{}, text.Wrap))
		row := left(r.startIt)
		if r.open && r.from.State != app.ServerUnreviewed {
			row.Add(r.backIt)
		}
		out = append(out, row)
	default:
		out = append(out, r.changes()...)
	}
	r.page.set(out...)
}

// same says whether the page shows already what it should, so that what is folded open and where the person is stay.
func (r *review) same() bool {
	hash, problem := "", ""
	if r.found != nil {
		hash = r.found.Hash
	}
	if r.problem != nil {
		problem = r.problem.Error()
	}
	shape, err := json.Marshal([]any{r.server, r.entry, r.open, r.busy, hash, problem, r.notice, r.from.Enabled, r.from.State == app.ServerUnreviewed, r.from.Error == ""})
	if err != nil || string(shape) == r.shape {
		return err == nil
	}
	r.shape = string(shape)
	return false
}

func (r *review) goBack() {
	r.leave()
	r.s.detail.update()
}

// changes are all definitions, what is new or changed first and open.
func (r *review) changes() []fyne.CanvasObject {
	n := r.found.Pending()
	words := lang.X("servers.review_same", "Everything is as you reviewed it.")
	if n > 0 {
		words = counted(n, lang.X("servers.review_one", "1 part is new or changed:"), lang.X("servers.review_many", "{{.n}} parts are new or changed:", map[string]any{"n": n}))
	}
	out := []fyne.CanvasObject{text.NewLabel(words, text.Run{Bold: true}, text.Wrap)}
	var same []string
	for _, c := range r.found.Changes {
		if c.State == consent.StateSame {
			same = append(same, kindWord(c.Kind)+" "+c.Name)
			continue
		}
		out = append(out, r.change(c))
	}
	if len(same) > 0 {
		out = append(out, caption(lang.X("servers.review_unchanged", "Unchanged: {{.names}}", map[string]any{"names": strings.Join(same, " · ")}), theme.Dim, text.Wrap))
	}
	if n == 0 && r.found.Known && !r.found.Blocked {
		return append(out, left(r.backIt))
	}
	return append(out, left(r.notNow, r.trustIt))
}

func (r *review) change(c consent.Change) fyne.CanvasObject {
	state, colour := lang.X("servers.state_new", "new"), theme.Waiting
	switch c.State {
	case consent.StateChanged:
		state = lang.X("servers.state_changed", "changed")
	case consent.StateRemoved:
		state, colour = lang.X("servers.state_removed", "no longer offered"), theme.Dim
	}
	head := text.NewLabel("", text.Run{}, text.Wrap)
	head.SetRuns(text.Run{Text: kindWord(c.Kind) + " ", Color: theme.Dim}, text.Run{Text: c.Name, Bold: true}, text.Run{Text: "  " + state, Color: colour})
	objects := []fyne.CanvasObject{head}
	for _, w := range c.Warnings {
		objects = append(objects, caption("⚠ "+clean.Clean(w), theme.Waiting, text.Wrap))
	}
	switch c.State {
	case consent.StateChanged:
		objects = append(objects, code.NewDiff(c.Old, c.New, r.s.k.config()))
	case consent.StateRemoved:
		objects = append(objects, r.s.k.listing(r.page, "", c.Old))
	default:
		objects = append(objects, r.s.k.listing(r.page, "", c.New))
	}
	return column(step, objects...)
}

func kindWord(kind string) string {
	switch kind {
	case "tool":
		return lang.X("servers.kind_tool", "Tool")
	case "prompt":
		return lang.X("servers.kind_prompt", "Prompt")
	case "instructions":
		return lang.X("servers.kind_instructions", "Instructions")
	case "server":
		return lang.X("servers.kind_server", "Configuration")
	}
	return kind
}
