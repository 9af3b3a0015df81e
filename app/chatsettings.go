package app

// ConversationSettings are what a person has set for one conversation.
type ConversationSettings struct {
	// Endpoint and Model replace the chosen endpoint and its model where not empty.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model,omitempty"`
	// Servers and Tools switch off (false) or on (true) what the model is offered, by
	// server, and by server and tool; what is not named follows the server's own switch.
	Servers map[string]bool            `json:"servers,omitempty"`
	Tools   map[string]map[string]bool `json:"tools,omitempty"`
	// Roots are folders shared with the servers in this conversation, absolute paths.
	Roots []string `json:"roots,omitempty"`
	// ReadOnly offers only those tools that the person has marked as read-only.
	ReadOnly bool `json:"readOnly,omitempty"`
}

// OfferedTool is one tool in a conversation's switches.
type OfferedTool struct {
	Tool
	Offered  bool   // the model sees it in this conversation
	Why      string // of one that is not offered: switched_off, server_off, read_only, not_reviewed or app_only
	ReadOnly bool   // marked as read-only by the person
}
