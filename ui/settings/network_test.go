package settings

import (
	"encoding/json"
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
