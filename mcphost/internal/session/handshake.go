package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/wire"
)

// handshake decides between the two eras of the protocol: server/discover
// within a limit, and initialize where that is not understood (MCP 2026-07-28,
// versioning; MCP 2025-11-25, lifecycle).
type handshake struct {
	link Link
	tap  *wire.Tap
	o    Options

	mu     sync.Mutex
	refuse error // initialize must not be sent
	silent bool  // server/discover was not answered in time
	unsure bool  // server/discover failed for a reason that says nothing of the era
}

// middleware sees the library's own requests on their way out.
func (h *handshake) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "server/discover":
			return h.discover(ctx, next, method, req)
		case "initialize":
			return h.initialize(ctx, next, method, req)
		}
		return next(ctx, method, req)
	}
}

func (h *handshake) discover(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	probe := ctx
	if h.o.Probe > 0 {
		var cancel context.CancelFunc
		probe, cancel = context.WithTimeout(ctx, h.o.Probe)
		defer cancel()
	}
	res, err := next(probe, method, req)
	if err == nil {
		return res, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var rpc *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		h.refuse = context.Cause(ctx)
	case ended(h.link):
		h.refuse = ErrStuck
	case probe.Err() != nil && (h.o.Patient || h.o.Installing != nil && h.o.Installing()):
		h.silent = true
	case probe.Err() != nil:
		h.refuse = ErrStuck
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeUnsupportedProtocolVersion:
		// The server understood the question, so initialize is no fallback; it is
		// the way only where the server itself names a version that begins with it.
		if !namesLegacy(rpc.Data) {
			h.refuse = versionError(rpc.Data)
		}
	case errors.As(err, &rpc) && (rpc.Code == mcp.CodeHeaderMismatch || rpc.Code == mcp.CodeMissingRequiredClientCapabilities):
		// Only servers of the newer era know these errors.
		h.refuse = fmt.Errorf("the server refused server/discover: %w", plain(err))
	default:
		if f, ok := h.link.(interface{ Refuse() error }); ok {
			h.refuse = f.Refuse()
		}
		if f, ok := h.link.(interface{ Busy() bool }); ok {
			h.unsure = f.Busy()
		}
	}
	return nil, err
}

func (h *handshake) initialize(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	h.mu.Lock()
	refuse, silent := h.refuse, h.silent
	h.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	res, err := next(ctx, method, req)
	if err != nil && h.o.Discover && ended(h.link) {
		// It may have lived had it not been asked server/discover before.
		return nil, ErrStuck
	}
	if silent || h.o.Slow {
		return res, h.newer(err)
	}
	return res, err
}

// newer makes ErrNewer of a refusal of initialize that follows a silence: the
// server may know server/discover alone, and have been slow to start.
func (h *handshake) newer(err error) error {
	var rpc *jsonrpc.Error
	f, ok := h.link.(interface{ Failure() error })
	if failed := ok && f.Failure() != nil; !failed && errors.As(err, &rpc) && rpc.Code != wire.CodeRejected {
		return ErrNewer
	}
	return err
}

// explain makes of an error of the library the one that says what happened.
func (h *handshake) explain(ctx context.Context, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		return h.refuse
	}
	if errors.Is(err, ErrStuck) || errors.Is(err, ErrNewer) {
		return err
	}
	if f, ok := h.link.(interface{ Failure() error }); ok {
		if cause := f.Failure(); cause != nil {
			return cause
		}
	}
	if cause := h.link.Err(); cause != nil && ended(h.link) {
		if h.o.Discover {
			return ErrStuck
		}
		return cause
	}
	method, result := h.tap.Handshake()
	if method == "" && strings.HasPrefix(err.Error(), "unsupported protocol version") {
		return &VersionError{} // its answer to initialize is no object, so it was not kept
	}
	if method == "initialize" {
		if v := version(result); !slices.Contains(mcp.SupportedProtocolVersions(), v) {
			return &VersionError{Server: []string{v}}
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return plain(err)
}

// ended reports whether the link has ended.
func ended(l Link) bool {
	select {
	case <-l.Done():
		return true
	default:
		return false
	}
}

// hello reads the server's answer to the handshake that succeeded.
func (h *handshake) hello() (Hello, error) {
	method, result := h.tap.Handshake()
	fields := wire.Fields(result)
	out := Hello{Capabilities: fields["capabilities"], Instructions: wire.Text(fields["instructions"])}
	info := fields["serverInfo"]
	if method == "server/discover" {
		out.Modern = true
		out.Protocol = Modern
		for _, v := range texts(fields["supportedVersions"]) {
			if v > out.Protocol && slices.Contains(mcp.SupportedProtocolVersions(), v) {
				out.Protocol = v
			}
		}
		if m := wire.Fields(fields["_meta"]); m["io.modelcontextprotocol/serverInfo"] != nil {
			info = m["io.modelcontextprotocol/serverInfo"]
		}
	} else {
		out.Protocol = version(result)
		if out.Protocol >= Modern {
			return Hello{}, &VersionError{Server: []string{out.Protocol + " in answer to initialize"}}
		}
	}
	m := wire.Fields(info)
	out.Name, out.Title, out.Version = wire.Text(m["name"]), wire.Text(m["title"]), wire.Text(m["version"])
	out.Unsure = h.unsure
	h.tap.SetModern(out.Modern)
	return out, nil
}

// versionError reads error data of -32022: {"supported":[…]}.
func versionError(data json.RawMessage) error {
	return &VersionError{Server: texts(wire.Fields(data)["supported"])}
}

// namesLegacy reports whether the data of -32022 names a version that both sides
// speak and that begins with initialize, and none without.
func namesLegacy(data json.RawMessage) bool {
	found := false
	for _, v := range texts(wire.Fields(data)["supported"]) {
		if !slices.Contains(mcp.SupportedProtocolVersions(), v) {
			continue
		}
		if v >= Modern {
			return false
		}
		found = true
	}
	return found
}

func version(result json.RawMessage) string { return wire.Text(wire.Fields(result)["protocolVersion"]) }

// texts reads the strings of an array.
func texts(raw json.RawMessage) []string {
	all, _ := wire.Elements(raw)
	var out []string
	for _, r := range all {
		if s := wire.Text(r); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// DefaultProbe is how long server/discover may stay unanswered.
const DefaultProbe = 5 * time.Second
