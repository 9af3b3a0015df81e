package app

// ToolIcon is the small picture that a running server gives for a tool: PNG, JPEG or WebP,
// of at most 256 KiB and 20 megapixels, never fetched from anywhere; nil where it has none.
// It is the server's: it says nothing about who the server is. It may be called from any
// goroutine, and takes the time of decoding base64.
func (a *App) ToolIcon(server, tool string) []byte {
	conn := a.servers.entry(server).started()
	if conn == nil {
		return nil
	}
	for _, t := range conn.Tools() {
		if t.Name == tool {
			icon, _ := t.Icon()
			return icon.Data
		}
	}
	return nil
}
