package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"steward/app/chat"
	"steward/app/clean"
	"steward/llm"
	"steward/llm/tokens"
	"steward/mcphost"
	"steward/storage"
)

// ContextUse is about how much of what a model can read the next request of a conversation
// takes. Figures are tokens, and estimates; what the person has not sent yet is not in them.
type ContextUse struct {
	Model    string // that answers next; empty where none is chosen, or for the demo model
	System   int    // the program's instructions, the person's and the servers'
	Tools    int    // definitions of the tools that are offered
	Messages int
	Window   int    // the model's context window; 0: not known
	Source   string // of Window: WindowByPerson, WindowByEndpoint or WindowByTable
	// Reports is how many figures of the endpoint the estimate was corrected by; 0: it was not.
	Reports int
	// Compactable says that there is an older part that could be summed up.
	Compactable bool
	// Refused says that the last request was refused because it was too large; Used and Limit
	// are the endpoint's figures, 0 where it told none.
	Refused     bool
	Used, Limit int
	// Shortable says that the results in it can be cut further.
	Shortable bool
	Results   int    // tool results that the request holds and that could be left out
	Costs     []Cost // of the conversation's answers that have a price, one for each currency
	Answers   int    // that were asked for, in all branches, with notes
	Priced    int    // of them those that Costs counts
}

// Sum is what the whole request takes.
func (u ContextUse) Sum() int { return u.System + u.Tools + u.Messages }

// Free is how much room is left; 0 where the window is not known.
func (u ContextUse) Free() int { return max(u.Window-u.Sum(), 0) }

// Percent is how much of the window is taken; 0 where it is not known.
func (u ContextUse) Percent() int {
	if u.Window == 0 {
		return 0
	}
	return int((int64(u.Sum())*100 + int64(u.Window)/2) / int64(u.Window))
}

// Full says whether the request comes near the window, so that a person is warned.
func (u ContextUse) Full() bool { return chat.Room{Window: u.Window}.Full(u.Sum()) }

// ContextUse estimates how the next request of a conversation fills its model's context window.
// It asks nobody, and starts nothing. Of an empty id it is that of a new conversation.
func (a *App) ContextUse(ctx context.Context, id string) (ContextUse, error) {
	p, err := a.preview(ctx, id)
	if err != nil {
		return ContextUse{}, err
	}
	w := chat.Weigh(p.request)
	factor := p.facts.Factor
	u := ContextUse{
		Model: clean.Line(p.model, 200), System: factor.Apply(w.System), Tools: factor.Apply(w.Tools), Messages: factor.Apply(w.Messages),
		Reports: factor.Reports, Compactable: chat.Compactable(p.path),
	}
	u.Window, u.Source = p.facts.window(p.where, p.model)
	if refused, results, ok := a.engine.Refused(id); ok {
		u.Refused, u.Used, u.Limit, u.Shortable = true, refused.Used, refused.Limit, results > 0
	}
	for _, c := range resultsIn(p) {
		if !c.Out {
			u.Results++
		}
	}
	a.addCosts(&u, p.all)
	return u, nil
}

// previewed is the next request of a conversation, and what it was made from.
type previewed struct {
	request      llm.Request
	all, path    []storage.Message
	conversation storage.Conversation
	where, model string
	facts        modelFacts
}

func (a *App) preview(ctx context.Context, id string) (previewed, error) {
	p := previewed{conversation: storage.Conversation{ID: id}}
	if id != "" {
		var err error
		if p.conversation, err = a.stored(ctx, id); err != nil {
			return p, err
		}
		if err := a.db.Flush(ctx); err != nil {
			return p, err
		}
		if p.all, err = a.db.Messages(ctx, id, 0, -1); err != nil {
			return p, err
		}
		tree := chat.NewTree(p.all)
		p.path = tree.Path(tree.Leaf(chat.ReadMeta(p.conversation).Branch))
	}
	settings := a.chat(ctx, id)
	servers := slices.DeleteFunc(a.connectionsFor(settings.Roots), func(c *mcphost.Connection) bool { return settings.without(c.Server()) })
	var err error
	p.request, err = a.engine.Preview(ctx, p.conversation, p.path, servers)
	if base, model, ok := a.answering(ctx, id); ok {
		p.where, p.model = llm.Where(base), model
	}
	p.facts, _ = a.context.model(p.where, p.model)
	return p, err
}

func (a *App) addCosts(u *ContextUse, rows []storage.Message) {
	for _, m := range rows {
		s, ok := chat.SpentOn(m)
		if !ok {
			continue
		}
		u.Answers++
		cost, ok := a.costOf(s)
		if !ok {
			continue
		}
		u.Priced++
		i := slices.IndexFunc(u.Costs, func(c Cost) bool { return c.Currency == cost.Currency })
		if i < 0 {
			u.Costs, i = append(u.Costs, Cost{Currency: cost.Currency}), len(u.Costs)
		}
		u.Costs[i].Amount += cost.Amount
	}
}

// Kinds of a ContextPart.
const (
	PartSystem = "system"
	PartTool   = "tool"   // the definition of a tool
	PartUser   = "user"   // what the person said, with what was attached
	PartAnswer = "answer" // what the model said and called
	PartResult = "result" // what a call gave
	PartNote   = "note"   // a summary of older messages, with the message behind it
)

// ContextPart is one part of the next request, with what it takes.
type ContextPart struct {
	Kind   string
	Tokens int    // an estimate
	Text   string // how a message begins, in one line, safe to show
	Server string // of a tool and of a result
	Tool   string
	Call   string // of a result: the id of its call
	Bytes  int    // of a result: as it is stored
	Out    bool   // of a result: it is left out of requests
}

// ContextParts lists what the next request of a conversation consists of: the instructions,
// then the tools, the largest first, then the messages in order.
func (a *App) ContextParts(ctx context.Context, id string) ([]ContextPart, error) {
	p, err := a.preview(ctx, id)
	if err != nil {
		return nil, err
	}
	var out, tools []ContextPart
	factor := p.facts.Factor
	for _, t := range p.request.Tools {
		server, tool, _ := strings.Cut(t.Origin, "/")
		tools = append(tools, ContextPart{Kind: PartTool, Server: server, Tool: tool, Tokens: factor.Apply(tokens.Tool(t.Name, t.Description, string(t.Schema)))})
	}
	slices.SortStableFunc(tools, func(x, y ContextPart) int { return cmp.Compare(y.Tokens, x.Tokens) })
	results := resultsIn(p)
	calls := 0
	for _, m := range p.request.Messages {
		part := ContextPart{Kind: PartUser, Tokens: factor.Apply(chat.WeighMessage(m)), Text: clean.Line(clean.Clean(m.Text), 120)}
		switch {
		case m.Role == llm.RoleSystem:
			part.Kind, part.Text = PartSystem, ""
			out = append(out, part)
			out = append(out, tools...)
			tools = nil
			continue
		case m.Role == llm.RoleAssistant:
			part.Kind = PartAnswer
			if part.Text == "" && len(m.Calls) > 0 {
				part.Text = clean.Line(m.Calls[0].Name, 120)
			}
		case m.Role == llm.RoleTool:
			part.Kind = PartResult
			if calls < len(results) {
				r := results[calls]
				part.Call, part.Server, part.Tool, part.Bytes, part.Out = r.Call, r.Server, r.Tool, r.Bytes, r.Out
			}
			calls++
		case chat.StartsWithNote(m.Text):
			part.Kind = PartNote
		}
		out = append(out, part)
	}
	return append(out, tools...), nil
}

// resultsIn are the calls whose answers a request holds, in its order.
func resultsIn(p previewed) (out []ContextPart) {
	fit := chat.ReadMeta(p.conversation).Fit
	for _, c := range chat.CallsIn(p.path) {
		out = append(out, ContextPart{
			Kind: PartResult, Call: c.ID, Server: c.Server, Tool: cmp.Or(c.Tool, c.Name), Bytes: len(c.Text),
			Out: fit != nil && slices.Contains(fit.Out, c.ID), Text: clean.Line(clean.Clean(c.Text), 120),
		})
	}
	return out
}

// LargestResults lists the results of tools that the next request of a conversation holds, the
// largest first, at most n. Tokens are those of the whole result as it is stored.
func (a *App) LargestResults(ctx context.Context, id string, n int) ([]ContextPart, error) {
	p, err := a.preview(ctx, id)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(resultsIn(p), func(c ContextPart) bool { return c.Out })
	slices.SortStableFunc(out, func(x, y ContextPart) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return out[:min(n, len(out))], nil
}

// Compact has the model sum up the older part of a conversation's shown branch in a note, which
// then goes to the model instead of it, and returns the note's id, for [App.TakeBackNote]. What
// was said stays where it is. It waits for the model; [App.Stop] ends it. Where it fails,
// everything is as it was.
func (a *App) Compact(ctx context.Context, id string) (string, error) {
	if _, err := a.stored(ctx, id); err != nil {
		return "", err
	}
	note, err := a.engine.Compact(ctx, id)
	if err != nil {
		return "", &Message{Key: "not_compacted", Args: args("detail", a.secrets.Redactor().Redact(err.Error())), Err: err}
	}
	return note, nil
}

// TakeBackNote makes a note hold no more: what it stood for goes to the model again.
func (a *App) TakeBackNote(ctx context.Context, id, note string) error {
	return a.engine.TakeBack(ctx, id, note)
}

// errNoRefusal is given where there is no refused request to be made shorter.
var errNoRefusal = errors.New("no request of this conversation was refused for its size, or nothing in it can be cut further")

// ShortenAndGoOn cuts the largest results of tools, in this and every later request of the
// conversation, so that the one that was refused for its size fits, and sends it again. What is
// stored stays whole. No tool runs again.
func (a *App) ShortenAndGoOn(ctx context.Context, id string) (*Turn, error) {
	_, results, ok := a.engine.Refused(id)
	if !ok || results == 0 {
		return nil, &Message{Key: "nothing_to_shorten", Args: args("detail", errNoRefusal.Error()), Err: errNoRefusal}
	}
	if err := a.changeFit(ctx, id, func(f *chat.Fit) { f.Results = results }); err != nil {
		return nil, err
	}
	return a.GoOn(ctx, id)
}

// LeaveOutResults leaves the results of these calls out of every later request of the conversation, or
// takes them in again. What is stored stays whole, and the calls keep an answer that says so.
func (a *App) LeaveOutResults(ctx context.Context, id string, calls []string, out bool) error {
	return a.changeFit(ctx, id, func(f *chat.Fit) {
		f.Out = slices.DeleteFunc(f.Out, func(c string) bool { return slices.Contains(calls, c) })
		if out {
			f.Out = append(f.Out, calls...)
		}
	})
}

func (a *App) changeFit(ctx context.Context, id string, change func(*chat.Fit)) error {
	return a.change(ctx, id, "compacted", func(_ *storage.Conversation, m *chat.Meta) {
		f := chat.Fit{}
		if m.Fit != nil {
			f = chat.Fit{Results: m.Fit.Results, Out: slices.Clone(m.Fit.Out)}
		}
		change(&f)
		m.Fit = &f
	})
}

// GoOn asks the model to go on where the branch that is shown ends, without a new message: at
// one of the person that was not answered, or at results of calls that the model has not seen.
// No tool runs again.
func (a *App) GoOn(ctx context.Context, id string) (*Turn, error) {
	c, err := a.stored(ctx, id)
	if err != nil {
		return nil, err
	}
	path, err := a.shownPath(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := len(path) - 1; i >= 0; i-- {
		switch m := path[i]; {
		case m.Role == storage.RoleUser, m.Role == storage.RoleAssistant && len(chat.Calls(m, nil)) > 0:
			return a.answer(ctx, id, m.ID)
		case m.Role == storage.RoleAssistant:
			return nil, &Message{Key: "nothing_to_repeat", Args: args("detail", "The model has answered everything in this conversation.")}
		}
	}
	return nil, &Message{Key: "nothing_to_repeat", Args: args("detail", fmt.Sprintf("There is no message in the conversation %s that the model could answer.", reveal(id)))}
}
