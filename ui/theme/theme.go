package theme

import (
	"image/color"

	"fyne.io/fyne/v2"
	fynetheme "fyne.io/fyne/v2/theme"
)

// Sizes, in Fyne's device-independent pixels.
const (
	TextSize    float32 = 14   // everything that is read
	CaptionSize float32 = 11.5 // captions, badges, column heads
	MonoSize    float32 = 13   // code and arguments
	Radius      float32 = 8    // corners of cards, inputs and buttons
	Step        float32 = 4    // every distance is a multiple of it
	IconSize    float32 = 16   // an icon beside text
)

// What a person may choose in the settings.
const (
	FollowSystem = "system"
	AlwaysLight  = "light"
	AlwaysDark   = "dark"
)

// steward is the one implementation of fyne.Theme; it has no state that changes.
type steward struct {
	fixed   bool
	variant fyne.ThemeVariant
	quiet   bool
}

// New gives Steward's theme: "light" and "dark" stay as they are, "system" (and any other word) follows the desktop.
func New(variant string) fyne.Theme {
	switch variant {
	case AlwaysLight:
		return &steward{fixed: true, variant: fynetheme.VariantLight}
	case AlwaysDark:
		return &steward{fixed: true, variant: fynetheme.VariantDark}
	}
	return &steward{}
}

// Quiet gives the current theme with inputs that show neither border nor ground, for container.NewThemeOverride
// around an entry that stands in a frame of its own, such as the composer. It must be made anew when the theme changes.
func Quiet() fyne.Theme {
	quiet := *current()
	quiet.quiet = true
	return &quiet
}

// Color looks a colour up in the theme and variant now in use. Where the running app has another theme than ours
// (only in tests), it is our colour for that app's variant.
func Color(name fyne.ThemeColorName) color.Color {
	return current().Color(name, appVariant())
}

func current() *steward {
	if app := fyne.CurrentApp(); app != nil {
		if ours, ok := app.Settings().Theme().(*steward); ok {
			return ours
		}
	}
	return &steward{}
}

func appVariant() fyne.ThemeVariant {
	if app := fyne.CurrentApp(); app != nil {
		return app.Settings().ThemeVariant()
	}
	return fynetheme.VariantLight
}

func (s *steward) effective(asked fyne.ThemeVariant) fyne.ThemeVariant {
	if s.fixed {
		return s.variant
	}
	return asked
}

func (s *steward) Color(name fyne.ThemeColorName, asked fyne.ThemeVariant) color.Color {
	variant := s.effective(asked)
	if s.quiet && (name == fynetheme.ColorNameInputBackground || name == fynetheme.ColorNameInputBorder) {
		name = Clear
	}
	colors := light
	if variant == fynetheme.VariantDark {
		colors = dark
	}
	if c, ok := colors.color(name); ok {
		return c
	}
	// A name of a later Fyne, or of a widget library's own.
	return fynetheme.DefaultTheme().Color(name, variant)
}

var sizes = map[fyne.ThemeSizeName]float32{
	fynetheme.SizeNameText:               TextSize,
	fynetheme.SizeNameCaptionText:        CaptionSize,
	fynetheme.SizeNameSubHeadingText:     16,
	fynetheme.SizeNameHeadingText:        20,
	fynetheme.SizeNamePadding:            Step,
	fynetheme.SizeNameInnerPadding:       2 * Step,
	fynetheme.SizeNameLineSpacing:        Step,
	fynetheme.SizeNameInlineIcon:         IconSize,
	fynetheme.SizeNameScrollBar:          8,
	fynetheme.SizeNameScrollBarSmall:     4,
	fynetheme.SizeNameScrollBarRadius:    4,
	fynetheme.SizeNameSeparatorThickness: 1,
	fynetheme.SizeNameSplitThickness:     1,
	fynetheme.SizeNameInputBorder:        1,
	fynetheme.SizeNameInputRadius:        Radius,
	fynetheme.SizeNameSelectionRadius:    Step,
	fynetheme.SizeNameButtonRadius:       Radius,
	fynetheme.SizeNameCardRadius:         Radius,
	fynetheme.SizeNameDialogRadius:       Radius,
	fynetheme.SizeNamePopupRadius:        Radius,
	fynetheme.SizeNameMenuRadius:         Radius,
	fynetheme.SizeNameInnerWindowRadius:  Radius,
	fynetheme.SizeNameModalBlurRadius:    0, // blurring costs a frame's time without a graphics card

	fynetheme.SizeNameWindowButtonHeight:   16,
	fynetheme.SizeNameWindowButtonRadius:   8,
	fynetheme.SizeNameWindowButtonIcon:     14,
	fynetheme.SizeNameWindowTitleBarHeight: 28,
}

func (s *steward) Size(name fyne.ThemeSizeName) float32 {
	if s.quiet && name == fynetheme.SizeNameInputBorder {
		return 0
	}
	if size, ok := sizes[name]; ok {
		return size
	}
	return fynetheme.DefaultTheme().Size(name)
}
