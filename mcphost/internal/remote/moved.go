package remote

import (
	"fmt"
	"net/http"
)

// moved explains a redirect that is not followed, and says what to do. Those that are, see
// [Link.redirect].
func (l *Link) moved(resp *http.Response) (message, hint string) {
	to, err := resp.Location()
	if err != nil {
		return fmt.Sprintf("the server %s sends requests on (%s) to an address that cannot be read", show(l.url), resp.Status), "Ask whoever runs it."
	}
	hops := 0
	for r := resp.Request; r != nil; hops++ {
		if r.URL.String() == to.String() {
			return fmt.Sprintf("the server %s sends requests in a circle, on to %s where they have been already", show(l.url), show(to)),
				"Check the address; if it is right, ask whoever runs the server."
		}
		if r.Response == nil {
			break
		}
		r = r.Response.Request
	}
	const writeIt = "If that is the server's address, write it into its entry."
	switch {
	case !sameOrigin(to, l.url):
		return fmt.Sprintf("the server %s sends requests on to %s, where this program does not follow", show(l.url), show(to)), writeIt
	case !keeps(resp):
		return fmt.Sprintf("the server %s sends requests on to %s with a redirect of a kind (%s) that would turn them into others without their content", show(l.url), show(to), resp.Status), writeIt
	}
	return fmt.Sprintf("the server %s sends requests on more than %d times, at last to %s", show(l.url), mostHops, show(to)), writeIt
}

// keeps says whether a redirect leaves the method and the content of a request as they are
// (RFC 9110, section 15.4).
func keeps(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return resp.Request != nil && (resp.Request.Method == http.MethodGet || resp.Request.Method == http.MethodHead)
}
