package settings

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/consent"
	"steward/app/secrets"
	"steward/ui/button"
	"steward/ui/place"
	"steward/ui/place/placetest"
)

// each visits an object and all that it is drawn with.
func each(o fyne.CanvasObject, do func(fyne.CanvasObject)) {
	do(o)
	switch o := o.(type) {
	case *fyne.Container:
		for _, c := range o.Objects {
			each(c, do)
		}
	case fyne.Widget:
		for _, c := range test.WidgetRenderer(o).Objects() {
			each(c, do)
		}
	}
}

// buttons are the shown section's buttons with these words.
func (b *bench) buttons(words string) (out []*button.Button) {
	each(b.scroll.Content, func(o fyne.CanvasObject) {
		if one, ok := o.(*button.Button); ok && one.Text() == words && one.Visible() {
			out = append(out, one)
		}
	})
	return out
}

func (b *bench) tap(words string) {
	b.T.Helper()
	found := b.buttons(words)
	if len(found) != 1 {
		b.T.Fatalf("%d buttons say %q", len(found), words)
	}
	test.Tap(found[0])
}

// allowed makes a call that is allowed with a scope.
func allowed(t *testing.T, b *bench, scope string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := b.App.Call(context.Background(), "weekly-report", "get_weekly_report", `{"date":"2025-03-17"}`)
		done <- err
	}()
	b.Until("the call waits", func() bool { return len(b.App.Waiting().List()) == 1 })
	item := b.App.Waiting().List()[0]
	if err := b.App.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow, Scope: scope}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestAGrantIsShownAndRevoked(t *testing.T) {
	b := newBenchWith(t, placetest.Options{Servers: map[string]string{"weekly-report": weekly}})
	b.Goto(Permissions)
	allowed(t, b, "always")
	b.Until("the grant is shown", func() bool { return len(b.buttons("Revoke")) == 1 })
	if g := b.p.state.grants[0]; g.Server != "weekly-report" || g.Tool != "get_weekly_report" {
		t.Errorf("granted %+v", g)
	}
	b.tap("Revoke")
	b.Until("it is gone", func() bool { return len(b.p.state.grants) == 0 && len(b.buttons("Revoke")) == 0 })
	if left, err := b.App.Grants(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d grants hold, %v", len(left), err)
	}
}

// A server that is trusted with the model stands among the grants, and the trust can be taken back there.
func TestTrustIsShownAndRevoked(t *testing.T) {
	b := newBenchWith(t, placetest.Options{Servers: map[string]string{"weekly-report": weekly}})
	b.Goto(Permissions)
	if err := b.App.SetSamplingLimits(t.Context(), "weekly-report", app.SamplingLimits{PerHour: 7, Trusted: 3, TrustedTokens: 900}); err != nil {
		t.Fatal(err)
	}
	b.Until("the trust is shown", func() bool { return len(b.p.state.trusted) == 1 && len(b.buttons("Revoke")) == 1 })
	b.tap("Revoke")
	b.Until("it is gone", func() bool { return len(b.p.state.trusted) == 0 && len(b.buttons("Revoke")) == 0 })
	if got := b.App.SamplingLimits("weekly-report"); got != (app.SamplingLimits{PerHour: 7}) {
		t.Errorf("left: %+v", got)
	}
}

func TestARuleTellsWhatItWouldHaveDecided(t *testing.T) {
	b := newBenchWith(t, placetest.Options{Servers: map[string]string{"weekly-report": weekly}})
	for range 3 {
		allowed(t, b, "once")
	}
	b.Goto(Permissions)
	var got trial
	for effect, want := range map[string]string{app.PermissionAllow: "have allowed 3 calls without asking", app.PermissionDeny: "have denied 3 calls"} {
		done := false
		b.trial(app.Rule{Effect: effect, Server: "weekly-report"}, func(t trial, err error) { got, done = t, err == nil })
		b.Until("the answer", func() bool { return done })
		if !strings.Contains(got.words(), want) || len(got.records) != 3 || got.records[0].Tool != "get_weekly_report" {
			t.Errorf("%q, %d records, want %q", got.words(), len(got.records), want)
		}
	}
	// From the dialog in which a rule is made, to the calls.
	r := b.addRule()
	r.server.SetText("weekly-report")
	if r.show.Visible() {
		t.Error("calls can be shown before the rule was tried")
	}
	r.try()
	b.Until("tried", func() bool { return r.show.Visible() })
	test.Tap(r.show)
	b.Picture("settings-trial")
	b.Layer.Escape()
	b.Layer.Escape()
	// From the list of rules.
	if _, err := b.App.SaveRule(t.Context(), app.Rule{Effect: "deny", Server: "nobody"}); err != nil {
		t.Fatal(err)
	}
	b.Until("the rule is shown", func() bool { return len(b.buttons("Last 30 days…")) == 1 })
	b.tap("Last 30 days…")
	b.Until("the answer is shown", b.Layer.Modal)
}

// A rule is never wider than what was typed, and two taps make one.
func TestARuleIsWhatWasTyped(t *testing.T) {
	b := newBench(t, "light", "en")
	r := b.addRule()
	r.effect.SetSelected("allow")
	r.server.SetText("files")
	r.prefix.SetText("/home/me/")
	if rule, err := r.rule(); err == nil {
		t.Errorf("without its argument the rule is %+v", rule)
	}
	r.argument.SetText(" path ")
	rule, err := r.rule()
	if err != nil || rule.Effect != app.PermissionAllow || string(rule.Condition) != `{"arguments":{"path":{"prefix":"/home/me/"}}}` {
		t.Errorf("the rule is %+v (%s), %v", rule, rule.Condition, err)
	}
	if words := conditionWords([]byte(`{"definition":"sha256:ab","arguments":{"path":{"prefix":"/home"}}}`)); words != "until its definition changes; where path begins with “/home”" {
		t.Errorf("a condition reads %q", words)
	}
	test.Tap(r.keep)
	test.Tap(r.keep)
	b.Until("the rule is stored", func() bool { return !b.Layer.Modal() && !r.keep.Disabled() })
	if rules, err := b.App.Rules(t.Context()); err != nil || len(rules) != 1 {
		t.Errorf("%d rules are stored, %v", len(rules), err)
	}
}

// TestTheEncryptedFileIsOpenedAtTheNextStart: with a wrong passphrase, and with the right one.
func TestTheEncryptedFileIsOpenedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	a := placetest.Open(t, placetest.Options{Data: dir})
	if err := a.UseSecretsFile(t.Context(), "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if err := a.SetSecret(t.Context(), "team-token", "t0ken-0123456789"); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := newBenchWith(t, placetest.Options{Data: dir})
	b.Goto(Secrets)
	if !b.p.closedFile() || len(b.buttons("Encrypted file…")) != 0 || len(b.buttons("Try again")) != 0 {
		t.Fatalf("kept in %+v; what is offered: %d, %d", b.p.state.secrets, len(b.buttons("Encrypted file…")), len(b.buttons("Try again")))
	}
	b.Picture("settings-secrets-closed")
	b.tap("Unlock")
	if !b.Layer.Modal() {
		t.Fatal("the passphrase is not asked for")
	}
	b.Layer.Escape()
	p := b.passphrase()
	p.first.SetText("wrong horse battery")
	p.use()
	b.Until("the refusal", func() bool { return !p.do.Disabled() })
	if b.p.state.secrets.Kind != secrets.KindLocked || !b.Layer.Modal() {
		t.Errorf("after a wrong passphrase secrets are kept in %q", b.p.state.secrets.Kind)
	}
	p.first.SetText("correct horse battery")
	p.use()
	b.Until("it is open", func() bool { return b.p.state.secrets.Kind == secrets.KindFile })
	if b.Layer.Modal() || !slices.Contains(b.p.state.names, "team-token") || p.first.Text != "" {
		t.Errorf("open; the dialog is shown: %v, stored are %q", b.Layer.Modal(), b.p.state.names)
	}
}

func TestWithoutAKeyringSecretsCanBeKeptUntilTheEnd(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Secrets)
	if len(b.buttons("Unlock")) != 0 || len(b.buttons("Only until the end")) != 1 {
		t.Fatalf("offered: unlock %d, memory %d", len(b.buttons("Unlock")), len(b.buttons("Only until the end")))
	}
	b.tap("Only until the end")
	if !b.Layer.Modal() {
		t.Error("what it means is not said")
	}
	b.Layer.Escape()
	b.App.UseSecretsMemory()
	b.Until("it is shown", func() bool { return b.p.state.secrets.Kind == secrets.KindMemory })
}

func TestShortcutsAreThoseOfTheCommands(t *testing.T) {
	b := newBench(t, "light", "en")
	ctrl := func(k fyne.KeyName, more fyne.KeyModifier) fyne.Shortcut {
		return &desktop.CustomShortcut{KeyName: k, Modifier: fyne.KeyModifierControl | more}
	}
	b.d.Commands = func() []place.Command {
		return []place.Command{
			{ID: "shell.new", TitleKey: "shell.new_chat", Shortcut: ctrl(fyne.KeyN, 0)}, {ID: "shell.palette", Shortcut: ctrl(fyne.KeyK, 0)},
			{ID: "shell.search", TitleKey: "shell.search_chats", Shortcut: ctrl(fyne.KeyF, fyne.KeyModifierShift)},
			{ID: "x.no_keys", TitleKey: "shell.audit"}, {ID: "x.escape", TitleKey: "shell.audit", Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyEscape}},
			{ID: "chat.send", TitleKey: "shell.waiting", Shortcut: ctrl(fyne.KeyReturn, 0)},
		}
	}
	want := [][2]string{{"Ctrl N", "New chat"}, {"Ctrl K", "Commands, chats, servers, tools, prompts"}, {"Ctrl Shift F", "Search all chats"}, {"Ctrl Enter", "Waiting for you"}}
	if runtime.GOOS == "darwin" {
		t.Skip("keys are written otherwise there")
	}
	got := b.commandKeys()
	for i := range want {
		if i >= len(got) || got[i][0] != want[i][0] || got[i][1] == "" {
			t.Fatalf("the list is %q, want %q", got, want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the list is %q", got)
	}
}

func TestChoicesAreKept(t *testing.T) {
	b := newBench(t, "light", "en")
	for _, c := range []struct{ section, key, want string }{
		{Shortcuts, place.PreferEnter, place.EnterBreaks}, {Models, place.PreferTitles, place.TitlesFromWords},
	} {
		b.Goto(c.section)
		var sel *widget.Select
		each(b.scroll.Content, func(o fyne.CanvasObject) {
			if s, ok := o.(*widget.Select); ok && sel == nil {
				sel = s
			}
		})
		if sel.SelectedIndex() != 0 {
			t.Errorf("at first %q is chosen", sel.Selected)
		}
		sel.SetSelectedIndex(1)
		b.Until("it is stored", func() bool {
			v, err := b.App.Preference(t.Context(), c.key)
			return err == nil && v == c.want
		})
		b.Until("it is shown", func() bool {
			return c.key == place.PreferEnter && b.p.state.enter == c.want || c.key == place.PreferTitles && b.p.state.titles == c.want
		})
	}
}

func TestAChatIsErasedFromTheSettings(t *testing.T) {
	b := newBench(t, "light", "en")
	var ids []string
	for _, title := range []string{"Taxes", "Holidays"} {
		c, err := b.App.NewConversation(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.App.Rename(t.Context(), c.ID, title); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	if err := b.App.Archive(t.Context(), ids[1], true); err != nil {
		t.Fatal(err)
	}
	b.Goto(Privacy)
	e := b.eraseChat()
	b.Until("both are listed", func() bool { return len(e.found) == 2 })
	b.Picture("settings-erase")
	e.search.SetText("Taxes")
	b.Until("one is found", func() bool { return len(e.found) == 1 })
	e.rows.OnOpened(0)
	if _, err := b.App.Conversation(t.Context(), ids[0]); err != nil {
		t.Errorf("erased without a question: %v", err)
	}
	b.Layer.Escape()
	b.Layer.Escape()
	b.erase(e.found[0])
	b.Until("it is gone", func() bool {
		left, err := b.App.Conversations(t.Context(), app.Query{})
		return err == nil && len(left) == 0
	})
	b.exportChats()
	top := b.Window.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("no folder is asked for")
	}
	b.Picture("settings-export")
	b.Window.Canvas().Overlays().Remove(top)
	dir := t.TempDir()
	b.exportChatsTo(dir)
	b.Until("the other is exported", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "*", "*"+ids[1]+".md"))
		return err == nil && len(found) == 1
	})
}

func TestTheDataFolderIsOpened(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the stand-in for the file manager is a shell script under Linux's name for it")
	}
	b := newBench(t, "light", "en")
	bin, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > '"+told+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	b.Goto(Data)
	b.tap("Open the folder")
	b.Until("the file manager is told", func() bool {
		text, err := os.ReadFile(told)
		return err == nil && string(text) == b.App.DataDir()
	})
}

func TestEveryPresetIsOffered(t *testing.T) {
	b := newBench(t, "light", "en")
	var names []string
	for _, item := range b.presets() {
		if item.Label != "" {
			names = append(names, item.Label)
		}
	}
	for _, want := range strings.Split("OpenAI, Anthropic, Gemini, DeepSeek, Qwen, Moonshot, Zhipu, Mistral, OpenRouter, Ollama, LM Studio, llama.cpp, vLLM, Another address…", ", ") {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not offered: %q", want, names)
		}
	}
}

func TestLicencesAreShown(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(About)
	b.tap("Licences…")
	if !b.Layer.Modal() {
		t.Error("nothing is shown")
	}
	b.Picture("settings-licences")
	all := ""
	for _, p := range paragraphs("a\n\nb\r\n\r\nc") {
		all += p.Runs[0].Text
	}
	if all != "abc" {
		t.Errorf("the text became %q", all)
	}
}

func TestAConditionIsWorded(t *testing.T) {
	newBench(t, "light", "en")
	for condition, want := range map[string]string{
		"": "", "null": "", "{}": "", `{"arguments":{"path":{"prefix":"/home"}}}`: "where path begins with “/home”", `{"arguments":{"b":{"equals":5},"a":{"equals":"x\u202ey"}}}`: `where a is "x\u202ey"; where b is 5`,
		`{"other":1}`: `{"other":1}`,
	} {
		if got := conditionWords([]byte(condition)); got != want {
			t.Errorf("%s is worded %q, want %q", condition, got, want)
		}
	}
}
