package mcphost

import (
	"context"
	"errors"
)

// SignInChanged says that [Connection.SignInState] may have changed.
type SignInChanged struct{ Server string }

func (SignInChanged) observation() {}

// SignIn forgets a refusal, signs in to the server if that is needed, and starts
// it again. The context bounds the wait; a sign-in that nobody waits for any more
// ends. The error says why it did not come about; it wraps [ErrSignInRefused]
// where the person said no.
func (c *Connection) SignIn(ctx context.Context) error {
	return errors.New("signing in is not possible yet")
}

// SignOut has the authorization server revoke the tokens, if it can, and deletes
// them. What this program is registered as at the authorization server stays. The
// error says what could not be deleted; a server that does not revoke is none.
func (c *Connection) SignOut(ctx context.Context) error {
	return errors.New("signing out is not possible yet")
}

// SignInState returns how things stand with signing in. It does not block.
func (c *Connection) SignInState() SignInState { return SignInState{} }
