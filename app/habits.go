package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"steward/app/event"
	"steward/llm"
	"steward/storage"
)

// habitsKey is where what endpoints have shown stands among the settings.
const habitsKey = "endpoint_habits"

// maxPlaces bounds how many endpoints with a model are remembered; the one that showed
// something longest ago is forgotten first.
const maxPlaces = 300

// habitWait bounds keeping one of them, while a request waits for it.
const habitWait = 5 * time.Second

// habits are what endpoints have shown by refusing requests, by address and model.
type habits struct {
	saving sync.Mutex // held while something is stored; before mu

	mu     sync.Mutex
	places map[string]*shown
}

// shown is what one endpoint has shown with one model.
type shown struct {
	Traits map[string]string `json:"traits"`
	Time   time.Time         `json:"time"` // of the last
}

func placeOf(baseURL, model string) string { return llm.WithScheme(baseURL) + " " + model }

// readHabits reads what is stored; what cannot be read is told, and is learned anew.
func (a *App) readHabits(ctx context.Context) error {
	h := &a.model.habits
	h.places = map[string]*shown{}
	raw, err := a.db.Setting(ctx, habitsKey)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &h.places); err != nil {
		a.notice("settings", "", "What model endpoints have shown of themselves cannot be read and is learned anew: "+err.Error())
		h.places = map[string]*shown{}
	}
	maps.DeleteFunc(h.places, func(_ string, s *shown) bool { return s == nil })
	return nil
}

// of gives a copy of what an endpoint has shown.
func (h *habits) of(baseURL, model string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.places[placeOf(baseURL, model)]; s != nil {
		return maps.Clone(s.Traits)
	}
	return nil
}

// change changes what is known of a place and gives what is to be stored then.
func (h *habits) change(place string, now time.Time, f func(traits map[string]string)) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.places[place]
	if s == nil {
		s = &shown{}
	}
	next := maps.Clone(s.Traits)
	if next == nil {
		next = map[string]string{}
	}
	f(next)
	h.places[place] = &shown{next, now.UTC()}
	if len(next) == 0 {
		delete(h.places, place)
	}
	for len(h.places) > maxPlaces {
		delete(h.places, slices.MinFunc(slices.Collect(maps.Keys(h.places)), func(a, b string) int {
			return cmp.Or(h.places[a].Time.Compare(h.places[b].Time), cmp.Compare(a, b))
		}))
	}
	return json.Marshal(h.places)
}

// learned keeps what an endpoint has shown, over restarts. The demo model's address is
// another with each start, so nothing is kept of it.
func (a *App) learned(e llm.Endpoint, key, value string) {
	m := &a.model
	m.mu.Lock()
	demo := m.demo != nil && m.demo.BaseURL() == e.BaseURL
	m.mu.Unlock()
	if demo {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), habitWait)
	defer cancel()
	if err := a.keepHabits(ctx, e.BaseURL, e.Model, func(t map[string]string) { t[key] = value }); err != nil {
		a.bus.Publish(event.Notice{Kind: "settings", Message: err.Error()})
	}
}

func (a *App) keepHabits(ctx context.Context, baseURL, model string, f func(map[string]string)) error {
	a.model.habits.saving.Lock()
	defer a.model.habits.saving.Unlock()
	raw, err := a.model.habits.change(placeOf(baseURL, model), a.clock(), f)
	if err == nil {
		err = a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(habitsKey, raw) })
	}
	if err != nil {
		return fmt.Errorf("what the model endpoint has shown of itself could not be kept, so it is learned again after the next start: %w", err)
	}
	a.bus.Publish(event.SettingsChanged{What: "endpoints"})
	return nil
}

// EndpointProfile is a profile that an endpoint can be given by hand.
type EndpointProfile struct {
	Name  string // as it is stored
	Title string // a proper name
}

// EndpointProfiles lists the profiles, the generic one first.
func EndpointProfiles() []EndpointProfile {
	var out []EndpointProfile
	for _, p := range llm.Profiles() {
		out = append(out, EndpointProfile{p.Name, p.Title})
	}
	return out
}

// Habit is one habit of an endpoint, as it stands in the table, was learned, and was set.
type Habit struct {
	Key     string
	Values  []string // that it takes; nil of a number, of which 0 is none known
	Usual   string   // by the endpoint's profile and the model's name
	Learned string   // from a refusal; empty where nothing was
	Set     string   // by the person; empty where nothing was
}

// Now is the value that holds: what the person set, else what was learned, else the usual.
func (h Habit) Now() string { return cmp.Or(h.Set, h.Learned, h.Usual) }

// EndpointHabits gives the profile and the habits of an endpoint, which need not be stored.
// The error says what is wrong with its address or its profile.
func (a *App) EndpointHabits(e ModelEndpoint) (EndpointProfile, []Habit, error) {
	base := llm.WithScheme(e.BaseURL)
	p, err := llm.ProfileOf(llm.Endpoint{BaseURL: base, Model: e.Model, Profile: e.Profile})
	if err != nil {
		return EndpointProfile{}, nil, err
	}
	learned := a.model.habits.of(base, e.Model)
	var out []Habit
	for _, t := range llm.Traits() {
		out = append(out, Habit{t.Key, t.Values, p.Trait(t.Key), learned[t.Key], e.Traits[t.Key]})
	}
	return EndpointProfile{p.Name, p.Title}, out, nil
}

// ForgetHabits forgets what an endpoint has shown with a model: these keys, or all of none.
// It is learned again when it is shown again. Requests under way go on with it.
func (a *App) ForgetHabits(ctx context.Context, baseURL, model string, keys ...string) error {
	baseURL = llm.WithScheme(baseURL)
	err := a.keepHabits(ctx, baseURL, model, func(t map[string]string) {
		maps.DeleteFunc(t, func(k, _ string) bool { return len(keys) == 0 || slices.Contains(keys, k) })
	})
	left := a.model.habits.of(baseURL, model)
	a.model.mu.Lock()
	defer a.model.mu.Unlock()
	for id, c := range a.model.clients {
		if id.baseURL == baseURL && id.model == model {
			c.Relearn(left)
		}
	}
	return err
}

// ToolLimit is how many tools the endpoint of a conversation with these settings takes in one
// request, 0 where no limit is known. With sure it would refuse more; else its model takes so
// many elsewhere.
func (a *App) ToolLimit(s ConversationSettings) (limit int, sure bool) {
	e, ok := a.model.endpointFor(s)
	if !ok {
		return 0, false
	}
	e.Learned = a.model.habits.of(e.BaseURL, e.Model)
	p, err := llm.ProfileOf(e)
	if err != nil {
		return 0, false // the request itself will say what is wrong
	}
	return cmp.Or(p.MaxTools, p.LikelyTools), p.MaxTools > 0
}

// endpointFor is the endpoint that a conversation with these settings uses, without its
// key; false where that is the demo model. Nothing is started.
func (m *model) endpointFor(s ConversationSettings) (llm.Endpoint, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.forRun(s); ok {
		e.Key = nil
		return e, true
	}
	chosen, name, ok := m.chosen(s)
	return llm.Endpoint{BaseURL: chosen.BaseURL, Model: name, Profile: chosen.Profile, Traits: chosen.Traits}, ok
}

// asKey is a map as something that can be compared.
func asKey(m map[string]string) string {
	out := ""
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out += k + "=" + m[k] + " "
	}
	return out
}
