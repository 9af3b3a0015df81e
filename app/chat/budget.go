package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Budget limits what a request takes of stored messages, in bytes of text. A token is about four
// of them in English, three in Chinese, two in numbers and code.
type Budget struct {
	Result int // each tool result of the last round
	Old    int // each tool result before it
	Round  int // all results of one answer's calls together; 0 is the usual
	Images int // pictures in the whole request, the newest first
}

// The usual budget, and the one after an endpoint said that a request was too
// long for its context window.
var (
	roomy = Budget{Result: 64 << 10, Old: 64 << 10, Round: usualRound, Images: 8}
	tight = Budget{Result: 8 << 10, Old: 1 << 10, Round: 24 << 10, Images: 1}
)

// usualRound is how much the results of one answer's calls take together: a model that asks for
// ten files at once must not fill its context with them.
const usualRound = 160 << 10

// shares says how long each of some results may be so that each keeps to a limit and all together
// to a total: the short ones keep all they have, and the long ones share what is left. 0 or less
// is no limit of one; without one there is no total either.
func (b Budget) shares(sizes []int, each int) []int {
	out := slices.Clone(sizes)
	if each <= 0 {
		return out
	}
	order := make([]int, len(out))
	for i := range out {
		out[i] = min(out[i], each)
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return out[a] - out[b] })
	room := cmp.Or(b.Round, usualRound)
	for n, i := range order {
		out[i] = min(out[i], room/(len(order)-n))
		room -= out[i]
	}
	return out
}

// noteRoom is how long the note of what is missing in a result may be, in bytes. Where a result is
// cut to less than longNote, the note is short.
const (
	noteRoom = 320
	longNote = 2 << 10
)

// cutResult cuts a result to limit bytes: its head and its tail, in whole lines where it has short
// ones, and between them what is missing, where it is, and how to have it. A limit of 0 or less is
// none; below a few hundred bytes the note takes more than it.
func cutResult(text string, limit int, record int64) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	where := ""
	if record > 0 {
		where = fmt.Sprintf(" as record %d", record)
	}
	if limit < longNote {
		head, tail := cutAt(text, max(limit-noteRoom/4, limit/2))
		return fmt.Sprintf("%s\n[… %d of %d bytes are left out here; the whole is kept%s …]\n%s", text[:head], tail-head, len(text), where, text[tail:])
	}
	head, tail := cutAt(text, limit-noteRoom)
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here%s. The whole result is kept%s, where the person can read it. "+
		"For a part of it, call the tool again and ask for less, such as a range, a filter or a limit. …]\n%s",
		text[:head], tail-head, len(text), leftLines(text, head, tail), where, text[tail:])
}

// cutAt gives the end of the head and the beginning of the tail of a text that is cut to about
// limit bytes, on borders of characters and, where one is near, of lines.
func cutAt(text string, limit int) (head, tail int) {
	head, tail = limit*3/4, len(text)-limit/4
	if i := strings.LastIndexByte(text[:head], '\n'); i >= head/2 {
		head = i
	}
	if i := strings.IndexByte(text[tail:], '\n'); i >= 0 && i <= limit/8 {
		tail += i + 1
	}
	return onRunes(text, head, tail)
}

// onRunes moves the end of a head down, and the beginning of a tail up, to borders of characters.
func onRunes(text string, head, tail int) (int, int) {
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return head, tail
}

// leftLines says which lines are missing, from 1, where a text has several.
func leftLines(text string, head, tail int) string {
	first, last, all := strings.Count(text[:head], "\n")+1, strings.Count(text[:tail], "\n")+1, strings.Count(text, "\n")+1
	if text[head] == '\n' {
		first++
	}
	if tail > 0 && text[tail-1] == '\n' {
		last--
	}
	if all < 2 || last < first {
		return ""
	}
	return fmt.Sprintf(", lines %d to %d of %d", first, last, all)
}
