package llm

import (
	"regexp"
	"slices"
)

// entry is a row of the table: how an endpoint is recognised, and its habits.
type entry struct {
	habits  Profile
	hosts   []string // domains, with everything below them
	paths   []string // parts of a path that only this one has
	port    string   // usual port on this machine or the local network
	root    string   // path of the API where it is not /v1; "/" is none
	gateway bool     // hands requests on, so that the model's name counts as well
	source  string   // where its provider or its program documents this
}

// table holds the habits of endpoints, the generic one first. The first row that fits an
// address counts.
var table = []entry{
	{
		habits:  Profile{Name: "generic", Title: "OpenAI-compatible"},
		gateway: true,
	},
	{
		habits: Profile{Name: "openai", Title: "OpenAI", Dialect: DialectOpenAI, MaxTools: 128, MaxDescription: 1024, LengthLimit: LengthMaxCompletion, NoEffort: true},
		hosts:  []string{"openai.com"},
		source: "https://platform.openai.com/docs/api-reference/chat/create",
	},
	{
		habits: Profile{Name: "azure", Title: "Azure OpenAI", Dialect: DialectOpenAI, MaxTools: 128, MaxDescription: 1024, LengthLimit: LengthMaxCompletion, NoEffort: true,
			KeyHeader: "api-key", APIVersion: "2024-10-21"},
		hosts:  []string{"openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"},
		root:   "/openai/v1",
		paths:  []string{"/openai/deployments/"},
		source: "https://learn.microsoft.com/azure/ai-services/openai/reference",
	},
	{
		habits: Profile{Name: "anthropic", Title: "Anthropic", Dialect: DialectAnthropic, NoEffort: true,
			ListKey: "x-api-key", ListVersion: "anthropic-version: 2023-06-01"},
		hosts:  []string{"anthropic.com"},
		source: "https://docs.claude.com/en/api/openai-sdk",
	},
	{
		habits: Profile{Name: "gemini", Title: "Gemini", Dialect: DialectGemini, MaxTools: 128, VendorFields: []string{"extra_content"}},
		hosts:  []string{"googleapis.com"},
		root:   "/v1beta/openai",
		paths:  []string{"/v1beta/openai/"},
		source: "https://ai.google.dev/gemini-api/docs/openai",
	},
	{
		habits: Profile{Name: "deepseek", Title: "DeepSeek", MaxTools: 128, ReasoningBack: BackAlways, NoImages: true, NoEffort: true},
		hosts:  []string{"deepseek.com"},
		source: "https://api-docs.deepseek.com/guides/thinking_mode",
	},
	{
		habits: Profile{Name: "qwen", Title: "Qwen", NoEffort: true},
		hosts:  []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"},
		root:   "/compatible-mode/v1",
		paths:  []string{"/compatible-mode/"},
		source: "https://help.aliyun.com/zh/model-studio/qwen-api-via-openai-chat-completions",
	},
	{
		habits: Profile{Name: "moonshot", Title: "Moonshot", Dialect: DialectMoonshot, MaxTools: 128, ReasoningBack: BackCalls, ToolChoice: ChoiceAuto, NoEffort: true},
		hosts:  []string{"moonshot.cn", "moonshot.ai", "kimi.com", "kimi.ai"},
		source: "https://platform.moonshot.ai/docs/api/tool-use",
	},
	{
		habits: Profile{Name: "zhipu", Title: "Zhipu", MaxTools: 128, ToolChoice: ChoiceAuto, NoEffort: true},
		hosts:  []string{"bigmodel.cn", "z.ai"},
		root:   "/api/paas/v4",
		source: "https://docs.z.ai/api-reference/llm/chat-completion",
	},
	{
		habits: Profile{Name: "mistral", Title: "Mistral", IDs: IDsShort, NoStreamOptions: true, ToolChoice: ChoiceAny, NoUserAfter: true, NamedTools: true, NoEffort: true},
		hosts:  []string{"mistral.ai"},
		source: "https://docs.mistral.ai/api",
	},
	{
		habits:  Profile{Name: "openrouter", Title: "OpenRouter", VendorFields: []string{"reasoning_details"}},
		hosts:   []string{"openrouter.ai"},
		root:    "/api/v1",
		gateway: true,
		source:  "https://openrouter.ai/docs/api-reference/overview",
	},
	{
		habits: Profile{Name: "groq", Title: "Groq", Dialect: DialectOpenAI, MaxTools: 128, LengthLimit: LengthMaxCompletion},
		hosts:  []string{"groq.com"},
		root:   "/openai/v1",
		source: "https://console.groq.com/docs/openai",
	},
	{
		habits: Profile{Name: "perplexity", Title: "Perplexity", Alternating: true, ToolChoice: ChoiceNone},
		hosts:  []string{"perplexity.ai"},
		root:   "/",
		source: "https://docs.perplexity.ai/api-reference/chat-completions-post",
	},
	{
		habits:  Profile{Name: "ollama", Title: "Ollama", Dialect: DialectOllama, ToolChoice: ChoiceNone},
		hosts:   []string{"ollama.com"},
		port:    "11434",
		gateway: true,
		source:  "https://docs.ollama.com/api/openai-compatibility",
	},
	{
		habits:  Profile{Name: "lmstudio", Title: "LM Studio"},
		port:    "1234",
		gateway: true,
		source:  "https://lmstudio.ai/docs/app/api/endpoints/openai",
	},
	{
		habits:  Profile{Name: "llamacpp", Title: "llama.cpp", Dialect: DialectGrammar, Parallel: ParallelOn},
		port:    "8080",
		gateway: true,
		source:  "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
	},
	{
		habits:  Profile{Name: "vllm", Title: "vLLM"},
		port:    "8000",
		gateway: true,
		source:  "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
	},
}

// modelRule is what a model's name tells, whatever hands the request on to it.
type modelRule struct {
	pattern *regexp.Regexp
	// habits changes what the address told. A local program or a gateway is not the
	// provider: only habits of the model itself, and those that hurt nobody, are taken over.
	habits func(p *Profile, at entry)
}

// modelRules are tried all, in this order.
var modelRules = []modelRule{
	{regexp.MustCompile(`(?i)(^|/)(mistral|ministral|magistral|codestral|devstral|pixtral|open-mi)`), func(p *Profile, _ entry) {
		p.IDs = IDsShort
	}},
	{regexp.MustCompile(`(?i)(^|/)gemini`), func(p *Profile, _ entry) {
		p.Dialect, p.VendorFields = DialectGemini, addField(p.VendorFields, "extra_content")
	}},
	{regexp.MustCompile(`(?i)(^|/)claude`), func(p *Profile, at entry) {
		if p.Dialect == DialectFull {
			p.Dialect = DialectAnthropic
		}
	}},
	{regexp.MustCompile(`(?i)(^|/)(kimi|moonshot)`), func(p *Profile, at entry) {
		if p.Dialect == DialectFull {
			p.Dialect = DialectMoonshot
		}
	}},
	{regexp.MustCompile(`(?i)(^|/)deepseek`), func(p *Profile, at entry) {
		if at.habits.Name == "openrouter" {
			p.ReasoningBack = BackAlways
		}
	}},
	// OpenAI's reasoning models take neither temperature nor stop, and the prompt as developer.
	{regexp.MustCompile(`(?i)(^|/)(o[1-9](-|$)|gpt-[5-9](?:[.-](?:\d|mini|nano|pro|codex)|$))`), func(p *Profile, at entry) {
		if p.NoTemperature = true; at.habits.Name == "openai" || at.habits.Name == "azure" {
			p.NoStop, p.NoEffort, p.SystemRole = true, false, SystemDeveloper
		}
	}},
	// How many tools the providers of these take themselves; a gateway may take fewer or more.
	{regexp.MustCompile(`(?i)(^|/)(o[1-9](-|$)|gpt-[3-9]|chatgpt|deepseek|kimi|moonshot|glm|gemini)`), func(p *Profile, _ entry) {
		p.LikelyTools = 128
	}},
	{regexp.MustCompile(`(?i)(^|/)o1-(mini|preview)`), func(p *Profile, _ entry) {
		p.SystemRole, p.NoEffort = SystemUser, true
	}},
}

func addField(have []string, name string) []string {
	if slices.Contains(have, name) {
		return have
	}
	return append(slices.Clip(have), name)
}
