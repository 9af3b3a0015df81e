package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Trait is one habit of an endpoint that a person can set, or that is learned from a
// refusal, under a key that stays the same over versions.
type Trait struct {
	Key string
	// Values are the values it takes, the usual one first; nil of a number, of which 0
	// means that no limit is known.
	Values []string
	field  func(*Profile) any // *bool, *string or *int in it
}

// Yes and No are the values of traits that are so or not.
const (
	Yes = "yes"
	No  = "no"
)

// maxTraitNumber keeps what a number of a trait is used for within an int everywhere.
const maxTraitNumber = 1 << 30

var (
	yesNo = []string{Yes, No}
	noYes = []string{No, Yes}
	// Of a text, the first value stands for the empty string.
	traits = []Trait{
		{"dialect", []string{"full", string(DialectOpenAI), string(DialectAnthropic), string(DialectGemini), string(DialectMoonshot), string(DialectOllama), string(DialectGrammar), string(DialectPlain)},
			func(p *Profile) any { return (*string)(&p.Dialect) }},
		{"max_tools", nil, func(p *Profile) any { return &p.MaxTools }},
		{"max_description", nil, func(p *Profile) any { return &p.MaxDescription }},
		{"tool_choice", []string{"all", ChoiceAuto, ChoiceAny, ChoiceNone}, func(p *Profile) any { return &p.ToolChoice }},
		{"parallel_tool_calls", []string{"unsaid", ParallelOn, ParallelOff}, func(p *Profile) any { return &p.Parallel }},
		{"length_limit", []string{"max_tokens", LengthMaxCompletion, LengthNone}, func(p *Profile) any { return &p.LengthLimit }},
		{"stream_options", yesNo, func(p *Profile) any { return &p.NoStreamOptions }},
		{"temperature", yesNo, func(p *Profile) any { return &p.NoTemperature }},
		{"stop", yesNo, func(p *Profile) any { return &p.NoStop }},
		{"reasoning_effort", yesNo, func(p *Profile) any { return &p.NoEffort }},
		{"system_role", []string{"system", SystemDeveloper, SystemUser}, func(p *Profile) any { return &p.SystemRole }},
		{"images", yesNo, func(p *Profile) any { return &p.NoImages }},
		{"tool_images", noYes, func(p *Profile) any { return &p.ToolImages }},
		{"reasoning_back", []string{"never", BackCalls, BackAlways}, func(p *Profile) any { return &p.ReasoningBack }},
		{"reasoning_field", []string{"reasoning_content", ReasoningPlain}, func(p *Profile) any { return &p.ReasoningField }},
		{"call_ids", []string{"any", IDsShort}, func(p *Profile) any { return &p.IDs }},
		{"empty_content", []string{"text", EmptyNull, EmptyAbsent}, func(p *Profile) any { return &p.EmptyContent }},
		{"user_after_tool", yesNo, func(p *Profile) any { return &p.NoUserAfter }},
		{"alternating_roles", noYes, func(p *Profile) any { return &p.Alternating }},
		{"several_calls", yesNo, func(p *Profile) any { return &p.SingleCalls }},
		{"tool_message_names", noYes, func(p *Profile) any { return &p.NamedTools }},
	}
)

// Traits lists the habits that can be set, in the order in which they are shown. The
// caller must not change the lists of values.
func Traits() []Trait { return slices.Clone(traits) }

// Trait is the value of a habit in the form in which [Profile.SetTrait] takes it; of a
// key that is none, "".
func (p Profile) Trait(key string) string {
	i := slices.IndexFunc(traits, func(t Trait) bool { return t.Key == key })
	if i < 0 {
		return ""
	}
	t := traits[i]
	switch f := t.field(&p).(type) {
	case *bool:
		if *f {
			return t.Values[1]
		}
		return t.Values[0]
	case *int:
		return strconv.Itoa(*f)
	case *string:
		if *f == "" {
			return t.Values[0]
		}
		return *f
	}
	return ""
}

// SetTrait sets a habit. The error is a sentence about a key or a value that is none; the
// profile is then as it was.
func (p *Profile) SetTrait(key, value string) error {
	i := slices.IndexFunc(traits, func(t Trait) bool { return t.Key == key })
	if i < 0 {
		return fmt.Errorf("endpoints have no habit named %q", key)
	}
	t := traits[i]
	at := slices.Index(t.Values, value)
	if t.Values != nil && at < 0 {
		return fmt.Errorf("%q is no value of the habit %s of an endpoint; it is one of %s", value, key, strings.Join(t.Values, ", "))
	}
	switch f := t.field(p).(type) {
	case *bool:
		*f = at == 1
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > maxTraitNumber {
			return fmt.Errorf("the habit %s of an endpoint is a number from 0 (no limit known) to %d, not %q", key, maxTraitNumber, value)
		}
		*f = n
	case *string:
		if *f = value; at == 0 {
			*f = ""
		}
	}
	return nil
}
