// Package mcphost is the client side of the Model Context Protocol: it starts
// or reaches servers, speaks both eras of the protocol with them, keeps their
// lists current, and hands out raw facts. It decides nothing about what may
// run: tool calls leave through package mcphost/send alone, and what a server
// asks of a person goes to [Options.Asker].
package mcphost

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"steward/mcphost/internal/wire"
)

// Default limits. A limit that a [ServerConfig] may set is only a default.
const (
	// DefaultStartTimeout bounds a start from launching the program or the
	// first HTTP request to the end of the handshake and the first lists.
	DefaultStartTimeout = 30 * time.Second
	// RunnerStartTimeout is the default instead for programs that may first
	// download what they run (npx, uvx, bunx, pnpm dlx and the like).
	RunnerStartTimeout = 180 * time.Second
	// DefaultToolTimeout is how long a tool call may be silent: neither an
	// answer nor a progress notification.
	DefaultToolTimeout = 60 * time.Second
	// DefaultMaxTimeout is how long a tool call may take in all, progress or
	// not (MCP 2025-11-25, lifecycle, timeouts).
	DefaultMaxTimeout = 10 * time.Minute
	// RequestTimeout bounds every other request, such as reading a resource.
	RequestTimeout = 60 * time.Second
	// DefaultMaxFrame is the size of the largest message accepted from a server,
	// in bytes, after decompression.
	DefaultMaxFrame = wire.DefaultMaxFrame
	// MaxPages and MaxItems bound one list of one server.
	MaxPages = 100
	// MaxItems is the number of entries of one list that are kept.
	MaxItems = 512
	// MaxName is the length of the longest name accepted, in bytes.
	MaxName = 512
)

// Implementation names this program to servers.
type Implementation struct {
	Name    string
	Title   string
	Version string
}

// ServerConfig says how one server is started or reached. Values are final:
// secrets and variables are expanded by the caller. It is not changed after
// [Host.Connect] has taken it.
type ServerConfig struct {
	ID        string            // our own name for the server; its identity everywhere
	Command   string            // stdio: the program, a name in PATH (process.Paths) or a full path
	Args      []string          // stdio: arguments, passed as they are, no shell
	Env       map[string]string // stdio: added to the allowed part of our environment
	Cwd       string            // stdio: working folder; "" = Options.WorkDir
	URL       string            // http, sse: the endpoint
	Headers   map[string]string // http, sse: sent to the endpoint's origin alone
	Transport string            // "stdio", "http" or "sse"; "" = by URL or Command
	Roots     []string          // folders the server may be told about (roots/list)

	StartTimeout time.Duration // 0 = DefaultStartTimeout or RunnerStartTimeout
	ToolTimeout  time.Duration // 0 = DefaultToolTimeout
	MaxTimeout   time.Duration // 0 = DefaultMaxTimeout
	MaxFrame     int           // bytes of one message of the server; 0 = DefaultMaxFrame

	Sampling bool        // the server may ask for model answers; else the capability is not declared
	OAuth    OAuthConfig // http: what is set about signing in

	// Proxy and CAFile say how a server over HTTP is reached: the proxy's address (http,
	// https or socks5, with user and password if it wants them), "direct" for none, or ""
	// for what the environment says; and a PEM file of certificates trusted besides the
	// system's. This computer itself is always reached directly.
	Proxy, CAFile string

	AllowHTTP bool   // headers may travel over plain http to a host that is not loopback
	Hash      string // the caller's hash of the configuration; part of the connection's identity
}

// Kinds of transport.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
)

// transport returns the transport in use, found from the other fields where
// none is named.
func (c ServerConfig) transport() string {
	switch {
	case c.Transport == TransportStdio, c.Transport == TransportHTTP, c.Transport == TransportSSE:
		return c.Transport
	case c.Transport == "streamable-http", c.Transport == "streamableHttp":
		return TransportHTTP
	case c.URL != "" && c.Command == "":
		return TransportHTTP
	default:
		return TransportStdio
	}
}

// startTimeout returns the limit of one start.
func (c ServerConfig) startTimeout() time.Duration {
	if c.StartTimeout > 0 {
		return c.StartTimeout
	}
	if c.transport() == TransportStdio && runner(c.Command, c.Args) {
		return RunnerStartTimeout
	}
	return DefaultStartTimeout
}

// maxFrame returns the size of the largest message in bytes.
func (c ServerConfig) maxFrame() int {
	if c.MaxFrame > 0 {
		return c.MaxFrame
	}
	return DefaultMaxFrame
}

// runner reports whether command is a package runner, which may download the
// server before it starts it.
func runner(command string, args []string) bool {
	switch programName(command) {
	case "npx", "uvx", "bunx", "pipx", "pnpx", "docker", "podman":
		return true
	case "pnpm", "yarn":
		return slices.Contains(args, "dlx")
	case "npm":
		return slices.Contains(args, "exec") || slices.Contains(args, "x")
	case "uv":
		return slices.Contains(args, "run") || slices.Contains(args, "tool")
	case "bun":
		return slices.Contains(args, "x")
	case "deno", "go":
		return slices.Contains(args, "run")
	}
	return runsRunner(command, args)
}

// key identifies the connection a configuration belongs to: one for each
// server, configuration, way to it and set of roots.
func (c ServerConfig) key() string {
	roots := slices.Clone(c.Roots)
	slices.Sort(roots)
	roots = slices.Compact(roots)
	h := sha256.New()
	for _, s := range append([]string{c.ID, c.Hash, c.Proxy, c.CAFile}, roots...) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// eraKey is the key under which the protocol era of a configuration is
// remembered; roots do not matter to it.
func (c ServerConfig) eraKey() string { return c.ID + "\x00" + c.Hash }
