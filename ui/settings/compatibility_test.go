package settings

import (
	"context"
	"slices"
	"strings"
	"testing"

	"steward/app"
	"steward/testdata/scriptedmodel"
)

// What an endpoint has shown stands in its dialog until it is forgotten; what the person sets there goes before it, and is
// stored with the endpoint.
func TestHabitsAreSeenSetAndForgotten(t *testing.T) {
	b := newBench(t, "light", "en")
	s := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.Say("Hello.")}, Repeat: true, Check: func(q scriptedmodel.Request) (int, string) {
		if strings.Contains(string(q.Body), "stream_options") {
			return 400, `{"error":{"message":"Unknown field: stream_options"}}`
		}
		return 0, ""
	}})
	b.p.do(func(ctx context.Context) error {
		_, err := b.App.SaveEndpoint(ctx, app.ModelEndpoint{Name: "Mine", BaseURL: s.URL(), Model: "fake"}, "")
		return err
	}, nil)
	stored := func() app.ModelEndpoint {
		i := slices.IndexFunc(b.p.state.endpoints, func(e app.ModelEndpoint) bool { return e.Name == "Mine" })
		if i < 0 {
			return app.ModelEndpoint{}
		}
		return b.p.state.endpoints[i]
	}
	b.Until("it is stored", func() bool { return stored().ID != "" })
	turn, err := b.App.Send(t.Context(), app.Draft{Text: "Hello?"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := turn.Wait(t.Context()); err != nil || r.State != "finished" || len(s.Requests()) != 2 {
		t.Fatalf("%+v, %v, %d requests", r, err, len(s.Requests()))
	}
	c := b.edit(stored(), "").openCompatibility()
	habit := func(key string) app.Habit {
		_, habits, err := b.App.EndpointHabits(c.typed())
		if err != nil {
			t.Fatal(err)
		}
		return habits[slices.IndexFunc(habits, func(h app.Habit) bool { return h.Key == key })]
	}
	if h := habit("stream_options"); h.Learned != "no" || h.Now() != "no" || h.Usual != "yes" {
		t.Fatalf("%+v", h)
	}
	b.Picture("settings-learned")
	rows := len(c.rows.Objects)
	b.p.do(func(ctx context.Context) error { return b.App.ForgetHabits(ctx, s.URL(), "fake", "stream_options") }, c.fill)
	b.Until("it is forgotten", func() bool { return len(c.rows.Objects) == rows-2 })
	if turn, err = b.App.Send(t.Context(), app.Draft{Text: "Again?"}); err != nil {
		t.Fatal(err)
	}
	if r, err := turn.Wait(t.Context()); err != nil || r.State != "finished" || len(s.Requests()) != 4 {
		t.Errorf("%+v, %v, %d requests: it was not learned anew", r, err, len(s.Requests()))
	}
	c.profile, c.traits["max_tools"], c.traits["stop"] = "mistral", "7", "no"
	c.done()
	c.d.store()
	b.Until("it is stored with them", func() bool { return stored().Profile == "mistral" })
	if e := stored(); e.Traits["max_tools"] != "7" || e.Traits["stop"] != "no" || len(e.Traits) != 2 {
		t.Errorf("%+v", e)
	}
	if limit, sure := b.App.ToolLimit(app.ConversationSettings{}); limit != 7 || !sure {
		t.Errorf("%d, %v", limit, sure)
	}
	wrong := stored()
	wrong.Traits = map[string]string{"max_tools": "many"}
	if _, err := b.App.SaveEndpoint(t.Context(), wrong, ""); err == nil {
		t.Error("a habit that is none was stored")
	}
}
