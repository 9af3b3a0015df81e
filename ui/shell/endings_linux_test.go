package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
	"steward/ui/theme"
)

// noting is a test server that notes what it is sent, and a file of it.
func noting(t *testing.T, more ...string) (file, seen string) {
	t.Helper()
	path, err := scripted()
	if err != nil {
		t.Fatal(err)
	}
	seen = filepath.Join(t.TempDir(), "seen")
	return serversFile(t, map[string]any{"s": map[string]any{"command": path, "args": append([]string{"--record", seen}, more...)}}), seen
}

// A running call is stopped with the answer it belongs to; then another with everything else.
func TestFlowStop(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.Start(t, scriptedmodel.CallTool("never", `{"n":1}`), scriptedmodel.CallTool("never", `{"n":2}`))
	list, seen := noting(t, "--only", "never")
	w := flow(t, nil, "--servers", list, "--base-url", m.URL(), "--model", "fake")
	running := func(n int64) func() bool {
		return func() bool { r := w.last("call", "never"); return r.Record > n && r.Outcome == "running" }
	}
	w.ask("Go and never come back")
	w.waits("call", "never")
	w.answer("the call runs", running(0), "ctrl+Return")
	first := w.last("call", "never")
	w.until("the server is asked", func() bool { return sent(t, seen) })
	w.key("ctrl+k")
	w.write("Go and never")
	w.until("the chat is found", func() bool { return w.count(theme.AccentTint, beside) > 5000 })
	w.key("Return")
	w.until("the chat is shown", func() bool { return w.setting("window.place") == "chat/"+first.Conversation })
	w.key("ctrl+l", "Escape")
	w.until("the call has ended", func() bool { return w.last("call", "never").Outcome == "cancelled" })
	if r := w.last("call", "never"); r.Effect != "unknown" {
		t.Errorf("of a call that ran, the record says %+v", r)
	}

	w.write("And again")
	w.key("Return")
	w.until("the second call waits", func() bool { r := w.last("call", "never"); return r.Record > first.Record && r.Outcome == "waiting" })
	w.answer("the second call runs", running(first.Record), "ctrl+Return")
	w.key("ctrl+shift+period")
	w.until("the second call has ended", func() bool { r := w.last("call", "never"); return r.Outcome != "running" })
	if r := w.last("call", "never"); r.Outcome != "cancelled" || r.Effect != "unknown" {
		t.Errorf("of the second call the record says %+v", r)
	}
	path, err := scripted()
	if err != nil {
		t.Fatal(err)
	}
	w.until("the server has ended", func() bool { return len(processesOf(t, path, w.home)) == 0 })
	w.leave()
}

// The program dies while a question is open. The next start says that nothing was done, asks nothing by itself, and the
// conversation goes on knowing it.
func TestFlowKilledWhileAsking(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.Start(t, scriptedmodel.CallTool("echo", `{"text":"hello"}`), scriptedmodel.Say("Here again."))
	list, seen := noting(t, "--only", "echo")
	args := []string{"--servers", list, "--base-url", m.URL(), "--model", "fake"}
	w := flow(t, nil, args...)
	w.ask("Say hello to it")
	asked := w.waits("call", "echo")
	w.until("the card is shown", func() bool { return w.count(theme.Waiting, beside) > 100 })
	w.until("the place is remembered", func() bool { return w.setting("window.place") == "chat/"+asked.Conversation })
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.ended
	if s := w.said(); s != "" {
		t.Errorf("before it was killed it said:\n%s", s)
	}

	w = w.usableAfterNotice(w.data, args...)
	if r := w.last("call", "echo"); r.Outcome != "withdrawn" || r.Effect != "none" || r.Record != asked.Record {
		t.Errorf("the call is %+v", r)
	}
	w.until("the conversation is shown, and asks nothing", func() bool {
		p := w.shot()
		return countIn(p, theme.Waiting, beside) == 0 && countIn(p, theme.AccentTint, beside) > 1000 // the person's own message
	})
	w.key("ctrl+l")
	w.write("Go on")
	w.key("Return")
	w.until("the answer arrives", func() bool { return w.message("assistant") == "Here again." })
	last := string(m.Requests()[len(m.Requests())-1].Body)
	if !strings.Contains(last, "Say hello to it") || !strings.Contains(last, `"role":"tool"`) || !strings.Contains(last, "Not executed") {
		t.Errorf("the model is not told: %s", last)
	}
	if p := m.Problems(); len(p) > 0 {
		t.Errorf("the conversation cannot go on: %v", p)
	}
	if sent(t, seen) {
		t.Error("the call ran although nobody allowed it")
	}
	w.leave()
}

// usableAfterNotice opens the window on a folder that something has to be said about first.
func (d *screen) usableAfterNotice(data string, args ...string) *seen {
	d.t.Helper()
	w := d.open(data, []string{"FYNE_THEME=dark"}, args...)
	w.until("what happened is said", func() bool { return colours(w.shot()) > 60 && w.dialog() })
	w.picture("notice")
	w.key("Escape")
	w.until("it is read", func() bool { return !w.dialog() })
	return w
}

// Without a session bus none is started, which would stay behind, and nothing is said of it.
func TestWithoutASessionBusNoneIsStarted(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	bin, started := t.TempDir(), filepath.Join(t.TempDir(), "started")
	script := "#!/bin/sh\necho \"$@\" >>'" + started + "'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	w := d.open(filepath.Join(t.TempDir(), "data"), []string{ // without a theme of its own the toolkit asks the bus for the desktop's
		"DBUS_SESSION_BUS_ADDRESS=", "XDG_RUNTIME_DIR=", "PATH=" + bin + ":" + os.Getenv("PATH"),
	})
	w.until("the window can be used", func() bool { return colours(w.shot()) > 60 })
	w.ask(reportQuestion)
	w.waits("call", "get_weekly_report")
	w.key("ctrl+q") // an answer is under way: the window asks
	w.until("it asks whether to quit", w.dialog)
	w.leave()
	if got, err := os.ReadFile(started); !os.IsNotExist(err) {
		t.Errorf("a session bus was started: %s (%v)", got, err)
	}
}
