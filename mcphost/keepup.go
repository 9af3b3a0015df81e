package mcphost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// DefaultLogLevel is the least severe kind of log message that servers are asked
// for.
const DefaultLogLevel = "info"

// logLevels are the protocol's, the least severe first (RFC 5424).
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LogLevels returns the levels of log messages, the least severe first.
func LogLevels() []string { return slices.Clone(logLevels) }

// keepUpLimit bounds each request that a new session begins with.
const keepUpLimit = 10 * time.Second

// keepUp tells each new session what the connection wants of its server: log
// messages from a level on, and news of resources. It ends with the context.
func (c *Connection) keepUp(ctx context.Context, l *live) {
	for {
		c.askAgain(ctx, l)
		select {
		case <-ctx.Done():
			return
		case <-l.renewed:
		}
	}
}

// askAgain does what keepUp does, once.
func (c *Connection) askAgain(ctx context.Context, l *live) {
	c.mu.Lock()
	level, logging := c.level(), c.caps.logging
	uris := make([]string, 0, len(c.followed))
	for uri := range c.followed {
		uris = append(uris, uri)
	}
	c.mu.Unlock()
	if logging && !l.session.Hello().Modern {
		if err := c.sendLogLevel(ctx, l, level); err != nil && ctx.Err() == nil {
			c.note("warning", "", "its log level could not be set: "+err.Error())
		}
	}
	slices.Sort(uris)
	for _, uri := range uris {
		if err := c.follow(ctx, l, uri); err != nil && ctx.Err() == nil && !l.ended() {
			c.note("warning", "", fmt.Sprintf("changes of the resource %s are not reported any more: %v", short(uri, 200), err))
		}
	}
}

// renew says that a new session with the server has begun below this one. It
// only queues.
func (c *Connection) renew() {
	c.mu.Lock()
	l := c.live
	c.renewals++
	for uri := range c.followed {
		c.followed[uri] = nil
	}
	c.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case l.renewed <- struct{}{}:
	default:
	}
}

// level is the level of log messages wanted. c.mu is held.
func (c *Connection) level() string {
	if c.logLevel == "" {
		return DefaultLogLevel
	}
	return c.logLevel
}

// LogLevel returns the least severe kind of log message that the server is asked
// for, and whether it declares that it logs.
func (c *Connection) LogLevel() (level string, logs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.level(), c.caps.logging
}

// SetLogLevel asks the server for log messages from level on (debug, info,
// notice, warning, error, critical, alert, emergency): at once in the older era
// (logging/setLevel), with every request from now on in the newer one. It stays
// for later sessions of the connection.
func (c *Connection) SetLogLevel(ctx context.Context, level string) error {
	level = strings.ToLower(level)
	if !slices.Contains(logLevels, level) {
		return fmt.Errorf("there is no log level %q; the levels are %s", short(level, 60), strings.Join(logLevels, ", "))
	}
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	offered := c.caps.logging
	if offered {
		c.logLevel = level
	}
	c.mu.Unlock()
	if !offered {
		return fmt.Errorf("server %q does not let its log be set", c.cfg.ID)
	}
	if l.session.Hello().Modern {
		l.session.SetLogLevel(level)
		return nil
	}
	return c.sendLogLevel(ctx, l, level)
}

func (c *Connection) sendLogLevel(ctx context.Context, l *live, level string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, keepUpLimit, unanswered(keepUpLimit))
	defer cancel()
	reply := l.session.Do(ctx, session.Request{
		Method: "logging/setLevel", Params: []wire.Member{member("level", level)},
	})
	if reply.Err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if reply.Err != nil {
		return errors.New(c.redact(reply.Err.Error()))
	}
	return nil
}

// Subscribe asks the server to report changes of a resource, which are then
// observed as [ResourceUpdated]. It lasts until Unsubscribe: a server that is
// started again, or whose session begins again, is asked again.
func (c *Connection) Subscribe(ctx context.Context, uri string) error {
	l, err := c.reporting(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	if c.followed == nil {
		c.followed = map[string]*live{}
	}
	if _, again := c.followed[uri]; !again {
		c.followed[uri] = nil
	}
	c.mu.Unlock()
	if err := c.follow(ctx, l, uri); err != nil {
		c.mu.Lock()
		delete(c.followed, uri)
		c.mu.Unlock()
		return &requestError{c.redact(fmt.Sprintf("subscribing to %q at server %q failed: %v", uri, c.cfg.ID, err)), err}
	}
	return nil
}

// follow subscribes to a resource on one session, once; where the session has begun again below it meanwhile, again.
func (c *Connection) follow(ctx context.Context, l *live, uri string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, keepUpLimit, unanswered(keepUpLimit))
	defer cancel()
	for {
		c.mu.Lock()
		on, wanted := c.followed[uri]
		begun := c.renewals
		c.mu.Unlock()
		if !wanted || on == l {
			return nil
		}
		if err := l.session.Subscribe(ctx, uri); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		c.mu.Lock()
		_, wanted = c.followed[uri]
		same := c.renewals == begun
		if wanted && same {
			c.followed[uri] = l
		}
		c.mu.Unlock()
		if same {
			return nil
		}
	}
}

// Unsubscribe ends what Subscribe began. A server that does not run is not
// started for it.
func (c *Connection) Unsubscribe(ctx context.Context, uri string) error {
	c.mu.Lock()
	delete(c.followed, uri)
	l, offered := c.live, c.caps.subscribe
	c.mu.Unlock()
	if l == nil || !offered {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, RequestTimeout, unanswered(RequestTimeout))
	defer cancel()
	if err := l.session.Unsubscribe(ctx, uri); err != nil {
		return &requestError{c.redact(fmt.Sprintf("unsubscribing from %q at server %q failed: %v", uri, c.cfg.ID, err)), err}
	}
	return nil
}

// reporting returns the session of a server that reports changes of resources.
func (c *Connection) reporting(ctx context.Context) (*live, error) {
	l, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	offered := c.caps.subscribe
	c.mu.Unlock()
	if !offered {
		return nil, fmt.Errorf("server %q does not report changes of resources", c.cfg.ID)
	}
	return l, nil
}
