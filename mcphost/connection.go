package mcphost

// Connection is one connection to one server with one set of roots.
type Connection struct {
	cfg ServerConfig
}

// Server returns the server's identity, ServerConfig.ID.
func (c *Connection) Server() string { return c.cfg.ID }

// Config returns the configuration the connection was made with.
func (c *Connection) Config() ServerConfig { return c.cfg }
