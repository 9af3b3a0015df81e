// Package assets holds what the window is made of besides code: fonts, icons and translations, built into the program.
//
// It knows nothing of the window's toolkit; package ui/theme makes fonts and icons of these bytes, and package
// ui/language hands the translations on. The byte slices are the program's own and must not be changed.
// Everything may be called from any goroutine.
package assets

import (
	"archive/zip"
	"embed"
	"io/fs"
	"path"
	"strings"
	"unsafe"
)

// readOnly gives the bytes of a text of the program without copying them: whoever writes into them ends the program.
//
// What is embedded as bytes lies among the program's variables, which makes every command two megabytes larger: the
// system maps what surrounds a variable along with it. As text it lies apart, and takes memory only once it is used.
func readOnly(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// The fonts hold Latin, Greek, Cyrillic and the characters of simplified Chinese in one file each; fonts.sh makes them.
var (
	//go:embed fonts/StewardSans-Regular.otf
	sansRegular string
	//go:embed fonts/StewardSans-Bold.otf
	sansBold string
	//go:embed fonts/StewardSans-Italic.otf
	sansItalic string
	//go:embed fonts/StewardMono-Regular.otf
	monoRegular string
)

// SansRegular is the font of everything that is read.
func SansRegular() []byte { return readOnly(sansRegular) }

// SansBold is the font of names and headings.
func SansBold() []byte { return readOnly(sansBold) }

// SansItalic has slanted Latin and upright Chinese.
func SansItalic() []byte { return readOnly(sansItalic) }

// MonoRegular is the font of code and arguments: a Chinese character is two letters wide, and no two characters are
// ever drawn as one sign.
func MonoRegular() []byte { return readOnly(monoRegular) }

//go:embed fonts/OFL.txt
var fontLicense string

// FontLicense is the text under which the fonts are passed on; it must be shown wherever the program is.
func FontLicense() string { return fontLicense }

//go:embed licenses.txt
var licenses string

// Licenses is the licence texts of everything of others that is part of the program. licenses.py writes them.
func Licenses() string { return licenses }

//go:embed icon.png
var appIcon string

// AppIcon is the program's own icon as PNG.
func AppIcon() []byte { return readOnly(appIcon) }

//go:embed icons/*.svg icons/controls/*.svg
var icons embed.FS

//go:embed grammars/grammars.zip
var grammars string

// Grammars are the languages that code can be coloured in: one file for each, in the XML of the chroma library. grammars/make.go
// makes them. The error is that of a damaged build.
func Grammars() (fs.FS, error) {
	return zip.NewReader(strings.NewReader(grammars), int64(len(grammars)))
}

// Icon gives the drawing with this name as SVG: one colour, 24 units wide and high. ok is false where there is none.
// The parts of check boxes and radio buttons are named "controls/box" and so on.
func Icon(name string) (svg []byte, ok bool) {
	svg, err := icons.ReadFile(path.Join("icons", name+".svg"))
	return svg, err == nil
}

// IconNames lists every icon, sorted, without the parts of controls.
func IconNames() []string {
	entries, err := icons.ReadDir("icons")
	if err != nil { // the directory is part of the program
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, strings.TrimSuffix(e.Name(), ".svg"))
		}
	}
	return names
}
