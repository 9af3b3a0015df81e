package app

import (
	"context"
	"slices"

	"steward/app/consent"
	"steward/mcphost"
)

// Outcome is how a call by hand ended.
type Outcome = consent.Outcome

// Call makes one tool call by hand: same consent, same record, no model. It starts the
// server if need be, and if it was reviewed, and waits for it. The error says that no call
// could be proposed (no such server or tool, not reviewed, unusable arguments) or that the record could not be written;
// with a cancelled ctx the call ends as cancelled.
func (a *App) Call(ctx context.Context, server, tool, arguments string) (Outcome, error) {
	a.board.release()
	conn, err := a.servers.oneReviewed(ctx, server)
	if err != nil {
		return Outcome{}, err
	}
	tools := conn.Tools()
	i := slices.IndexFunc(tools, func(t mcphost.Tool) bool { return t.Name == tool })
	if i < 0 {
		return Outcome{}, &Message{Key: "tool_unknown", Args: args("server", server, "tool", tool, "tools", toolNames(tools))}
	}
	call, err := consent.NewCall(consent.CallSpec{
		Conversation: a.o.Conversation, Server: server, ServerHash: conn.Config().Hash, Tool: tool, Definition: tools[i].Definition, Arguments: arguments,
	})
	if err != nil {
		return Outcome{}, &Message{Key: "arguments", Args: args("detail", err.Error()), Err: err}
	}
	return a.gate.Run(ctx, call, conn, consent.Limits{Timeout: a.o.ToolTimeout})
}

// CheckArguments says what keeps text from being a call's arguments; nothing is started.
func CheckArguments(text string) error {
	_, err := consent.NewCall(consent.CallSpec{Arguments: text})
	if err != nil {
		return &Message{Key: "arguments", Args: args("detail", err.Error()), Err: err}
	}
	return nil
}

// EditedArguments turns what a person typed into the exact arguments that would be sent
// instead, and into the text that shows them.
func EditedArguments(item consent.Item, text string) (exact, shown string, err error) {
	if item.Call == nil {
		return "", "", &Message{Key: "arguments", Args: args("detail", "only a tool call has arguments")}
	}
	call, err := consent.NewCall(consent.CallSpec{Server: item.Call.Server(), Tool: item.Call.Tool(), Arguments: text})
	if err != nil {
		return "", "", &Message{Key: "arguments", Args: args("detail", err.Error()), Err: err}
	}
	return call.Arguments(), reveal(call.Arguments()), nil
}
