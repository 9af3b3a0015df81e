package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"steward/app/event"
	"steward/testdata/scriptedmodel"
)

// listing is an endpoint that lists models, and answers with the scripted one otherwise.
func listing(t *testing.T, model http.Handler, list *atomic.Value) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			model.ServeHTTP(w, r)
			return
		}
		body, _ := list.Load().(string)
		if body == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// A list of models is kept over restarts, asked for anew when a person wants that, and stays where the endpoint does
// not answer; it goes with the endpoint's address.
func TestListsOfModelsAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var list atomic.Value
	list.Store(`{"data":[{"id":"a","context_length":4096},{"id":"embed","type":"embeddings"}]}`)
	s := listing(t, scriptedmodel.StartScript(t, scriptedmodel.Script{}), &list)
	r := newRig(t, map[string]any{})
	r.stored()
	id := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: s.URL, Model: "a"}, "")
	})
	if kept := r.app.KeptModels(ctx, id); !kept.Read.IsZero() {
		t.Errorf("at first there is %+v", kept)
	}
	got := must(t, func() (ModelList, error) { return r.app.ModelList(ctx, id, false) })
	if len(got.Models) != 2 || got.Models[0].Window != 4096 || got.Read.IsZero() {
		t.Errorf("read: %+v", got)
	}
	if names := must(t, func() ([]string, error) { return r.app.Models(ctx, id) }); !slices.Equal(names, []string{"a"}) {
		t.Errorf("to be chosen: %v", names)
	}
	list.Store("")
	r.reopen()
	again := must(t, func() (ModelList, error) { return r.app.ModelList(ctx, id, false) })
	if len(again.Models) != 2 || !again.Read.Equal(got.Read) {
		t.Errorf("after a restart: %+v", again)
	}
	old, err := r.app.ModelList(ctx, id, true)
	if err == nil || !strings.Contains(err.Error(), "503") || len(old.Models) != 2 {
		t.Errorf("an endpoint that does not answer: %+v, %v", old, err)
	}
	list.Store(`["b"]`)
	if now := must(t, func() (ModelList, error) { return r.app.ModelList(ctx, id, true) }); len(now.Models) != 1 || now.Models[0].ID != "b" {
		t.Errorf("asked anew: %+v", now)
	}
	must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{ID: id, BaseURL: s.URL + "/other/v1", Model: "a"}, "")
	})
	if kept := r.app.KeptModels(ctx, id); len(kept.Models) != 0 {
		t.Errorf("of another address: %+v", kept)
	}
}

// Favourites are kept in order, once each, and those of an endpoint that is gone are not shown.
func TestFavourites(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{})
	r.stored()
	a := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: "https://a.example", Model: "m"}, "")
	})
	b := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: "https://b.example", Model: "m"}, "")
	})
	for _, c := range []ModelChoice{{b, "x"}, {a, "y"}, {b, "x"}, {a, "z"}} {
		check(t, r.app.SetFavourite(ctx, c, true))
	}
	check(t, r.app.SetFavourite(ctx, ModelChoice{a, "z"}, false))
	r.reopen()
	if got := must(t, func() ([]ModelChoice, error) { return r.app.Favourites(ctx) }); !slices.Equal(got, []ModelChoice{{a, "y"}, {b, "x"}}) {
		t.Errorf("%+v", got)
	}
	check(t, r.app.DeleteEndpoint(ctx, b))
	if got := must(t, func() ([]ModelChoice, error) { return r.app.Favourites(ctx) }); !slices.Equal(got, []ModelChoice{{a, "y"}}) {
		t.Errorf("without its endpoint: %+v", got)
	}
	for i := range maxFavourites {
		err := r.app.SetFavourite(ctx, ModelChoice{a, strings.Repeat("x", i+1)}, true)
		if full := i >= maxFavourites-2; (err != nil) != full && i < maxFavourites-2 {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if err := r.app.SetFavourite(ctx, ModelChoice{a, "one too many"}, true); Explain(err).Key != "favourites" {
		t.Errorf("beyond the bound: %v", err)
	}
}

// What goes with a conversation's requests is its own, else the settings', else left to the endpoint; what cannot be is
// refused.
func TestParametersOfAConversation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("1"), say("2"), say("3"), say("4"))
	id := r.say("", "a")
	s := must(t, func() (Settings, error) { return r.app.Settings(ctx) })
	s.Temperature, s.MaxTokens, s.System = new(0.25), 700, "Rule for all."
	check(t, r.app.SaveSettings(ctx, s))
	r.say(id, "b")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Parameters: Parameters{Temperature: new(0.0), MaxTokens: 50, Effort: "low", System: "Rule for this one."}}))
	r.reopen()
	r.say(id, "c")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{}))
	r.say(id, "d")
	got := r.model.Requests()
	for i, want := range [][]string{
		{`!"temperature"`, `!"max_tokens"`, `!"reasoning_effort"`, "!Rule for"},
		{`"temperature":0.25`, `"max_tokens":700`, `!"reasoning_effort"`, "Rule for all.", "!Rule for this one."},
		{`"temperature":0,`, `"max_tokens":50`, `"reasoning_effort":"low"`, `Rule for all.\n\nRule for this one.\n\n`},
		{`"temperature":0.25`, `"max_tokens":700`, `!"reasoning_effort"`, "!Rule for this one."},
	} {
		for _, w := range want {
			w, absent := strings.CutPrefix(w, "!")
			if strings.Contains(string(got[i].Body), w) == absent {
				t.Errorf("request %d, %s (absent: %v): %s", i, w, absent, got[i].Body)
			}
		}
	}
	for _, bad := range []Parameters{{Temperature: new(-0.1)}, {Temperature: new(2.5)}, {MaxTokens: -1}, {Effort: `hi"gh`}, {System: strings.Repeat("x", maxChatSystem+1)}} {
		if err := r.app.SetConversationSettings(ctx, id, ConversationSettings{Parameters: bad}); Explain(err).Key != "parameters" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// To a model that is known to see no pictures and take no tools, neither is sent; a notice says so before, once. Nothing
// is held back from one of which nothing is known.
func TestWhatAModelDoesNotTakeIsNotSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: []scriptedmodel.Step{say("ok")}, Repeat: true})
	var list atomic.Value
	list.Store(`{"data":[{"id":"blind","architecture":{"input_modalities":["text"]},"supported_parameters":["temperature"]},{"id":"unknown"}]}`)
	s := listing(t, model, &list)
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")})
	r.stored()
	id := must(t, func() (string, error) {
		return r.app.SaveEndpoint(ctx, ModelEndpoint{BaseURL: s.URL, Model: "blind"}, "")
	})
	must(t, func() (ModelList, error) { return r.app.ModelList(ctx, id, true) })
	picture := Attachment{Kind: "image", Name: "a.png", MIMEType: "image/png", Data: []byte("\x89PNG")}
	turn := r.send(Draft{Text: "look", Attach: []Attachment{picture}})
	r.done(turn)
	chat := turn.Conversation()
	r.say(chat, "again")
	for _, q := range model.Requests() {
		if body := string(q.Body); strings.Contains(body, "image_url") || strings.Contains(body, `"tools"`) || !strings.Contains(body, "this model takes no pictures") {
			t.Errorf("sent was %s", body)
		}
	}
	notices := func(kind string) (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.events {
			if e, ok := e.(event.Notice); ok && e.Kind == kind && e.Conversation == chat && strings.Contains(e.Message, "blind") {
				n++
			}
		}
		return n
	}
	if p, k := notices("pictures"), notices("no_tools"); p != 1 || k != 1 {
		t.Errorf("told of pictures %d times, of tools %d times", p, k)
	}
	check(t, r.app.SetConversationSettings(ctx, chat, ConversationSettings{Endpoint: id, Model: "unknown"}))
	r.say(chat, "and you?")
	all := model.Requests()
	if body := string(all[len(all)-1].Body); !strings.Contains(body, "image_url") || !strings.Contains(body, `"tools"`) {
		t.Errorf("one of which nothing is known got %s", body)
	}
}
