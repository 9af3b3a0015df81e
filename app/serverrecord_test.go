package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"steward/app/journal"
)

// A start that has started nothing is recorded as that.
func TestAStartThatStartedNothingIsNoUnknown(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(refusing.Close)
	r := newRig(t, nil)
	r.o.Policy.SignIn = "deny" // nobody can be asked, as on a pipe
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"secret":  map[string]any{"command": "/bin/cat", "env": map[string]string{"KEY": "${secret:nobody-has-this}"}},
		"address": map[string]any{"url": "https://x.invalid/${secret:nobody-has-this}"},
		"program": map[string]any{"command": "/no/such/program"},
		"key":     map[string]any{"url": refusing.URL, "headers": map[string]string{"Authorization": "Bearer wrong"}},
		"signin":  map[string]any{"url": refusing.URL},
		"ends":    map[string]any{"command": "/bin/false"},
	}})
	check(t, err)
	r.o.ServersFile = filepath.Join(t.TempDir(), "given.json")
	write(t, r.o.ServersFile, string(raw))
	r.reopen()
	must(t, func() ([]Diagnosis, error) { return r.app.Doctor(ctx, "") })
	found := map[string]journal.Record{}
	r.until("all starts are recorded", func() bool {
		records := must(t, func() ([]journal.Record, error) {
			return r.app.Journal().List(ctx, journal.Filter{Kind: string(journal.KindServer), Limit: 50})
		})
		for _, rec := range records {
			found[rec.Server] = rec
		}
		return len(found) == 6
	})
	for name, want := range map[string][2]string{
		"secret": {journal.Withdrawn, journal.EffectNone}, "address": {journal.Withdrawn, journal.EffectNone}, "program": {journal.Withdrawn, journal.EffectNone},
		"key": {journal.Withdrawn, journal.EffectNone}, "signin": {journal.Withdrawn, journal.EffectNone},
		"ends": {journal.Unknown, journal.EffectUnknown},
	} {
		if rec := found[name]; string(rec.Outcome) != want[0] || string(rec.Effect) != want[1] {
			t.Errorf("%s: %s / %s", name, rec.Outcome, rec.Effect)
		}
	}
}
