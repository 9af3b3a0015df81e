package app

import "context"

// Completing names an argument that suggestions are wanted for: of a prompt, or of a
// resource template. Known are the arguments filled in already.
type Completing struct {
	Server   string
	Prompt   string
	Template string
	Argument string
	Value    string
	Known    map[string]string
}

// Suggestions are what a server suggests, safe to show and to use as they are.
type Suggestions struct {
	Values []string
	More   bool // there are more than these
}

// FillPrompt has a server fill in a reviewed prompt and gives the text to be shown before
// it is sent. The request is recorded.
func (a *App) FillPrompt(ctx context.Context, conversation, server, name string, args map[string]string) (Attachment, error) {
	return Attachment{}, errNotYet
}

// CompleteArgument asks a server for suggestions.
func (a *App) CompleteArgument(ctx context.Context, c Completing) (Suggestions, error) {
	return Suggestions{}, errNotYet
}

// ReadResource reads a resource for a message, or to be looked at. The reading is
// recorded.
func (a *App) ReadResource(ctx context.Context, conversation, server, uri string) (Attachment, error) {
	return Attachment{}, errNotYet
}

// AttachFile makes an attachment of a text file or a picture on this computer.
func (a *App) AttachFile(ctx context.Context, path string) (Attachment, error) {
	return Attachment{}, errNotYet
}

// TemplateVariables names the variables of a resource template (RFC 6570), in order.
func TemplateVariables(template string) ([]string, error) { return nil, errNotYet }

// ExpandTemplate fills in a resource template (RFC 6570). A variable that is left out is
// undefined; for a list variable (explode modifier *) the values stand between commas.
func ExpandTemplate(template string, values map[string]string) (string, error) {
	return "", errNotYet
}

// Subscribe calls on whenever the server reports a change of a resource, and after the
// server has come back, from one goroutine of its own, until cancel is called. on may
// block; cancel waits for it, so it must not be called from inside on.
func (a *App) Subscribe(ctx context.Context, server, uri string, on func()) (cancel func(), err error) {
	return nil, errNotYet
}
