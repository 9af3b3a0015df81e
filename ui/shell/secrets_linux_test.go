package shell

import (
	"path/filepath"
	"testing"

	"steward/app"
	"steward/ui/place"
	"steward/ui/theme"
)

// A folder whose secrets are in an encrypted file asks for its passphrase when the window opens, by keyboard alone.
func TestPassphraseIsAskedAtTheStart(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := filepath.Join(t.TempDir(), "data")
	const passphrase = "correct horse battery"
	a, err := app.Open(t.Context(), app.Options{Data: data, Policy: app.Policy{Calls: "ask", Elicit: "ask", Sampling: "ask"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{a.UseSecretsFile(t.Context(), passphrase), a.SetSecret(t.Context(), "team-token", "0123456789abcdef"), a.SetPreference(t.Context(), place.PreferTheme, theme.AlwaysLight), a.Close(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := d.open(data, nil)
	veiled := func() bool {
		r, _, _, _ := w.shot().At(4, 4).RGBA()
		return r < 0xb000
	}
	w.until("the passphrase is asked for", veiled)
	w.write("wrong horse battery")
	w.key("Return")
	w.write(passphrase) // after the wrong one was refused, or behind it: both are wrong and keep the question open
	w.key("ctrl+a")
	w.write(passphrase)
	w.until("the right one opens it", func() bool {
		w.key("Return")
		return !veiled()
	})
	w.key("ctrl+q")
	w.mustEnd(0)
}
