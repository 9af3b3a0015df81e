package app

import "context"

// ConversationSettings are what a person has set for one conversation.
type ConversationSettings struct {
	// Endpoint and Model replace the chosen endpoint and its model where not empty.
	Endpoint string
	Model    string
	// Servers and Tools switch off (false) or on (true) what the model is offered, by
	// server, and by server and tool; what is not named follows the server's own switch.
	Servers map[string]bool
	Tools   map[string]map[string]bool
	// Roots are folders shared with the servers in this conversation, absolute paths.
	Roots []string
	// ReadOnly offers only those tools that the person has marked as read-only.
	ReadOnly bool
}

// OfferedTool is one tool in a conversation's switches.
type OfferedTool struct {
	Tool
	Offered  bool   // the model sees it in this conversation
	Why      string // of one that is not offered: switched_off, server_off, read_only, not_reviewed or app_only
	ReadOnly bool   // marked as read-only by the person
}

// ConversationSettings reads a conversation's settings; of an empty id the defaults.
func (a *App) ConversationSettings(ctx context.Context, id string) (ConversationSettings, error) {
	return ConversationSettings{}, errNotYet
}

// SetConversationSettings stores them; they hold from the next request on. A folder that
// must not be shared is an error, see [App.CheckRoot]. Connections for folders that no
// conversation shares any more are ended.
func (a *App) SetConversationSettings(ctx context.Context, id string, s ConversationSettings) error {
	return errNotYet
}

// ConversationTools lists the tools of the servers that run, as the conversation offers
// them. It starts nothing and asks the servers nothing.
func (a *App) ConversationTools(ctx context.Context, id string) ([]OfferedTool, error) {
	return nil, errNotYet
}

// ContextUse estimates how many tokens the next request of a conversation takes: messages
// and tools.
func (a *App) ContextUse(ctx context.Context, id string) (messages, tools int, err error) {
	return 0, 0, errNotYet
}

// CheckRoot says why a folder must not be shared: it is none, it is Steward's own or holds
// it, or there are private keys in it. path is returned absolute. It reads at most a few
// thousand names.
func (a *App) CheckRoot(ctx context.Context, path string) (absolute string, err error) {
	return "", errNotYet
}
