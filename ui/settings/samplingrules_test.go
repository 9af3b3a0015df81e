package settings

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
)

// A line of the table is made in a dialog, refused where it says too little, and taken away again.
func TestTheModelsThatServersGet(t *testing.T) {
	for _, look := range []struct {
		variant, tongue string
		size            fyne.Size
	}{{"light", "en", fyne.NewSize(1032, 800)}, {"dark", "zh-Hans", fyne.NewSize(640, 400)}} {
		t.Run(look.variant, func(t *testing.T) {
			b := newBench(t, look.variant, look.tongue)
			b.Window.Resize(look.size)
			id, err := b.App.SaveEndpoint(t.Context(), app.ModelEndpoint{Name: "Mine", BaseURL: "http://127.0.0.1:1/v1", Model: "large"}, "")
			if err != nil {
				t.Fatal(err)
			}
			b.Until("the endpoint is shown", func() bool { return b.endpointNamed(id) == "Mine" })
			r := b.addSamplingRule()
			b.Picture("settings-" + look.variant + "-" + look.tongue + "-models-for-servers-edit")
			if _, err := r.rule(); err == nil {
				t.Error("a line without a name is taken")
			}
			r.save()
			r.like.SetText("haiku")
			r.save()
			b.Until("a line without a model is refused", func() bool { return !r.keep.Disabled() && len(b.p.state.sampling) == 0 })
			r.where = id
			r.model.SetText("small")
			test.Tap(r.keep)
			b.Until("the line is shown", func() bool { return len(b.p.state.sampling) == 1 })
			r = b.addSamplingRule()
			r.choose(consent.PreferCost)
			r.model.SetText("cheap")
			test.Tap(r.keep)
			b.Until("both are shown", func() bool { return len(b.p.state.sampling) == 2 })
			b.Goto(Models)
			b.scroll.ScrollToBottom()
			b.Picture("settings-" + look.variant + "-" + look.tongue + "-models-for-servers")
			want := []app.SamplingRule{{Like: "haiku", Endpoint: id, Model: "small"}, {Prefers: consent.PreferCost, Model: "cheap"}}
			for i, w := range want {
				if got := b.App.SamplingRules()[i]; got != w {
					t.Errorf("%+v, want %+v", got, w)
				}
			}
		})
	}
}
