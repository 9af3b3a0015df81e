// Package text is the window's own text view: styled runs broken into lines by UAX #14, drawn as plain canvas texts,
// selectable and copyable over all blocks of one view.
//
// Text that came from outside reaches the screen only through this package (and ui/markdown and ui/code, which stand
// on it), never through Fyne's RichText, Label or Hyperlink. The caller has cleaned it (app/clean) before: this package
// draws what it is given, keeps every byte of it for copying, and promises only to survive it: invalid UTF-8, floods of
// combining marks, lines of any length, megabytes. Right-to-left text is drawn, but not reordered between runs.
//
// Lengths are Fyne's device-independent pixels. Everything here belongs to Fyne's thread, unless it says otherwise.
package text

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"
)

// A Run is a stretch of text in one style. A newline in Text ends the line.
type Run struct {
	Text              string
	Bold, Italic      bool
	Mono              bool
	Strike, Underline bool
	Color             fyne.ThemeColorName // "": theme.Text, or theme.Accent for a link
	Ground            fyne.ThemeColorName // "": none
	Link              string              // where a tap leads; only http and https ever reach OnLink
}

// A Block is one paragraph, heading, code listing, table or rule. A block handed to a view belongs to the view and must
// not be changed any more; give a new one to show something else.
type Block struct {
	Runs   []Run
	Size   float32             // of the text; 0: theme.TextSize, or theme.MonoSize when Code
	Before float32             // room above, except on top of the view
	Indent float32             // room to the left
	Marker string              // bullet or number, drawn left of the text inside Indent
	Task   Task                // a box in place of the marker
	Bars   []float32           // where the bars of quotes stand
	Rule   bool                // a thin line across, nothing else
	Ground fyne.ThemeColorName // behind the whole block, which then gets padding; "": none
	Table  *Table              // in place of Runs

	Code   bool // monospaced by default, copied without its fence when it is the only thing chosen
	NoWrap bool // lines are never broken, except beyond longLine runes
	Fold   int  // draw at most so many lines of the source; 0: all
	Lines  []LineLook
	Number bool // line numbers to the left
	First  int  // the number of the first line, with Number; 0 is 1

	Head, Foot fyne.CanvasObject // above and below the text, inside Ground
	Object     fyne.CanvasObject // drawn in place of the text, which still is what copying gives
	ObjectSize float32           // height of Object

	// Group and Source give copying its Markdown: blocks with the same Group came from one top-level piece of the
	// source, and the first of them carries that piece in Source, byte by byte. Source "" means there is none.
	Group  int
	Source string
}

// LineLook is what one line of the source shows besides its text.
type LineLook struct {
	Ground fyne.ThemeColorName // across the whole line
	Sign   string              // in the gutter: "+", "-"
}

// Task is the state of an item of a task list.
type Task uint8

// States of an item of a task list.
const (
	NoTask Task = iota
	OpenTask
	DoneTask
)

// A Table has rows of cells, the first row being the head.
type Table struct {
	Rows  [][]Cell
	Align []fyne.TextAlign // by column; missing: leading
}

// Cell is the content of one field of a table.
type Cell []Run

// Words are the visible strings of the views, translated by whoever makes the views: no literal stands in a widget.
// A nil function gives no text, and the entry it belongs to is left out or stays a mere icon.
type Words struct {
	Copy      func() string                 // entry of the context menu, and the button of a code block
	CopyAll   func() string                 // copies the whole view
	CopyLink  func() string                 // copies the address under the pointer
	SelectAll func() string                 // entry of the context menu
	Copied    func() string                 // the button just after it copied
	ShowAll   func(lines int) string        // unfolds a long code block
	ShowLess  func() string                 // folds it again
	Image     func(host, alt string) string // stands where a picture would; host is "" for one without a server
}

// Say calls a word that may be nil.
func Say(word func() string) string {
	if word == nil {
		return ""
	}
	return word()
}

// Lines gives ShowAll's text.
func (w Words) Lines(n int) string {
	if w.ShowAll == nil {
		return ""
	}
	return w.ShowAll(n)
}

// Picture gives Image's text; without one, the host and the alt text themselves.
func (w Words) Picture(host, alt string) string {
	if w.Image == nil {
		return strings.TrimSpace(host + " " + alt)
	}
	return w.Image(host, alt)
}

// Web tells whether a link may be opened: an absolute http or https URL with a host, and no user name in it that could
// pose as the host (RFC 3986, 7.6).
func Web(link string) bool {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	return strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")
}
