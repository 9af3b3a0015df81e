package storage

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Making words findable is the dearest part of a commit: one row of FTS4 is written into five trees. Nobody waits for
// it, so a commit leaves the words of a message or a record in the table unindexed, and the writer moves them to the
// search tables when nobody wants to write. A search looks at both. What a killed run has left is moved by the next.

const (
	// indexAtOnce is how many rows are moved in one transaction, which the next Write has to wait for.
	indexAtOnce = 64
	// indexBehind is how many rows may wait for an idle moment.
	indexBehind = 512
)

// A search table whose rows may wait, by its number in unindexed.
type searchTable int

const (
	messageWords searchTable = 1
	recordWords  searchTable = 2
)

func (t searchTable) String() string {
	if t == recordWords {
		return "record_search"
	}
	return "message_search"
}

// putWordsLater has the words of a row stored when nobody waits, in place of what it had.
func (tx *Tx) putWordsLater(table searchTable, id int64, text string, replace bool) error {
	if replace {
		if err := tx.dropWordsOf(table, id); err != nil {
			return err
		}
	}
	words := tokens(text)
	if strings.TrimSpace(words) == "" {
		return nil
	}
	tx.left++
	return tx.do("making a text findable", "INSERT INTO unindexed(kind, docid, words) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET words = excluded.words", int64(table), id, words)
}

func (tx *Tx) dropWordsOf(table searchTable, id int64) error {
	if err := tx.dropWords(table.String(), id); err != nil {
		return err
	}
	return tx.do("making a text findable", "DELETE FROM unindexed WHERE kind = ? AND docid = ?", int64(table), id)
}

// moveWords moves some of the waiting rows to their search tables and says how many.
func (tx *Tx) moveWords() (moved int, err error) {
	const doing = "making texts findable"
	rows, err := tx.conn.QueryContext(context.Background(), "SELECT kind, docid, words FROM unindexed LIMIT ?", indexAtOnce)
	if err != nil {
		return 0, explain(doing, tx.db.path, err)
	}
	var found []waitingWords
	if err := each(rows, func() error { return scanWords(rows, &found) }); err != nil {
		return 0, explain(doing, tx.db.path, err)
	}
	for _, w := range found {
		if err := tx.dropWords(w.table.String(), w.id); err != nil {
			return 0, err
		}
		if err := tx.do(doing, "INSERT INTO "+w.table.String()+"(docid, words) VALUES(?, ?)", w.id, w.words); err != nil {
			return 0, err
		}
		if err := tx.do(doing, "DELETE FROM unindexed WHERE kind = ? AND docid = ?", int64(w.table), w.id); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// index moves one lot. Where that fails the rest waits for the next opening: a search finds it all the same.
func (w *writer) index() {
	moved := 0
	j := &job{fn: func(tx *Tx) (err error) {
		moved, err = tx.moveWords()
		return err
	}}
	w.transaction([]*job{j})
	if j.err != nil {
		w.report(j.err)
		w.unindexed = 0
		return
	}
	if w.unindexed -= moved; moved < indexAtOnce {
		w.unindexed = 0
	}
}

type waitingWords struct {
	table searchTable
	id    int64
	words string
}

func scanWords(rows *sql.Rows, into *[]waitingWords) error {
	var w waitingWords
	if err := rows.Scan(&w.table, &w.id, &w.words); err != nil {
		return err
	}
	*into = append(*into, w)
	return nil
}

type rowsQueryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// waiting gives the ids of the waiting rows of a table whose words a search matches, for an SQL list: "" for none.
func waiting(ctx context.Context, q rowsQueryer, table searchTable, typed string) (ids string, err error) {
	rows, err := q.QueryContext(ctx, "SELECT kind, docid, words FROM unindexed WHERE kind = ?", int64(table))
	if err != nil {
		return "", err
	}
	wanted := phrases(typed)
	var hits []string
	err = each(rows, func() error {
		var one []waitingWords
		if err := scanWords(rows, &one); err != nil {
			return err
		}
		if holds(one[0].words, wanted) {
			hits = append(hits, strconv.FormatInt(one[0].id, 10))
		}
		return nil
	})
	return strings.Join(hits, ","), err
}

// holds says whether words, as tokens cut them, match phrases as the search tables would match them.
func holds(words string, phrases [][]string) bool {
	have, _ := unicode61(words)
	for _, phrase := range phrases {
		wanted, open := unicode61(strings.Join(phrase, " "))
		if !occurs(wanted, have, open) {
			return false
		}
	}
	return len(phrases) > 0
}

// occurs says whether the words of a phrase stand in have one after the other; where it is open, the last may go on.
func occurs(phrase, have []string, open bool) bool {
	for at := 0; at+len(phrase) <= len(have); at++ {
		n := 0
		for n < len(phrase) && (have[at+n] == phrase[n] || open && n == len(phrase)-1 && strings.HasPrefix(have[at+n], phrase[n])) {
			n++
		}
		if n == len(phrase) {
			return n > 0
		}
	}
	return false
}

// unicode61 cuts text as FTS4's tokenizer of that name does (sqlite.org/fts3.html#tokenizer): letters and numbers make words,
// case makes no difference, nor does one accent on a letter of English. open says that the text ends with a word.
func unicode61(text string) (words []string, open bool) {
	var b strings.Builder
	for _, r := range text {
		switch {
		case accent(r):
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.Is(unicode.Co, r):
			b.WriteRune(bare(r))
			open = true
		default:
			b.WriteByte(' ')
			open = false
		}
	}
	return strings.Fields(b.String()), open
}

// accent says whether r is a combining mark that the tokenizer drops; other marks end a word.
func accent(r rune) bool {
	const first, marks = 0x300, 0x000361F8_08029FDF // one bit for each from first on
	return r >= first && r < first+50 && uint64(marks)>>(r-first)&1 == 1
}

const lastLatin = 0x1EFF // the end of Latin Extended Additional

// bare folds case (CaseFolding.txt of Unicode, C and S) and takes one accent away.
func bare(r rune) rune {
	if r <= unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	if r != 'ı' { // which has a capital, but does not fold
		r = unicode.ToLower(unicode.ToUpper(r))
	}
	if r > lastLatin {
		return r
	}
	if parts := []rune(norm.NFD.String(string(r))); len(parts) == 2 && unicode.IsMark(parts[1]) && parts[0] < unicode.MaxASCII && unicode.IsLetter(parts[0]) {
		return parts[0]
	}
	return r
}
