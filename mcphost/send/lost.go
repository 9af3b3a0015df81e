package send

import (
	"errors"

	"steward/mcphost/internal/remote"
)

// lost says how an answer did not come: the server said something else, over HTTP, or nothing any more.
func lost(err error) string {
	var answered *remote.Error
	if errors.As(err, &answered) && answered.Status > 0 {
		return "The call got no answer that counts: "
	}
	return "The connection was lost before the answer came: "
}
