package llm

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Profile holds the habits of an endpoint: what it takes in a request, and in what form.
// The zero value is the habit that most endpoints share, so that a row of the table names
// only what differs. A Profile is a plain value; copies share nothing that is changed.
type Profile struct {
	Name  string // how settings name it, "openai"
	Title string // a proper name, the same in every language

	// Tools.
	Dialect        Dialect // what of JSON Schema it understands
	MaxTools       int     // how many tools it takes, 0 = no limit known
	LikelyTools    int     // how many the model takes at its own provider, where MaxTools is not known
	MaxDescription int     // longest description of a tool in characters, 0 = none
	ToolChoice     string  // see the ToolChoice constants
	Parallel       string  // what is said of calls together: ParallelUnsaid (""), ParallelOn or ParallelOff

	// Parameters.
	LengthLimit     string // name of the limit: LengthMaxTokens (""), LengthMaxCompletion or LengthNone
	NoStreamOptions bool   // does not take stream_options
	NoTemperature   bool   // takes neither temperature nor top_p, as many reasoning models
	NoStop          bool   // does not take stop
	NoEffort        bool   // does not take reasoning_effort

	// Messages.
	SystemRole     string // of the system prompt: SystemSystem (""), SystemDeveloper or SystemUser
	NoImages       bool   // takes no pictures
	ToolImages     bool   // takes pictures in tool messages
	ReasoningBack  string // when an answer's reasoning is sent back: BackNever (""), BackCalls or BackAlways
	ReasoningField string // in which member: ReasoningContent (""), ReasoningPlain
	// VendorFields names members of an answer's message and of its tool calls that are
	// sent back as they came, such as Gemini's thought signatures; nil is none.
	VendorFields []string
	IDs          string // form of tool call ids: IDsAny ("") or IDsShort
	EmptyContent string // content of an assistant message that has calls and no text: EmptyText (""), EmptyNull or EmptyAbsent
	NoUserAfter  bool   // takes no user message straight after a tool message
	Alternating  bool   // wants the person and the model to speak in turn, but for calls and their results
	SingleCalls  bool   // takes assistant messages with one call each only
	NamedTools   bool   // wants the tool's name in tool messages too

	// The way there.
	KeyHeader   string // carries the key instead of "Authorization: Bearer"
	APIVersion  string // value of the query api-version for a deployment's address that names none
	ListKey     string // a header that carries the key as well where models are listed
	ListVersion string // and the header that goes with it, "name: value"
}

// Values of Profile.LengthLimit.
const (
	LengthMaxTokens     = ""
	LengthMaxCompletion = "max_completion_tokens"
	LengthNone          = "none"
)

// Values of Profile.SystemRole. With SystemUser the system prompt stands before the
// person's first message.
const (
	SystemSystem    = ""
	SystemDeveloper = "developer"
	SystemUser      = "user"
)

// Values of Profile.ReasoningBack: never, for the answers with tool calls since the
// person's last message, or for every answer.
const (
	BackNever  = ""
	BackCalls  = "calls"
	BackAlways = "always"
)

// Values of Profile.ReasoningField: reasoning_content, or reasoning.
const (
	ReasoningContent = ""
	ReasoningPlain   = "reasoning"
)

// Values of Profile.IDs. IDsShort is ^[a-zA-Z0-9]{9}$.
const (
	IDsAny   = ""
	IDsShort = "short"
)

// Values of Profile.EmptyContent.
const (
	EmptyText   = ""
	EmptyNull   = "null"
	EmptyAbsent = "absent"
)

// Values of Profile.Parallel: the request says nothing of parallel_tool_calls, or asks for
// several calls in one answer, which llama.cpp only makes when asked, or for one at a time.
const (
	ParallelUnsaid = ""
	ParallelOn     = "on"
	ParallelOff    = "off"
)

// Values of Profile.ToolChoice: everything; only "auto" and "none"; "any" in the place of
// "required"; or the parameter is not taken at all.
const (
	ChoiceAll  = ""
	ChoiceAuto = "auto"
	ChoiceAny  = "any"
	ChoiceNone = "none"
)

// choice is the value of tool_choice for what is asked, "" to leave it out.
func (p Profile) choice(asked string) string {
	switch {
	case p.ToolChoice == ChoiceNone:
		return ""
	case asked == "required" && p.ToolChoice == ChoiceAuto:
		return "auto"
	case asked == "required" && p.ToolChoice == ChoiceAny:
		return "any"
	}
	return asked
}

// Profiles lists the endpoint profiles that can be asked for by name, the generic one
// first. The caller owns the list.
func Profiles() []Profile {
	out := make([]Profile, 0, len(table))
	for _, e := range table {
		out = append(out, e.habits)
	}
	return out
}

// ProfileOf is the profile of an endpoint: the one it names, else that of its address,
// each with what its model's name tells and with the traits that a person has set or that
// were learned, in this order. The error is an *Error of KindConfig.
func ProfileOf(e Endpoint) (Profile, error) {
	base, problem := parseBase(e.BaseURL)
	if problem != nil {
		return Profile{}, problem
	}
	p, problem := findProfile(e, base)
	if problem != nil {
		return Profile{}, problem
	}
	return p, nil
}

// findProfile is the profile asked for, else the one of the address, with what the model's
// name tells.
func findProfile(e Endpoint, base *url.URL) (Profile, *Error) {
	var found entry
	if e.Profile != "" {
		i := slices.IndexFunc(table, func(t entry) bool { return t.habits.Name == strings.ToLower(e.Profile) })
		if i < 0 {
			return Profile{}, &Error{Kind: KindConfig, Message: fmt.Sprintf("There is no endpoint profile %q. Use one of %s, or leave it empty.", e.Profile, strings.Join(profileNames(), ", "))}
		}
		found = table[i]
	} else {
		found = byAddress(base)
	}
	p := found.habits
	if e.Profile == "" || found.gateway {
		for _, m := range modelRules {
			if m.pattern.MatchString(e.Model) {
				m.habits(&p, found)
			}
		}
	}
	for _, traits := range []map[string]string{e.Learned, e.Traits} {
		for _, key := range slices.Sorted(maps.Keys(traits)) {
			// What an older version stored, or another one will, is passed over.
			_ = p.SetTrait(key, traits[key])
		}
	}
	return p, nil
}

func profileNames() []string {
	var names []string
	for _, e := range table {
		names = append(names, e.habits.Name)
	}
	return names
}

// byAddress is the table's entry for a base URL, the generic one where none fits.
func byAddress(base *url.URL) entry {
	if e := byHost(base); e != nil {
		return *e
	}
	host := hostOf(base)
	for _, e := range table { // a gateway may keep the provider's path
		for _, part := range e.paths {
			if strings.Contains(base.Path+"/", part) {
				return e
			}
		}
	}
	for _, e := range table {
		if e.port != "" && e.port == base.Port() && near(host) {
			return e
		}
	}
	return table[0]
}

// byHost is the table's entry for the host of a base URL, nil where none fits.
func byHost(base *url.URL) *entry {
	host := hostOf(base)
	for i := range table {
		for _, suffix := range table[i].hosts {
			if host == suffix || strings.HasSuffix(host, "."+suffix) {
				return &table[i]
			}
		}
	}
	return nil
}

func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }

// near tells whether a host is this machine or one of the local network, by its form
// alone: that is where programs are found under their usual ports.
func near(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return loopback(host) || !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".lan") || strings.HasSuffix(host, ".internal")
}
