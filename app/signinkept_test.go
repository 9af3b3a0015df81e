package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"steward/app/secrets"
)

const tokenValue = `{"issuer":"https://login.example","client_id":"abcdefgh-1234","token":{"access_token":"SENTINEL-access-1","token_type":"Bearer","refresh_token":"SENTINEL-refresh-1","token_endpoint":"https://login.example/token"},"scopes":["read","write"]}`

type keeper struct {
	*kept
	changes atomic.Int32
	told    []string
}

func newKeeper(t *testing.T, dir, passphrase string) *keeper {
	t.Helper()
	store := secrets.Open(secrets.Options{Dir: dir, FolderID: func() string { return "f" }})
	t.Cleanup(store.Close)
	if passphrase != "" {
		if err := store.UseFile(context.Background(), secrets.NewSecret(passphrase)); err != nil {
			t.Fatal(err)
		}
	}
	k := &keeper{}
	k.kept = &kept{secrets: store, changed: func() { k.changes.Add(1) }, tell: func(m string) { k.told = append(k.told, m) }}
	return k
}

func TestWhatSigningInBroughtOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	const key, other = "token https://login.example https://mcp.example/mcp", "token https://login.example https://mcp.example/other"
	first := newKeeper(t, dir, "correct horse")
	if v, err := first.Load(ctx, key); v != nil || err != nil {
		t.Fatalf("before anything was kept: %q, %v", v, err)
	}
	big := strings.Repeat("x", 12_000) // tokens with many claims
	for k, v := range map[string]string{key: tokenValue, other: `{"access_token":"` + big + `"}`} {
		if err := first.Save(ctx, k, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := first.secrets.Names(ctx)
	if err != nil || len(names) != 2 || !strings.HasPrefix(names[0], "sign-in login.example ") || names[0] == names[1] || first.changes.Load() != 2 {
		t.Errorf("kept as %q, %v, told %d times", names, err, first.changes.Load())
	}
	second := newKeeper(t, dir, "correct horse")
	for k, want := range map[string]string{key: tokenValue, other: `{"access_token":"` + big + `"}`} {
		if v, err := second.Load(ctx, k); err != nil || string(v) != want {
			t.Errorf("%s after a restart: %.40q, %v", k, v, err)
		}
	}
	if s := second.secrets.Redactor().Redact("they are SENTINEL-access-1, SENTINEL-refresh-1, Bearer, https://login.example, abcdefgh-1234"); strings.Contains(s, "SENTINEL") ||
		!strings.Contains(s, "Bearer, https://login.example, abcdefgh-1234") {
		t.Errorf("redacted: %s", s)
	}
	for range 2 { // what is not kept is no error
		if err := second.Delete(ctx, key); err != nil {
			t.Errorf("deleting: %v", err)
		}
	}
	third := newKeeper(t, dir, "correct horse")
	if v, err := third.Load(ctx, key); v != nil || err != nil {
		t.Errorf("deleted, but still there: %q, %v", v, err)
	}
}

func TestWhereNothingCanBeKeptASignInLastsUntilTheEnd(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	ctx, dir := context.Background(), t.TempDir()
	k := newKeeper(t, dir, "")
	if v, err := k.Load(ctx, "https://login.example a"); v != nil || err != nil {
		t.Fatalf("loaded %q, %v", v, err)
	}
	if err := k.Save(ctx, "client https://login.example", []byte(`{"client_id":"a"}`)); err != nil || len(k.told) != 0 {
		t.Errorf("told before there was a sign-in: %q, %v", k.told, err)
	}
	for _, key := range []string{"tokens https://login.example a", "tokens https://login.example b"} {
		if err := k.Save(ctx, key, []byte(tokenValue)); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.told) != 1 || !strings.Contains(k.told[0], "only until Steward ends; after that you sign in again. ") || strings.Contains(k.told[0], "--") || strings.Contains(k.told[0], "SENTINEL") {
		t.Errorf("told %q", k.told)
	}
	if v, err := k.Load(ctx, "tokens https://login.example a"); err != nil || string(v) != tokenValue {
		t.Errorf("loaded %q, %v", v, err)
	}
	if s := k.secrets.Redactor().Redact("SENTINEL-access-1"); strings.Contains(s, "SENTINEL") {
		t.Error("the token is not known")
	}
	if err := k.Delete(ctx, "tokens https://login.example a"); err != nil {
		t.Error(err)
	}
	if v, err := k.Load(ctx, "tokens https://login.example a"); v != nil || err != nil {
		t.Errorf("deleted, but still there: %q, %v", v, err)
	}
	if err := k.secrets.UseFile(ctx, secrets.NewSecret("correct horse")); err != nil { // the person chooses a place after all
		t.Fatal(err)
	}
	k.settle(ctx)
	if v, err := newKeeper(t, dir, "correct horse").Load(ctx, "tokens https://login.example b"); err != nil || string(v) != tokenValue {
		t.Errorf("after a place was chosen: %q, %v", v, err)
	}
}

func TestALockedSecretsFileIsNoSignOut(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	if err := newKeeper(t, dir, "correct horse").Save(ctx, "k", []byte(tokenValue)); err != nil {
		t.Fatal(err)
	}
	locked := newKeeper(t, dir, "")
	if v, err := locked.Load(ctx, "k"); v != nil || !errors.Is(err, secrets.ErrUnavailable) {
		t.Errorf("loaded %q, %v", v, err)
	}
	if err := locked.Delete(ctx, "k"); err == nil {
		t.Error("deleted without looking")
	}
}
