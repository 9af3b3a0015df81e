package llm

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	toolNumbers = []*regexp.Regexp{ // counted from 0; the first that fits counts
		regexp.MustCompile(`function_declarations\[(\d+)\]`),
		regexp.MustCompile(`(?:tools|functions)(?:\[|\.|/)(\d+)`),
		regexp.MustCompile(`\\?"(?:tools|functions)\\?", ?(\d+)`), // a path as a list
		regexp.MustCompile(`(?i)\b(?:tool|function)s? (?:at |with )?(?:index|position) (\d+)`),
	}
	toolOrdinal = regexp.MustCompile(`(?i)\b(?:tool|function) (?:#|no\.? ?|number )(\d+)`) // counted from 1
	toolQuoted  = regexp.MustCompile(`(?i)(?:function|tool)\s+['"` + "`" + `]([a-zA-Z0-9_-]{1,64})['"` + "`" + `]`)
	inSchema    = regexp.MustCompile(`\{\\?"[^\n]{8,}`)
	toolWords   = regexp.MustCompile(`(?i)\b(?:tools?|functions?|function_declarations?|schemas?|parameters)\b`)
	historyWord = regexp.MustCompile(`(?i)tool_call_id|tool_calls|tool.choice|tool calls?\b|\btool (?:message|role|result|use)|role\W{1,3}tool`)
	manyTools   = regexp.MustCompile(`(?i)too many (?:tools|functions|function declarations)|(?:tools|functions|function[_ ]declarations)\b[^.;]{0,40}(?:array too long|too many|too long|exceed|at most|more than|maximum|limit)|(?:at most|maximum(?: number)?(?: of)?|no more than|up to|limit of|more than) (?:\d+ )?(?:tools|functions|function[_ ]declarations)`)
	manyLimit   = regexp.MustCompile(`(?i)(?:maximum length(?: of)?|maximum(?: number)?(?: of)?(?: tools| functions)?(?: is| of)?|at most|no more than|up to|limit(?: of| is|:)?|more than|exceed(?:s|ed)?(?: the)?(?: limit of| maximum of)?|<=|max(?:imum)?[: ]) ?(\d{1,5})\b`)
)

// aboutTools fills in what a refused request's error says of its tools, and gives the advice.
func (e *Error) aboutTools(f failure, tools []Tool) (hint string) {
	text := f.param + " " + f.message
	if limit, ok := tooMany(text, tools); ok {
		e.Kind, e.Limit, e.Used = KindManyTools, limit, len(tools)
		return "Offer fewer tools, or leave some out with --without SERVER/TOOL."
	}
	if t := namedTool(f, e.Body, tools); t != nil {
		e.Kind, e.Tool = KindBadTool, t.Origin
		if e.Tool == "" {
			e.Tool = t.Name
		}
		return "It refuses the tool " + toolName(*t) + ". Disable this tool, or leave it out with --without " + quoted(e.Tool) + ", and send again."
	}
	if len(tools) > 0 && !strings.HasPrefix(f.param, "messages") && toolWords.MatchString(text) && !historyWord.MatchString(text) {
		e.Suspect = true
		if len(tools) == 1 {
			e.Kind, e.Tool, e.Suspect = KindBadTool, tools[0].Origin, false
			return "It seems to refuse the tool " + toolName(tools[0]) + ", the only one. Disable this tool, or leave it out with --without " + quoted(e.Tool) + ", and send again."
		}
		return "It seems to refuse one of the tools, but does not say which. Leave out some with --without SERVER/TOOL and send again."
	}
	return ""
}

// toolName names a tool and its server for a person.
func toolName(t Tool) string {
	if server, tool, ok := strings.Cut(t.Origin, "/"); ok {
		return tool + " of the server " + server
	}
	return t.Name
}

// quoted is a word as a person types it on a command line.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r > '~' || r <= ' ' || strings.ContainsRune("'\"`$&|;<>(){}[]*?!#~\\", r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// tooMany tells whether an error is about the number of tools, and the limit that it names.
func tooMany(text string, tools []Tool) (limit int, ok bool) {
	m := manyTools.FindStringIndex(text)
	if m == nil || len(tools) < 2 {
		return 0, false
	}
	for _, re := range toolNumbers {
		if re.MatchString(text) {
			return 0, false // something of one tool is too long
		}
	}
	for _, n := range manyLimit.FindAllStringSubmatch(text, -1) {
		if v, err := strconv.Atoi(n[1]); err == nil && v > 0 && v < len(tools) {
			return v, true
		}
	}
	return 0, true
}

// namedTool is the tool an error speaks of: by number, by name, or by a piece of its schema.
func namedTool(f failure, body string, tools []Tool) *Tool {
	text := f.param + " " + f.message
	for _, re := range toolNumbers {
		if m := re.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil && n == len(tools) {
				n-- // counted from 1 after all
			}
			if err == nil && n >= 0 && n < len(tools) {
				return &tools[n]
			}
		}
	}
	if m := toolOrdinal.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n <= len(tools) {
			return &tools[n-1]
		}
	}
	if strings.HasPrefix(f.param, "messages") {
		return nil // it is about what was said
	}
	for _, m := range toolQuoted.FindAllStringSubmatch(text, -1) {
		if i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == m[1] }); i >= 0 {
			return &tools[i]
		}
	}
	for _, said := range []string{text, body} {
		if historyWord.MatchString(said) {
			continue
		}
		if t := nameIn(said, tools); t != nil {
			return t
		}
	}
	return bySchema(f.message, tools)
}

// nameIn is the one tool whose name stands in a text as a word.
func nameIn(text string, tools []Tool) *Tool {
	var found *Tool
	for i := range tools {
		for at, rest := 0, text; strings.Contains(tools[i].Name, "__"); {
			k := strings.Index(rest, tools[i].Name)
			if k < 0 {
				break
			}
			at += k
			end := at + len(tools[i].Name)
			if (at == 0 || !safeByte(text[at-1])) && (end == len(text) || !safeByte(text[end])) {
				if found != nil && found != &tools[i] {
					return nil // it speaks of several
				}
				found = &tools[i]
				break
			}
			at++
			rest = text[at:]
		}
	}
	return found
}

// bySchema is the one tool in whose schema stands what an error quotes.
func bySchema(message string, tools []Tool) *Tool {
	quote := strings.ReplaceAll(inSchema.FindString(message), `\"`, `"`)
	if quote == "" {
		return nil
	}
	end, err := skipValue([]byte(quote), 0, 0)
	if err != nil {
		return nil
	}
	var found *Tool
	for i := range tools {
		raw, err := whole(tools[i].Schema)
		if err != nil || !strings.Contains(string(raw), quote[:end]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &tools[i]
	}
	return found
}

// ErrNoTool says that the endpoint took each tool by itself, or refused the request without
// any: the tools, or no single one, are not what it refuses.
var ErrNoTool = errors.New("the endpoint refuses none of the tools by itself")

// FindTool finds a tool that the endpoint refuses by asking it to say OK, with half of the
// tools that are left each time: two requests more than the number of tools can be halved.
// Each costs what its tool definitions cost; its answer is ended at its first word. asked,
// if not nil, is told before each.
//
// The error is ErrNoTool, the context's, or an *Error of another kind than a refusal.
func (c *Client) FindTool(ctx context.Context, tools []Tool, asked func(n int)) (Tool, error) {
	n := 0
	refused := func(part []Tool) ([]Tool, error) {
		if n++; asked != nil {
			asked(n)
		}
		return c.refused(ctx, part)
	}
	part := tools
	for len(part) > 1 {
		half := part[:len(part)/2]
		bad, err := refused(half)
		if err != nil {
			return Tool{}, err
		}
		if part = part[len(half):]; bad != nil {
			part = bad
		}
	}
	if len(part) == 0 {
		return Tool{}, ErrNoTool
	}
	bad, err := refused(part)
	if err != nil || bad == nil {
		return Tool{}, cmp.Or(err, ErrNoTool)
	}
	if bad, err = refused(nil); err != nil || bad != nil {
		return Tool{}, cmp.Or(err, ErrNoTool)
	}
	return part[0], nil
}

// refused gives those of the tools among which the endpoint refuses one, nil where it takes
// all of them. Without tools, what is refused is a list of none.
func (c *Client) refused(ctx context.Context, tools []Tool) ([]Tool, error) {
	inner, enough := context.WithCancel(ctx)
	defer enough()
	r := Request{Messages: []Message{{Role: RoleUser, Text: "Say OK."}}, Tools: tools, MaxTokens: 16}
	_, err := c.Stream(inner, r, func(e Event) {
		switch e.(type) {
		case TextDelta, ReasoningDelta:
			enough()
		}
	})
	var e *Error
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil, errors.As(err, &e) && e.Kind == KindBadRequest && !e.Suspect && len(tools) > 0:
		return nil, nil // what it says of such a short answer does not matter
	case e != nil && (e.Kind == KindBadRequest || e.Kind == KindBadTool || e.Kind == KindServer && e.Status == http.StatusInternalServerError):
		if i := slices.IndexFunc(tools, func(t Tool) bool { return e.Tool != "" && t.Origin == e.Tool }); i >= 0 {
			return tools[i : i+1], nil
		}
		return append([]Tool{}, tools...), nil
	}
	return nil, err
}
