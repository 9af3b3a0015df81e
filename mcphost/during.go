package mcphost

import (
	"context"
	"errors"
)

// during returns a context that ends with the session, too, for what a person is asked
// between the rounds of a request: with the session gone, no answer can be handed on. The
// function it returns must be called; it makes of an error the one that says why the
// session ended, where it did.
func (l *live) during(ctx context.Context) (context.Context, func(error) error) {
	asking, end := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-l.session.Done():
			end(ErrSessionOver)
		case <-asking.Done():
		}
	}()
	return asking, func(err error) error {
		over := errors.Is(context.Cause(asking), ErrSessionOver)
		end(nil)
		if err == nil || !over || ctx.Err() != nil {
			return err
		}
		if cause := l.session.Err(); cause != nil {
			return cause
		}
		return ErrClosed
	}
}
