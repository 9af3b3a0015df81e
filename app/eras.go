package app

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"steward/storage"
)

// erasKey is where it stands in the data folder which servers speak the older form of the protocol.
const erasKey = "servers.older"

// maxEras bounds how many are kept; a file of servers holds no more.
const maxEras = 1000

// eras is an mcphost.Eras over the data folder: by server, the hash of the configuration that was
// found to be of the older era. Losing it costs time, nothing else.
type eras struct {
	db   *storage.DB
	warn func(error)

	writing sync.Mutex // held from a change until it is written, so that the last one stays
	mu      sync.Mutex
	older   map[string]string
}

// openEras reads what is kept. What cannot be read is found out anew.
func openEras(ctx context.Context, db *storage.DB, warn func(error)) *eras {
	e := &eras{db: db, warn: warn, older: map[string]string{}}
	raw, err := db.Setting(ctx, erasKey)
	if err == nil {
		err = json.Unmarshal(raw, &e.older)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		warn(err)
	}
	if e.older == nil {
		e.older = map[string]string{}
	}
	return e
}

// Legacy is mcphost.Eras's.
func (e *eras) Legacy(server, hash string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return hash != "" && e.older[server] == hash
}

// Remember is mcphost.Eras's. It waits for the disk, on a connection's goroutine.
func (e *eras) Remember(server, hash string, legacy bool) {
	e.writing.Lock()
	defer e.writing.Unlock()
	e.mu.Lock()
	before := e.older[server]
	switch {
	case legacy && before != hash && (before != "" || len(e.older) < maxEras):
		e.older[server] = hash
	case !legacy && before == hash:
		delete(e.older, server)
	default:
		e.mu.Unlock()
		return
	}
	now := maps.Clone(e.older)
	e.mu.Unlock()
	raw, err := json.Marshal(now)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), erasLimit)
		defer cancel()
		err = e.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(erasKey, raw) })
	}
	if err != nil && !errors.Is(err, storage.ErrReadOnly) && !errors.Is(err, storage.ErrClosed) {
		e.warn(err)
	}
}

// forget forgets a server that is gone.
func (e *eras) forget(server string) {
	e.mu.Lock()
	hash := e.older[server]
	e.mu.Unlock()
	if hash != "" {
		e.Remember(server, hash, false)
	}
}

// erasLimit is how long a start waits at most for what it found out to be kept.
const erasLimit = 5 * time.Second
