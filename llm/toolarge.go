package llm

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tooLargeWords say, in small letters, that a request is longer than the model can read. Each
// kind of endpoint has its own words; of most only the sentence tells, not a code.
// They are compiled with the first refusal: most runs see none.
var tooLargeWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`context_length_exceeded|exceed_context_size|context_window_exceeded|tokens_limit_reached`, // codes and types
		`content\S*: string too long`,                               // OpenAI, one text
		`maximum context length|context (size|window|length|limit)`, // OpenAI, vLLM, SGLang, llama.cpp, DeepSeek, Mistral, OpenRouter
		`maximum (model|prompt|input) length|max(imum)? (context|model) len`,
		`(prompt|input|request|messages?) (is|are|was) too (long|large)`, // Anthropic, Bedrock, Ollama
		`(prompt|input) too (long|large)`,
		`too many (input )?tokens`,
		`request body too large|request too large|payload too large|entity too large`, // Azure, and gateways that count bytes
		`token count.*exceed|exceeds the maximum number of tokens|input tokens exceed`,
		`exceed(s|ed)?( the)?( model('s)?)? (token|max(imum)? (input|prompt)?) ?(limit|length|tokens)`,
		`prompt exceeds max length|range of input length|超长`,                       // Zhipu, Qwen
		`tokens to keep from the initial prompt|` + "`inputs`" + `.*(must|tokens)`, // LM Studio, TGI
	}, "|"))
})

// tooLargeFigures find the figures in such a sentence, written without commas: used is the
// request's size, limit what the model can read, both in tokens. The first that fits counts
// for each.
var tooLargeFigures = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`request \((?P<used>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)`),
		regexp.MustCompile(`exceed context limit: (?P<used>\d+) \+ \d+ > (?P<limit>\d+)`),
		regexp.MustCompile(`(?P<used>\d+) tokens > (?P<limit>\d+)`),
		regexp.MustCompile(`token count \((?P<used>\d+)\) exceeds the maximum number of tokens allowed \((?P<limit>\d+)`),
		regexp.MustCompile(`prompt contains (?P<used>\d+) tokens.*?(?P<limit>\d+) maximum context length`),
		regexp.MustCompile(`(?:input|prompt) \((?:length )?(?P<used>\d+)(?: tokens)?\) is longer than the (?:model's context length|maximum model length)(?: of)?\s?\(?(?P<limit>\d+)`),
		regexp.MustCompile(`requested tokens \((?P<used>\d+)\) exceed context window of (?P<limit>\d+)`),
		regexp.MustCompile(`limit of (?P<limit>\d+) tokens.*?(?:resulted in|requested)[^0-9]*(?P<used>\d+)`),
		regexp.MustCompile(`given: (?P<used>\d+) ` + "`inputs`"),
		regexp.MustCompile(`(?:maximum|max) (?:context|prompt|model|input) (?:length|len)(?: is| of)? (?P<limit>\d+)(?:[^0-9]+(?P<used>\d+))?`),
		regexp.MustCompile(`context (?:length|size|window|limit) (?:of|is)(?: only)? (?P<limit>\d+)`),
		regexp.MustCompile(`cannot exceed (?P<limit>\d+)[^0-9]+received (?P<used>\d+)`),
		regexp.MustCompile(`first (?P<used>\d+) tokens when`),
		regexp.MustCompile(`range of input length should be \[\d+ ?(?P<limit>\d+)\]`),
		regexp.MustCompile(`token limit:? (?P<limit>\d+)`),
		regexp.MustCompile(`max size: (?P<limit>\d+) tokens`),
		regexp.MustCompile("`inputs` (?:tokens \\+ `max_new_tokens` must be <=|must have less than) (?P<limit>\\d+)"),
	}
})

// tooLarge tells whether an endpoint refused a request because it is longer than the model can
// read. all is what it said, in small letters. A limit of requests or tokens in a minute is
// something else, whatever words it has.
func tooLarge(status int, all string) bool {
	switch {
	case status == 429 || strings.Contains(all, "per minute") || strings.Contains(all, "rate_limit"):
		return false
	case status == 413:
		return true
	}
	return tooLargeWords().MatchString(all)
}

// readTooLarge puts the figures that an endpoint told into e, where e has none yet. all is what
// it said, in small letters.
func readTooLarge(e *Error, all string) {
	all = strings.ReplaceAll(all, ",", "")
	for _, re := range tooLargeFigures() {
		m := re.FindStringSubmatch(all)
		if m == nil || e.Limit != 0 && e.Used != 0 {
			continue
		}
		for i, name := range re.SubexpNames() {
			n, err := strconv.Atoi(m[i])
			switch {
			case err != nil:
			case name == "used" && e.Used == 0:
				e.Used = n
			case name == "limit" && e.Limit == 0:
				e.Limit = n
			}
		}
	}
	if e.Limit > 0 && e.Used > 0 && e.Used <= e.Limit {
		e.Used = 0 // it was another figure, perhaps of the answer
	}
}
