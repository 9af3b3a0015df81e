package llm

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// listed is one entry of a list of models, with the names that endpoints give to what they
// say about it.
type listed struct {
	ID          text `json:"id"`
	Name        text `json:"name"`
	Model       text `json:"model"`
	Key         text `json:"key"`
	ModelName   text `json:"model_name"`   // LiteLLM
	DisplayName text `json:"display_name"` // Anthropic
	Type        text `json:"type"`         // LM Studio: llm, vlm, embeddings; Mistral: base; Together: chat, image, …

	Architecture struct { // OpenRouter
		Input    terms `json:"input_modalities"`
		Output   terms `json:"output_modalities"`
		Modality text  `json:"modality"` // "text+image->text"
	} `json:"architecture"`
	Parameters   terms           `json:"supported_parameters"` // OpenRouter
	Capabilities json.RawMessage `json:"capabilities"`
	InputKinds   terms           `json:"supported_input_modalities"` // GitHub Models
	Inputs       terms           `json:"input_modalities"`
	Tags         terms           `json:"tags"`                 // gateways
	ImageInput   *affirmed       `json:"supports_image_input"` // Fireworks
	Tools        *affirmed       `json:"supports_tools"`
	Vision       *affirmed       `json:"supports_vision"` // LiteLLM
	Functions    *affirmed       `json:"supports_function_calling"`
	Reasoning    *affirmed       `json:"supports_reasoning"`
	Chat         *affirmed       `json:"supports_chat"`

	ContextLength       amount `json:"context_length"`
	MaxModelLen         amount `json:"max_model_len"`
	ContextWindow       amount `json:"context_window"`
	MaxContextLength    amount `json:"max_context_length"`
	LoadedContextLength amount `json:"loaded_context_length"`
	InputTokenLimit     amount `json:"inputTokenLimit"`
	MaxInputTokens      amount `json:"max_input_tokens"`
	Meta                struct {
		Ctx amount `json:"n_ctx"`
	} `json:"meta"`
	Top struct {
		ContextLength amount `json:"context_length"`
	} `json:"top_provider"`
}

// terms is a list of words, or nothing where it is something else.
type terms []string

func (w *terms) UnmarshalJSON(raw []byte) error {
	var list []text
	if json.Unmarshal(raw, &list) == nil {
		*w = terms{}
		for _, s := range list {
			*w = append(*w, strings.ToLower(string(s)))
		}
	}
	return nil
}

func (w terms) has(any ...string) bool {
	return slices.ContainsFunc(any, func(s string) bool { return slices.Contains(w, s) })
}

// affirmed is true or false, or an object that says so as "supported".
type affirmed bool

func (f *affirmed) UnmarshalJSON(raw []byte) error {
	var b bool
	var o struct{ Supported bool }
	switch {
	case json.Unmarshal(raw, &b) == nil:
		*f = affirmed(b)
	case json.Unmarshal(raw, &o) == nil:
		*f = affirmed(o.Supported)
	}
	return nil
}

func support(yes bool) Support {
	if yes {
		return Supported
	}
	return Unsupported
}

func says(flags ...*affirmed) Support {
	for _, f := range flags {
		if f != nil {
			return support(bool(*f))
		}
	}
	return SupportUnknown
}

// info is what an entry says.
func (e listed) info() ModelInfo {
	m := ModelInfo{
		ID:     string(cmp.Or(e.ID, e.Name, e.Model, e.ModelName, e.Key)),
		Images: says(e.ImageInput, e.Vision), Tools: says(e.Tools, e.Functions), Reasoning: says(e.Reasoning), Chat: says(e.Chat),
		Window: int(cmp.Or(e.LoadedContextLength, e.MaxModelLen, e.Meta.Ctx, e.Top.ContextLength, e.ContextLength, e.ContextWindow, e.MaxContextLength, e.InputTokenLimit, e.MaxInputTokens)),
	}
	if title := cmp.Or(e.DisplayName, e.Name); string(title) != m.ID && len(title) <= maxNameLen {
		m.Title = string(title)
	}
	for _, more := range []ModelInfo{e.byModalities(), e.byCapabilities(), e.byType(), e.byTags()} {
		m.fill(more)
	}
	return m
}

// byModalities reads what goes in and comes out, and OpenRouter's list of the parameters
// that are taken, which is complete.
func (e listed) byModalities() (m ModelInfo) {
	in := e.Architecture.Input
	if in == nil && e.Architecture.Modality != "" {
		from, _, _ := strings.Cut(string(e.Architecture.Modality), "->")
		in = strings.Split(strings.ToLower(from), "+")
	}
	for _, list := range []terms{in, e.InputKinds, e.Inputs} {
		if len(list) > 0 {
			m.Images = cmp.Or(m.Images, support(list.has("image")))
		}
	}
	if out := e.Architecture.Output; len(out) > 0 {
		m.Chat = support(out.has("text"))
	}
	if p := e.Parameters; len(p) > 0 {
		m.Tools = support(p.has("tools"))
		m.Reasoning = support(p.has("reasoning", "reasoning_effort", "include_reasoning"))
	}
	return m
}

// byCapabilities reads "capabilities": a list of words of what a model can do, or an object
// with what is so and what is not (Mistral, Anthropic, LM Studio).
func (e listed) byCapabilities() (m ModelInfo) {
	var list terms
	if _ = json.Unmarshal(e.Capabilities, &list); len(list) > 0 { // of another form: empty
		some := func(names ...string) Support {
			if list.has(names...) {
				return Supported
			}
			return SupportUnknown
		}
		m = ModelInfo{
			Images: some("vision", "multimodal", "image_input"), Reasoning: some("thinking", "reasoning"),
			Tools: some("tools", "tool_use", "tool-calling", "function_calling"), Chat: some("completion", "chat"),
		}
		if m.Images == SupportUnknown && e.Type == "model" && list.has("completion") { // llama.cpp names "multimodal" where it is so
			m.Images = Unsupported
		}
		return m
	}
	var o struct {
		CompletionChat *affirmed `json:"completion_chat"`
		Functions      *affirmed `json:"function_calling"`
		Vision         *affirmed `json:"vision"`
		Reasoning      *affirmed `json:"reasoning"`
		Trained        *affirmed `json:"trained_for_tool_use"`
		ImageInput     *affirmed `json:"image_input"`
		Thinking       *affirmed `json:"thinking"`
		Tools          *affirmed `json:"tools"`
	}
	if json.Unmarshal(e.Capabilities, &o) != nil {
		return m
	}
	return ModelInfo{Chat: says(o.CompletionChat), Tools: says(o.Functions, o.Tools, o.Trained), Images: says(o.Vision, o.ImageInput), Reasoning: says(o.Reasoning, o.Thinking)}
}

// all makes of a list of capabilities that is complete, as Ollama's is, what the model
// cannot do.
func (e listed) all() ModelInfo {
	m := e.info()
	if m.Chat != Supported {
		var list terms
		if json.Unmarshal(e.Capabilities, &list) == nil && list.has("embedding") {
			m.Chat = Unsupported
		}
		return m
	}
	m.fill(ModelInfo{Images: Unsupported, Tools: Unsupported, Reasoning: Unsupported})
	return m
}

// byType reads what kind of model an entry is.
func (e listed) byType() (m ModelInfo) {
	switch strings.ToLower(string(e.Type)) {
	case "vlm":
		m.Images = Supported
	case "llm":
		m.Images = Unsupported
	case "embedding", "embeddings", "image", "audio", "moderation", "rerank", "reranker", "transcription", "speech", "video", "transcribe":
		m.Chat = Unsupported
	}
	return m
}

// byTags reads the words of gateways; what is not among them is unknown.
func (e listed) byTags() (m ModelInfo) {
	if e.Tags.has("vision") {
		m.Images = Supported
	}
	if e.Tags.has("tool-use", "tools", "function-calling") {
		m.Tools = Supported
	}
	if e.Tags.has("reasoning", "thinking") {
		m.Reasoning = Supported
	}
	return m
}
