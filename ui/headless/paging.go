package headless

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"steward/app/consent"
)

// offer is what a question can be answered with.
type offer struct {
	question string // repeated next to the prompt
	choices  []choice
}

// put shows a card and asks until one of the offered keys is the answer. Keys that allow
// something are closed until what is folded has been shown whole; seen remembers that.
func (t *terminal) put(ctx context.Context, build func(*card), o offer, seen *bool) (string, error) {
	for {
		c := t.newCard()
		build(c)
		closed := len(c.folded) > 0 && !*seen
		choices, prompt := o.choices, ""
		if len(c.folded) > 0 {
			says := "show what is folded above, whole"
			if closed {
				says += "; only then can this be allowed"
			}
			choices = append(append([]choice{}, choices...), choice{key: "v", word: "view", says: says})
		}
		c.printf("\n")
		for _, ch := range choices {
			if closed && ch.allows {
				c.line("  -  ", ch.says+" (closed until v has shown everything)")
				continue
			}
			c.line("  "+ch.key+"  ", ch.says)
		}
		if o.question != "" {
			c.line("", o.question)
		}
		prompt = promptOf(choices, closed)
		t.card = c.b.String()
		t.print(t.card)
		key, err := t.answered(ctx, prompt, choices, closed)
		if err != nil || key != "v" {
			return key, err
		}
		all, err := t.page(ctx, c.folded)
		if err != nil {
			return "", err
		}
		*seen = *seen || all
		if !all {
			t.print("Not everything was shown, so nothing can be allowed yet.\n")
		}
	}
}

// answered asks until the answer is a key that is open.
func (t *terminal) answered(ctx context.Context, prompt string, choices []choice, closed bool) (string, error) {
	for {
		key, err := t.choose(ctx, prompt, choices)
		if err != nil {
			return "", err
		}
		for _, ch := range choices {
			if ch.key == key && (!closed || !ch.allows) {
				return key, nil
			}
		}
		t.print("Parts of this are folded, so it cannot be allowed yet: v shows them whole.\n")
	}
}

func promptOf(choices []choice, closed bool) string {
	var keys []string
	for _, ch := range choices {
		if !closed || !ch.allows {
			keys = append(keys, ch.key)
		}
	}
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last] + ", then Enter: "
}

// page shows parts whole, a screenful at a time; all says that nothing was left out.
func (t *terminal) page(ctx context.Context, parts []part) (all bool, err error) {
	columns, height := t.size()
	if columns <= 0 {
		columns = 80
	}
	if height <= 3 {
		height = 24
	}
	var rows []string
	for _, p := range parts {
		rows = append(rows, "", fmt.Sprintf("── %s: %s characters", p.title, thousands(utf8.RuneCountInString(p.text))))
		for _, line := range strings.Split(strings.TrimRight(p.text, "\n"), "\n") {
			for _, row := range chop(strings.ReplaceAll(line, "\t", "    "), max(columns-2, 8)) {
				rows = append(rows, "  "+row)
			}
		}
	}
	step := height - 2
	for at := 0; at < len(rows); {
		next := min(len(rows), at+step)
		t.print(strings.Join(rows[at:next], "\n") + "\n")
		if at = next; at == len(rows) {
			break
		}
		s, err := t.ask(ctx, fmt.Sprintf("%s of %s lines. Enter goes on, a shows all the rest at once, q goes back: ", thousands(at), thousands(len(rows))))
		switch {
		case err != nil:
			return false, err
		case strings.EqualFold(s, "q"):
			return false, nil
		case strings.EqualFold(s, "a"):
			step = len(rows)
		}
	}
	return true, nil
}

// answer asks the person one item and returns the answer. ctx ends when the item has gone.
// io.EOF is an answer too: the careful one of the item's kind.
func (t *terminal) answer(ctx context.Context, item consent.Item) (consent.Answer, error) {
	defer t.mode.enter()()
	defer func() { t.card = "" }()
	switch item.Kind {
	case consent.KindElicitation:
		return t.putElicitation(ctx, item)
	case consent.KindSampling, consent.KindSamplingAnswer:
		return t.putSampling(ctx, item)
	case consent.KindSignIn:
		return t.putSignIn(ctx, item)
	case consent.KindRounds:
		return t.putRounds(ctx, item)
	default:
		return t.putCall(ctx, item)
	}
}
