package settings

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestTheWayToServersIsStored(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Network)
	f := b.network
	if refused := f.Set(map[string]json.RawMessage{fieldProxy: json.RawMessage(`" direct "`), fieldCAFile: json.RawMessage(`"/etc/company.pem"`)}); len(refused) != 0 {
		t.Fatalf("refused %q", refused)
	}
	b.Goto(About)
	b.Goto(Network)
	b.saveReach(b.network)
	b.Until("stored", func() bool {
		return b.p.state.settings.Proxy == "direct" && b.p.state.settings.CAFile == "/etc/company.pem"
	})
	b.Goto(Network)
	f = b.network
	if refused := f.Set(map[string]json.RawMessage{fieldProxy: json.RawMessage(`""`)}); len(refused) != 0 {
		t.Fatalf("refused %q", refused)
	}
	b.saveReach(f)
	b.Until("taken back", func() bool { return b.p.state.settings.Proxy == "" && b.p.state.settings.CAFile != "" })
}

// The proxy's password is typed here, kept among the secrets and named in the address; a server is reached with it.
func TestThePasswordOfAProxy(t *testing.T) {
	b := newBench(t, "light", "en")
	b.App.UseSecretsMemory()
	b.Goto(Network)
	set := func(values map[string]json.RawMessage) {
		t.Helper()
		if refused := b.network.Set(values); len(refused) != 0 {
			t.Fatalf("refused %q", refused)
		}
		b.saveReach(b.network)
	}
	set(map[string]json.RawMessage{fieldProxy: json.RawMessage(`"http://proxy:3128"`), fieldProxyPassword: json.RawMessage(`"pass@word/1"`)})
	b.Until("it is said that a user is missing", b.Layer.Modal)
	if b.p.state.settings.Proxy != "" {
		t.Errorf("stored: %s", b.p.state.settings.Proxy)
	}
	set(map[string]json.RawMessage{fieldProxy: json.RawMessage(`"http://me@proxy:3128"`)})
	b.Until("stored", func() bool { return b.p.state.settings.Proxy == "http://me:${secret:settings-proxy}@proxy:3128" })
	names, err := b.App.SecretNames(t.Context())
	if err != nil || !slices.Contains(names, "settings-proxy") {
		t.Errorf("%q, %v", names, err)
	}
}
