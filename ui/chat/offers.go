package chat

import (
	"context"

	"steward/app"
)

// offered is what the servers offer to the composer.
type offered struct {
	prompts   []app.Prompt
	resources []app.Resource // templates have URITemplate
	problem   error
}

// offers keeps what the servers offer until that changes. Nothing is started for it.
type offers struct {
	p     *Place
	known offered
	fresh bool
	busy  bool
	again bool
	then  []func(offered)
}

func newOffers(p *Place) *offers { return &offers{p: p} }

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
			for _, f := range then {
				f(got)
			}
		})
	})
}

func (o *offers) gather(ctx context.Context) offered {
	servers, err := o.p.d.App.Servers(ctx)
	if err != nil {
		return offered{problem: err}
	}
	var out offered
	for _, s := range servers {
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
