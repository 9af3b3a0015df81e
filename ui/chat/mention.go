package chat

import (
	"context"
	"maps"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/text"
	"steward/ui/theme"
)

// mostMentions is how many resources are suggested at once.
const mostMentions = 3

// mentions are the resources whose names stand in what the person writes. Short names stand in too many sentences, and a
// template has no one thing that it names.
func mentions(words string, resources []app.Resource, dismissed map[string]bool, attached []app.Attachment) []app.Resource {
	var out []app.Resource
	low := strings.ToLower(words)
	for _, r := range resources {
		if r.URITemplate != "" || dismissed[r.Server+" "+r.URI] || len(out) == mostMentions {
			continue
		}
		has := false
		for _, a := range attached {
			has = has || a.Server == r.Server && a.URI == r.URI
		}
		if !has && named(words, low, r) {
			out = append(out, r)
		}
	}
	return out
}

// named says whether one of a resource's names stands in a text: by whole words where the script has them. Low is the
// text in lower case.
func named(words, low string, r app.Resource) bool {
	file := path.Base(r.URI)
	if path.Ext(file) == "" {
		file = "" // the last part of another address is as often an ordinary word
	}
	for _, n := range []string{r.Title, r.Name, file} {
		for _, n := range []string{n, strings.NewReplacer("-", " ", "_", " ").Replace(n)} {
			if !telling(n) || !strings.Contains(low, strings.ToLower(n)) { // most names stand nowhere in it: that is told fast
				continue
			}
			for _, f := range text.Find(words, n) {
				before, _ := utf8.DecodeLastRuneInString(words[:f.From])
				after, _ := utf8.DecodeRuneInString(words[f.To:])
				first, _ := utf8.DecodeRuneInString(n)
				end, _ := utf8.DecodeLastRuneInString(n)
				if apart(before, first) && apart(end, after) {
					return true
				}
			}
		}
	}
	return false
}

// telling says whether a name is long enough to be meant.
func telling(n string) bool {
	letters, han := 0, 0
	for _, r := range n {
		if unicode.Is(unicode.Han, r) {
			han++
		} else if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= 4 || han >= 2
}

// apart says whether a word can end between two characters.
func apart(a, b rune) bool {
	in := func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
	}
	return !in(a) || !in(b)
}

// suggest looks for resources that are named in what was typed. Servers may offer thousands, so it does that in the
// background.
func (c *composer) suggest() {
	c.suggesting++
	if utf8.RuneCountInString(c.entry.Text) < 2 || strings.HasPrefix(c.entry.Text, "/") {
		c.hint(nil)
		return
	}
	c.p.offers.get(func(o offered) {
		words := c.entry.Text
		if len(words) > 4000 {
			words = words[len(words)-4000:]
		}
		c.suggesting++
		turn, dismissed, attached := c.suggesting, maps.Clone(c.dismissed), c.attach
		c.p.d.Go(func(context.Context) {
			found := mentions(words, o.resources, dismissed, attached)
			c.p.d.Do(func() {
				if turn == c.suggesting {
					c.hint(found)
				}
			})
		})
	})
}

// hint shows what could be attached. Nothing is before the person asks for it, and has seen it.
func (c *composer) hint(found []app.Resource) {
	if len(found) == len(c.mentioned) {
		same := true
		for i := range found {
			same = same && found[i].URI == c.mentioned[i].URI && found[i].Server == c.mentioned[i].Server
		}
		if same {
			return
		}
	}
	c.mentioned = found
	c.rebuild()
}

// mentionChips are the suggestions.
func (c *composer) mentionChips() []*chip {
	var out []*chip
	for _, r := range c.mentioned {
		name := r.Title
		if name == "" {
			name = r.Name
		}
		ch := newPill("plus", lang.X("chat.mention", "Attach {{.name}}?", map[string]any{"name": clean.Line(clean.Reveal(name), 60)}), false, func() { c.p.useResource(r) })
		ch.look, ch.most, ch.colour = quiet, 320, theme.Accent
		ch.removed = func() {
			if c.dismissed == nil {
				c.dismissed = map[string]bool{}
			}
			c.dismissed[r.Server+" "+r.URI] = true
			c.suggest()
		}
		out = append(out, ch)
	}
	return out
}
