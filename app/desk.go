package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"steward/app/chat"
	"steward/app/event"
	"steward/app/journal"
	"steward/storage"
)

// Where the window's own things stand among the settings.
const (
	toolsKey      = "tools"
	endpointsKey  = "endpoints"
	preferenceKey = "preference." // and the front end's own key
)

// diskWait bounds a read that answers somebody who cannot wait.
const diskWait = 2 * time.Second

// desk is what a person has set beside the settings, kept in memory because it is asked
// for with every request and every call, and what waits to be erased.
type desk struct {
	saving sync.Mutex // held while something is stored; before mu

	mu    sync.Mutex
	chats map[string]ConversationSettings
	tools toolChoices
	bin   map[string]*time.Timer // by conversation
	gone  bool                   // the program ends
	work  sync.WaitGroup

	followed map[followed]int // how many listen to the changes of a resource

	facts serverFacts
}

// toolChoices are a person's choices for tools wherever they are used, by server and tool.
type toolChoices struct {
	Off      map[string]map[string]bool   `json:"off,omitempty"`
	ReadOnly map[string]map[string]string `json:"readOnly,omitempty"` // the definition that was marked
	Twice    map[string]map[string]bool   `json:"twice,omitempty"`
}

// followed names a resource of a server.
type followed struct{ server, uri string }

// follow counts who listens to the changes of a resource, and says how many do now.
func (d *desk) follow(server, uri string, by int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := followed{server, uri}
	d.followed[k] += by
	n := d.followed[k]
	if n == 0 {
		delete(d.followed, k)
	}
	return n
}

// openDesk reads what is stored; what cannot be read is told, and counts as nothing.
func (a *App) openDesk(ctx context.Context) error {
	a.desk.chats, a.desk.bin = map[string]ConversationSettings{}, map[string]*time.Timer{}
	a.desk.followed = map[followed]int{}
	a.lists.known = map[string]ModelList{}
	a.desk.facts.known = map[string]serverKnown{}
	a.desk.facts.asking = map[string]*asking{}
	raw, err := a.db.Setting(ctx, toolsKey)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err == nil {
		if err = json.Unmarshal(raw, &a.desk.tools); err != nil {
			a.notice("settings", "", "The switches of tools cannot be read and count as not set: "+err.Error())
			a.desk.tools, err = toolChoices{}, nil
		}
	}
	return err
}

// closeDesk erases what is in the bin and what is temporary, and ends the desk's
// goroutines.
func (a *App) closeDesk(ctx context.Context) error {
	a.desk.mu.Lock()
	a.desk.gone = true
	for _, t := range a.desk.bin {
		t.Stop()
	}
	a.desk.mu.Unlock()
	if a.servers != nil {
		a.servers.stop() // what is being asked of a server that does not answer would be waited for
	}
	a.desk.work.Wait()
	if a.db == nil {
		return nil
	}
	if err := a.emptyBin(ctx); !errors.Is(err, journal.ErrBroken) {
		return err
	}
	return nil // it was told already that nothing can be recorded, and this is done when it can
}

// emptyBin erases every conversation that nobody can want back.
func (a *App) emptyBin(ctx context.Context) error {
	leaving, err := a.db.Leaving(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range leaving {
		errs = append(errs, a.erase(ctx, c))
	}
	return errors.Join(errs...)
}

// erase removes a conversation for good. The records of a temporary one keep their texts.
func (a *App) erase(ctx context.Context, c storage.Conversation) error {
	var err error
	if c.Temporary {
		err = a.db.Write(ctx, func(tx *storage.Tx) error { return tx.ForgetConversation(c.ID) })
	} else {
		err = a.journal.Erase(ctx, c.ID) // the record says so, or its check would miss the texts
	}
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("a deleted conversation could not be erased; it will be tried again at the next start: %w", err)
	}
	return nil
}

// spawn runs work in the background, unless the program ends; Close waits for it.
func (a *App) spawn(work func(ctx context.Context)) bool {
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	if a.desk.gone || a.servers == nil {
		return false
	}
	a.desk.work.Go(func() { work(a.servers.ctx) })
	return true
}

// chat gives a conversation's settings from memory, or from the disk. Where they cannot be
// read, no folder is shared, and only tools that are marked as read-only are offered.
func (a *App) chat(ctx context.Context, id string) ConversationSettings {
	if id == "" {
		return ConversationSettings{}
	}
	a.desk.mu.Lock()
	s, ok := a.desk.chats[id]
	a.desk.mu.Unlock()
	if ok {
		return s
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diskWait)
	defer cancel()
	c, err := a.db.Conversation(ctx, id)
	if err == nil {
		s, err = readChatSettings(c)
	}
	if err != nil {
		if errors.Is(err, storage.ErrNotFound) {
			return ConversationSettings{}
		}
		if a.servers.firstTime("\x00settings of "+id, err.Error()) {
			a.bus.Publish(event.Notice{Conversation: id, Kind: "settings", Message: "The settings of the conversation cannot be read, so only tools that you have marked as read-only are offered in it: " + err.Error()})
		}
		return ConversationSettings{ReadOnly: true}
	}
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	if now, ok := a.desk.chats[id]; ok {
		return now // set meanwhile
	}
	a.desk.chats[id] = s
	return s
}

func readChatSettings(c storage.Conversation) (s ConversationSettings, err error) {
	raw := chat.ReadMeta(c).Settings
	if len(raw) == 0 {
		return s, nil
	}
	return s, json.Unmarshal(raw, &s)
}

// toolDisabled says whether a tool is switched off in a conversation, or as a whole where
// the conversation says nothing.
func (a *App) toolDisabled(conversation, server, tool, definition string) bool {
	return a.whyNotOffered(a.chat(context.Background(), conversation), server, tool, definition) != ""
}

// toolReads says whether the person has marked a tool, as it is defined, as one that only reads.
func (a *App) toolReads(server, tool, definition string) bool {
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	return definition != "" && a.desk.tools.ReadOnly[server][tool] == definition
}

func (a *App) whyNotOffered(s ConversationSettings, server, tool, definition string) string {
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	t := a.desk.tools
	if a.leftOut(server, tool) {
		return "left_out"
	}
	if s.ReadOnly && (definition == "" || t.ReadOnly[server][tool] != definition) {
		return "read_only"
	}
	if on, ok := s.Tools[server][tool]; ok {
		return word(!on, "switched_off")
	}
	if on, ok := s.Servers[server]; ok && !on {
		return "server_off"
	}
	return word(t.Off[server][tool], "switched_off")
}

func word(is bool, s string) string {
	if is {
		return s
	}
	return ""
}

// without says that a conversation uses nothing of a server.
func (s ConversationSettings) without(server string) bool {
	if on, ok := s.Servers[server]; !ok || on {
		return false
	}
	for _, on := range s.Tools[server] {
		if on {
			return false
		}
	}
	return true
}

// changeTools records a change of what the person set for a server's tools, then makes it hold. what says which; the tool is
// empty where it is all of them.
func (a *App) changeTools(ctx context.Context, server, tool string, what map[string]any, change func(*toolChoices)) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	a.desk.mu.Lock()
	next := a.desk.tools.clone()
	a.desk.mu.Unlock()
	change(&next)
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	_, err = a.journal.NoteNow(ctx, journal.Proposal{Kind: journal.KindSettings, Server: server, Tool: tool, Detail: what},
		journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("nothing was changed because that could not be recorded: %w", err)
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(toolsKey, raw) }); err != nil {
		return fmt.Errorf("the switch of the tool could not be stored: %w", err)
	}
	a.desk.mu.Lock()
	a.desk.tools = next
	a.desk.mu.Unlock()
	a.bus.Publish(event.ServersChanged{Server: server})
	return nil
}

func (t toolChoices) clone() toolChoices {
	return toolChoices{Off: deepCopy(t.Off), ReadOnly: deepCopy(t.ReadOnly), Twice: deepCopy(t.Twice)}
}

func deepCopy[V any](m map[string]map[string]V) map[string]map[string]V {
	out := make(map[string]map[string]V, len(m))
	for k, inner := range m {
		out[k] = make(map[string]V, len(inner))
		for n, v := range inner {
			out[k][n] = v
		}
	}
	return out
}

// set puts a value under two names, or removes it where it is the zero value.
func set[V comparable](m map[string]map[string]V, server, tool string, v V) {
	var zero V
	if v == zero {
		delete(m[server], tool)
		return
	}
	if m[server] == nil {
		m[server] = map[string]V{}
	}
	m[server][tool] = v
}
