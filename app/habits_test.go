package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"steward/app/event"
	"steward/llm"
	"steward/storage"
)

func learnedOf(t *testing.T, a *App, address, model, key string) string {
	t.Helper()
	_, habits, err := a.EndpointHabits(ModelEndpoint{BaseURL: address, Model: model})
	check(t, err)
	for _, h := range habits {
		if h.Key == key {
			return h.Learned
		}
	}
	t.Fatalf("there is no habit %s", key)
	return ""
}

// What endpoints show is kept by address and model, over restarts; of too many, what was
// shown longest ago goes first.
func TestHabitsAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	r := newRig(t, nil)
	r.close()
	r.o.Now = func() time.Time { now = now.Add(time.Second); return now }
	r.open()
	for i := range maxPlaces + 2 {
		r.app.learned(llm.Endpoint{BaseURL: fmt.Sprintf("host%d.example.com/v1", i), Model: "m"}, "stop", llm.No)
	}
	r.reopen()
	for i, want := range map[int]string{0: "", 1: "", 2: llm.No, maxPlaces + 1: llm.No} {
		if got := learnedOf(t, r.app, fmt.Sprintf("https://host%d.example.com/v1", i), "m", "stop"); got != want {
			t.Errorf("of endpoint %d %q is known", i, got)
		}
	}
	if got := learnedOf(t, r.app, "https://host2.example.com/v1", "other", "stop"); got != "" {
		t.Errorf("of another model %q is known", got)
	}
	check(t, r.app.ForgetHabits(context.Background(), "host2.example.com/v1", "m"))
	r.reopen()
	if got := learnedOf(t, r.app, "https://host2.example.com/v1", "m", "stop"); got != "" {
		t.Errorf("forgotten it is %q", got)
	}
}

// What cannot be read is told, and learned anew; what no version knows changes nothing.
func TestHabitsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for stored, told := range map[string]bool{`"x"`: true, `[]`: true, `{"http://a/v1 m":null}`: false, `{"http://a/v1 m":{"traits":{"colour":"red","stop":"perhaps","max_tools":"-1"}}}`: false} {
		r := newRig(t, nil)
		check(t, r.app.db.Write(context.Background(), func(tx *storage.Tx) error { return tx.PutSetting(habitsKey, json.RawMessage(stored)) }))
		r.reopen()
		r.until("it is open", func() bool {
			return !told || r.heard(func(e event.Event) bool {
				n, ok := e.(event.Notice)
				return ok && strings.Contains(n.Message, "learned anew")
			})
		})
		p, err := llm.ProfileOf(llm.Endpoint{BaseURL: "http://a/v1", Model: "m", Learned: r.app.model.habits.of("http://a/v1", "m")})
		if err != nil || p.NoStop || p.MaxTools != 0 {
			t.Errorf("%s: %+v, %v", stored, p, err)
		}
		r.app.learned(llm.Endpoint{BaseURL: "http://a/v1", Model: "m"}, "stop", llm.No)
		if got := learnedOf(t, r.app, "http://a/v1", "m", "stop"); got != llm.No {
			t.Errorf("%s: then %q", stored, got)
		}
	}
}
