package mcphost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"steward/mcphost/internal/door"
	"steward/mcphost/internal/wire"
	"steward/mcphost/schema"
)

// answer answers what the server asks in the newer form, each key once. Its error ends
// the following.
func (w *following) answer(ctx context.Context) error {
	requests, err := schema.ParseObject(w.task.fields["inputRequests"])
	if err != nil {
		return &door.TaskError{Message: sentence("The task waits for input, and what it asks for cannot be read: " + err.Error())}
	}
	var fresh bytes.Buffer
	var keys []string
	for _, r := range requests {
		if w.answered[r.Name] {
			continue
		}
		name, err := json.Marshal(r.Name)
		if err != nil {
			return err
		}
		fresh.WriteByte("{,"[min(len(keys), 1)])
		fresh.Write(name)
		fresh.WriteByte(':')
		fresh.Write(r.Value)
		keys = append(keys, r.Name)
	}
	if len(keys) == 0 {
		return nil
	}
	fresh.WriteByte('}')
	if w.rounds++; w.rounds > maxTaskRounds {
		w.abandon()
		return &door.TaskError{Message: fmt.Sprintf("The task was given up, because the server asked for input more than %d times.", maxTaskRounds)}
	}
	responses, err := w.c.fulfil(ctx, fresh.Bytes(), w.f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.abandon()
		return &door.TaskError{Message: sentence("The task was given up: " + err.Error())}
	}
	if err := w.call.Attempt(ctx, "input", map[string]any{"taskId": w.task.ID, "keys": keys}); err != nil {
		return fmt.Errorf("the server was not answered: %w", err)
	}
	for _, k := range keys {
		w.answered[k] = true
	}
	return w.update(ctx, responses)
}

// update sends the answers until the server has taken them.
func (w *following) update(ctx context.Context, responses json.RawMessage) error {
	for try := 1; ; try++ {
		reply := w.ask(ctx, "tasks/update", wire.Member{Name: "inputResponses", Value: responses})
		if reply.Err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if try >= taskTries || w.renew(ctx, try) != nil {
			w.abandon()
			return &door.TaskError{Message: sentence("The task was given up, because the server did not take the answer to what it had asked for: " + reply.Err.Error())}
		}
	}
}
