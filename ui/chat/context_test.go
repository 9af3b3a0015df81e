package chat

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/testdata/scriptedmodel"
	"steward/ui/place"
)

const tooLargeHere = `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`

// reported answers and reports what it took.
func reported(words string, input, output int) scriptedmodel.Step {
	return scriptedmodel.Reply(scriptedmodel.Text(words), scriptedmodel.Finish("stop"), scriptedmodel.Usage(input, output), scriptedmodel.Done())
}

func benchWith(t *testing.T, variant, tongue string, steps ...scriptedmodel.Step) *bench {
	t.Helper()
	m := scriptedmodel.Start(t, steps...)
	b := benchOver(t, variant, tongue, app.Endpoint{BaseURL: m.URL(), Model: "gpt-x-mini"})
	if err := b.app.SetPreference(context.Background(), place.PreferTitles, place.TitlesFromWords); err != nil { // else a title takes an answer
		t.Fatal(err)
	}
	b.until("the tools are known", func() bool { n, _, _ := b.head.facts.toolSum(); return n > 0 })
	return b
}

// tap uses the first small button with these words on the screen.
func (b *bench) tap(words string) {
	b.t.Helper()
	var find func(o fyne.CanvasObject) *chip
	find = func(o fyne.CanvasObject) *chip {
		if !o.Visible() {
			return nil
		}
		if c, ok := o.(*chip); ok {
			if c.words == words {
				return c
			}
			return nil
		}
		for _, child := range childrenOf(o) {
			if c := find(child); c != nil {
				return c
			}
		}
		return nil
	}
	roots := append(b.window.Canvas().Overlays().List(), b.window.Content())
	for _, r := range roots {
		if c := find(r); c != nil {
			c.Tapped(nil)
			return
		}
	}
	b.t.Fatalf("nothing on the screen says %q; rows: %s", words, b.rowKeys())
}

func childrenOf(o fyne.CanvasObject) []fyne.CanvasObject {
	switch o := o.(type) {
	case *fyne.Container:
		return o.Objects
	case fyne.Widget:
		return test.WidgetRenderer(o).Objects()
	}
	return nil
}

// A conversation fills up: it is seen in the head, told in the chat, looked into, summed up, and taken back.
func TestTheContextIsSeenAndCompacted(t *testing.T) {
	for _, c := range []struct {
		variant, tongue, compact, undo, off string
		scale                               float32
	}{
		{"light", "en", "Sum up the older part", "Take back", "Turn off", 1},
		{"dark", "zh-Hans", "总结较早的部分", "撤回总结", "关闭", 2},
	} {
		t.Run(c.variant+" "+c.tongue, func(t *testing.T) {
			long := strings.Repeat("The report says a great deal about the risks of this week. ", 40)
			b := benchWith(t, c.variant, c.tongue, reported("One. "+long, 1400, 380), reported("Two. "+long, 2300, 380), reported("Three.", 2900, 12), reported("The person asked for a report, and it was given.", 1500, 20),
				reported("The person asked for two reports; both were given. The risks are the late test environment and the blocked integration.", 1500, 60), reported("Four.", 1900, 9))
			if w, ok := b.window.Canvas().(software.WindowlessCanvas); ok {
				w.SetScale(c.scale)
			}
			name := c.variant + "-" + c.tongue
			b.turn("Give me the first report. " + long)
			b.turn("And the second one. " + long)
			b.turn("Thank you")
			id := b.state.conversation
			b.settle()
			if !strings.Contains(b.head.context.words, "k") || b.state.full {
				t.Errorf("nobody knows the window, and the head says %q", b.head.context.words)
			}
			if err := b.app.SetFigures(context.Background(), id, app.ModelFigures{Window: 3000, Price: app.Price{Input: "2.5", Output: "10", Currency: "USD"}}); err != nil {
				t.Fatal(err)
			}
			b.until("the head warns", func() bool { return strings.HasSuffix(b.head.context.words, "%") && b.head.context.icon == "warning" })
			b.read()
			b.until("the chat warns", func() bool { return strings.HasSuffix(b.rowKeys(), "full") })
			b.settle()
			b.picture(name + "-context-full")
			b.showContext()
			b.until("the parts are listed", func() bool { return b.panel != nil && len(b.panel.parts) > 4 })
			b.settle()
			b.picture(name + "-context")
			tools, _, _ := b.head.facts.toolSum()
			b.tap(c.off)
			b.until("a tool is off", func() bool { n, _, _ := b.head.facts.toolSum(); return n == tools-1 })
			b.d.Shortcut(escape)
			b.until("the panel is closed", func() bool { return b.panel == nil })
			b.editFigures()
			b.settle()
			b.picture(name + "-figures")
			b.d.Shortcut(escape)
			b.settle()
			b.tap(c.compact)
			b.until("the note stands there", func() bool { return strings.Contains(b.rowKeys(), "note") && !b.state.working })
			b.settle()
			if got := b.rowKeys(); got != "top user answer user answer note user answer actions" {
				t.Errorf("the rows are %s", got)
			}
			for i, r := range b.state.rows {
				if r.kind == rowNote {
					b.list.Touch(i, func(o fyne.CanvasObject) { o.(*noteRow).head.tapped() })
				}
			}
			b.settle()
			b.picture(name + "-note")
			b.tap(c.undo)
			b.until("the note is gone", func() bool { return !strings.Contains(b.rowKeys(), "note") })
		})
	}
}

// What can be done about a result that is too large stands where the request failed, and works.
func TestATooLargeResultInTheChat(t *testing.T) {
	for _, c := range []struct {
		variant, tongue, leave string
	}{{"light", "en", "Leave a result out…"}, {"dark", "zh-Hans", "略去一个结果…"}} {
		t.Run(c.variant+" "+c.tongue, func(t *testing.T) {
			fail := scriptedmodel.Fail(400, tooLargeHere)
			b := benchWith(t, c.variant, c.tongue, scriptedmodel.CallTool("get_weekly_report", `{"date":"2025-03-17"}`), fail, reported("It mentions two risks.", 900, 9))
			b.say("How many risks does the report mention?")
			b.answer(consent.KindCall, consent.Answer{Action: consent.Allow})
			b.until("the turn fails", func() bool { return !b.state.working && strings.Contains(b.rowKeys(), "ending") && b.state.refused })
			b.settle()
			b.picture(c.variant + "-" + c.tongue + "-too-large")
			b.tap(c.leave)
			b.until("the results are listed", func() bool { return fmt.Sprintf("%T", b.window.Canvas().Focused()) == "*layer.menu" })
			b.settle()
			b.picture(c.variant + "-" + c.tongue + "-too-large-results")
			for _, key := range []fyne.KeyName{fyne.KeyHome, fyne.KeyReturn} {
				b.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: key})
			}
			b.until("it is answered", func() bool {
				return !b.state.working && strings.HasSuffix(b.rowKeys(), "actions") && !strings.Contains(b.rowKeys(), "ending")
			})
		})
	}
}

// A note is shown where what it stands for ends, however the conversation is read.
func TestANoteStandsInItsPlace(t *testing.T) {
	t.Parallel()
	at := func(id, role string, seq int64) app.ChatMessage {
		return app.ChatMessage{ID: id, Role: role, Seq: seq, State: stateComplete, Text: id}
	}
	p := newPresenter()
	p.load("c", []app.ChatMessage{at("n", roleNote, 2), at("u3", roleUser, 7), at("a3", roleAssistant, 8)}, nil, false)
	if p.oldest() != 7 {
		t.Errorf("older messages would be read from %d on", p.oldest())
	}
	p.earlier([]app.ChatMessage{at("u1", roleUser, 1), at("a1", roleAssistant, 2), at("u2", roleUser, 5), at("a2", roleAssistant, 6)})
	p.flush()
	if got := keys(p); !strings.Contains(got, "answer:a1 note:n user:u2") {
		t.Errorf("the rows are %s", got)
	}
	p.fills(true, false)
	p.flush()
	if got := keys(p); !strings.HasSuffix(got, "full:") {
		t.Errorf("the rows are %s", got)
	}
}
