package app

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"steward/app/config"
	"steward/mcphost"
)

// This file lets the list of servers change while the program runs, and gives
// conversations that share folders connections of their own.

// entryKey names a start: one for each server and set of folders.
func entryKey(name string, roots []string) string {
	if len(roots) == 0 {
		return name
	}
	return name + "\x00" + strings.Join(roots, "\x00")
}

// now is the list as it stands.
func (s *servers) now() serverList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

func (s *servers) limitsNow() limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits
}

func (s *servers) setLimits(l limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l
}

// dropped says that a start is not wanted any more.
func (s *servers) dropped(e *serverEntry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[entryKey(e.config.Name, e.roots)] != e
}

// abandon ends a connection that was made for a start which is not wanted any more,
// unless another start of the same server shares it.
func (s *servers) abandon(e *serverEntry) {
	s.mu.Lock()
	other := s.entries[entryKey(e.config.Name, e.roots)] != nil
	s.mu.Unlock()
	if e.conn != nil && !other {
		_ = e.conn.Close(s.ctx) // it is not used; the host ends what remains
	}
}

// reload takes over the list that read gives and ends the servers that are not in it as they
// were, and what is being started of them. It returns when they have ended, or with ctx, and
// names those that ran and may start again. Lists are read and taken over one after the other,
// so that the last one read is the one that stays.
func (s *servers) reload(ctx context.Context, read func() (serverList, error)) (ran []string, unread, unended error) {
	s.reading.Lock()
	list, err := read()
	if err != nil {
		s.reading.Unlock()
		return nil, err, nil
	}
	ran, gone := s.take(list)
	s.reading.Unlock()
	return ran, list.err, s.end(ctx, func(c *mcphost.Connection) bool { return gone[c.Server()] })
}

// take puts another list in place and forgets the starts of servers that are not in it as they
// were: gone are their names, ran those of them that may start again.
func (s *servers) take(list serverList) (ran []string, gone map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone = map[string]bool{}
	for key, e := range s.entries {
		c, ok := config.Find(list.servers, e.config.Name)
		if ok && reflect.DeepEqual(c, e.config) {
			continue
		}
		delete(s.entries, key)
		delete(s.slow, e.config.Name)
		delete(s.told, e.config.Name)
		gone[e.config.Name] = true
		if ok && !c.Disabled && len(e.roots) == 0 {
			ran = append(ran, c.Name)
		}
	}
	s.list, s.waited = list, nil
	return ran, gone
}

// drop forgets the starts that match and ends their connections.
func (s *servers) drop(ctx context.Context, match func(name string, roots []string) bool) error {
	s.mu.Lock()
	var gone []*serverEntry
	s.waited = nil
	for key, e := range s.entries {
		if match(e.config.Name, e.roots) {
			delete(s.entries, key)
			delete(s.slow, e.config.Name)
			gone = append(gone, e)
		}
	}
	s.mu.Unlock()
	return s.end(ctx, func(c *mcphost.Connection) bool {
		return slices.ContainsFunc(gone, func(e *serverEntry) bool { return s.isOf(c, e) })
	})
}

// isOf says whether a connection is the one that a start made or makes.
func (s *servers) isOf(c *mcphost.Connection, e *serverEntry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.Server() == e.config.Name && slices.Equal(c.Config().Roots, e.given)
}

// end closes connections side by side; at most about three seconds.
func (s *servers) end(ctx context.Context, match func(*mcphost.Connection) bool) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for _, c := range s.host.Connections() {
		if !match(c) {
			continue
		}
		all.Go(func() {
			if err := c.Close(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// entry is the start of a server without a conversation's folders; nil where it was not
// started.
func (s *servers) entry(name string) *serverEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[name]
}

// started is the entry's connection where its start is over and succeeded.
func (e *serverEntry) started() *mcphost.Connection {
	if e == nil {
		return nil
	}
	select {
	case <-e.done:
		if e.err == nil {
			return e.conn
		}
	default:
	}
	return nil
}
