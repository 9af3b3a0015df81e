package app

import (
	"context"
	"strings"
	"testing"
)

// A start that a person stops is told in words, wherever it is told.
func TestAStoppedStartSaysThatItWasStopped(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	check(t, r.app.AddServer(ctx, ServerEntry{Name: "never", Transport: "stdio", Command: "/bin/cat"}))
	for name, stop := range map[string]func(cancel context.CancelFunc){
		"stopped":  func(context.CancelFunc) { check(t, r.app.StopServer(ctx, "never")) },
		"given up": func(cancel context.CancelFunc) { cancel() },
	} {
		ctx, cancel := context.WithCancel(ctx)
		over := make(chan error, 1)
		go func() {
			_, err := r.app.Review(ctx, "never")
			over <- err
		}()
		r.until("it is starting", func() bool { return r.app.launch("never").Path != "" && r.server("never").State == "starting" })
		stop(cancel)
		err := <-over
		cancel()
		if err == nil || Explain(err).Key != "server_stopped" || strings.Contains(err.Error(), "context") || !strings.Contains(strings.ToLower(err.Error()), "you stopped it.") {
			t.Errorf("%s: %v", name, err)
		}
		check(t, r.app.StopServer(context.Background(), "never"))
	}
}
