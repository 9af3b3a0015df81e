package llm

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// profile holds the habits of an endpoint: what it needs in a request beyond
// what all endpoints take.
type profile struct {
	name           string
	reasoningBack  bool    // every assistant message must carry reasoning_content
	shortIDs       bool    // tool call ids must match ^[a-zA-Z0-9]{9}$
	dialect        dialect // JSON Schema it understands
	maxTokens      string  // name of the length limit
	noUsage        bool    // does not take stream_options
	maxDescription int     // longest tool description in characters, 0 = no limit
	noImages       bool    // takes no pictures
	nullContent    bool    // wants null where an assistant message has calls and no text
}

func profiles() []profile {
	return []profile{
		{name: "generic", maxTokens: "max_tokens"},
		{name: "openai", maxTokens: "max_completion_tokens", dialect: dialectOpenAI, maxDescription: 1024},
		{name: "deepseek", maxTokens: "max_tokens", reasoningBack: true},
		{name: "mistral", maxTokens: "max_tokens", shortIDs: true, noUsage: true},
		{name: "gemini", maxTokens: "max_tokens", dialect: dialectGemini},
	}
}

var (
	hostProfiles = []struct{ suffix, profile string }{
		{"openai.com", "openai"},
		{"openai.azure.com", "openai"},
		{"deepseek.com", "deepseek"},
		{"mistral.ai", "mistral"},
		{"googleapis.com", "gemini"},
	}
	// Behind a gateway or on a local server only the name tells.
	modelProfiles = []struct {
		pattern *regexp.Regexp
		profile string
	}{
		{regexp.MustCompile(`(?i)(^|/)(mistral|ministral|magistral|codestral|devstral|pixtral|open-mi)`), "mistral"},
		{regexp.MustCompile(`(?i)(^|/)gemini`), "gemini"},
		{regexp.MustCompile(`(?i)(^|/)deepseek`), "deepseek"},
	}
)

// findProfile is the profile asked for, else the one of the host, else the one
// of the model.
func findProfile(name string, base *url.URL, model string) (profile, *Error) {
	all := profiles()
	find := func(name string) int { return slices.IndexFunc(all, func(p profile) bool { return p.name == name }) }
	if name != "" {
		if i := find(strings.ToLower(name)); i >= 0 {
			return all[i], nil
		}
		return profile{}, &Error{Kind: KindConfig, Message: fmt.Sprintf("There is no endpoint profile %q. Use openai, deepseek, mistral, gemini or generic, or leave it empty.", name)}
	}
	host := strings.ToLower(base.Hostname())
	for _, h := range hostProfiles {
		if host == h.suffix || strings.HasSuffix(host, "."+h.suffix) {
			return all[find(h.profile)], nil
		}
	}
	p := all[0]
	for _, m := range modelProfiles {
		if !m.pattern.MatchString(model) {
			continue
		}
		found := all[find(m.profile)]
		// A local server or gateway is not the provider: of its habits only
		// those that hurt nobody are taken over.
		p.shortIDs, p.dialect = found.shortIDs, found.dialect
		p.reasoningBack = found.reasoningBack && strings.EqualFold(host, "openrouter.ai")
		return p, nil
	}
	return p, nil
}

// adaptation is a habit an endpoint shows only by refusing a request.
type adaptation struct {
	refusal *regexp.Regexp
	applies func(p *profile) bool // changes p; false if it was so already
	message string
}

func turnOn(flag *bool) bool {
	was := *flag
	*flag = true
	return !was
}

func adaptations() []adaptation {
	return []adaptation{
		{regexp.MustCompile(`reasoning_content`),
			func(p *profile) bool { return turnOn(&p.reasoningBack) },
			"The endpoint wants its reasoning back; it was sent again with it."},
		{regexp.MustCompile(`(?i)(tool.?call.?id|tool_calls\S*\.id).{0,80}(length|9|alphanumeric|a-zA-Z0-9|invalid|match|format|pattern)|(invalid|malformed|bad).{0,40}tool.?call.?id|\{9\}`),
			func(p *profile) bool { return turnOn(&p.shortIDs) },
			"The endpoint takes only short tool call ids; the request was sent again with those."},
		{regexp.MustCompile(`(?i)content\b.{0,60}(non.?empty|(must|can|may|should)(not| not|n't) be (empty|blank)|is (empty|blank))|empty.{0,30}\bcontent`),
			func(p *profile) bool { return turnOn(&p.nullContent) },
			"The endpoint takes no empty texts; the request was sent again with null in their place."},
		{regexp.MustCompile(`stream_options`),
			func(p *profile) bool { return turnOn(&p.noUsage) },
			"The endpoint does not report token counts in a stream; the request was sent again without asking for them."},
		{regexp.MustCompile(`max_completion_tokens`),
			func(p *profile) bool {
				was := p.maxTokens
				p.maxTokens = "max_completion_tokens"
				return was != p.maxTokens
			},
			"The endpoint wants the length limit under its newer name; the request was sent again with it."},
		{regexp.MustCompile(`(?i)field is not repeating|Unknown name "(type|\$ref|\$defs|const|oneOf|additionalProperties)`),
			func(p *profile) bool {
				was := p.dialect
				p.dialect = dialectGemini
				return was != p.dialect
			},
			"The endpoint understands only simple tool schemas; the request was sent again with those."},
		{regexp.MustCompile(`(?i)image input is not supported|(does not|doesn't|cannot) support (image|vision)|no endpoints found that support image`),
			func(p *profile) bool { return turnOn(&p.noImages) },
			"The model takes no pictures; the request was sent again with notes in their place."},
	}
}

// adapt learns from the refusal of a request that was written for used. It returns
// what was learnt, perhaps by another request meanwhile, or "" if the same request
// would be refused again.
func (c *Client) adapt(used profile, e *Error) string {
	if e.Status != 400 && e.Status != 422 && e.Status != 500 && e.Status != 404 || e.Kind == KindContext {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range adaptations() {
		if a.refusal.MatchString(e.Body) && a.applies(&used) {
			a.applies(&c.profile)
			return a.message
		}
	}
	return ""
}
