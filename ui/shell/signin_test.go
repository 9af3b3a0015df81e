package shell

import (
	"slices"
	"testing"

	"steward/app"
	"steward/app/consent"
	"steward/ui/language"
	"steward/ui/theme"
)

// A person who is at the page in the browser is not called back from it, but sees in the window what it waits for.
func TestASignInInTheBannerAndForTheDesktop(t *testing.T) {
	in := func(id, phase string) consent.Item {
		return consent.Item{ID: id, Kind: consent.KindSignIn, SignIn: &consent.SignIn{Phase: phase}, Presentation: consent.Presentation{Server: "team"}}
	}
	items := []consent.Item{in("s_1", consent.SignInAsk), in("s_2", consent.SignInBrowser), in("s_3", consent.SignInClient), {ID: "k_1", Kind: consent.KindCall}}
	if got := calling(items); !slices.Equal(got, []string{"s_1", "s_3", "k_1"}) {
		t.Errorf("the person is called for %q", got)
	}
	for tongue, words := range map[string][3]string{
		"en":      {"team wants you to sign in", "Waiting until you have signed in to team in the browser", "team wants you to sign in"},
		"zh-Hans": {"team 要求你登录", "正在等待你在浏览器中登录 team", "team 要求你登录"},
	} {
		if err := language.Load(tongue); err != nil {
			t.Fatal(err)
		}
		for i, want := range words {
			if got := wants(items[i]); got != want {
				t.Errorf("%s: %q, want %q", tongue, got, want)
			}
		}
	}
	if err := language.Load("en"); err != nil {
		t.Fatal(err)
	}
}

// A server that waits for its person has not failed.
func TestTheSideBarCountsServersToSignInTo(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.source.servers = []app.ServerStatus{
		{Name: "team", State: "failed", Enabled: true, SignIn: app.ServerSignIn{Needed: true}}, {Name: "good", State: "ready", Enabled: true, SignIn: app.ServerSignIn{SignedIn: true}},
	}
	b.readAll()
	if trail, dot := serversWords(b.hub.servers); trail != "2 · 1 to sign in" || dot != theme.Waiting {
		t.Errorf("the side bar says %q, %v", trail, dot)
	}
}
