package app

import (
	"context"
	"fmt"

	"steward/mcphost"
)

// LogLevels are the kinds of log messages that a server can be asked for, the least severe
// first, in the protocol's words.
func LogLevels() []string { return mcphost.LogLevels() }

// SetServerLogLevel asks a running server for log messages of this kind and worse, until it
// is stopped; until then it is asked for "info".
func (a *App) SetServerLogLevel(ctx context.Context, server, level string) error {
	conn := a.servers.entry(server).started()
	if conn == nil || conn.State() != mcphost.StateReady {
		return &Message{Key: "server_not_running", Args: args("server", reveal(server), "detail", "The server "+reveal(server)+" is not running. Start it first, so that it can be asked for its messages.")}
	}
	if err := conn.SetLogLevel(ctx, level); err != nil {
		return fmt.Errorf("the log level of the server %s could not be set: %w", reveal(server), err)
	}
	a.changedServer(server)
	return nil
}
