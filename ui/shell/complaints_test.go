package shell

import (
	"log"
	"strings"
	"testing"
)

func TestOnlyUnwantedComplaintsAreDropped(t *testing.T) {
	var kept strings.Builder
	l := log.New(&complaints{to: &kept}, "", log.LstdFlags)
	for _, line := range []string{
		"Fyne error:  Preferences load error:", "  Cause: EOF", "  At: preferences.go:105",
		"Fyne error:  Unable to connect to session D-Bus", "  Cause: dbus: invalid bus address (no transport)", "  At: app_xdg.go:73",
		"Fyne error:  something else", "  Cause: it broke", "  At: window.go:1",
	} {
		l.Println(line)
	}
	if got := kept.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, "something else") || !strings.Contains(got, "it broke") {
		t.Errorf("kept:\n%s", got)
	}
}
