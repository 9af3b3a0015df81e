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
	opened := signinserver.InPlace(t)
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

// TestACorrectedClientSecretSignsIn checks that a client secret that was corrected among
// the secrets is the one with which the next sign-in is tried.
func TestACorrectedClientSecretSignsIn(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	s.ByHand("by-hand", "a secret of the client")
	r := signInRig(t, s, map[string]any{"clientId": "by-hand", "clientSecret": "${secret:team}"})
	ctx := context.Background()
	if err := r.app.SetSecret(ctx, "team", "a secret of another"); err != nil {
		t.Fatal(err)
	}
	r.app.Start(ctx)
	r.signsIn(opened)
	r.until("the start has failed", func() bool { return r.signInStatus().State == "failed" })
	if st := r.signInStatus(); !strings.Contains(st.Error, "invalid_client") {
		t.Fatalf("%+v", st)
	}
	if err := r.app.SetSecret(ctx, "team", "a secret of the client"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.app.SignIn(ctx, "team") }()
	r.signsIn(opened)
	if err := within(t, done); err != nil {
		t.Fatal(err)
	}
	if st := r.signInStatus(); st.State != "ready" || !st.SignIn.SignedIn {
		t.Errorf("%+v", st)
	}
	r.nothingSecret(s)
}
