package theme

import (
	"image/color"

	"fyne.io/fyne/v2"
	fynetheme "fyne.io/fyne/v2/theme"
)

// Steward's own colour names. They work wherever Fyne takes a colour name, and [Color] looks one up.
//
// Colour never carries a meaning alone: a mark or a word stands with it. Text, Dim, Accent, Waiting, Refusal and Good
// are text colours: each reaches 4.5 : 1 (WCAG 2.2, 1.4.3) on every ground it may stand on: the
// colours from Ground to Card, the tints, and CodeGround.
const (
	Ground      fyne.ThemeColorName = "steward.ground"       // behind everything
	Side        fyne.ThemeColorName = "steward.side"         // the side bar
	Card        fyne.ThemeColorName = "steward.card"         // cards, inputs, menus
	Text        fyne.ThemeColorName = "steward.text"         // what is read first
	Dim         fyne.ThemeColorName = "steward.dim"          // sentences about things, captions, placeholders
	Line        fyne.ThemeColorName = "steward.line"         // borders of cards, and rules; never text
	Edge        fyne.ThemeColorName = "steward.edge"         // outlines of what can be used: inputs, buttons; never text
	Accent      fyne.ThemeColorName = "steward.accent"       // what the person does
	AccentTint  fyne.ThemeColorName = "steward.accent.tint"  // the chosen row, the person's own message
	OnAccent    fyne.ThemeColorName = "steward.accent.on"    // text on a surface filled with Accent
	Waiting     fyne.ThemeColorName = "steward.waiting"      // what waits for the person
	WaitingTint fyne.ThemeColorName = "steward.waiting.tint" // ground of a warning, and of text from another source
	OnWaiting   fyne.ThemeColorName = "steward.waiting.on"   // text on a badge filled with Waiting
	Refusal     fyne.ThemeColorName = "steward.refusal"      // refused or failed, and nothing else
	RefusalTint fyne.ThemeColorName = "steward.refusal.tint" // ground of an error; removed lines of a diff
	OnRefusal   fyne.ThemeColorName = "steward.refusal.on"   // text on a surface filled with Refusal
	Good        fyne.ThemeColorName = "steward.good"         // verified or succeeded, and nothing else
	GoodTint    fyne.ThemeColorName = "steward.good.tint"    // added lines of a diff
	OnGood      fyne.ThemeColorName = "steward.good.on"      // text on a surface filled with Good
	CodeGround  fyne.ThemeColorName = "steward.code"         // behind code and arguments
	Mark        fyne.ThemeColorName = "steward.mark"         // selected text; translucent
	Hover       fyne.ThemeColorName = "steward.hover"        // under the pointer; translucent
	Clear       fyne.ThemeColorName = "steward.clear"        // nothing at all
)

// Colours of highlighted code, each readable on CodeGround and Card.
const (
	SynKeyword fyne.ThemeColorName = "steward.syntax.keyword"
	SynString  fyne.ThemeColorName = "steward.syntax.string"
	SynNumber  fyne.ThemeColorName = "steward.syntax.number"
	SynComment fyne.ThemeColorName = "steward.syntax.comment"
	SynName    fyne.ThemeColorName = "steward.syntax.name"
	SynType    fyne.ThemeColorName = "steward.syntax.type"
	SynPunct   fyne.ThemeColorName = "steward.syntax.punctuation"
)

type palette map[fyne.ThemeColorName]color.NRGBA

func rgb(hex uint32) color.NRGBA { return rgba(hex, 0xff) }

func rgba(hex uint32, alpha uint8) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: alpha}
}

// The design's Dim (6B737C), Waiting (B45309) and Good (2E7D32) of the light theme fall below 4.5 : 1 on the side bar
// and on the tints (Dim reaches 4.1 there); the shades here are the same hues, darkened until they hold.
var light = palette{
	Ground: rgb(0xF7F7F4), Side: rgb(0xEEEEE9), Card: rgb(0xFFFFFF),
	Text: rgb(0x1E2328), Dim: rgb(0x656C75), Line: rgb(0xDEDED7), Edge: rgb(0xD9D9D2),
	Accent: rgb(0x0F766E), AccentTint: rgb(0xE3F1EF), OnAccent: rgb(0xFFFFFF),
	Waiting: rgb(0xAD5009), WaitingTint: rgb(0xFDF3E2), OnWaiting: rgb(0xFFFFFF),
	Refusal: rgb(0xB3261E), RefusalTint: rgb(0xFBE9E7), OnRefusal: rgb(0xFFFFFF),
	Good: rgb(0x2C7A30), GoodTint: rgb(0xE6F3E7), OnGood: rgb(0xFFFFFF),
	CodeGround: rgb(0xF1F1EC), Mark: rgba(0x0F766E, 0x3D), Hover: rgba(0x1E2328, 0x0D), Clear: rgba(0xFFFFFF, 0),
	SynKeyword: rgb(0x7A3E9D), SynString: rgb(0x2A6B2E), SynNumber: rgb(0x9A4708), SynComment: rgb(0x656C75),
	SynName: rgb(0x1F5199), SynType: rgb(0x0D6470), SynPunct: rgb(0x4B525A),

	fynetheme.ColorNameButton:              rgb(0xEAEAE4),
	fynetheme.ColorNameDisabledButton:      rgb(0xEEEEE9),
	fynetheme.ColorNamePressed:             rgba(0x1E2328, 0x1A),
	fynetheme.ColorNameFocus:               rgba(0x0F766E, 0x3D),
	fynetheme.ColorNameScrollBar:           rgba(0x1E2328, 0x55),
	fynetheme.ColorNameScrollBarBackground: rgba(0x1E2328, 0x08),
	fynetheme.ColorNameShadow:              rgba(0x1E2328, 0x22),
}

var dark = palette{
	Ground: rgb(0x17191C), Side: rgb(0x1D2024), Card: rgb(0x23272C),
	Text: rgb(0xE4E7EA), Dim: rgb(0x98A1AA), Line: rgb(0x343A41), Edge: rgb(0x58616B), // Fyne draws thin strokes darker than they are
	Accent: rgb(0x4FC3B5), AccentTint: rgb(0x1C3936), OnAccent: rgb(0x17191C),
	Waiting: rgb(0xF0A94A), WaitingTint: rgb(0x3A2E1A), OnWaiting: rgb(0x17191C),
	Refusal: rgb(0xF28B82), RefusalTint: rgb(0x40211F), OnRefusal: rgb(0x17191C),
	Good: rgb(0x81C995), GoodTint: rgb(0x1E3626), OnGood: rgb(0x17191C),
	CodeGround: rgb(0x1B1E22), Mark: rgba(0x4FC3B5, 0x45), Hover: rgba(0xFFFFFF, 0x0F), Clear: rgba(0x000000, 0),
	SynKeyword: rgb(0xCBA3F0), SynString: rgb(0xA3D39C), SynNumber: rgb(0xF2B777), SynComment: rgb(0x98A1AA),
	SynName: rgb(0x8CB8F0), SynType: rgb(0x7FCBD6), SynPunct: rgb(0xB9C0C7),

	fynetheme.ColorNameButton:              rgb(0x2E343B),
	fynetheme.ColorNameDisabledButton:      rgb(0x272B31),
	fynetheme.ColorNamePressed:             rgba(0xFFFFFF, 0x1F),
	fynetheme.ColorNameFocus:               rgba(0x4FC3B5, 0x45),
	fynetheme.ColorNameScrollBar:           rgba(0xE4E7EA, 0x55),
	fynetheme.ColorNameScrollBarBackground: rgba(0xE4E7EA, 0x08),
	fynetheme.ColorNameShadow:              rgba(0x000000, 0x66),
}

// roles says which of our colours each of Fyne's names shows; the names missing here stand in the palettes themselves.
var roles = map[fyne.ThemeColorName]fyne.ThemeColorName{
	fynetheme.ColorNameBackground:                Ground,
	fynetheme.ColorNameDisabled:                  Dim, // a read-only field is still read
	fynetheme.ColorNameError:                     Refusal,
	fynetheme.ColorNameForeground:                Text,
	fynetheme.ColorNameForegroundOnError:         OnRefusal,
	fynetheme.ColorNameForegroundOnPrimary:       OnAccent,
	fynetheme.ColorNameForegroundOnSuccess:       OnGood,
	fynetheme.ColorNameForegroundOnWarning:       OnWaiting,
	fynetheme.ColorNameHeaderBackground:          Side,
	fynetheme.ColorNameHover:                     Hover,
	fynetheme.ColorNameHyperlink:                 Accent,
	fynetheme.ColorNameInnerWindowBorder:         Line,
	fynetheme.ColorNameInnerWindowBorderInactive: Side,
	fynetheme.ColorNameInputBackground:           Card,
	fynetheme.ColorNameInputBorder:               Edge,
	fynetheme.ColorNameMenuBackground:            Card,
	fynetheme.ColorNameOverlayBackground:         Card,
	fynetheme.ColorNamePlaceHolder:               Dim,
	fynetheme.ColorNamePrimary:                   Accent,
	fynetheme.ColorNameSelection:                 Mark,
	fynetheme.ColorNameSeparator:                 Line,
	fynetheme.ColorNameSuccess:                   Good,
	fynetheme.ColorNameWarning:                   Waiting,
}

func (p palette) color(name fyne.ThemeColorName) (color.Color, bool) {
	if ours, ok := roles[name]; ok {
		name = ours
	}
	c, ok := p[name]
	return c, ok
}
