package shell

import (
	"context"
	"slices"
	"time"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
)

const (
	// pageOfChats is how many conversations are read at once; scrolling to their end reads as many more.
	pageOfChats = 200
	// settle is how long after an event the side bar is read anew: many events come together.
	settle = 120 * time.Millisecond
)

// source is what the side bar and the banner are read from.
type source interface {
	Conversations(ctx context.Context, q app.Query) ([]app.Conversation, error)
	Servers(ctx context.Context) ([]app.ServerStatus, error)
	Records(ctx context.Context) (int64, error)
	Items() []consent.Item
	Working() []string
}

// topic is a part of the hub's state that is read by itself.
type topic int

const (
	topicChats topic = iota
	topicWaiting
	topicServers
	topicRecords
	topics
)

// health sums up the servers.
type health struct {
	servers int // configured and switched on
	failed  int // of these, not usable
	signIn  int // of these, that want the person to sign in
	pending int // of these, with something to review
	known   bool
	unread  bool // they could not be read
}

// hub holds what the window shows around the places, and keeps it up to date. Its state belongs to the goroutine that do
// runs on; only told may be called from elsewhere.
type hub struct {
	source  source
	do      func(func())
	goes    func(func(ctx context.Context))
	after   func(d time.Duration, f func()) (stop func())
	changed func(t topic)
	notice  func(n event.Notice)
	unsub   func()

	chats    []app.Conversation
	more     bool // there are more conversations than were read
	problem  error
	search   string
	archived bool
	limit    int

	waiting []consent.Item
	working []string
	servers health
	records int64

	due   [topics]bool // a reading is planned
	busy  [topics]bool // a reading runs
	again [topics]bool // and is out of date already
}

func newHub(s source, do func(func()), goes func(func(ctx context.Context)), after func(time.Duration, func()) func(), changed func(topic), notice func(event.Notice)) *hub {
	return &hub{notice: notice, source: s, do: do, goes: goes, after: after, changed: changed, limit: pageOfChats, unsub: func() {}}
}

// listen begins to follow what happens in the program, until close.
func (h *hub) listen(listen func(func(event.Event)) (cancel func())) {
	h.unsub = listen(h.told)
	for t := range topics {
		h.read(t)
	}
}

// close stops following; it waits for an event that is being told. Any goroutine but the bus's.
func (h *hub) close() { h.unsub() }

// told sorts an event. It runs on the bus's goroutine.
func (h *hub) told(e event.Event) {
	var hit []topic
	switch e := e.(type) {
	case event.TurnStart, event.ConversationChanged:
		hit = []topic{topicChats}
	case event.Turn: // its last record was written after everything else was told
		hit = []topic{topicChats, topicRecords}
	case event.MessageStored:
		if e.Role != "user" {
			return
		}
		hit = []topic{topicChats}
	case event.Waiting, event.WaitingGone:
		hit = []topic{topicWaiting, topicChats}
	case event.Server, event.ServersChanged:
		hit = []topic{topicServers, topicRecords}
	case event.Call, event.Result, event.Decision, event.Elicitation, event.Sampling, event.Usage, event.SettingsChanged:
		hit = []topic{topicRecords}
	case event.Notice:
		h.do(func() { h.notice(e) })
		return
	default:
		return
	}
	h.do(func() {
		for _, t := range hit {
			h.plan(t)
		}
	})
}

// plan reads a topic soon.
func (h *hub) plan(t topic) {
	if h.due[t] {
		return
	}
	h.due[t] = true
	h.after(settle, func() {
		h.due[t] = false
		h.read(t)
	})
}

// read reads a topic in the background; while it is being read it is not read twice.
func (h *hub) read(t topic) {
	if h.busy[t] {
		h.again[t] = true
		return
	}
	h.busy[t] = true
	query := app.Query{Search: h.search, Archived: h.archived, Limit: h.limit}
	h.goes(func(ctx context.Context) {
		set := h.look(ctx, t, query)
		h.do(func() {
			h.busy[t] = false
			stale := h.again[t]
			h.again[t] = false
			if stale {
				h.read(t)
			}
			if t == topicChats && query != (app.Query{Search: h.search, Archived: h.archived, Limit: h.limit}) {
				return // of a search that was changed meanwhile
			}
			set()
			h.changed(t)
		})
	})
}

// look reads and returns what puts the reading into the state.
func (h *hub) look(ctx context.Context, t topic, q app.Query) (set func()) {
	switch t {
	case topicChats:
		chats, err := h.source.Conversations(ctx, q)
		working := h.source.Working()
		return func() {
			h.problem, h.working = err, working
			if err == nil {
				h.chats, h.more = chats, len(chats) >= q.Limit
			}
		}
	case topicWaiting:
		items := h.source.Items()
		return func() { h.waiting = items }
	case topicServers:
		list, err := h.source.Servers(ctx)
		return func() {
			if h.servers = sum(list); err != nil {
				h.servers = health{known: true, unread: true} // the place for servers says what is wrong
			}
		}
	default:
		n, err := h.source.Records(ctx)
		return func() {
			if err == nil {
				h.records = n
			}
		}
	}
}

func sum(list []app.ServerStatus) health {
	out := health{known: true}
	for _, s := range list {
		if !s.Enabled && s.State != app.ServerUnusable { // what cannot be used has no switch that could be off
			continue
		}
		out.servers++
		if s.SignIn.Needed || s.SignIn.Waiting {
			out.signIn++
		} else if s.State == "failed" || s.State == app.ServerUnusable {
			out.failed++
		}
		if s.Pending > 0 || s.State == app.ServerUnreviewed {
			out.pending++
		}
	}
	return out
}

// find searches all conversations, or shows the archive.
func (h *hub) find(search string, archived bool) {
	if h.search == search && h.archived == archived {
		return
	}
	h.search, h.archived, h.limit = search, archived, pageOfChats
	h.read(topicChats)
}

// further reads more conversations where there are more.
func (h *hub) further() {
	if h.more && !h.busy[topicChats] {
		h.limit += pageOfChats
		h.read(topicChats)
	}
}

// elsewhere are the waiting items that are not of a conversation.
func (h *hub) elsewhere(conversation string) []consent.Item {
	return slices.DeleteFunc(slices.Clone(h.waiting), func(i consent.Item) bool {
		return conversation != "" && i.Conversation == conversation
	})
}

// fromApp reads from the program.
type fromApp struct{ *app.App }

// Items is what waits for the person.
func (a fromApp) Items() []consent.Item { return a.Waiting().List() }

// Records is the number of the newest record: they are numbered without gaps.
func (a fromApp) Records(ctx context.Context) (int64, error) {
	newest, err := a.Journal().List(ctx, journal.Filter{Limit: 1})
	if err != nil || len(newest) == 0 {
		return 0, err
	}
	return newest[0].Record, nil
}
