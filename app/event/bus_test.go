package event

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEverySubscriberGetsEverythingInOrder(t *testing.T) {
	t.Parallel()
	b := NewBus()
	var got [3][]string
	var cancels []func()
	for i := range got {
		cancels = append(cancels, b.Subscribe(func(e Event) { got[i] = append(got[i], e.(Call).ID) }))
	}
	for i := range 500 {
		b.Publish(Call{ID: fmt.Sprint(i)})
	}
	for _, c := range cancels {
		c()
	}
	for i := range got {
		if len(got[i]) != 500 {
			t.Fatalf("subscriber %d got %d of 500 events", i, len(got[i]))
		}
		for n, id := range got[i] {
			if id != fmt.Sprint(n) {
				t.Fatalf("subscriber %d: place %d holds event %s", i, n, id)
			}
		}
	}
}

func TestSlowSubscriberHoldsNobodyUpAndLosesNoText(t *testing.T) {
	t.Parallel()
	b := NewBus()
	hold := make(chan struct{})
	var text strings.Builder
	events := 0
	cancel := b.Subscribe(func(e Event) {
		<-hold
		if d, ok := e.(Text); ok {
			events++
			text.WriteString(d.Text)
		}
	})
	b.Publish(Notice{Kind: "first"})
	want := strings.Repeat("ab", 20000)
	for _, r := range want {
		b.Publish(Text{Conversation: "c", Text: string(r)}) // would block for ever if it waited
	}
	close(hold)
	cancel()
	if text.String() != want {
		t.Fatalf("text arrived changed: %d bytes instead of %d", text.Len(), len(want))
	}
	if events > 100 {
		t.Fatalf("pieces of one text were kept apart: %d events", events)
	}
}

func TestTextOfTwoConversationsIsNeverJoined(t *testing.T) {
	t.Parallel()
	b := NewBus()
	hold := make(chan struct{})
	got := map[string]string{}
	cancel := b.Subscribe(func(e Event) {
		<-hold
		d := e.(Text)
		got[d.Conversation] += d.Text
	})
	for range 100 {
		b.Publish(Text{Conversation: "a", Text: "x"})
		b.Publish(Text{Conversation: "b", Text: "y"})
	}
	close(hold)
	cancel()
	if got["a"] != strings.Repeat("x", 100) || got["b"] != strings.Repeat("y", 100) {
		t.Fatalf("texts were mixed: %v", got)
	}
}

func TestFloodOfNoticesIsCountedNotKept(t *testing.T) {
	t.Parallel()
	b := NewBus()
	hold := make(chan struct{})
	notices, calls, said := 0, 0, ""
	cancel := b.Subscribe(func(e Event) {
		<-hold
		switch e := e.(type) {
		case Notice:
			notices++
			if e.Kind == "notices_left_out" {
				said = e.Message
			}
		case Call:
			calls++
		}
	})
	for range maxQueued * 3 {
		b.Publish(Notice{Kind: "server_noise"})
	}
	b.Publish(Call{ID: "k"})
	close(hold)
	cancel()
	if notices > 2*maxQueued+2 || calls != 1 || said == "" {
		t.Fatalf("notices %d, calls %d, said %q", notices, calls, said)
	}
}

func TestPanicEndsOneSubscriberOnly(t *testing.T) {
	t.Parallel()
	b := NewBus()
	var mu sync.Mutex
	var notices []string
	told := make(chan struct{})
	cancelGood := b.Subscribe(func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if n, ok := e.(Notice); ok {
			notices = append(notices, n.Message)
			close(told)
		}
	})
	cancelBad := b.Subscribe(func(Event) { panic("broken") })
	b.Publish(Call{ID: "k"})
	<-told
	b.Publish(Call{ID: "k2"})
	cancelBad()
	cancelBad()
	cancelGood()
	if len(notices) != 1 || !strings.Contains(notices[0], "broken") {
		t.Fatalf("notices: %v", notices)
	}
}

func TestFloodOfProgressIsNotKept(t *testing.T) {
	t.Parallel()
	b := NewBus()
	hold := make(chan struct{})
	reports, calls := 0, 0
	cancel := b.Subscribe(func(e Event) {
		<-hold
		switch e.(type) {
		case Progress:
			reports++
		case Call:
			calls++
		}
	})
	for n := range maxQueued {
		b.Publish(Progress{Call: "a", Progress: float64(n)})
		b.Publish(Progress{Call: "b", Progress: float64(n)})
		b.Publish(Progress{Call: "c", Progress: float64(n)})
	}
	b.Publish(Call{ID: "k"})
	close(hold)
	cancel()
	if reports > 2*maxQueued || calls != 1 {
		t.Fatalf("%d reports, %d calls", reports, calls)
	}
}

func TestTheSameChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	b := NewBus()
	hold := make(chan struct{})
	got := map[Event]int{}
	cancel := b.Subscribe(func(e Event) {
		<-hold
		got[e]++
	})
	one, other := ResourceUpdated{Server: "s", URI: "a"}, ResourceUpdated{Server: "s", URI: "b"}
	for _, e := range []Event{one, other, ServersChanged{Server: "s"}, ServersChanged{}} {
		for range 1000 {
			b.Publish(e)
		}
	}
	close(hold)
	cancel()
	told := 0
	for _, n := range got {
		told += n
	}
	if len(got) != 4 || told > 5 { // the one that is being told when more of it come is told again
		t.Errorf("told %v", got)
	}
}
