package markdown

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"steward/ui/code"
	"steward/ui/text"
)

const (
	atOnce       = 16 << 10 // bytes parsed on Fyne's thread; more is parsed off it
	slowFrom     = 10 * time.Millisecond
	bigBytes     = 200 << 10 // a longer source is shown as its beginning, with a viewer of the whole
	bigLines     = 2000
	previewLines = 60
	previewBytes = 8 << 10
	viewerHeight = 480
	bigStep      = 64 << 10 // how much a big source grows before its viewer is brought up to date
)

// Config is what the views of a window share.
type Config struct {
	Words     text.Words
	Pool      *code.Pool              // nil: everything is parsed at once and code keeps one colour
	OnLink    func(url string)        // see text.View
	OnHover   func(url string)        // see text.View
	Clipboard func(string)            // nil: the app's
	OnBeyond  func(*fyne.ScrollEvent) // the wheel at the end of a viewer inside the view
	OnHeight  func()                  // the view's height changed otherwise than by SetSource: colours, folds, late parsing
}

// View shows one message. All of it can be chosen and copied across its blocks; see [text.View].
type View struct {
	text.View
	cfg Config

	src     string
	done    bool
	begun   bool
	epoch   int // counts the sources that do not continue the one before; results for an older one are dropped
	final   int // bytes of src whose blocks no longer change
	parsed  int // bytes of src that are parsed; the rest is shown as it is
	parsing bool
	slow    bool // a short source has taken long to parse, as hostile ones do: nothing of this view is parsed on Fyne's thread any more
	shown   []shown
	kept    int // how many of shown are final
	groups  int // how many groups those have
	viewer  *text.Pane
	viewed  int // bytes of src that the viewer of a big source shows
}

// shown is a part on the screen.
type shown struct {
	part    Part
	block   *text.Block
	listing *code.Listing
	rest    bool // not parsed
}

// NewView makes an empty view.
func NewView(cfg Config) *View {
	v := &View{cfg: cfg}
	v.Init(v, cfg.Words)
	v.OnLink, v.OnHover, v.Clipboard = cfg.OnLink, cfg.OnHover, cfg.Clipboard
	v.Whole = v.Source
	return v
}

// Source is what the view shows.
func (v *View) Source() string { return v.src }

// SetSource shows a source. While it grows (done false, each source beginning with the one before), only its unfinished
// last block is parsed again; what is above it stays untouched. With done, all is parsed once more, since a link
// definition at the end can change what stands above, and only blocks that came out differently are replaced.
//
// Call it at most some 30 times a second, with all that has arrived meanwhile.
func (v *View) SetSource(full string, done bool) {
	if v.begun && full == v.src && done == v.done {
		return
	}
	if v.done || !strings.HasPrefix(full, v.src) {
		v.restart()
	}
	if done {
		v.epoch++
	}
	v.src, v.done, v.begun = full, done, true
	switch {
	case len(full) > bigBytes || strings.Count(full, "\n") >= bigLines:
		v.showBig()
	case done:
		v.finish()
	default:
		v.grow()
	}
}

// SetParsed shows a finished source that was parsed beforehand, off Fyne's thread.
func (v *View) SetParsed(full string, blocks []Block) {
	v.restart()
	v.src, v.done, v.begun = full, true, true
	v.showAll(blocks)
}

// restart forgets what was worked out for another source.
func (v *View) restart() {
	v.epoch++
	v.final, v.parsed, v.kept, v.groups, v.viewed = 0, 0, 0, 0, 0
	v.parsing, v.viewer = false, nil
}

// finish parses everything; what was parsed until then is seen meanwhile.
func (v *View) finish() {
	if v.here(v.src) {
		v.showAll(v.parseHere(v.src))
		return
	}
	v.showRest()
	v.parse(v.src, v.showAll)
}

func (v *View) showAll(blocks []Block) {
	v.final, v.parsed, v.kept, v.groups = 0, len(v.src), 0, 0
	v.show(blocks, 0, "", false)
}

// grow parses the unfinished tail: at once when it is short, else off Fyne's thread each time it is a quarter longer,
// so that the work stays in proportion to the source.
func (v *View) grow() {
	tail := v.src[v.final:]
	if v.here(tail) {
		if !v.parsing {
			v.apply(v.parseHere(tail), len(v.src))
			return
		}
	} else if !v.parsing && len(v.src)-v.parsed > (v.parsed-v.final)/4 {
		v.parsing = true
		until := len(v.src)
		v.parse(tail, func(blocks []Block) { v.apply(blocks, until) })
	}
	v.showRest()
}

// here tells whether a source is parsed on Fyne's thread.
func (v *View) here(src string) bool { return v.cfg.Pool == nil || len(src) <= atOnce && !v.slow }

// parseHere parses a source here, and notes when that took long.
func (v *View) parseHere(src string) []Block {
	begun := time.Now()
	blocks := Parse(src, v.cfg.Words)
	if time.Since(begun) > slowFrom {
		v.slow = true
	}
	return blocks
}

// parse has a source parsed off Fyne's thread and hands the blocks on, unless they are of no use any more.
func (v *View) parse(src string, then func([]Block)) {
	var blocks []Block
	epoch, words := v.epoch, v.cfg.Words
	v.cfg.Pool.Run(func() { blocks = Parse(src, words) }, func() {
		if epoch != v.epoch {
			return
		}
		v.parsing = false
		if blocks == nil { // the parser failed: the text stays as it is
			return
		}
		then(blocks)
		v.heightChanged()
	})
}

func (v *View) heightChanged() {
	if v.cfg.OnHeight != nil {
		v.cfg.OnHeight()
	}
}

// apply shows the parsed tail, which reaches until that byte of the source, and settles what is final of it.
func (v *View) apply(blocks []Block, until int) {
	v.parsed = until
	n := settled(blocks, v.src[v.final:until])
	v.show(blocks, n, v.src[until:], true)
	for _, b := range blocks[:n] {
		v.final += len(b.Source)
	}
}

// settled is how many blocks no later text can change: all but the last; and not the one before it either when the last
// only began in a line that is still being written ("#" may become a heading, or go on with the paragraph above).
func settled(blocks []Block, tail string) int {
	n := len(blocks) - 1
	if n > 0 && len(tail)-len(blocks[n].Source) > strings.LastIndexByte(tail, '\n') {
		n--
	}
	return max(n, 0)
}
