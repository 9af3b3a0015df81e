package wire

import (
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// decode makes the library's form of one of the Tap's messages for it. Most are results of requests that the library
// has numbered, in the form that resultFrame writes; having the library read these would cost it more than all the
// Tap does.
func decode(frame []byte) (jsonrpc.Message, error) {
	m := split(frame)
	if m.result == nil || m.failure != nil || m.method != nil {
		return jsonrpc.DecodeMessage(frame)
	}
	const exact = 15 // digits that a float64 has room for
	n, err := strconv.ParseUint(string(m.id), 10, 64)
	if err != nil || len(m.id) > exact {
		return jsonrpc.DecodeMessage(frame)
	}
	id, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		return nil, err
	}
	return &jsonrpc.Response{ID: id, Result: []byte(m.result)}, nil
}
