package app

import (
	"context"
	"fmt"
	"math"
	"regexp"

	"steward/app/chat"
	"steward/llm"
)

// Bounds of what is set for one conversation.
const (
	maxChatSystem  = 100_000 // bytes
	maxTemperature = 2
)

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
	Parameters
}

// Parameters are what goes with a conversation's requests beside its messages; what is not
// set is as the settings or the endpoint have it.
type Parameters struct {
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2; nil leaves it
	MaxTokens   int      `json:"maxTokens,omitempty"`   // of one answer; 0 leaves it
	// Effort is how long the model is to reason, in the endpoint's word: one of
	// [Efforts], or another one that it knows; "" leaves it.
	Effort string `json:"effort,omitempty"`
	// System are instructions for this conversation, beside those for every one.
	System string `json:"system,omitempty"`
}

// Efforts are the usual words for how long a model is to reason, the least first.
func Efforts() []string { return []string{"none", "minimal", "low", "medium", "high", "xhigh"} }

var effortWord = regexp.MustCompile(`^[a-z0-9_-]{1,30}$`)

// Check says what cannot be used.
func (p Parameters) Check() error {
	var why string
	switch t := p.Temperature; {
	case t != nil && !(*t >= 0 && *t <= maxTemperature): // NaN too
		why = fmt.Sprintf("The temperature is a number from 0 to %d.", maxTemperature)
	case p.MaxTokens < 0 || p.MaxTokens > math.MaxInt32:
		why = "The longest answer is a number of tokens from 1, or empty."
	case p.Effort != "" && !effortWord.MatchString(p.Effort):
		why = "How long the model is to reason is one word, such as low or high."
	case len(p.System) > maxChatSystem:
		why = fmt.Sprintf("The instructions are too long: %d bytes, at most %d.", len(p.System), maxChatSystem)
	default:
		return nil
	}
	return &Message{Key: "parameters", Args: args("detail", why)}
}

// Changed counts what is set for the conversation.
func (p Parameters) Changed() (n int) {
	for _, set := range []bool{p.Temperature != nil, p.MaxTokens > 0, p.Effort != "", p.System != ""} {
		if set {
			n++
		}
	}
	return n
}

// parameters are those of a conversation's next request. It asks nobody but the store.
func (a *App) parameters(ctx context.Context, conversation string) chat.Parameters {
	s, now := a.chat(ctx, conversation), a.settingsNow()
	p := chat.Parameters{System: s.System, Temperature: now.Temperature, MaxTokens: now.MaxTokens, Effort: s.Effort}
	if s.Temperature != nil {
		p.Temperature = s.Temperature
	}
	if s.MaxTokens > 0 {
		p.MaxTokens = s.MaxTokens
	}
	can := a.CanDo(ctx, s)
	p.NoImages, p.NoTools = can.Images == Unsupported, can.Tools == Unsupported
	return p
}

// CanDo is what is known of the model that answers a conversation with these settings:
// what its endpoint's list says, else what the endpoint's profile tells. It asks nobody.
func (a *App) CanDo(ctx context.Context, s ConversationSettings) ModelInfo {
	e, model := a.model.place(s)
	info := a.modelInfo(ctx, e.id, model)
	if info.Images == SupportUnknown && a.habitsOf(e, model).NoImages {
		info.Images = Unsupported
	}
	return info
}

// TakesEffort says whether the endpoint that answers a conversation with these settings is
// known to take, or not to take, how long the model is to reason.
func (a *App) TakesEffort(s ConversationSettings) bool {
	e, model := a.model.place(s)
	return !a.habitsOf(e, model).NoEffort
}

// habitsOf is what is known of how an endpoint takes requests; nothing where it is none.
func (a *App) habitsOf(e placed, model string) llm.Profile {
	if e.BaseURL == "" {
		return llm.Profile{}
	}
	p, err := llm.ProfileOf(llm.Endpoint{BaseURL: e.BaseURL, Model: model, Profile: e.Profile, Traits: e.traits, Learned: a.model.habits.of(e.BaseURL, model)})
	if err != nil {
		return llm.Profile{} // asking it says why
	}
	return p
}

// OfferedTool is one tool in a conversation's switches.
type OfferedTool struct {
	Tool
	Offered  bool   // the model sees it in this conversation
	Why      string // of one that is not offered: switched_off, server_off, read_only, not_reviewed or app_only
	ReadOnly bool   // marked as read-only by the person
}
