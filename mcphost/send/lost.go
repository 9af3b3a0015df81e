package send

import (
	"errors"
	"net/http"
	"strings"

	"steward/mcphost/internal/remote"
)

// refusedCall begins the reason of a call that the server turned away as a request, by an
// HTTP status that it gives before anything runs. That it did so is not promised by anybody,
// so that the outcome stays unknown.
const refusedCall = "The server refused the call and most likely did not run it: "

// MostLikelyUnrun says whether the reason of a call with an unknown outcome is that the
// server refused it, so that most likely nothing was done.
func MostLikelyUnrun(reason string) bool { return strings.HasPrefix(reason, refusedCall) }

// lost says how an answer did not come: the server said something else, over HTTP, or nothing any more.
func lost(err error) string {
	var answered *remote.Error
	known := errors.As(err, &answered)
	switch {
	case known && turnedAway(answered.Status):
		return refusedCall
	case known && answered.Status > 0:
		return "The call got no answer that counts: "
	}
	return "The connection was lost before the answer came: "
}

// turnedAway says whether an HTTP status is a refusal of the request itself (RFC 9110,
// sections 15.4 and 15.5): a redirect, no right to it, a wrong address, too many, too large.
// 408 and 409 may be said of work that has begun.
func turnedAway(status int) bool {
	return status >= 300 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusConflict
}
