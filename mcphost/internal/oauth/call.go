package oauth

import "context"

// Call is a tool call on whose behalf requests are made. Attempt must agree
// before one is sent again.
type Call struct {
	Owner   string
	Attempt func(ctx context.Context, what string, detail any) error
}

type (
	callKey  struct{}
	quietKey struct{}
)

// ForCall returns a context for requests on behalf of a tool call.
func ForCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallOf returns the tool call that a context is for.
func CallOf(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// Quiet returns a context for requests that nobody asked for: no person is asked
// to sign in for them.
func Quiet(ctx context.Context) context.Context { return context.WithValue(ctx, quietKey{}, true) }

func isQuiet(ctx context.Context) bool { return ctx.Value(quietKey{}) != nil }
