package consent

import (
	"errors"
	"fmt"
	"strings"

	"steward/app/clean"
	"steward/mcphost"
)

// Sampling is a server's request to the model and, in the second step, what the
// model answered.
type Sampling struct {
	System    string
	Messages  []SamplingMessage
	MaxTokens int // what will be asked for, after the limit
	Wanted    int // what the server asked for
	// Target is what would be asked. Its Model is empty where that cannot be told; in
	// the second step it is the one that answered.
	Target
	// Hints are names of models that the server would like, as it wrote them: claims,
	// which choose nothing by themselves.
	Hints  []string
	Limits SamplingLimits // of the server, in force
	Used   int            // how often it asked for the model in the last hour
	Answer string
}

// Target is the model that a request goes to.
type Target struct {
	Endpoint string // its id
	Address  string // where it led when this was shown; the request goes nowhere else
	Where    string // the endpoint as the person knows it, safe to show
	Model    string
	// Hint is the hint that the person has mapped to this model; empty where the model is
	// the conversation's.
	Hint string
	// Prefers is what the server says it cares for most ("cost", "speed" or "intelligence"),
	// where the person has set this model for that.
	Prefers string
	// Chosen says that the person chose the model for this request.
	Chosen bool
}

// What a server cares for in a model.
const (
	PreferCost         = "cost"
	PreferSpeed        = "speed"
	PreferIntelligence = "intelligence"
)

// Prefers tells whether a server that has these priorities cares for it as much as for
// anything.
func Prefers(p mcphost.Priorities, what string) bool {
	of := map[string]float64{PreferCost: p.Cost, PreferSpeed: p.Speed, PreferIntelligence: p.Intelligence}[what]
	return of > 0 && of >= max(p.Cost, p.Speed, p.Intelligence)
}

// Preferred is the one thing that a server cares for more than for the others; "" where
// there is none.
func Preferred(p mcphost.Priorities) string {
	found := ""
	for _, what := range []string{PreferCost, PreferSpeed, PreferIntelligence} {
		if Prefers(p, what) {
			if found != "" {
				return ""
			}
			found = what
		}
	}
	return found
}

// Why says why a request goes to this model, for the record.
func (t Target) Why() string {
	switch {
	case t.Chosen:
		return "the person chose it for this request"
	case t.Hint != "":
		return fmt.Sprintf("the person set it for servers that ask for “%s”", clean.Reveal(t.Hint))
	case t.Prefers != "":
		return "the person set it for servers that prefer " + t.Prefers
	}
	return "it is the conversation's model"
}

// SamplingMessage is one message of a sampling request. Note describes the
// blocks that are no text; it is empty where there are none.
type SamplingMessage struct {
	Role string
	Text string
	Note string
	// Tools are the uses of tools and the results of tools among these blocks, whole.
	Tools []string
}

// SamplingEdit is what a person changed in a request beside its system prompt.
type SamplingEdit struct {
	Messages  []MessageEdit // nil, or one for each message of the request
	Model     string        // of the same endpoint; empty: the one that was shown
	MaxTokens int           // 0: as shown
	// Map is a hint of the server; from now on requests with it go to the model that this
	// one goes to. Empty: none.
	Map string
}

// MessageEdit is what a person changed in one message.
type MessageEdit struct {
	Text *string // in place of all its text; nil: as it is
	Bare bool    // its blocks that are no text are left out
	Out  bool    // the message is left out
}

// mostTokens is the longest answer that a person may let a server ask for.
const mostTokens = 1 << 20

// checkSampling says what is wrong with an answer while the person can still mend it.
func checkSampling(a Answer, kind string, messages int) error {
	switch a.Action {
	case Send, Allow, Deny, Decline, Cancel:
	default:
		return fmt.Errorf("a request to the model can be sent or denied, not %q", a.Action)
	}
	if err := a.Limits.check(); err != nil {
		return err
	}
	e := a.Edit
	switch {
	case e == nil || kind != KindSampling:
		return nil
	case e.Messages != nil && len(e.Messages) != messages:
		return fmt.Errorf("the request has %d messages, not %d", messages, len(e.Messages))
	case e.MaxTokens < 0 || e.MaxTokens > mostTokens:
		return fmt.Errorf("the limit of an answer must be between 1 and %d tokens", mostTokens)
	case len(e.Model) > 300:
		return errors.New("the name of the model is too long")
	}
	for _, m := range e.Messages {
		if !m.Out {
			return nil
		}
	}
	if e.Messages != nil {
		return errors.New("at least one message must be left to be sent")
	}
	return nil
}

// edit takes over what the person changed in the request.
func (s *sampling) edit(a Answer) error {
	if a.System != nil && *a.System != s.req.System {
		s.req.System, s.system = *a.System, true
	}
	e := a.Edit
	if e == nil {
		return nil
	}
	before := s.hash(nil)
	if e.MaxTokens > 0 {
		s.req.MaxTokens = e.MaxTokens
	}
	if e.Model != "" && e.Model != s.target.Model {
		s.target.Model, s.target.Hint, s.target.Prefers, s.target.Chosen = e.Model, "", "", true
	}
	if e.Messages != nil {
		var messages []mcphost.SamplingMessage
		for i, m := range s.req.Messages {
			if !e.Messages[i].Out {
				messages = append(messages, e.Messages[i].apply(m))
			}
		}
		s.req.Messages = messages
	}
	s.edited = s.edited || s.hash(nil) != before
	if e.Map == "" || s.target.Model == "" || s.g.o.MapHint == nil {
		return nil
	}
	if err := s.g.o.MapHint(s.log, s.target.Endpoint, e.Map, s.target.Model); err != nil {
		return fmt.Errorf("the model for this hint could not be kept: %w", err)
	}
	return nil
}

// apply gives the message as it was edited. Edited text stands where the first text stood.
func (e MessageEdit) apply(m mcphost.SamplingMessage) mcphost.SamplingMessage {
	out := mcphost.SamplingMessage{Role: m.Role}
	put := e.Text == nil || *e.Text == ""
	for _, c := range m.Content {
		switch {
		case c.Type != "text":
			if !e.Bare {
				out.Content = append(out.Content, c)
			}
		case e.Text == nil:
			out.Content = append(out.Content, c)
		case !put:
			put = true
			out.Content = append(out.Content, mcphost.Content{Type: "text", Text: *e.Text})
		}
	}
	if !put {
		out.Content = append(out.Content, mcphost.Content{Type: "text", Text: *e.Text})
	}
	return out
}

// SamplingLimits are what a person has stated for the requests of one server to the
// model. A request beyond PerHour is refused; one beyond what is trusted is asked about.
type SamplingLimits struct {
	PerHour   int `json:"perHour,omitempty"`   // requests in any hour; 0 is DefaultPerHour
	MaxTokens int `json:"maxTokens,omitempty"` // of one answer; 0 is the host's own limit
	// Trusted is how many requests in any hour are sent and answered without asking, as
	// long as the token limits of these stay within TrustedTokens. 0 trusts in none.
	Trusted       int `json:"trusted,omitempty"`
	TrustedTokens int `json:"trustedTokens,omitempty"`
}

func (l *SamplingLimits) check() error {
	const most = 10_000 // requests an hour
	switch {
	case l == nil:
	case l.PerHour < 0 || l.PerHour > most || l.Trusted < 0 || l.Trusted > most:
		return fmt.Errorf("the requests of an hour must be between 1 and %d", most)
	case l.MaxTokens < 0 || l.MaxTokens > mostTokens:
		return fmt.Errorf("the limit of an answer must be between 1 and %d tokens", mostTokens)
	case l.Trusted > 0 && l.TrustedTokens <= 0:
		return errors.New("say how many tokens an hour may be sent without asking")
	}
	return nil
}

// words names the limits for a notice.
func (l SamplingLimits) words() string {
	return strings.TrimSpace(fmt.Sprintf("up to %d requests and %d tokens an hour", l.Trusted, l.TrustedTokens))
}
