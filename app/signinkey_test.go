package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"steward/testdata/signinserver"
)

// TestAKeyOfOnesOwnIsNoSignIn checks that nobody is told to sign in to a server that has
// refused the key which stands in its entry.
func TestAKeyOfOnesOwnIsNoSignIn(t *testing.T) {
	opened := fakeBrowser(t)
	s := signinserver.Start(t)
	r := signInRigOf(t, map[string]any{"url": s.URL, "headers": map[string]any{"authorization": "Bearer of-my-own-12345"}})
	ctx := context.Background()
	r.app.Start(ctx)
	r.until("the start has failed", func() bool { return r.signInStatus().State == "failed" })
	if st := r.signInStatus(); st.SignIn.Needed || !strings.Contains(st.Error, "401") || !strings.Contains(st.Hint, "key") {
		t.Errorf("%+v", st)
	}
	found, err := r.app.Doctor(ctx, "team")
	if text := fmt.Sprint(found); err != nil || found[0].OK || !strings.Contains(text, "401") || strings.Contains(text, "Sign in once") || strings.Contains(text, "Sign-in needed") || strings.Contains(text, "of-my-own") {
		t.Errorf("doctor: %+v, %v", found, err)
	}
	if err := r.app.SignIn(ctx, "team"); err == nil || len(opened()) != 0 {
		t.Errorf("it was signed in to: %v, opened %q", err, opened())
	}
}
