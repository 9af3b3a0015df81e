package waiting

import (
	"context"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/chat"
	"steward/app/consent"
	"steward/testdata/scriptedmodel"
	"steward/ui/language"
)

const oneTool = `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"echo","title":"Harmless","description":"Says it again.","inputSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]}}`

// A tool whose name must be typed is allowed by nothing else, in the card as in the core, and offers no standing yes.
func TestAToolThatAsksTwice(t *testing.T) {
	r := newRig(t, app.Options{})
	if err := r.app.SetToolTwice(context.Background(), "mail", "echo", true); err != nil {
		t.Fatal(err)
	}
	r.call(context.Background(), "echo", letter)
	item := r.item(consent.KindCall)
	c := r.seen(item)
	b := calls(c)
	if !b.nameRow.Visible() || b.more.Visible() || !b.once.off || !strings.Contains(shownText(c), "Type echo to be able to allow it") {
		t.Errorf("the card does not ask for the name: %q", shownText(c))
	}
	b.submit()
	if c.busy {
		t.Fatal("allowed without the name")
	}
	if err := r.app.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow}); err == nil {
		t.Fatal("the core takes a yes without the name")
	}
	r.window.Canvas().Focus(b.name)
	test.Type(b.name, "ech")
	if !b.once.off {
		t.Error("a part of the name is enough")
	}
	test.Type(b.name, "o")
	r.press(fyne.KeyReturn)
	if c.busy {
		t.Fatal("Enter allowed it")
	}
	r.control(fyne.KeyReturn)
	r.over(c)
	if err := r.ended(); err != nil || len(r.received()) != 1 {
		t.Errorf("%v; the server got %q", err, r.received())
	}
}

// Arguments that do not fit the tool's schema are told on the card, in the person's language, and cannot be sent.
func TestTheSchemaIsToldBeforeAllow(t *testing.T) {
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
	}()
	for tongue, words := range map[string]string{"en": "/n: must be an integer, not a string", "zh-Hans": "/n: 必须是整数，不能是字符串"} {
		if err := language.Load(tongue); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, app.Options{}, "--step", oneTool)
		r.call(context.Background(), "echo", `{"n":1}`)
		c := r.seen(r.item(consent.KindCall))
		b := calls(c)
		got := shownText(c)
		if tongue == "en" {
			for _, want := range []string{"schema ✓", "changes nothing", "closed world", "called “Harmless”", "server says:", "“Says it again.”"} {
				if !strings.Contains(got, want) {
					t.Errorf("the card lacks %q: %q", want, got)
				}
			}
		}
		test.Tap(b.views[asEdit])
		if r.window.Canvas().Focused() != fyne.Focusable(b.entry) {
			t.Error("the keyboard is not in the input")
		}
		b.entry.SetText(`{"n":"one"}`)
		if got := shownText(c); !strings.Contains(got, words) || strings.Contains(got, "✓") || !b.once.off {
			t.Errorf("%s: the card says %q", tongue, got)
		}
		b.allow(consent.Once)
		if c.busy {
			t.Fatal("arguments that do not fit were allowed")
		}
		b.entry.SetText(`{"n":2}`)
		if strings.Contains(shownText(c), words) || b.once.off {
			t.Error("the complaint stays after it was mended")
		}
		b.allow(consent.Once)
		r.over(c)
		if err := r.ended(); err != nil {
			t.Fatal(err)
		}
		if got := r.received(); !slices.Equal(got, []string{`echo {"n":2}`}) {
			t.Errorf("the server got %q", got)
		}
	}
}

// What the person attached is a source like another server's output.
func TestAttachedTextIsASource(t *testing.T) {
	item := consent.Item{Server: "mail"}
	got := outputs(item, []app.ChatMessage{{Attachments: []chat.Attachment{
		{Kind: "file", Name: "notes.txt", Text: "a"}, {Kind: "resource", Name: "r", Server: "wiki", Text: "b"}, {Kind: "resource", Name: "own", Server: "mail", Text: "c"},
	}}})
	if !slices.Equal(got, []source{{"notes.txt", "a"}, {"wiki", "b"}}) {
		t.Errorf("sources: %v", got)
	}
}

// A page that the person agreed to open is waited for on a card, until the person says that it is done or gives it up.
func TestThePageIsWaitedFor(t *testing.T) {
	refusal := `tool:pay={"jsonrpc":"2.0","id":${id},"error":{"code":-32042,"message":"pay first","data":{"elicitations":[{"mode":"url","elicitationId":"p1","url":"https://example.com/pay","message":"Pay for it"}]}}}`
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", refusal)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.call(ctx, "pay", "{}")
	open := func() *Card {
		item := r.item(consent.KindElicitation)
		if item.Elicitation.Mode != modeURL {
			t.Fatalf("mode %q", item.Elicitation.Mode)
		}
		if err := r.app.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Accept, Elsewhere: true}); err != nil {
			t.Fatal(err)
		}
		var found consent.Item
		r.until("the page is waited for", func() bool {
			for _, i := range r.app.Waiting().List() {
				if i.Elicitation != nil && i.Elicitation.Mode == consent.ModeDone {
					found = i
					return true
				}
			}
			return false
		})
		return r.seen(found)
	}
	c := open()
	if got := shownText(c); !strings.Contains(got, "Pay for it") || !strings.Contains(got, "https://example.com/pay") || !strings.Contains(got, "Finish there what the server wants") {
		t.Errorf("the card: %q", got)
	}
	c.body.submit() // the person says that it is done: the server is asked again, and refuses again
	r.over(c)
	r.until("the card says so", func() bool { return strings.Contains(c.line.Plain(), "asked again") })
	c = open()
	c.body.escape()
	r.over(c)
	if err := r.ended(); err != nil {
		t.Error(err)
	}
}

// Each ending of a question is told on its card.
func TestHowAQuestionEnds(t *testing.T) {
	r := newRig(t, app.Options{Policy: onlyForms}, "--step", `tool:mortal=@ask-only elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}`, "--step", "tool:mortal=@sleep 300ms", "--step", "tool:mortal=@exit 3")
	for _, tc := range []struct {
		tool, what string
		end        func(stop func())
	}{
		{"elicit-cancel", "the server took it back", func(func()) {}},
		{"elicit", "was stopped", func(stop func()) { stop() }},
		{"sample", "was stopped", func(stop func()) { stop() }},
		{"elicit", "no longer running", func(func()) {
			if err := r.app.RestartServer(context.Background(), "mail"); err != nil {
				t.Error(err)
			}
		}},
		{"mortal", "no longer running", func(func()) {}},
	} {
		ctx, stop := context.WithCancel(context.Background())
		r.call(ctx, tc.tool, "{}")
		kind := consent.KindElicitation
		if tc.tool == "sample" {
			kind = consent.KindSampling
		}
		c := r.seen(r.item(kind))
		go tc.end(stop)
		r.over(c)
		_ = r.ended() // how the call ended is not what is looked at here
		r.until("the card says "+tc.what, func() bool { return strings.Contains(c.line.Plain(), tc.what) })
		stop()
	}
}

// A chat that is deleted, or left for another, while its call waits.
func TestTheChatGoesWhileACallWaits(t *testing.T) {
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.CallTool("mail__echo", letter), scriptedmodel.Say("Done.")}})
	t.Setenv("WAITING_TEST_KEY", "k")
	r := newRig(t, app.Options{Endpoint: app.Endpoint{BaseURL: m.URL(), Model: "first", KeyEnv: "WAITING_TEST_KEY"}})
	ctx := context.Background()
	conversation, err := r.app.NewConversation(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.app.Send(ctx, app.Draft{Conversation: conversation.ID, Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	item := r.item(consent.KindCall)
	c := r.seen(item)
	c.Close() // the chat is left for another: the call waits on
	if _, waits := r.app.Waiting().Get(item.ID); !waits {
		t.Fatal("the call went with its card")
	}
	c = r.seen(item)
	if _, err := r.app.Delete(ctx, conversation.ID); err != nil {
		t.Fatal(err)
	}
	r.over(c)
	r.until("the card says so", func() bool { return strings.Contains(c.line.Plain(), "The chat was deleted; nothing was done.") })
	_ = turn
	if len(r.received()) != 0 {
		t.Errorf("the server got %q", r.received())
	}
}
