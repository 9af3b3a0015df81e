package mcphost

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/remote"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// Eras keeps which era of the protocol servers are of (MCP 2026-07-28, versioning): asking
// a server of the older era can cost seconds, or its process. Methods may be called by
// several goroutines, never the caller's own, and may wait for a disk.
type Eras interface {
	// Legacy reports what was last remembered of the server with this configuration;
	// false where that is nothing.
	Legacy(server, hash string) bool
	// Remember keeps it. It is called when it changes, and with false after a failure,
	// so that the server is asked again.
	Remember(server, hash string, legacy bool)
}

// knownLegacy reports whether the configuration's server was found to be of
// the older era.
func (h *Host) knownLegacy(cfg ServerConfig) bool {
	h.mu.Lock()
	legacy, known := h.legacy[cfg.eraKey()]
	h.mu.Unlock()
	if known || h.opts.Eras == nil {
		return legacy
	}
	legacy = h.opts.Eras.Legacy(cfg.ID, cfg.Hash)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.legacy[cfg.eraKey()] = legacy
	return legacy
}

// remember keeps the era of a server.
func (h *Host) remember(cfg ServerConfig, legacy bool) {
	h.mu.Lock()
	same := h.legacy[cfg.eraKey()] == legacy
	h.legacy[cfg.eraKey()] = legacy
	h.mu.Unlock()
	if !same && h.opts.Eras != nil {
		h.opts.Eras.Remember(cfg.ID, cfg.Hash, legacy)
	}
}

// opening is the search for the way a server can be spoken to.
type opening struct {
	c     *Connection
	o     session.Options
	old   bool  // over HTTP, the transport of 2024-11-05
	known bool  // the older era was remembered
	first error // of Streamable HTTP, where the transport of 2024-11-05 is tried
}

// maxOpenings bounds how often one start begins anew.
const maxOpenings = 5

// open begins a session: it finds out which era of the protocol the server is
// of, unless that is known, and starts it anew where asking has hurt it.
func (c *Connection) open(ctx context.Context) (*live, error) {
	s := opening{c: c, old: c.cfg.transport() == TransportSSE, known: c.host.knownLegacy(c.cfg)}
	s.o = session.Options{
		Client: mcp.Implementation{
			Name: c.host.opts.Client.Name, Title: c.host.opts.Client.Title, Version: c.host.opts.Client.Version,
		},
		Elicit:   c.host.opts.Asker != nil,
		Sampling: c.host.opts.Asker != nil && c.cfg.Sampling,
		Roots:    true,
		Discover: !s.known && !s.old,
		Probe:    session.DefaultProbe,
		// It may be silent because it is being installed.
		Patient:    c.cfg.transport() == TransportStdio && runner(c.cfg.Command, c.cfg.Args),
		Installing: c.installing,
	}
	var last error
	var tries oauth.Tries
	for n := 0; n < maxOpenings; n++ {
		if err := c.renewed(ctx); err != nil {
			return nil, err
		}
		l, link, err := c.link(ctx, s.old)
		if err != nil {
			return nil, err
		}
		if l.session, err = session.Open(ctx, link, l.tap, s.o); err == nil {
			hello := l.session.Hello()
			c.host.remember(c.cfg, !hello.Modern && !hello.Unsure && !s.old)
			l.since = c.now()
			return l, nil
		}
		if c.asksSignIn(err) && ctx.Err() == nil {
			if err := c.admit(ctx, link, err, &tries); err != nil {
				return nil, err
			}
			n-- // tries bounds it
			continue
		}
		if last = err; ctx.Err() != nil || !s.otherwise(err) {
			return nil, s.failed(l, link, err)
		}
	}
	return nil, &stageError{StageHandshake, last}
}

// otherwise reports whether there is another way after this failure, and takes it.
func (s *opening) otherwise(err error) bool {
	switch {
	case errors.Is(err, session.ErrStuck):
		s.c.note("state", "", "it did not bear server/discover; it is asked anew, as a server of the older era")
		s.o.Discover, s.o.Slow = false, true
	case errors.Is(err, session.ErrNewer):
		s.c.note("state", "", "it was slow to start; it is given more time")
		s.o.Discover, s.o.Probe, s.o.Patient, s.o.Slow = true, 0, false, false
	case s.known && misunderstood(err):
		s.c.note("state", "", "it does not begin as it did before; it is asked again which version of the protocol it speaks")
		s.known, s.o.Discover = false, s.c.cfg.transport() != TransportSSE
	case !s.old && s.c.cfg.transport() == TransportHTTP && outdated(err):
		s.c.note("state", "", "it refuses Streamable HTTP; the transport of 2024-11-05 is tried")
		s.o.Discover, s.old, s.first = false, true, err
	default:
		return false
	}
	return true
}

// misunderstood reports whether a server of the older era, as it was thought to be, has refused the
// beginning: it may have been replaced by one of the newer.
func misunderstood(err error) bool {
	return errors.As(err, new(*wire.Error)) || errors.As(err, new(*session.VersionError)) || outdated(err)
}

// outdated reports whether an answer over HTTP is that of a server that may
// speak the transport of 2024-11-05 alone (MCP 2025-11-25, transports, backwards
// compatibility).
func outdated(err error) bool {
	var e *remote.Error
	return errors.As(err, &e) && (e.Status == 400 || e.Status == 404 || e.Status == 405)
}

// failed ends the search. Where the transport of 2024-11-05 was only a try, what counts is the first
// error, unless a server of that transport is there and failed itself.
func (s *opening) failed(l *live, link session.Link, err error) error {
	s.c.host.remember(s.c.cfg, false)
	if s.first != nil {
		if r, ok := link.(*remote.Link); !ok || !r.Named() {
			return &stageError{StageHandshake, s.first}
		}
		return &stageError{StageHandshake, fmt.Errorf("over the transport of 2024-11-05: %w", err)}
	}
	s.c.keepStderr(l.stderr)
	return s.c.annotate(l, link, err)
}

// codeUnsupportedVersion says that a server does not speak the version of a request (MCP 2026-07-28, error codes).
const codeUnsupportedVersion = -32022

// outgrown begins anew with a server that no longer speaks the version that was agreed on: it has been replaced.
// The request that showed it has failed.
func (c *Connection) outgrown(l *live, err error) {
	var rpc *wire.Error
	if !errors.As(err, &rpc) || rpc.Invalid || rpc.Code != codeUnsupportedVersion {
		return
	}
	c.mu.Lock()
	current := c.live == l && c.beginAnew()
	c.mu.Unlock()
	if current {
		c.note("state", "", "it no longer speaks the version of the protocol that was agreed on; it is asked again")
	}
}
