package chat

import "testing"

// What would be opened is shown in characters that look like no others; what may not be opened is said.
func TestLinksAreShownAsTheyAreOpened(t *testing.T) {
	for address, want := range map[string]struct {
		url     string
		warns   bool
		refused bool
	}{
		"https://example.com/a?b=c":       {url: "https://example.com/a?b=c"},
		"http://example.com/a":            {url: "http://example.com/a"},
		"HTTP://example.com/a":            {url: "http://example.com/a"},
		"http://localhost:8080/":          {url: "http://localhost:8080/"},
		"https://ex\u0430mple.com/":       {url: "https://xn--exmple-4nf.com/", warns: true}, // a Cyrillic letter
		"https://user@example.com/":       {refused: true},
		"http://user:pass@example.com/":   {refused: true},
		"ftp://example.com/":              {refused: true},
		"https://example.com\\@evil.com/": {refused: true},
	} {
		got, err := checkLink(address)
		if (err != nil) != want.refused {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if err == nil && (got.URL != want.url || (got.Warning != "") != want.warns) {
			t.Errorf("%q would be opened as %q, %q", address, got.URL, got.Warning)
		}
	}
}
