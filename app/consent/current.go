package consent

import (
	"context"
	"fmt"
	"slices"

	"steward/mcphost"
	"steward/storage"
)

// whyBlocked says why nothing of a server may be used; empty where it may.
func whyBlocked(pins map[pinKey]storage.Pin, conn *mcphost.Connection) string {
	server, ok := pins[pinKey{pinServer, ""}]
	switch {
	case !ok:
		return "it was never reviewed"
	case server.Hash != conn.Config().Hash:
		return "its configuration has changed since it was reviewed"
	case pins[pinKey{pinInstructions, ""}].Hash != conn.Info().InstructionsHash:
		return "its instructions have changed since it was reviewed"
	}
	return ""
}

// whyNotCurrent says why a call may not go out as it was proposed; empty where
// it may. The tool is the one that the server offers now.
func (g *Gate) whyNotCurrent(ctx context.Context, c Call, conn *mcphost.Connection) (mcphost.Tool, string, error) {
	if s := conn.State(); s == mcphost.StateReady && (conn.Server() != c.Server() || conn.Config().Hash != c.ServerHash()) {
		return mcphost.Tool{}, fmt.Sprintf("the configuration of the server %s has changed", c.Server()), nil
	}
	t, why, err := g.usable(ctx, conn, c.Server(), c.Tool())
	if err == nil && why == "" && c.Definition() != t.Definition {
		why = fmt.Sprintf("the definition of %s has changed since the call was proposed", t.Name)
	}
	return t, why, err
}

// WhyNotOffered says why a model is not offered a tool in a conversation, in a sentence
// without a full stop that may hold the names as they are; empty where it is. conn is nil for
// a server without a connection.
func (g *Gate) WhyNotOffered(ctx context.Context, conversation string, conn *mcphost.Connection, server, tool string) (string, error) {
	if conn == nil && g.disabled(conversation, server, mcphost.Tool{Name: tool}) {
		return fmt.Sprintf("the person has switched %s off", tool), nil
	}
	if conn == nil {
		return fmt.Sprintf("the server %s is not running", server), nil
	}
	t, why, err := g.usable(ctx, conn, server, tool)
	switch {
	case err != nil || why != "":
		return why, err
	case t.AppOnly:
		return fmt.Sprintf("the server %s offers %s to its own pages alone", server, tool), nil
	case g.disabled(conversation, server, t):
		return fmt.Sprintf("the person has switched %s off", tool), nil
	}
	return "", nil
}

// usable finds a tool as its server offers it now, or says why it may not be used as it is.
func (g *Gate) usable(ctx context.Context, conn *mcphost.Connection, server, tool string) (mcphost.Tool, string, error) {
	if s := conn.State(); s != mcphost.StateReady {
		return mcphost.Tool{}, fmt.Sprintf("the server %s is not running", server), nil
	}
	tools := conn.Tools()
	i := slices.IndexFunc(tools, func(t mcphost.Tool) bool { return t.Name == tool })
	if i < 0 {
		return mcphost.Tool{}, fmt.Sprintf("the server %s does not offer a tool named %s", server, tool), nil
	}
	t := tools[i]
	pins, err := g.pinsOf(ctx, conn)
	if err != nil {
		return t, "", err
	}
	if why := whyBlocked(pins, conn); why != "" {
		return t, fmt.Sprintf("the server %s must be reviewed by the person first: %s", server, why), nil
	}
	pin, ok := pins[pinKey{pinTool, t.Name}]
	switch {
	case !ok:
		return t, fmt.Sprintf("the tool %s is new and must be reviewed by the person first", t.Name), nil
	case pin.Hash != t.Definition:
		return t, fmt.Sprintf("the definition of %s has changed and must be reviewed by the person first", t.Name), nil
	}
	return t, "", nil
}
