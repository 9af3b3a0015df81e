package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"steward/app/event"
	"steward/llm"
	"steward/storage"
)

// Where lists of models and favourites stand among the settings.
const (
	modelsKey     = "models." // and the endpoint's id
	favouritesKey = "favourites"
)

// maxFavourites bounds how many models are kept at hand.
const maxFavourites = 200

// ModelInfo is what an endpoint says about one of its models.
type ModelInfo = llm.ModelInfo

// Support says whether a model can do something.
type Support = llm.Support

// Values of Support.
const (
	SupportUnknown = llm.SupportUnknown
	Supported      = llm.Supported
	Unsupported    = llm.Unsupported
)

// ModelList is an endpoint's list of models as it was read last. Its models are not to be
// changed.
type ModelList struct {
	Models []ModelInfo `json:"models"`
	Read   time.Time   `json:"read"` // the zero time: never
}

// ModelChoice is one model of one endpoint.
type ModelChoice struct {
	Endpoint string `json:"endpoint"`
	Model    string `json:"model"`
}

// modelLists keeps the lists in memory, as they stand in the store.
type modelLists struct {
	mu    sync.Mutex
	known map[string]ModelList // by endpoint
}

// ModelList gives an endpoint's models: those that are kept, or, where anew is set or none
// are, what the endpoint answers now, which is then kept; that takes at most 30 s. Where it
// does not answer, the error says why, and what was kept is given beside it.
func (a *App) ModelList(ctx context.Context, endpoint string, anew bool) (ModelList, error) {
	kept := a.KeptModels(ctx, endpoint)
	if !anew && !kept.Read.IsZero() {
		return kept, nil
	}
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	for {
		address := a.model.addressOf(endpoint)
		client, _, err := a.clientOf(ctx, endpoint)
		if err != nil {
			return kept, err
		}
		models, err := client.ModelList(ctx)
		if err != nil {
			return kept, err
		}
		list := ModelList{Models: models, Read: a.clock().UTC()}
		if same, err := a.keepModels(ctx, endpoint, address, list); same || err != nil {
			return list, err
		}
		kept = ModelList{} // it was of the address before, as is what was just read
	}
}

// addressOf is the address of a stored endpoint, "" of any other.
func (m *model) addressOf(endpoint string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, _ := m.stored.find(endpoint)
	return e.BaseURL
}

// KeptModels gives the list that is kept, asking nobody; where it cannot be read it counts
// as none.
func (a *App) KeptModels(ctx context.Context, endpoint string) ModelList {
	a.lists.mu.Lock()
	list, ok := a.lists.known[endpoint]
	a.lists.mu.Unlock()
	if ok {
		return list
	}
	raw, err := a.db.Setting(ctx, modelsKey+endpoint)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return list // it is tried again next time
	}
	if err != nil || json.Unmarshal(raw, &list) != nil {
		list = ModelList{}
	}
	a.lists.mu.Lock()
	defer a.lists.mu.Unlock()
	if now, ok := a.lists.known[endpoint]; ok {
		return now // read meanwhile
	}
	a.lists.known[endpoint] = list
	return list
}

// keepModels keeps a list that was read at an address; not the same, and nothing is kept,
// where the endpoint has another one now or is gone.
func (a *App) keepModels(ctx context.Context, endpoint, address string, list ModelList) (same bool, err error) {
	a.desk.saving.Lock() // no change of the endpoint comes between
	defer a.desk.saving.Unlock()
	if a.model.addressOf(endpoint) != address {
		return false, nil
	}
	a.lists.mu.Lock()
	a.lists.known[endpoint] = list
	a.lists.mu.Unlock()
	a.bus.Publish(event.SettingsChanged{What: "models"})
	if endpoint == FixedEndpoint || endpoint == DemoEndpoint {
		return true, nil // of this run
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return true, err
	}
	return true, a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(modelsKey+endpoint, raw) })
}

// forgetModels drops what is kept of an endpoint that is gone, or is another one now.
func (a *App) forgetModels(ctx context.Context, endpoint string) {
	a.lists.mu.Lock()
	a.lists.known[endpoint] = ModelList{}
	a.lists.mu.Unlock()
	err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.DeleteSetting(modelsKey + endpoint) })
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		a.notice("storage", "", "The list of models of an endpoint that was changed may remain: "+err.Error())
	}
}

// Models lists the models of a stored endpoint by name, for whoever needs no more: those
// that are kept, else what it answers.
func (a *App) Models(ctx context.Context, endpoint string) ([]string, error) {
	list, err := a.ModelList(ctx, endpoint, false)
	if err != nil && len(list.Models) == 0 {
		return nil, err
	}
	names := []string{}
	for _, m := range list.Models {
		if m.Chat != Unsupported {
			names = append(names, m.ID)
		}
	}
	return names, nil
}

// modelInfo is what is known of a model of an endpoint, from the list that is kept, asking
// nobody.
func (a *App) modelInfo(ctx context.Context, endpoint, model string) ModelInfo {
	list := a.KeptModels(ctx, endpoint)
	if i := slices.IndexFunc(list.Models, func(m ModelInfo) bool { return m.ID == model }); i >= 0 {
		return list.Models[i]
	}
	return ModelInfo{ID: model}
}

// Favourites lists the models that a person keeps at hand, in the order they were added;
// those of endpoints that are gone are left out.
func (a *App) Favourites(ctx context.Context) ([]ModelChoice, error) {
	all, err := a.favourites(ctx)
	if err != nil {
		return nil, err
	}
	points, err := a.Endpoints(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c ModelChoice) bool {
		return !slices.ContainsFunc(points, func(e ModelEndpoint) bool { return e.ID == c.Endpoint })
	}), nil
}

func (a *App) favourites(ctx context.Context) (all []ModelChoice, err error) {
	raw, err := a.db.Setting(ctx, favouritesKey)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	return all, err
}

// SetFavourite keeps a model at hand, or no longer. It is not recorded: it changes nothing
// about what is sent.
func (a *App) SetFavourite(ctx context.Context, c ModelChoice, on bool) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	all, err := a.favourites(ctx)
	if err != nil {
		all = nil // what cannot be read is replaced
	}
	all = slices.DeleteFunc(all, func(o ModelChoice) bool { return o == c })
	if on {
		if len(all) >= maxFavourites {
			return &Message{Key: "favourites", Args: args("detail", "There are as many favourites as can be kept; take one away first.")}
		}
		all = append(all, c)
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(favouritesKey, raw) }); err != nil {
		return err
	}
	a.bus.Publish(event.SettingsChanged{What: "models"})
	return nil
}
