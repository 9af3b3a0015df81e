package shell

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/app/consent"
	"steward/ui/place"
)

// furnished is a window with something of everything around the places.
func furnished(t *testing.T, variant, tongue string) *bench {
	b := newBench(t, variant, tongue, memory{place: "chat/c1"})
	now := time.Now()
	b.source.chats = []app.Conversation{
		{ID: "c0", Title: "Ideas", Pinned: true, Updated: now.AddDate(0, 0, -9)},
		{ID: "c1", Title: "Risks in this week's report", Updated: now, Waiting: 1},
		{ID: "c2", Title: "帮我订去巴塞罗那的航班", Updated: now},
		{ID: "c3", Title: "Clean up the downloads folder of the old laptop", Updated: now, Working: true},
		{ID: "c4", Title: "SQL for churned customers", Updated: now.AddDate(0, 0, -1)},
		{ID: "c5", Title: "", Updated: now.AddDate(0, 0, -1), Temporary: true},
		{ID: "c6", Title: "Compare three laptops", Updated: now.AddDate(0, 0, -20)},
	}
	b.source.servers = []app.ServerStatus{{Enabled: true, State: "ready"}, {Enabled: true, State: "failed"}, {Enabled: true, State: "idle"}, {State: "disabled"}}
	b.source.items = []consent.Item{
		{ID: "w1", Kind: consent.KindCall, Conversation: "c2", Presentation: consent.Presentation{Server: "mail-server", Tool: "send_mail"}},
		{ID: "w2", Kind: consent.KindElicitation, Conversation: "c1", Presentation: consent.Presentation{Server: "travel"}},
	}
	b.source.working, b.source.records = []string{"c3"}, 1284
	b.readAll()
	return b
}

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			b := furnished(t, variant, tongue)
			name := variant + "-" + tongue
			b.picture(name)
			b.layer.Offer("“Ideas” was deleted.", "Undo", nil, nil)
			b.layer.Toast("Copied")
			b.side.menu(4, fyne.NewPos(120, 190))
			b.picture(name + "-menu")
			b.layer.Escape()
			b.showPalette()
			b.picture(name + "-palette")
			b.layer.Escape()
			b.layer.Ask("Stop everything?", "Three turns run. What their servers have done already stays done; what waits is withdrawn.",
				place.Button{Label: "Cancel"}, place.Button{Label: "Stop everything", Look: place.Dangerous})
			b.picture(name + "-ask")
			b.layer.Close()
			b.window.Resize(fyne.NewSize(880, 600))
			b.picture(name + "-narrow")
		}
	}
}
