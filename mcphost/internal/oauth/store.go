package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Keeper keeps secrets; mcphost.SignIn says how.
type Keeper interface {
	Load(ctx context.Context, key string) ([]byte, error)
	Save(ctx context.Context, key string, secret []byte) error
	Delete(ctx context.Context, key string) error
}

// tokens are what an authorization server granted, with the client that it was
// granted to: no other may use them (RFC 6749, 10.4).
type tokens struct {
	Issuer   string    `json:"issuer"`
	Resource string    `json:"resource"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Seconds  int       `json:"expires_in,omitempty"` // for which they were granted
	Asked    []string  `json:"asked,omitempty"`      // the scopes that were asked for
	Scopes   []string  `json:"scopes,omitempty"`     // that were granted
	Client   client    `json:"client"`
}

// leeway is how long before they expire tokens are renewed: those that last no longer
// than that would be renewed for each request.
func (t tokens) leeway() time.Duration {
	if t.Seconds == 0 {
		return leeway
	}
	return min(leeway, time.Duration(t.Seconds)*time.Second/4)
}

// client is this program as an authorization server knows it.
type client struct {
	ID       string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	Method   string    `json:"token_endpoint_auth_method,omitempty"` // as the server said at the registration
	Expires  time.Time `json:"client_secret_expires,omitzero"`
	Redirect string    `json:"redirect_uri,omitempty"`
	Port     int       `json:"port,omitempty"`
	Origin   origins   `json:"origin,omitempty"`
}

// origins says where a client comes from.
type origins string

const (
	fromConfig   origins = "configured"
	fromDocument origins = "document"
	fromServer   origins = "registered"
	fromPerson   origins = "asked"
)

func tokensKey(issuer, resource string) string { return "tokens " + issuer + " " + resource }
func clientKey(issuer string) string           { return "client " + issuer }

// boundKey is where it is kept which authorization server a configured client
// belongs to, and at which port the browser came back last.
func boundKey(resource string) string { return "configured client for " + resource }

// bound is the authorization server that a configured client was used at first.
type bound struct {
	Issuer string `json:"issuer"`
	Client string `json:"client"` // a hash
	Port   int    `json:"port,omitempty"`
}

func clientHash(id, secret string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}

// load reads what is kept under a key into v; false where that is nothing, or
// nothing that can be read.
func (a *Account) load(ctx context.Context, key string, v any) (bool, error) {
	data, err := a.o.Keeper.Load(ctx, key)
	if err != nil {
		return false, &Error{
			Message: fmt.Sprintf("what is kept for signing in could not be read: %v", err),
			Hint:    "Unlock the keyring, and try again.", Err: err,
		}
	}
	return len(data) > 0 && json.Unmarshal(data, v) == nil, nil
}

// keepLimit bounds the keeping of what was granted, which goes on when nobody
// waits for the sign-in any more: it cannot be got twice.
const keepLimit = 5 * time.Second

// save keeps v. Where that fails the sign-in holds until the program ends.
func (a *Account) save(ctx context.Context, key string, v any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	data, err := json.Marshal(v)
	if err == nil {
		err = a.o.Keeper.Save(ctx, key, data)
	}
	if err != nil {
		a.o.Warn(fmt.Sprintf("the sign-in could not be kept, and has to be done again after the program's end: %v", err))
	}
}

// forget deletes what is kept under a key.
func (a *Account) forget(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	if err := a.o.Keeper.Delete(ctx, key); err != nil {
		a.o.Warn(fmt.Sprintf("what was kept for signing in could not be deleted: %v", err))
	}
}
