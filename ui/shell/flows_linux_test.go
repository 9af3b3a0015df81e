package shell

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
	"steward/ui/theme"
)

// Each of these tests is a person who does one thing from its beginning to its end in the real window, by the keyboard
// alone.

const reportQuestion = "Check the weekly report for 2025-03-17"

// From the question to the answer, to the record of it, to the proof that the record is as it was written.
func TestFlowReportAndAudit(t *testing.T) {
	t.Parallel()
	w := flow(t, nil)
	w.ask(reportQuestion)
	w.waits("call", "get_weekly_report")
	w.key("Return", "space", "Return") // what the person types where the question was allows nothing
	if r := w.last("call", ""); r.Decision != "" {
		t.Fatalf("the call was decided before anybody did: %+v", r)
	}
	if r := w.allow("get_weekly_report"); r.Outcome != "ok" || r.By != "person" || r.Server != "demo" {
		t.Errorf("the record is %+v", r)
	}
	w.until("the answer arrives", func() bool { return strings.Contains(w.message("assistant"), "2025-03-17") })

	call := w.last("call", "")
	w.palette("Audit")
	w.until("the audit is shown", func() bool { return strings.HasPrefix(w.setting("window.place"), "audit/") })
	w.key("ctrl+f")
	w.write("tool:get_weekly_report kind:call")
	want := "audit/" + strconv.FormatInt(call.Record, 10)
	w.until("the record is found", func() bool {
		w.key("Down") // from the search into the table, where there is one row
		time.Sleep(300 * time.Millisecond)
		return w.setting("window.place") == want
	})
	w.palette("Verify")
	w.until("the record is said to hold", func() bool {
		p := w.shot()
		return countIn(p, theme.Good, above) > 10 && countIn(p, theme.RefusalTint, beside) == 0
	})
	w.verifies()
	if s := w.said(); s != "" {
		t.Errorf("stderr is not empty:\n%s", s)
	}

	w.tamper("UPDATE event SET hash = randomblob(32) WHERE seq = 3")
	w.palette("Verify")
	w.until("the record is said not to hold", func() bool { return w.count(theme.RefusalTint, beside) > 1000 })
	w.key("ctrl+q")
	w.mustEnd(0)
	if _, _, code := w.headless(nil, "journal", "verify", "--data", w.data); code == 0 {
		t.Error("the window finds a change that the command does not")
	}
}

// tamper changes the folder as another program would.
func (w *seen) tamper(statement string) {
	w.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(w.data, "steward.db")+"?_busy_timeout=10000")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"PRAGMA ignore_check_constraints=ON", "DROP TRIGGER event_fixed", "DROP TRIGGER event_kept", statement} {
		if _, err := db.Exec(s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

// A server asks for answers; the form is filled in and accepted.
func TestFlowTripThroughTheForm(t *testing.T) {
	t.Parallel()
	w := flow(t, nil)
	w.ask("Book a trip from London to Paris from 2027-05-04 to 2027-05-08")
	w.answer("the call is allowed", func() bool { return w.last("call", "book_trip").Decision == "allowed" }, "ctrl+Return")
	w.waits("elicitation", "book_trip")
	accepted := func() bool { return w.last("elicitation", "").Decision == "allowed" }
	w.answer("the form is accepted", accepted, fieldKeys(1, "space", "Down", "Tab", "Home", "space", "ctrl+Return")...)
	w.until("the trip is booked", func() bool { return w.last("call", "book_trip").Outcome == "ok" })
	shown := w.show(w.last("elicitation", "").Record)
	for _, s := range []string{`\"confirmBooking\":true`, `\"seatPreference\":\"window\"`, `\"travelInsurance\":false`} {
		if !strings.Contains(shown, s) {
			t.Errorf("the record of the answer lacks %s:\n%s", s, shown)
		}
	}
	w.until("the answer arrives", func() bool { return strings.Contains(w.message("assistant"), "Booked") })
	w.leave()
}

// fieldKeys are the keys that lead from a card's first button into the field of its form that is named by its place, and more.
func fieldKeys(field int, more ...string) []string {
	var keys []string
	for range 4 + field { // past the answers and the message
		keys = append(keys, "Tab")
	}
	return append(keys, more...)
}

// A server asks the model: the request is reviewed, then the answer.
func TestFlowFlightThroughBothReviews(t *testing.T) {
	t.Parallel()
	w := flow(t, nil)
	w.ask("Find the best flight from London to Rome on 2027-05-04")
	w.answer("the call is allowed", func() bool { return w.last("call", "find_best_flight").Decision == "allowed" }, "ctrl+Return")
	w.waits("sampling", "find_best_flight")
	w.answer("the request goes to the model", func() bool { return w.last("sampling", "").Decision == "allowed" }, "ctrl+Return")
	if r := w.last("call", "find_best_flight"); r.Outcome != "running" {
		t.Errorf("before the answer was reviewed the call is %+v", r)
	}
	w.answer("the answer goes to the server", func() bool { return w.last("sampling", "").Outcome == "ok" }, "ctrl+Return")
	w.until("the answer arrives", func() bool { return strings.Contains(w.message("assistant"), "The best flight is SD") })
	w.leave()
}

// A server's prompt by its slash command: found, filled in, seen, attached, sent.
func TestFlowSlashCommand(t *testing.T) {
	t.Parallel()
	w := flow(t, nil)
	w.key("ctrl+n")
	w.write("/plan-vac")
	w.choice("Return")
	w.write("Rome")
	w.key("Tab")
	w.write("5 days")
	w.send()
	w.waits("call", "weather_current")
	if s := w.message("user"); !strings.Contains(s, "Rome") && !strings.Contains(w.show(w.last("call", "").Record), "Rome") {
		t.Errorf("the message is %q", s)
	}
	w.until("the prompt is recorded", func() bool { return w.last("prompt", "").Outcome == "ok" })
	if r := w.allow("weather_current"); r.Outcome != "ok" {
		t.Errorf("the record is %+v", r)
	}
	w.leave()
}

// choice waits until the composer suggests something, and takes the first with a key.
func (w *seen) choice(key string) {
	w.t.Helper()
	w.until("something is suggested", func() bool { return w.count(theme.AccentTint, beside) > 5000 })
	w.key(key)
	w.until("what was chosen is shown", w.dialog)
	// It comes with what is typed into only once the server has been asked for what it needs.
	same, before := 0, w.shot()
	w.until("it is shown whole", func() bool {
		time.Sleep(250 * time.Millisecond)
		now := w.shot()
		if same++; !reflect.DeepEqual(now, before) {
			same = 0
		}
		before = now
		return same >= 4
	})
}

// send goes through a form and what it leads to, until what was asked for is attached and sent. Between two dialogs there
// may be none for a while, so a key may do the next thing sooner than the screen shows it.
func (w *seen) send() {
	w.t.Helper()
	w.until("it is sent", func() bool {
		sent := 0
		w.query(func(rows *sql.Rows) error { return rows.Scan(&sent) }, "SELECT count(*) FROM message WHERE role = 'user'")
		if sent > 0 {
			return true
		}
		w.key("Return")
		time.Sleep(700 * time.Millisecond)
		return false
	})
}

// A resource is attached with @ and reaches the model.
func TestFlowResource(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.Start(t, scriptedmodel.Say("It is full."), scriptedmodel.Say("A full calendar"))
	d := newScreen(t)
	list := serversFile(t, map[string]any{"demo": map[string]any{"command": d.program, "args": []string{"demo-server"}}})
	w := d.usable(filepath.Join(t.TempDir(), "data"), nil, "--servers", list, "--base-url", m.URL(), "--model", "fake")
	w.key("ctrl+n")
	w.write("What stands in @calendar")
	w.choice("Return")
	w.send()
	w.until("the answer arrives", func() bool { return w.message("assistant") == "It is full." })
	w.titled("A full calendar")
	if r := w.last("resource", ""); r.Outcome != "ok" || r.Server != "demo" {
		t.Errorf("the record of reading is %+v", r)
	}
	if body := string(m.Requests()[0].Body); !strings.Contains(body, "2024-") || !strings.Contains(body, "What stands in") {
		t.Errorf("the model was sent\n%s", body)
	}
	w.leave()
}

// A call is denied with a reason, which the model hears.
func TestFlowDenyWithAReason(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.Start(t, scriptedmodel.CallTool("get_weekly_report", `{"date":"2025-03-17"}`), scriptedmodel.Say("I see."), scriptedmodel.Say("A report refused"))
	d := newScreen(t)
	list := serversFile(t, map[string]any{"demo": map[string]any{"command": d.program, "args": []string{"demo-server"}}})
	w := d.usable(filepath.Join(t.TempDir(), "data"), nil, "--servers", list, "--base-url", m.URL(), "--model", "fake")
	w.ask(reportQuestion)
	w.waits("call", "get_weekly_report")
	denied := func() bool { return w.last("call", "").Decision == "denied" }
	w.answer("the call is denied", denied, append(append([]string{"Tab", "space"}, letters("not before Friday")...), "Return")...)
	w.until("the answer arrives", func() bool { return w.message("assistant") == "I see." })
	w.titled("A report refused")
	if requests := m.Requests(); len(requests) != 3 || !strings.Contains(string(requests[1].Body), "not before Friday") { // the third asks for a title
		t.Errorf("the model does not hear the reason: %d requests, the last %s", len(requests), requests[len(requests)-1].Body)
	}
	if r := w.last("call", ""); r.Outcome != "denied" || r.Effect != "none" || !strings.Contains(w.show(r.Record), "not before Friday") {
		t.Errorf("the record is %+v\n%s", r, w.show(r.Record))
	}
	w.leave()
}
