package markdown

import (
	"reflect"
	"slices"
	"strings"

	"steward/ui/code"
	"steward/ui/text"
	"steward/ui/theme"
)

// show puts blocks on the screen below those that are final, and then rest as it is. The first settled of the blocks are
// final from then on. A part that came out as before keeps what was worked out for it.
func (v *View) show(blocks []Block, settled int, rest string, growing bool) {
	old := slices.Clone(v.shown[v.kept:])
	next := v.shown[:v.kept]
	total := 0
	for _, b := range blocks {
		total += len(b.Parts)
	}
	kept, group := v.kept, v.groups
	for i, b := range blocks {
		for k, part := range b.Parts {
			part.Block.Group = group
			if k == 0 {
				part.Block.Source = b.Source
			}
			at := len(next) - v.kept
			writing := growing && i == len(blocks)-1 && k == len(b.Parts)-1
			next = append(next, v.part(part, writing, pick(old, at), pick(old, at+len(old)-total)))
		}
		group++
		if i < settled {
			kept = len(next)
		}
	}
	if rest != "" {
		next = append(next, restOf(rest))
	}
	clear(v.shown[min(len(next), len(v.shown)):])
	v.shown, v.kept, v.groups = next, kept, v.groups+settled
	v.refresh()
}

// showRest shows what is not parsed yet below what is.
func (v *View) showRest() {
	next := v.shown
	if n := len(next); n > 0 && next[n-1].rest {
		next = next[:n-1]
	}
	if v.parsed < len(v.src) {
		rest := v.src[v.parsed:]
		next = append(next, restOf(rest))
	}
	v.shown = next
	v.refresh()
}

func restOf(rest string) shown {
	return shown{rest: true, block: &text.Block{
		Runs: []text.Run{{Text: rest}}, Before: apart, Group: -1, Source: rest,
	}}
}

func pick(old []shown, i int) *shown {
	if i < 0 || i >= len(old) {
		return nil
	}
	return &old[i]
}

// part makes what shows a part, out of what stood at its place counted from above or from below where that fits.
func (v *View) part(part Part, writing bool, candidates ...*shown) shown {
	for _, old := range candidates {
		if old == nil || old.rest || !reflect.DeepEqual(old.part, part) {
			continue
		}
		if old.listing != nil {
			old.listing.Update(part.Code.Source, writing, part.Block)
		}
		return *old
	}
	s := shown{part: part}
	if part.Code == nil {
		block := part.Block
		s.block = &block
		return s
	}
	if old := candidates[0]; old != nil && old.listing != nil && old.part.Code.Lang == part.Code.Lang {
		s.listing = old.listing
		s.listing.Update(part.Code.Source, writing, part.Block)
		return s
	}
	cfg := code.Config{Words: v.cfg.Words, Pool: v.cfg.Pool, Clipboard: v.cfg.Clipboard, OnBeyond: v.cfg.OnBeyond}
	s.listing = code.NewListing(part.Code.Lang, part.Code.Source, writing, part.Block, cfg, func() {
		v.refresh()
		v.heightChanged()
	})
	return s
}

// refresh hands the blocks to the text view.
func (v *View) refresh() {
	blocks := make([]*text.Block, len(v.shown))
	for i := range v.shown {
		s := &v.shown[i]
		if s.listing != nil {
			s.block = s.listing.Block()
		}
		blocks[i] = s.block
	}
	v.SetBlocks(blocks)
}

// showBig shows the beginning of a big source, and once the person asked for it, all of it as it is, in a viewer of its
// own.
func (v *View) showBig() {
	v.epoch++ // what is being parsed comes too late
	v.parsing = false
	if v.viewed > 0 && !v.done && len(v.src)-v.viewed < bigStep {
		return
	}
	v.viewed = len(v.src)
	v.final, v.kept, v.groups, v.parsed = 0, 0, 0, len(v.src)
	if v.viewer == nil {
		v.show(Parse(beginning(v.src), v.cfg.Words), 0, "", false)
		v.unfold(v.cfg.Words.Lines(strings.Count(v.src, "\n")-strings.Count(beginning(v.src), "\n")+1), &text.Block{})
		return
	}
	v.show(nil, 0, "", false)
	v.viewer.Replace([]*text.Block{{Runs: []text.Run{{Text: v.src}}, Code: true, NoWrap: true, Number: true}})
	v.unfold(text.Say(v.cfg.Words.ShowLess), &text.Block{Object: v.viewer, ObjectSize: viewerHeight})
}

// unfold adds the block with the button that opens and closes the viewer.
func (v *View) unfold(caption string, b *text.Block) {
	b.Before, b.Group, b.Ground = apart, -1, theme.CodeGround
	b.Foot = code.NewButton("", caption, v.toggleViewer)
	v.shown = append(v.shown, shown{rest: true, block: b})
	v.refresh()
}

func (v *View) toggleViewer() {
	if v.viewer != nil {
		v.viewer = nil
	} else {
		v.viewer = text.NewPane(v.cfg.Words)
		v.viewer.OnBeyond = v.cfg.OnBeyond
		v.viewer.View().Clipboard = v.cfg.Clipboard
	}
	v.viewed = 0
	v.showBig()
	v.heightChanged()
}

// beginning is the first lines of a source.
func beginning(src string) string {
	end := 0
	for range previewLines {
		n := strings.IndexByte(src[end:], '\n')
		if n < 0 || end+n > previewBytes {
			break
		}
		end += n + 1
	}
	if end == 0 {
		end = min(previewBytes, len(src))
		for end > 0 && end < len(src) && src[end]&0xc0 == 0x80 {
			end--
		}
	}
	return src[:end]
}
