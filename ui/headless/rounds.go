package headless

import (
	"context"
	"fmt"

	"steward/app/consent"
)

// putRounds asks whether a turn may go on beyond its limit.
func (t *terminal) putRounds(ctx context.Context, item consent.Item) (consent.Answer, error) {
	r := item.Rounds
	key, err := t.put(ctx, func(c *card) {
		c.rule()
		c.line("", "The model wants to go on")
		c.printf("\n")
		c.line("  ", fmt.Sprintf("It has been asked %s for this one message, which is the limit (--max-rounds). What it wants to do next waits; stopping leaves it undone.", times(r.Made)))
	}, offer{choices: []choice{
		{"y", "yes", fmt.Sprintf("go on; you are asked again after %d more", r.More), false},
		{"n", "no", "stop here", false},
	}}, new(bool))
	if err != nil || key == "n" {
		return consent.Answer{Action: consent.Deny}, err
	}
	return consent.Answer{Action: consent.Allow}, nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
