package mcphost

import (
	"bytes"
	"context"
	"encoding/json"

	"steward/mcphost/schema"
)

// fulfil answers the inputRequests of a result, one after the other in the
// server's order, and returns inputResponses; nil if there were no requests.
func (c *Connection) fulfil(ctx context.Context, raw json.RawMessage, f *inflight) (json.RawMessage, error) {
	if absent(raw) {
		return nil, nil
	}
	requests, err := schema.ParseObject(raw)
	switch {
	case err != nil:
		return nil, invalid("the server's inputRequests cannot be read: %v", err)
	case len(requests.Duplicates()) > 0:
		return nil, invalid("the server's inputRequests name %q twice", requests.Duplicates()[0])
	case len(requests) > maxInputRequests:
		return nil, invalid("the server asked for %d inputs at once; at most %d are answered", len(requests), maxInputRequests)
	case len(requests) == 0:
		return nil, nil
	}
	calls := []*inflight{}
	if f != nil {
		calls = append(calls, f)
	}
	var out bytes.Buffer
	for i, r := range requests {
		m, _ := fields(r.Value)
		method := str(m["method"])
		result, err := c.answer(ctx, method, m["params"], calls)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, invalid("the server asked for input (%s) that it does not get: %v", short(method, 60), err)
		}
		name, err := json.Marshal(r.Name)
		if err != nil {
			return nil, err
		}
		out.WriteByte("{,"[min(i, 1)])
		out.Write(name)
		out.WriteByte(':')
		out.Write(result)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
