package send

import (
	"testing"
	"testing/synctest"
	"time"
)

// A server may ask not to be asked again for longer than a call may be silent. What comes
// from it meanwhile must not end the call before that time.
func TestSilenceThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*clock){
		"nothing":                 func(*clock) {},
		"progress":                func(k *clock) { k.touch() },
		"a question":              func(k *clock) { k.paused(true); k.paused(false) },
		"asked during a question": func(k *clock) { k.paused(true); k.rest(5 * time.Minute); k.paused(false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := newClock(t.Context(), time.Minute, time.Hour)
				defer k.stop()
				k.rest(5 * time.Minute)
				time.Sleep(time.Second)
				meanwhile(k)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if why := k.why(); why != "" {
					t.Fatalf("it ended while the server was left alone, as it had asked: %s", why)
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if k.why() == "" {
					t.Error("it never ends")
				}
			})
		})
	}
}
