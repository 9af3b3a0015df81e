package llm

import (
	"regexp"
	"slices"
	"strings"
)

// adaptation is a habit an endpoint shows only by refusing a request.
type adaptation struct {
	refusal *regexp.Regexp // of what the endpoint says, without quotes
	unless  *regexp.Regexp // the same words about something else; may be nil
	sent    func(p Profile, r Request) bool
	key     string
	value   string // "" is the refusal's first group that is not empty
	message string
}

// notTaken are the words with which endpoints say that they do not take a parameter.
const notTaken = `unsupported|unknown|unrecogni[sz]ed|unexpected|not (?:be |currently |yet )?(?:supported|permitted|allowed|compatible|accepted|recogni[sz]ed|available|valid|set|specified|implemented)|isn't|(?:does|do) ?(?:not|n't) (?:support|accept|allow|take|exist)|cannot (?:specify|set|be)|forbidden|deprecated|invalid (?:field|parameter|argument|temperature|role)|no longer|only (?:the )?(?:default|1\b|\w+ is (?:allowed|supported))|extra (?:inputs|fields)|extra_forbidden|additional properties|must be (?:removed|omitted)|remove`

// refused fits what says that a parameter of this name is not taken, in either order of
// words, within a sentence or a member of the error.
func refused(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:` + notTaken + `)[^.;{}]{0,100}\b(?:` + name + `)\b|\b(?:` + name + `)\b[^.;{}]{0,100}(?:` + notTaken + `)`)
}

func words(s string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + s) }

// valueAlone are words about a value where the name of the parameter is right.
var valueAlone = words(`too (?:large|small|high|low|big)|at (?:most|least)|between|(?:less|greater) than|out of range|exceed`)

// adaptations are tried in this order; the first that changes something counts.
var adaptations = []adaptation{
	{refusal: words(`reasoning_content`), unless: refused(`reasoning_content`), key: "reasoning_back", value: BackAlways,
		message: "The endpoint wants its reasoning back; it was sent again with it."},
	{refusal: refused(`reasoning_content|reasoning`), sent: func(p Profile, _ Request) bool { return p.ReasoningBack != BackNever }, key: "reasoning_back", value: "never",
		message: "The endpoint does not take its reasoning back; the request was sent again without it."},
	{refusal: words(`(tool.?call.?id|tool_calls\S*\.id).{0,80}(length|9|alphanumeric|a-zA-Z0-9|invalid|match|format|pattern)|(invalid|malformed|bad).{0,40}tool.?call.?id|\{9\}`),
		key: "call_ids", value: IDsShort,
		message: "The endpoint takes only short tool call ids; the request was sent again with those."},
	{refusal: words(`content\b.{0,60}(non.?empty|(must|can|may|should)(not| not|n't) be (empty|blank)|is (empty|blank))|empty.{0,30}\bcontent`),
		key: "empty_content", value: EmptyNull,
		message: "The endpoint takes no empty texts; the request was sent again with null in their place."},
	{refusal: words(`stream_options`), key: "stream_options", value: No,
		message: "The endpoint does not report token counts in a stream; the request was sent again without asking for them."},
	{refusal: words(`\bmax_tokens\b.*max_completion_tokens|max_completion_tokens.*\binstead of\b.*max_tokens`), sent: lengthSent(LengthMaxTokens), key: "length_limit", value: LengthMaxCompletion,
		message: "The endpoint wants the length limit under its newer name; the request was sent again with it."},
	{refusal: refused(`max_tokens`), unless: valueAlone, sent: lengthSent(LengthMaxTokens), key: "length_limit", value: LengthMaxCompletion,
		message: "The endpoint wants the length limit under its newer name; the request was sent again with it."},
	{refusal: refused(`max_completion_tokens`), unless: valueAlone, sent: lengthSent(LengthMaxCompletion), key: "length_limit", value: "max_tokens",
		message: "The endpoint wants the length limit under its older name; the request was sent again with it."},
	{refusal: words(`parallel_tool_calls`), sent: func(p Profile, r Request) bool { return len(r.Tools) > 0 }, key: "parallel_tool_calls", value: "unsaid",
		message: "The endpoint lets nobody choose whether tools are called together; the request was sent again without that choice."},
	{refusal: words(`reasoning[_.]effort`), key: "reasoning_effort", value: No,
		message: "The endpoint does not take how long the model is to reason; the request was sent again without that."},
	{refusal: refused(`temperature|top_p`), sent: func(_ Profile, r Request) bool { return r.Temperature != nil }, key: "temperature", value: No,
		message: "The model takes no temperature; the request was sent again without it."},
	{refusal: refused(`stop`), sent: func(_ Profile, r Request) bool { return len(r.Stop) > 0 }, key: "stop", value: No,
		message: "The model takes no words to stop at; the request was sent again without them."},
	{refusal: words(`tool_choice|tool choice`), sent: func(_ Profile, r Request) bool { return r.ToolChoice == "required" }, key: "tool_choice", value: ChoiceAuto,
		message: "The endpoint cannot be made to call a tool; the request was sent again with the choice left to the model."},
	{refusal: words(`tool_choice|tool choice`), sent: func(_ Profile, r Request) bool { return r.ToolChoice != "" && len(r.Tools) > 0 }, key: "tool_choice", value: ChoiceNone,
		message: "The endpoint lets nobody choose whether tools are called; the request was sent again without that choice."},
	{refusal: words(`\b(?:system|messages\[0\]\.role)\b.{0,80}\b(?:instead|use)\b.{0,20}developer`), key: "system_role", value: SystemDeveloper,
		message: "The model wants its instructions as the developer's; the request was sent again so."},
	{refusal: words(`developer`), sent: func(p Profile, _ Request) bool { return p.SystemRole == SystemDeveloper }, key: "system_role", value: "system",
		message: "The endpoint does not know instructions of a developer; the request was sent again with them as the system's."},
	{refusal: words(`(?:system|developer)(?: role| messages?| prompts?| instructions?)? (?:is|are) not (?:supported|enabled|allowed)|(?:role|roles)\b[^.;]{0,60}\b(?:does not|doesn't|do not) support\b[^.;]{0,20}\bsystem|(?:system|developer) (?:role|messages?) not supported|(?:does not|doesn't|do not) support (?:a )?(?:the )?system`),
		key: "system_role", value: SystemUser,
		message: "The model takes no instructions of their own; the request was sent again with them before the first message."},
	{refusal: words(`role:? user after (?:role:? )?tool|user (?:message|role)[^.;]{0,30}(?:after|following) (?:a )?tool`), key: "user_after_tool", value: No,
		message: "The model takes no message straight after a tool's result; the request was sent again with an answer between them."},
	{refusal: words(`roles?\b[^.;]{0,80}\balternat|\balternat\w+ (?:between )?(?:user|roles?)\b`), key: "alternating_roles", value: Yes,
		message: "The model wants you and it to speak in turn; the request was sent again with messages of one side put together."},
	{refusal: words(`single tool.?calls? at once|only (?:supports?|one|a single) [^.;]{0,30}tool.?call`), key: "several_calls", value: No,
		message: "The model takes one tool call in an answer; the request was sent again with them one after the other."},
	{refusal: words(`function_?response\.name|tool (?:message|result)s?[^.;]{0,60}\bname\b[^.;]{0,30}(?:required|missing|empty)`), key: "tool_message_names", value: Yes,
		message: "The endpoint wants the tool's name with each result; the request was sent again with it."},
	{refusal: words(`field is not repeating|Unknown name (?:type|\$ref|\$defs|const|oneOf|allOf|not|patternProperties|additionalProperties)`), key: "dialect", value: string(DialectGemini),
		message: "The endpoint understands only simple tool schemas; the request was sent again with those."},
	{refusal: words(`moonshot flavored json schema`), key: "dialect", value: string(DialectMoonshot),
		message: "The endpoint understands only simple tool schemas; the request was sent again with those."},
	{refusal: words(`pattern must start with \^|unrecognized schema|number of repetitions exceeds`), key: "dialect", value: string(DialectGrammar),
		message: "The endpoint understands only simple tool schemas; the request was sent again with those."},
	{refusal: words(`description\b.{0,60}(?:too long|length|exceed|longer).{0,80}?(?:maximum length|at most|maximum(?: of)?|limit(?: of)?|<=) ?(\d{2,6})`), key: "max_description",
		message: "The endpoint takes only short descriptions of tools; the request was sent again with shorter ones."},
	{refusal: words(`(?:image|picture|image_url)\S*[^.;]{0,60}\b(?:role:? )?tool\b|\btool\b (?:messages?|role|results?)[^.;]{0,80}(?:image|array|must be (?:a )?(?:string|text))`), sent: func(p Profile, _ Request) bool { return p.ToolImages }, key: "tool_images", value: No,
		message: "The endpoint takes no pictures in the results of tools; the request was sent again with them behind the results."},
	{refusal: words(`image input is not supported|(does not|doesn't|cannot) support (image|vision)|no endpoints found that support image|unknown variant image_url|image_url is (?:only|not) supported`), key: "images", value: No,
		message: "The model takes no pictures; the request was sent again with notes in their place."},
}

func lengthSent(name string) func(Profile, Request) bool {
	return func(p Profile, r Request) bool { return r.MaxTokens > 0 && p.LengthLimit == name }
}

var unquoted = strings.NewReplacer(`\"`, "", `"`, "", "'", "", "`", "", `\\`, `\`, `\n`, " ", "’", "", "‘", "", "“", "", "”", "")

// said are the words of a refusal, without quotes: first what the endpoint gives as its
// message, then all of it, since some hand on another's refusal within their own.
func (e *Error) said() []string {
	f := readFailure(e.Status, []byte(e.Body))
	return []string{unquoted.Replace(f.message + "; " + f.param + "; " + f.kind), unquoted.Replace(e.Body[:min(len(e.Body), 8<<10)])}
}

// lessons are what one request has been taught by refusals.
type lessons struct {
	tried map[string][]string // values that it was sent with, by key
	new   []lesson            // that no answer has borne out yet
	count int
}

type lesson struct{ key, value, before string }

// maxLessons bounds how often one request is written in another way: an endpoint that names
// another limit each time would be asked for ever.
const maxLessons = 16

// adapt learns from the refusal of a request that was written for used. It returns
// what was learnt, perhaps by another request meanwhile, or "" if the same request
// would be refused again. A habit that is refused in each of its forms is given up.
func (c *Client) adapt(used Profile, r Request, e *Error, l *lessons) string {
	switch e.Kind {
	case KindBadRequest, KindBadTool, KindNotFound:
	case KindServer:
		if e.Status != 500 {
			return ""
		}
	default:
		return ""
	}
	if l.count >= maxLessons {
		return ""
	}
	for _, said := range e.said() {
		for _, a := range adaptations {
			value, ok := a.fits(said, used, r)
			message := a.message
			if ok && a.key == "length_limit" && slices.Contains(l.tried[a.key], value) {
				value, message = LengthNone, "The endpoint takes no length limit; the request was sent again without one."
			}
			if !ok || slices.Contains(l.tried[a.key], value) {
				continue
			}
			if l.tried == nil {
				l.tried = map[string][]string{}
			}
			l.tried[a.key] = append(l.tried[a.key], used.Trait(a.key), value)
			c.learn(a.key, value, l)
			return message
		}
	}
	return ""
}

// fits gives the value that the refusal teaches, where that would change the request.
func (a adaptation) fits(said string, used Profile, r Request) (value string, ok bool) {
	m := a.refusal.FindStringSubmatch(said)
	if m == nil || a.unless != nil && a.unless.MatchString(said) || a.sent != nil && !a.sent(used, r) {
		return "", false
	}
	value = a.value
	for _, group := range m[1:] {
		if value == "" {
			value = group
		}
	}
	next := used
	return value, next.SetTrait(a.key, value) == nil && next.Trait(a.key) != used.Trait(a.key)
}

// learn holds a habit for the requests that follow.
func (c *Client) learn(key, value string, l *lessons) {
	c.mu.Lock()
	before := c.profile.Trait(key)
	_ = c.profile.SetTrait(key, value) // fits has tried it
	c.mu.Unlock()
	l.new = append(l.new, lesson{key, value, before})
	l.count++
}

// forget takes back what no answer has borne out, unless something else was learnt since.
func (c *Client) forget(l *lessons) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range slices.Backward(l.new) {
		if c.profile.Trait(n.key) == n.value {
			_ = c.profile.SetTrait(n.key, n.before) // it was the profile's own
		}
	}
	l.new = nil
}

// taken tells the owner what was learned, once a request that was written so was taken: what
// an endpoint says of one habit may only have looked like something about another.
func (c *Client) taken(l *lessons) {
	if c.options.Learned != nil {
		for _, n := range l.new {
			c.options.Learned(c.endpoint, n.key, n.value)
		}
	}
	l.new = nil
}
