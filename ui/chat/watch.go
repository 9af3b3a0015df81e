package chat

import (
	"context"
	"sync"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
)

// watched names a resource that is attached and not sent.
type watched struct{ server, uri string }

// watch follows the changes of one resource, where its server reports them.
type watch struct {
	changed bool // Fyne's goroutine

	mu     sync.Mutex
	cancel func() // nil until the server has agreed
	over   bool
}

// begin keeps what ends the watching, or ends it at once where nobody wants it any more. In the background.
func (k *watch) begin(cancel func()) {
	k.mu.Lock()
	over := k.over
	k.cancel = cancel
	k.mu.Unlock()
	if over {
		cancel()
	}
}

// end ends the watching. It waits for what is being told, so it belongs in the background.
func (k *watch) end() {
	k.mu.Lock()
	cancel := k.cancel
	k.over = true
	k.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func watchedOf(a app.Attachment) (watched, bool) {
	return watched{a.Server, a.URI}, a.Kind == "resource" && a.Server != "" && a.URI != ""
}

// watchAttached follows the resources that are attached now, and no others.
func (p *Place) watchAttached(attached []app.Attachment) {
	wanted := map[watched]bool{}
	for _, a := range attached {
		if w, ok := watchedOf(a); ok {
			wanted[w] = true
		}
	}
	for w, k := range p.watches {
		if !wanted[w] {
			delete(p.watches, w)
			p.d.Go(func(context.Context) { k.end() })
		}
	}
	for w := range wanted {
		if p.watches[w] == nil {
			k := &watch{}
			p.watches[w] = k
			p.watch(w, k)
		}
	}
}

func (p *Place) watch(w watched, k *watch) {
	p.d.Go(func(ctx context.Context) {
		cancel, err := p.d.App.Subscribe(ctx, w.server, w.uri, func() {
			p.d.Do(func() {
				if p.watches[w] == k {
					k.changed = true
					p.composer.rebuild()
				}
			})
		})
		if err == nil { // many servers report no changes; what is attached is what was seen
			k.begin(cancel)
		}
	})
}

// changedSince says whether a resource has changed since it was attached.
func (p *Place) changedSince(a app.Attachment) bool {
	w, ok := watchedOf(a)
	return ok && p.watches[w] != nil && p.watches[w].changed
}

// readAgain reads a changed resource, shows it, and puts it in the place of the old one once the person says so.
func (p *Place) readAgain(old app.Attachment) {
	id := p.state.conversation
	a := &asking{p: p, title: "@" + attachmentWords(old) + " · " + clean.Reveal(old.Server), about: lang.X("chat.changed_since", "The server reports that this has changed since it was attached.")}
	a.fetch = func(ctx context.Context, _ map[string]string) (app.Attachment, error) {
		return p.d.App.ReadResource(ctx, id, old.Server, old.URI)
	}
	a.attach = func(got app.Attachment) {
		if w, ok := watchedOf(old); ok && p.watches[w] != nil {
			p.watches[w].changed = false
		}
		p.composer.exchange(old, got)
	}
	a.open()
}
