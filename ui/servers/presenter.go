package servers

import (
	"context"
	"slices"
	"time"

	"steward/app"
	"steward/app/event"
)

// patience bounds what is only read; readEvery is how often latency and up-time are read again while they are seen, and
// followEvery how often the place looks where the keyboard went.
const (
	patience    = 10 * time.Second
	readEvery   = 5 * time.Second
	followEvery = 100 * time.Millisecond
)

// source is what the presenter reads. *app.App is one.
type source interface {
	Servers(ctx context.Context) ([]app.ServerStatus, error)
	ServerNow(ctx context.Context, name string) (app.ServerDetail, error)
}

// reading is one thing that is read in the background: at most one read runs, and what changed meanwhile is read once
// more after it.
type reading struct{ busy, again bool }

// presenter knows the servers and the chosen one. Its methods belong to one goroutine, that of do.
type presenter struct {
	from    source
	do      func(func())
	run     func(func(context.Context))
	onList  func()
	onShown func()

	list    []app.ServerStatus
	listErr error
	loaded  bool

	chosen    string
	detail    app.ServerDetail // of chosen, when detailed
	detailed  bool
	detailErr error

	turns map[string]int    // server → how often something was done to it
	doing map[string]string // server → what is being done to it: "start", "stop", …

	lists, details reading
}

func newPresenter(from source, do func(func()), run func(func(context.Context))) *presenter {
	return &presenter{from: from, do: do, run: run, onList: func() {}, onShown: func() {}, doing: map[string]string{}, turns: map[string]int{}}
}

// heard is told every event of the program, from any goroutine.
func (p *presenter) heard(e event.Event) {
	name := ""
	switch e := e.(type) {
	case event.Server:
		name = e.Server
	case event.ServersChanged:
		name = e.Server
	case event.SettingsChanged:
		if e.What != "rules" && e.What != "grants" {
			return
		}
	default:
		return
	}
	p.do(func() {
		p.readList()
		if name == "" || name == p.chosen {
			p.readDetail()
		}
	})
}

func (p *presenter) readList() {
	if p.lists.busy {
		p.lists.again = true
		return
	}
	p.lists.busy = true
	p.run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		list, err := p.from.Servers(ctx)
		p.do(func() { p.haveList(list, err) })
	})
}

func (p *presenter) haveList(list []app.ServerStatus, err error) {
	p.lists.busy = false
	if err == nil {
		p.list = list
	}
	p.listErr, p.loaded = err, true
	if p.find(p.chosen) < 0 && err == nil {
		p.chosen, p.detailed = "", false
		if len(list) > 0 {
			p.chosen = list[0].Name
			p.readDetail()
		} else {
			p.onShown()
		}
	}
	p.onList()
	if p.lists.again {
		p.lists.again = false
		p.readList()
	}
}

// choose shows another server. A name that is not in the list yet is chosen all the same once it was read.
func (p *presenter) choose(name string) {
	if name == p.chosen {
		return
	}
	p.chosen, p.detailed, p.detailErr = name, false, nil
	p.onList()
	p.onShown()
	p.readDetail()
}

func (p *presenter) readDetail() {
	if p.chosen == "" {
		return
	}
	if p.details.busy {
		p.details.again = true
		return
	}
	p.details.busy = true
	name := p.chosen
	p.run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		d, err := p.from.ServerNow(ctx, name)
		p.do(func() { p.haveDetail(name, d, err) })
	})
}

func (p *presenter) haveDetail(name string, d app.ServerDetail, err error) {
	p.details.busy = false
	if name == p.chosen {
		p.detailErr = err
		if err == nil {
			p.detail, p.detailed = d, true
		}
		p.onShown()
	}
	if p.details.again || name != p.chosen {
		p.details.again = false
		p.readDetail()
	}
}

// act does something to a server in the background, such as restarting it. While it lasts, what is shown as going on;
// done gets the error. One thing is done to a server at a time; but what stops it may come while it is being started,
// and then nobody is told how the start ended.
func (p *presenter) act(name, what string, f func(context.Context) error, done func(error)) {
	if p.doing[name] != "" && (what != "stop" || !starts(p.doing[name])) {
		return
	}
	p.doing[name] = what
	p.turns[name]++
	turn := p.turns[name]
	p.onList()
	p.onShown()
	p.run(func(ctx context.Context) {
		err := f(ctx)
		p.do(func() {
			mine := turn == p.turns[name]
			if mine {
				delete(p.doing, name)
			}
			p.readList()
			p.readDetail()
			p.onList()
			p.onShown()
			if done != nil && mine {
				done(err)
			}
		})
	})
}

// starts says whether what is being done to a server is its start.
func starts(what string) bool { return what == "start" || what == "restart" }

func (p *presenter) find(name string) int {
	return slices.IndexFunc(p.list, func(s app.ServerStatus) bool { return s.Name == name })
}
