package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"steward/app/clean"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/opener"
	"steward/mcphost"
	"steward/mcphost/schema"
)

const (
	modeForm = "form"
	modeURL  = "url"

	actionExpired = "expired"

	// maxMessage is how much of a server's message is shown.
	maxMessage = 4000 // characters
	// Defaults in a policy: answer with the form's own defaults.
	Defaults = "defaults"
)

// ErrUnanswerable marks a question that no answer could fit; see
// mcphost.ErrUnanswerable, which it is.
var ErrUnanswerable = mcphost.ErrUnanswerable

// Elicit answers a server that asks the person for something
// (elicitation/create). It implements mcphost.Asker.
func (g *Gate) Elicit(ctx context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	if e.Mode == ModeDone {
		return g.pageDone(ctx, e)
	}
	q := &question{g: g, ctx: ctx, log: context.WithoutCancel(ctx), o: g.origin(e.Server, e.Calls), e: e, started: g.o.Now()}
	if q.e.Mode == "" {
		q.e.Mode = modeForm
	}
	args, err := q.arguments()
	if err != nil {
		return mcphost.ElicitAnswer{}, err
	}
	q.entry, err = g.o.Journal.Propose(q.log, q.o.proposal(journal.KindElicitation, args, nil))
	if err != nil {
		return mcphost.ElicitAnswer{}, fmt.Errorf("the question cannot be recorded: %w", err)
	}
	return q.run()
}

// question is one elicitation on its way; it belongs to the goroutine in Elicit.
type question struct {
	g       *Gate
	ctx     context.Context
	log     context.Context
	o       origin
	e       mcphost.Elicitation
	form    schema.Form
	shown   opener.Shown
	hash    string // of what the person was shown
	entry   *journal.Entry
	decided bool // the decision is recorded
	started time.Time
}

func (q *question) run() (mcphost.ElicitAnswer, error) {
	if problem := q.read(); problem != nil {
		if err := q.end(decision{word: Withdrawn, by: bySchema, reason: problem.Error()}, Decline, nil); err != nil {
			return mcphost.ElicitAnswer{}, err
		}
		return mcphost.ElicitAnswer{}, problem
	}
	if q.g.muted(q.o) {
		return q.close(decision{word: Denied, by: "rule:muted", reason: "the person has refused this server twice in this turn"}, Decline, nil)
	}
	switch q.g.o.Policy.Elicit {
	case Decline:
		return q.close(decision{word: Denied, by: byFlag}, Decline, nil)
	case Cancel:
		return q.close(decision{word: Withdrawn, by: byFlag}, Cancel, nil)
	case Defaults:
		return q.defaults()
	}
	return q.ask()
}

// read understands the question, or says why it cannot be answered at all.
func (q *question) read() error {
	var err error
	switch q.e.Mode {
	case modeForm:
		if q.form, err = schema.ParseForm(q.e.Schema); err != nil {
			return fmt.Errorf("%w: the form cannot be shown: %w", ErrUnanswerable, err)
		}
	case modeURL:
		if q.shown, err = opener.Check(q.e.URL); err != nil {
			return fmt.Errorf("%w: the address cannot be opened: %w", ErrUnanswerable, err)
		}
	default:
		return fmt.Errorf("%w: the mode %q is not known", ErrUnanswerable, clean.Line(q.e.Mode, 40))
	}
	return nil
}

// defaults accepts with what the form itself suggests, if that is a valid
// answer; everything else is declined.
func (q *question) defaults() (mcphost.ElicitAnswer, error) {
	if q.e.Mode != modeForm {
		return q.close(decision{word: Denied, by: byFlag, reason: "an address is never opened without a person"}, Decline, nil)
	}
	values := q.form.Defaults()
	if found := q.form.Check(values); len(found) > 0 {
		return q.close(decision{word: Denied, by: byFlag, reason: "the form’s defaults are no complete answer: " + joined(found)}, Decline, nil)
	}
	return q.close(decision{word: Allowed, by: byFlag}, Accept, q.form.Encode(values))
}

func joined(found []schema.Violation) string {
	parts := make([]string, len(found))
	for i, v := range found {
		parts[i] = strings.TrimSpace(v.Path + " " + v.Message)
	}
	return strings.Join(parts, "; ")
}

// ask puts the question into the waiting list.
func (q *question) ask() (mcphost.ElicitAnswer, error) {
	q.hash = hashOf("elicitation", q.o.server, q.e.Mode, q.e.Message, string(q.e.Schema), q.e.URL)
	if err := q.entry.Shown(q.log, q.hash); err != nil {
		return mcphost.ElicitAnswer{}, fmt.Errorf("the question cannot be recorded: %w", err)
	}
	item := Item{
		ID: newID("e_"), Kind: KindElicitation, Hash: q.hash, Conversation: q.o.conversation, Server: q.o.server,
		Record: q.entry.Number(), Since: q.g.o.Now(), Running: q.o.running,
		Elicitation:  &Elicitation{Mode: q.e.Mode, Message: q.e.Message, Schema: q.e.Schema, URL: q.e.URL},
		Presentation: q.present(), form: q.form,
	}
	a, d := q.g.wait(q.ctx, q.o, &item, q.check)
	switch {
	case d.word == Expired:
		return q.close(d, actionExpired, nil)
	case d.word != "":
		return q.close(d, Cancel, nil)
	case a.Action == Accept:
		return q.accept(a)
	case a.Action == Cancel:
		q.g.declined(q.o)
		return q.close(decision{word: Withdrawn, by: byPerson, reason: clean.Clean(a.Reason)}, Cancel, nil)
	}
	q.g.declined(q.o)
	return q.close(decision{word: Denied, by: byPerson, reason: clean.Clean(a.Reason)}, Decline, nil)
}

func (q *question) accept(a Answer) (mcphost.ElicitAnswer, error) {
	d := decision{word: Allowed, by: byPerson}
	if q.e.Mode == modeURL {
		if a.Elsewhere {
			return q.close(d, Accept, nil)
		}
		return q.open(d)
	}
	values, err := q.values(a.Content)
	if err != nil {
		return q.close(decision{word: Withdrawn, by: byPerson, reason: err.Error()}, Cancel, nil)
	}
	return q.close(d, Accept, q.form.Encode(values))
}

// open opens the address that the person agreed to, once that is on the disk. That it
// cannot be opened here takes nothing from the yes: the person is told the address.
func (q *question) open(d decision) (mcphost.ElicitAnswer, error) {
	if q.g.o.OpenURL == nil {
		return q.close(decision{word: Denied, by: byFlag, reason: "addresses cannot be opened here"}, Decline, nil)
	}
	err := q.decide(d)
	if err == nil {
		_, err = q.entry.Intent(q.log, []byte(q.shown.URL))
	}
	if err != nil {
		return mcphost.ElicitAnswer{}, fmt.Errorf("the address is not opened because that cannot be recorded: %w", err)
	}
	if err := q.g.o.OpenURL(q.ctx, q.shown.URL); err != nil {
		q.g.notice(q.o.conversation, "open", q.o.server, "The address could not be opened: "+q.g.line(err.Error()))
		d.reason = "the address could not be opened here; the person was told to open it"
	}
	return q.close(d, Accept, nil)
}

// check says what is wrong with an answer while the person can still mend it.
func (q *question) check(a Answer) error {
	switch a.Action {
	case Decline, Cancel, Deny:
		return nil
	case Accept:
	default:
		return fmt.Errorf("a question can be accepted, declined or cancelled, not %q", a.Action)
	}
	if q.e.Mode == modeURL {
		return nil
	}
	_, err := q.values(a.Content)
	return err
}

// values reads a filled-in form and says what is missing or wrong in it.
func (q *question) values(content json.RawMessage) (map[string]json.RawMessage, error) {
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	object, err := schema.ParseObject(content)
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON object: %w", err)
	}
	if d := object.Duplicates(); len(d) > 0 {
		return nil, fmt.Errorf("the answer names %s more than once", strings.Join(d, ", "))
	}
	values := map[string]json.RawMessage{}
	for _, m := range object {
		values[m.Name] = m.Value
	}
	if found := q.form.Check(values); len(found) > 0 {
		return nil, errors.New(joined(found))
	}
	return values, nil
}

// close records the end of the question and answers the server. Where it cannot
// be recorded, nothing that the person typed leaves.
func (q *question) close(d decision, action string, content json.RawMessage) (mcphost.ElicitAnswer, error) {
	if err := q.end(d, action, content); err != nil {
		return mcphost.ElicitAnswer{}, fmt.Errorf("the answer is not sent because it cannot be recorded: %w", err)
	}
	if action == actionExpired {
		action = Cancel
	}
	return mcphost.ElicitAnswer{Action: action, Content: content}, nil
}

// decide records the decision, once.
func (q *question) decide(d decision) error {
	if q.decided {
		return nil
	}
	shown := ""
	if d.by == byPerson && d.word == Allowed {
		shown = q.hash
	}
	err := q.entry.Decided(q.log, journal.Decision{Decision: d.word, By: d.by, Reason: d.reason, ShownHash: shown})
	q.decided = err == nil
	return err
}

// end records how the question ended and tells it.
func (q *question) end(d decision, action string, content json.RawMessage) error {
	err := q.decide(d)
	if err == nil {
		err = q.outcome(d, action, content)
	}
	if err != nil && action == Accept {
		action = Cancel // what cannot be recorded is not sent
	}
	q.g.o.Bus.Publish(event.Elicitation{
		Conversation: q.o.conversation, Call: q.o.call, Record: q.entry.Number(), Server: q.o.server,
		Mode: q.e.Mode, Message: q.message(), Action: action,
	})
	return err
}

func (q *question) outcome(d decision, action string, content json.RawMessage) error {
	o := journal.Outcome{Reason: d.reason, Effect: journal.EffectNone, Seconds: q.g.o.Now().Sub(q.started).Seconds()}
	switch {
	case action == Accept:
		o.Outcome, o.Effect = journal.OK, journal.EffectDone
	case action == actionExpired:
		o.Outcome = journal.Expired
	case d.by == bySchema:
		o.Outcome = journal.Withdrawn
	case action == Cancel:
		o.Outcome = journal.Cancelled
	default:
		o.Outcome = journal.Denied
	}
	var err error
	if o.Result, err = q.recorded(action, content); err != nil {
		return err
	}
	return q.entry.Outcome(q.log, o)
}

// recorded is the answer as it stands in the record: what was typed into a
// field that asks for a secret does not.
func (q *question) recorded(action string, content json.RawMessage) (json.RawMessage, error) {
	var body json.RawMessage
	if len(content) > 0 {
		object, err := schema.ParseObject(content)
		if err != nil {
			return nil, err
		}
		values := map[string]json.RawMessage{}
		for _, m := range object {
			values[m.Name] = m.Value
		}
		for _, f := range q.form.Fields {
			if _, ok := values[f.Name]; ok && f.Secret {
				values[f.Name] = json.RawMessage(`"[secret]"`)
			}
		}
		body = q.form.Encode(values)
	}
	s, err := encode(struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{action, body})
	return json.RawMessage(s), err
}

func (q *question) message() string {
	return clean.Clean(q.g.o.Redact(cut(q.e.Message, maxMessage)))
}

func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

func (q *question) arguments() (string, error) {
	v := struct {
		Mode    string          `json:"mode"`
		Message string          `json:"message"`
		Schema  json.RawMessage `json:"requestedSchema,omitempty"`
		URL     string          `json:"url,omitempty"`
	}{q.e.Mode, q.e.Message, nil, q.e.URL}
	if json.Valid(q.e.Schema) {
		v.Schema = q.e.Schema
	}
	return encode(v)
}

func (q *question) present() Presentation {
	p := Presentation{
		Title: fmt.Sprintf("%s asks you", clean.Reveal(q.o.server)), Server: clean.Reveal(q.o.server), Tool: clean.Reveal(q.o.tool),
		Message: q.message(), URL: q.shown.URL, Host: q.shown.Host,
	}
	p.Warnings = append(p.Warnings, nameWarnings("server", q.o.server)...)
	if q.o.call == "" {
		p.Warnings = append(p.Warnings, "It cannot be told which call this belongs to.")
	}
	if q.shown.Warning != "" {
		p.Warnings = append(p.Warnings, q.shown.Warning)
	}
	if f := findings(q.e.Message); len(f) > 0 {
		p.Warnings = append(p.Warnings, "The message holds characters that are easily overlooked: "+strings.Join(f, ", ")+".")
	}
	if len([]rune(q.e.Message)) > maxMessage {
		p.Warnings = append(p.Warnings, "The message was too long and is shown in part.")
	}
	for _, note := range q.form.Notes {
		p.Warnings = append(p.Warnings, clean.Line(note, 300))
	}
	for _, f := range q.form.Fields {
		p.Fields = append(p.Fields, presentField(f))
		if f.Secret {
			p.Warnings = append(p.Warnings, fmt.Sprintf("“%s” looks like a question for a secret. Servers must not ask for passwords or keys in this way.", clean.Line(f.Name, 100)))
		}
	}
	return p
}

func presentField(f schema.Field) Field {
	out := Field{
		Name: f.Name, Title: clean.Line(f.Title, 200), Description: clean.Line(f.Description, 500),
		Kind: string(f.Kind), Item: string(f.Item), Format: clean.Line(f.Format, 40), Required: f.Required, Nullable: f.Nullable, Secret: f.Secret,
		Minimum: f.Minimum.String(), Maximum: f.Maximum.String(),
		MinLength: f.MinLength, MaxLength: max(0, f.MaxLength), MinItems: f.MinItems, MaxItems: max(0, f.MaxItems),
	}
	if out.Title == "" {
		out.Title = clean.Line(f.Name, 200)
	}
	if f.Default != nil {
		out.HasDefault, out.Default = true, clean.Reveal(shownValue(f.Default))
	}
	for _, o := range f.Options {
		out.Options = append(out.Options, clean.Reveal(shownValue(o.Value)))
		out.Titles = append(out.Titles, clean.Line(o.Title, 200))
	}
	return out
}

func shownValue(v json.RawMessage) string {
	if s, ok := plainString(v); ok {
		return s
	}
	return string(v)
}

// Parse reads what a person typed into a field of a form as the value to send;
// name is Field.Name. An empty text leaves the field out (nil). The error is a
// sentence for the person.
func (i Item) Parse(name, text string) (json.RawMessage, error) {
	for _, f := range i.form.Fields {
		if f.Name == name {
			return f.Parse(text)
		}
	}
	return nil, fmt.Errorf("the form has no field named %s", clean.Reveal(name))
}

// Defaults are the values that the form suggests, by Field.Name.
func (i Item) Defaults() map[string]json.RawMessage { return i.form.Defaults() }
