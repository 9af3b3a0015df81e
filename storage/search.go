package storage

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// searchDepth bounds how many of the newest hits one search looks at.
const searchDepth = 5000

// The search tables hold words, not text. FTS4's own tokenizer takes a run of
// Chinese characters for one word, so such a run is cut into overlapping pairs
// and its last character: 部署方案 is 部署 署方 方案 案. Any part of it is then a
// phrase of pairs, and a single character is the beginning of a pair.

// paired tells whether r belongs to a script that is written without spaces
// between words.
func paired(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) ||
		r == 'ー' // of no script of its own, but inside Katakana words
}

// symbol tells whether r is a pictograph. The tokenizer drops these, so they
// are stored as a word made of their number.
func symbol(r rune) bool { return unicode.Is(unicode.So, r) }

const hexDigits = "0123456789abcdef"

func writeSymbol(b *strings.Builder, r rune) {
	b.WriteString(" zqu")
	for shift := 20; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[(r>>shift)&15])
	}
	b.WriteByte(' ')
}

// normal brings forms together that look alike to a reader: full-width letters,
// half-width kana, composed and decomposed accents (NFKC, UAX #15).
func normal(s string) string {
	return norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD"))
}

// tokens is what a search table stores for a text.
func tokens(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	var run []rune
	end := func() {
		writePairs(&b, run, true)
		run = run[:0]
	}
	for _, r := range normal(text) {
		switch {
		case paired(r):
			run = append(run, r)
			continue
		case len(run) > 0:
			end()
		}
		switch {
		case r == 0:
			b.WriteByte(' ')
		case symbol(r):
			writeSymbol(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	end()
	return b.String()
}

// writePairs writes the pairs of a run, and its last character where the run
// is known to end there.
func writePairs(b *strings.Builder, run []rune, ends bool) {
	for i := range run {
		if i+1 < len(run) {
			b.WriteByte(' ')
			b.WriteRune(run[i])
			b.WriteRune(run[i+1])
		} else if ends || i == 0 {
			b.WriteByte(' ')
			b.WriteRune(run[i])
		}
	}
	if len(run) > 0 {
		b.WriteByte(' ')
	}
}

// matchFor turns what a person typed into an FTS4 query: every piece between
// spaces must occur, as a phrase whose last word may go on. Nothing typed has a
// meaning as syntax. It is "" where no word is left to look for.
func matchFor(typed string) string {
	var quoted []string
	for _, words := range phrases(typed) {
		quoted = append(quoted, `"`+strings.Join(words, " ")+`*"`)
	}
	return strings.Join(quoted, " ")
}

// phrases are the words of each piece of what a person typed.
func phrases(typed string) (list [][]string) {
	for _, piece := range strings.Fields(normal(typed)) {
		if words := queryWords(piece); len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

// queryWords cuts a piece as tokens does, but keeps letters and digits alone,
// and leaves a run of pairs open where the piece ends with it.
func queryWords(piece string) []string {
	var b strings.Builder
	var run []rune
	for _, r := range piece {
		if paired(r) {
			run = append(run, r)
			continue
		}
		writePairs(&b, run, true)
		run = run[:0]
		switch {
		case symbol(r):
			writeSymbol(&b, r)
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.Is(unicode.Co, r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	writePairs(&b, run, false)
	return strings.Fields(b.String())
}

// putWords stores the words of a row, in place of what it had.
func (tx *Tx) putWords(table string, id int64, text string, replace bool) error {
	if replace {
		if err := tx.dropWords(table, id); err != nil {
			return err
		}
	}
	words := tokens(text)
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return tx.do("making a text findable", "INSERT INTO "+table+"(docid, words) VALUES(?, ?)", id, words)
}

func (tx *Tx) dropWords(table string, id int64) error {
	return tx.do("making a text findable", "DELETE FROM "+table+" WHERE docid = ?", id)
}

// forgetWords merges the search index. FTS4 only marks a deleted word in a new
// part of the index; merging all parts drops it for good.
func (tx *Tx) forgetWords() error {
	for _, table := range []string{"conversation_search", "message_search", "record_search"} {
		if err := tx.do("erasing deleted words from the search index", "INSERT INTO "+table+"("+table+") VALUES('optimize')"); err != nil {
			return err
		}
	}
	return nil
}
