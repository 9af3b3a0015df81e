// Package chatrules says what a strict provider would find wrong with a request of the chat
// completions format. It is written from what providers publish and from their refusals, not
// from the program that writes the requests: nothing of that is imported here.
//
// The rules for all are those of OpenAI's API reference
// (https://platform.openai.com/docs/api-reference/chat/create and the schema
// CreateChatCompletionRequest of https://github.com/openai/openai-openapi), read strictly:
// a member that is not in the reference is refused. [For] adds those of other providers.
package chatrules

import "regexp"

// Rules are what one provider demands beyond the format.
type Rules struct {
	// IDs is the form of the ids of calls.
	IDs *regexp.Regexp
	// MaxTools and MaxDescription are 0 where no limit is known.
	MaxTools, MaxDescription int

	// Which forms of content an assistant message with calls and no text may not have.
	NoAbsent, NoNull, NoEmpty bool

	// SystemRole is the role of the system prompt; "user" says that none may stand by itself.
	SystemRole string
	// UserFirst: behind the system prompt, which is one and first, the person begins.
	UserFirst bool
	// NotAssistantLast: the last message is not the model's.
	NotAssistantLast bool
	// NoUserAfterTool: no person's message stands straight behind a tool's.
	NoUserAfterTool bool
	// Alternating: person and model speak in turn, calls and their results not counted.
	Alternating bool
	// SingleCalls: an assistant message has one call at most.
	SingleCalls bool
	// ToolNames: tool messages carry the name of the tool.
	ToolNames bool

	// Images: "" in messages of the person, "tools" also in those of tools, "none" nowhere.
	Images string
	// Reasoning: "" is refused, "calls" demands it with the calls since the person's last message and refuses it
	// nowhere, "always" with all answers. ReasoningField is its member.
	Reasoning, ReasoningField string
	// Vendor are members beyond the reference that messages and calls may have.
	Vendor []string
	// Refused are members of the request that are not taken.
	Refused []string
}

var (
	anyID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// All are the rules of OpenAI, and what other providers refuse that OpenAI does not and that
// no request needs: an absent content (DeepSeek: "missing field `content`"), more than one
// system prompt or one in the middle (chat templates of local models), an answer of the
// model's first (Gemini: "function call turn comes immediately after a user turn") or last
// (Anthropic: "must end with a user message").
func All() Rules {
	return Rules{
		IDs: anyID, MaxTools: 128, NoAbsent: true, NoNull: true, SystemRole: "system", UserFirst: true, NotAssistantLast: true,
		ReasoningField: "reasoning_content",
	}
}

// For are the rules of the provider or program that an endpoint profile is named after; those
// for all where none are known of it.
func For(profile string) Rules {
	r := All()
	switch profile {
	case "openai", "azure": // https://platform.openai.com/docs/guides/function-calling
		r.MaxDescription = 1024
	case "deepseek": // https://api-docs.deepseek.com/guides/thinking_mode
		r.Reasoning, r.Images = "always", "none"
	case "moonshot": // https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
		r.Reasoning = "calls"
	case "mistral": // https://docs.mistral.ai/api; messages: "Unexpected role 'user' after role 'tool'"
		r.IDs, r.NoUserAfterTool, r.ToolNames, r.Refused = shortID, true, true, []string{"stream_options"}
	case "gemini": // https://ai.google.dev/gemini-api/docs/thought-signatures
		r.Vendor = []string{"extra_content"}
	case "openrouter": // https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
		r.Vendor = []string{"reasoning_details"}
	case "perplexity": // messages: "user and assistant roles should be alternating"
		r.Alternating, r.NoUserAfterTool, r.Refused = true, true, []string{"tool_choice", "parallel_tool_calls"}
	}
	return r
}
