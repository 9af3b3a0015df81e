package llm

import "strings"

// windowOf is what is publicly known of a family of models.
type windowOf struct {
	prefix string // of the model's name in small letters, without the part before the last "/"
	tokens int    // its context window: what request and answer may take together
	open   bool   // its weights are public: whoever runs it decides how much of the window there is
}

// windows are the figures that the makers publish for their own endpoints. The first prefix
// that fits counts, so a longer one stands before a shorter one. What is not here is not known.
var windows = []windowOf{
	// OpenAI
	{"gpt-5-chat", 128_000, false},
	{"gpt-5.1-chat", 128_000, false},
	{"gpt-5", 400_000, false},
	{"gpt-4.1", 1_047_576, false},
	{"gpt-4o", 128_000, false},
	{"chatgpt-4o", 128_000, false},
	{"gpt-4-turbo", 128_000, false},
	{"gpt-4-1106", 128_000, false},
	{"gpt-4-0125", 128_000, false},
	{"gpt-4-32k", 32_768, false},
	{"gpt-4.5", 128_000, false},
	{"gpt-4", 8_192, false},
	{"gpt-3.5-turbo-instruct", 4_096, false},
	{"gpt-3.5-turbo", 16_385, false},
	{"gpt-oss", 131_072, true},
	{"o1-mini", 128_000, false},
	{"o1-preview", 128_000, false},
	{"o1", 200_000, false},
	{"o3", 200_000, false},
	{"o4-mini", 200_000, false},
	{"codex-mini", 200_000, false},
	// Anthropic
	{"claude-2.0", 100_000, false},
	{"claude-", 200_000, false},
	// Google
	{"gemini-1.5-pro", 2_097_152, false},
	{"gemini-1.0", 32_760, false},
	{"gemini-1.5", 1_048_576, false},
	{"gemini-2", 1_048_576, false},
	{"gemini-3", 1_048_576, false},
	{"gemini-flash", 1_048_576, false},
	{"gemini-pro-latest", 1_048_576, false},
	{"gemma-3-1b", 32_768, true},
	{"gemma-3", 131_072, true},
	// DeepSeek
	{"deepseek-chat", 131_072, false},
	{"deepseek-reasoner", 131_072, false},
	// Qwen
	{"qwen3-max", 262_144, false},
	{"qwen3-coder-plus", 1_000_000, false},
	{"qwen3-coder-flash", 1_000_000, false},
	{"qwen-flash", 1_000_000, false},
	{"qwen-long", 10_000_000, false},
	{"qwen-max", 32_768, false},
	{"qwq-plus", 131_072, false},
	// Moonshot
	{"kimi-k2-0711", 131_072, true},
	{"kimi-k2", 262_144, true},
	{"kimi-latest", 131_072, false},
	{"moonshot-v1-8k", 8_192, false},
	{"moonshot-v1-32k", 32_768, false},
	{"moonshot-v1-128k", 131_072, false},
	// Zhipu
	{"glm-4.6", 200_000, true},
	{"glm-4.5v", 65_536, true},
	{"glm-4.5", 131_072, true},
	{"glm-4-long", 1_000_000, false},
	{"glm-4-plus", 128_000, false},
	{"glm-4-air", 128_000, false},
	{"glm-4-flash", 128_000, false},
	// Mistral
	{"mistral-large", 131_072, false},
	{"mistral-medium", 131_072, false},
	{"magistral", 131_072, false},
	{"codestral", 262_144, false},
	{"devstral", 131_072, true},
	{"ministral", 131_072, true},
	{"pixtral", 131_072, true},
	{"open-mistral-nemo", 131_072, true},
	// xAI
	{"grok-4-fast", 2_000_000, false},
	{"grok-code-fast", 262_144, false},
	{"grok-4", 262_144, false},
	{"grok-3", 131_072, false},
	// Meta, Cohere
	{"llama-3.1", 131_072, true},
	{"llama-3.3", 131_072, true},
	{"command-a", 262_144, false},
	{"command-r", 131_072, false},
}

// KnownWindow is the context window of a model in tokens as its maker publishes it, 0 where it
// is not known. Of a model with public weights it is known only at its usual endpoints: on a
// server of one's own (baseURL on this machine or in a private network) that server's settings
// decide.
func KnownWindow(baseURL, model string) int {
	name := strings.ToLower(strings.TrimSpace(model))
	name = name[strings.LastIndex(name, "/")+1:]
	for _, w := range windows {
		if !strings.HasPrefix(name, w.prefix) {
			continue
		}
		if w.open && ownServer(baseURL) {
			return 0
		}
		return w.tokens
	}
	return 0
}

// ownServer tells whether an address is one that only this machine or this network reaches.
func ownServer(baseURL string) bool {
	u, problem := parseBase(baseURL)
	if problem != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return loopback(host) || privateHost(host)
}

// Where names the endpoint at an address as a person may paste it: scheme, host and port. It is
// empty where the address cannot be used.
func Where(baseURL string) string {
	u, problem := parseBase(baseURL)
	if problem != nil {
		return ""
	}
	return where(u)
}
