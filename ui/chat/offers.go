package chat

import (
	"context"
	"slices"
	"time"

	"steward/app"
)

// offered is what the servers offer to the composer.
type offered struct {
	prompts   []app.Prompt
	resources []app.Resource // templates have URITemplate
	problem   error
	idle      []string // servers that were not needed yet
}

// startTime bounds the start of a server of which somebody wants to know what it offers.
const startTime = time.Minute

// offers keeps what the servers offer until that changes. Asking for it needs the servers: those that may start and have
// not been needed yet are started.
type offers struct {
	starting, failed map[string]bool
	p                *Place
	known            offered
	fresh            bool
	busy             bool
	again            bool
	then             []func(offered)
}

func newOffers(p *Place) *offers {
	return &offers{p: p, starting: map[string]bool{}, failed: map[string]bool{}}
}

// stale says that servers offer something else now.
func (o *offers) stale() { o.fresh, o.again = false, true }

// get hands over what is offered, at once where it is known.
func (o *offers) get(then func(offered)) {
	if o.fresh {
		then(o.known)
		return
	}
	o.then = append(o.then, then)
	if !o.busy {
		o.read()
	}
}

func (o *offers) read() {
	o.busy, o.again = true, false
	o.p.d.Go(func(ctx context.Context) {
		got := o.gather(ctx)
		if ctx.Err() != nil {
			return
		}
		o.p.d.Do(func() {
			o.known, o.busy, o.fresh = got, false, !o.again && got.problem == nil
			then := o.then
			o.then = nil
			o.start(got.idle)
			for _, f := range then {
				f(got)
			}
		})
	})
}

// start starts servers, and lets the composer suggest what they offer. Why one does not start stands with the servers.
func (o *offers) start(idle []string) {
	for _, name := range idle {
		if o.starting[name] || o.failed[name] { // one that failed would be tried again with every key
			continue
		}
		o.starting[name] = true
		o.p.d.Go(func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, startTime)
			defer cancel()
			err := o.p.d.App.StartServer(ctx, name)
			o.p.d.Do(func() {
				delete(o.starting, name)
				o.failed[name] = err != nil
				o.stale()
				o.p.composer.popup.again()
			})
		})
	}
}

// waits says whether some of these servers are being started.
func (o *offers) waits(idle []string) bool {
	return slices.ContainsFunc(idle, func(name string) bool { return o.starting[name] })
}

func (o *offers) gather(ctx context.Context) offered {
	servers, err := o.p.d.App.Servers(ctx)
	if err != nil {
		return offered{problem: err}
	}
	var out offered
	for _, s := range servers {
		if s.State == app.ServerIdle {
			out.idle = append(out.idle, s.Name)
		}
		if s.State != "ready" {
			continue
		}
		d, err := o.p.d.App.Server(ctx, s.Name)
		if err != nil {
			continue // it was removed meanwhile
		}
		for _, pr := range d.PromptList {
			pr.Server = s.Name
			out.prompts = append(out.prompts, pr)
		}
		for _, r := range append(d.ResourceList[:len(d.ResourceList):len(d.ResourceList)], d.TemplateList...) {
			r.Server = s.Name
			out.resources = append(out.resources, r)
		}
	}
	return out
}
