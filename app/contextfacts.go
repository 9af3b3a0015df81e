package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/event"
	"steward/llm"
	"steward/llm/tokens"
	"steward/storage"
)

// contextKey is the setting under which is kept what is known of models' context windows.
const contextKey = "context"

// Where the figure of a context window is from.
const (
	WindowByPerson   = "person"   // entered for this model
	WindowByEndpoint = "endpoint" // the endpoint said so, in its list of models or in a refusal
	WindowByTable    = "table"    // what the model's maker publishes
)

// mostWindow is the largest figure that is taken for a context window, in tokens.
const mostWindow = 100_000_000

// Price is what a person pays for a model, for a million tokens each, as the person typed it.
// Empty fields are not known; without one for what goes in or comes out nothing is counted.
type Price struct {
	Input    string `json:"input,omitempty"`
	Cached   string `json:"cached,omitempty"` // input that the endpoint had kept; empty: like Input
	Output   string `json:"output,omitempty"`
	Currency string `json:"currency,omitempty"` // a sign or a word, shown as it is
}

// ModelFigures are what a person says of a model at an endpoint. Zero values say nothing.
type ModelFigures struct {
	Window int // the context window in tokens
	Price  Price
}

// modelFacts are what is known of one model at one endpoint.
type modelFacts struct {
	Window int           `json:"window,omitempty"` // the person's figure
	Told   int           `json:"told,omitempty"`   // the endpoint's
	Factor tokens.Factor `json:"factor,omitzero"`
	Price  Price         `json:"price,omitzero"`
}

// contextFacts are what is stored.
type contextFacts struct {
	Auto   bool                  `json:"auto,omitempty"` // compact without being asked
	Models map[string]modelFacts `json:"models,omitempty"`
}

// contextState is what the program holds of it.
type contextState struct {
	mu    sync.Mutex
	facts contextFacts
	asked map[string]bool // endpoints and models that were asked in this run
}

func modelKey(where, model string) string { return where + " " + model }

func (a *App) openContext(ctx context.Context) error {
	c := &a.context
	c.asked = map[string]bool{}
	raw, err := a.db.Setting(ctx, contextKey)
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	} else if err == nil {
		if err := json.Unmarshal(raw, &c.facts); err != nil {
			a.notice("settings", "", "What is known of models' context windows cannot be read and counts as not known: "+err.Error())
			c.facts = contextFacts{}
		}
	}
	if c.facts.Models == nil {
		c.facts.Models = map[string]modelFacts{}
	}
	return err
}

// changeFacts changes what is known. The caller stores what is returned.
func (c *contextState) change(change func(*contextFacts)) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.facts.Models = maps.Clone(c.facts.Models)
	change(&c.facts)
	return json.Marshal(c.facts)
}

func (c *contextState) model(where, model string) (modelFacts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.facts.Models[modelKey(where, model)], c.facts.Auto
}

// learn changes what is known of a model, and stores it at leisure: it can be learned again.
func (a *App) learnOf(where, model string, change func(*modelFacts) bool) bool {
	changed := false
	raw, err := a.context.change(func(f *contextFacts) {
		m := f.Models[modelKey(where, model)]
		if changed = change(&m); changed {
			f.Models[modelKey(where, model)] = m
		}
	})
	if !changed || err != nil {
		return false
	}
	a.db.Later(func(tx *storage.Tx) error { return tx.PutSetting(contextKey, raw) })
	return true
}

// window is the model's context window and where the figure is from; 0 where nobody knows.
func (m modelFacts) window(where, model string) (tokens int, source string) {
	switch known := llm.KnownWindow(where, model); {
	case m.Window > 0:
		return m.Window, WindowByPerson
	case m.Told > 0:
		return m.Told, WindowByEndpoint
	case known > 0:
		return known, WindowByTable
	}
	return 0, ""
}

// room is what the turn loop is told of how much a model can read.
func (a *App) room(where, model string) chat.Room {
	m, auto := a.context.model(where, model)
	window, _ := m.window(where, model)
	return chat.Room{Window: window, Factor: m.Factor, Auto: auto}
}

// reported learns from what an endpoint reported that a request took. Only who estimates at all
// learns: in a run that estimates nothing the vocabulary is not read for it.
func (a *App) reported(where, model string, r llm.Request, u llm.Usage) {
	if !tokens.Loaded() {
		return
	}
	w := chat.Weigh(r)
	if w.Images > 0 {
		return // what a picture costs is guessed, and says nothing about texts
	}
	a.learnOf(where, model, func(m *modelFacts) bool {
		next := m.Factor.Learn(w.Sum(), u.Input)
		changed := next != m.Factor
		m.Factor = next
		return changed
	})
}

// told keeps a context window that an endpoint told.
func (a *App) toldWindow(where, model string, window int) {
	if window <= 0 || window > mostWindow {
		return
	}
	if a.learnOf(where, model, func(m *modelFacts) bool { changed := m.Told != window; m.Told = window; return changed }) {
		a.bus.Publish(event.SettingsChanged{What: "context"})
	}
}

// LearnWindow asks the endpoint of a conversation how much its model can read, where that is not
// known from the person or from the endpoint, once in a run. It takes half a minute at most; what
// is learned is told by an event. That the endpoint does not say is no error.
func (a *App) LearnWindow(ctx context.Context, id string) error {
	base, model, ok := a.answering(ctx, id)
	where := llm.Where(base)
	if !ok || where == "" || model == "" {
		return nil
	}
	known, _ := a.context.model(where, model)
	a.context.mu.Lock()
	asked := a.context.asked[modelKey(where, model)] || known.Window > 0
	a.context.asked[modelKey(where, model)] = true
	a.context.mu.Unlock()
	if asked {
		return nil
	}
	client, _, err := a.modelFor(ctx, id)
	if err != nil {
		return nil // whoever sends something is told
	}
	window, err := client.Window(ctx)
	if err != nil {
		return fmt.Errorf("how much the model can read could not be asked: %w", err)
	}
	a.toldWindow(where, model, window)
	return nil
}

// answering is the address of the endpoint that answers next in a conversation, and its model;
// false where it is the demo model.
func (a *App) answering(ctx context.Context, id string) (base, model string, ok bool) {
	e, ok := a.model.endpointFor(a.chat(ctx, id))
	return e.BaseURL, e.Model, ok
}

// FiguresOf gives what the person has said of the model that answers in a conversation; false
// where none can be said of it: the demo model.
func (a *App) FiguresOf(ctx context.Context, id string) (ModelFigures, bool) {
	base, model, ok := a.answering(ctx, id)
	where := llm.Where(base)
	if !ok || where == "" || model == "" {
		return ModelFigures{}, false
	}
	m, _ := a.context.model(where, model)
	return ModelFigures{Window: m.Window, Price: m.Price}, true
}

// SetFigures stores them. The error names the field that cannot be used.
func (a *App) SetFigures(ctx context.Context, id string, f ModelFigures) error {
	base, model, ok := a.answering(ctx, id)
	where := llm.Where(base)
	if !ok || where == "" || model == "" {
		return &Message{Key: "no_figures", Args: args("detail", "Nothing can be said of the demo model.")}
	}
	if f.Window < 0 || f.Window > mostWindow {
		return &Message{Key: "figures", Args: args("detail", "The context window is a number of tokens, such as 128000.")}
	}
	for _, p := range []*string{&f.Price.Input, &f.Price.Cached, &f.Price.Output} {
		*p = strings.TrimSpace(*p)
		if _, ok := amount(*p); !ok && *p != "" {
			return &Message{Key: "figures", Args: args("detail", "The price "+reveal(*p)+" is no number. It is for a million tokens, such as 2.50.")}
		}
	}
	f.Price.Currency = clean.Line(f.Price.Currency, 12)
	raw, err := a.context.change(func(c *contextFacts) {
		m := c.Models[modelKey(where, model)]
		m.Window, m.Price = f.Window, f.Price
		c.Models[modelKey(where, model)] = m
	})
	return a.storeFacts(ctx, raw, err)
}

func (a *App) storeFacts(ctx context.Context, raw json.RawMessage, err error) error {
	if err == nil {
		err = a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(contextKey, raw) })
	}
	if err != nil {
		return fmt.Errorf("this could not be stored, and holds until the program ends: %w", err)
	}
	a.bus.Publish(event.SettingsChanged{What: "context"})
	return nil
}

// AutoCompact says whether a conversation is compacted without being asked when it comes near
// what its model can read. It is off unless the person switched it on.
func (a *App) AutoCompact() bool {
	_, auto := a.context.model("", "")
	return auto
}

// SetAutoCompact switches it.
func (a *App) SetAutoCompact(ctx context.Context, on bool) error {
	raw, err := a.context.change(func(c *contextFacts) { c.Auto = on })
	return a.storeFacts(ctx, raw, err)
}

// amount reads a price, with a point or a comma before its decimals.
func amount(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}

// Cost is an amount of money. Only what a person gave a price for is in it.
type Cost struct {
	Amount   float64
	Currency string // as typed; may be empty
}

// cost works out what a request cost, by the price that stands for its model now; false where
// none does, or where the endpoint did not report what it took.
func (p Price) cost(s chat.Spent) (Cost, bool) {
	in, inOK := amount(p.Input)
	out, outOK := amount(p.Output)
	if !s.Reported() || !inOK || !outOK {
		return Cost{}, false
	}
	cached, ok := amount(p.Cached)
	if !ok {
		cached = in
	}
	total := float64(s.Input-s.Cached)*in + float64(s.Cached)*cached + float64(s.Output)*out
	return Cost{Amount: total / 1e6, Currency: p.Currency}, true
}

func (a *App) costOf(s chat.Spent) (Cost, bool) {
	m, _ := a.context.model(s.Where, s.Model)
	return m.Price.cost(s)
}
