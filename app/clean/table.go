package clean

import (
	"sort"
	"unicode"
)

// A class is a set of characters that both functions treat alike. The table
// of classes below is the only place where it is decided what is odd; the
// page docs/text.md is made from it, and a test compares the two.
type class struct {
	name    string
	members string // in words, for the page
	spans   []span // nil where the class is found otherwise (runs, bytes)
	clean   action
	says    string // what Clean does, in words
	reveal  string // what Reveal does, in words
	example string
}

type span struct{ lo, hi rune }

// action is what Clean does with one character of a class.
type action uint8

const (
	keep     action = iota
	drop            // remove
	mark            // put a visible mark in its place, as Reveal does
	picture         // the control picture of ASCII
	escape          // as the two-character form of ECMA-48, ESC and a letter
	newline         // line feed
	joiner          // keep where the script or the emoji needs it, else drop
	selector        // keep after an emoji, else drop
	tag             // keep in the three flags that are made of them, else drop
	space           // keep, but long runs are counted
)

// Limits of what is left as it is.
const (
	maxSpaces   = 64 // characters of blank space in a row
	maxNewlines = 8  // line breaks in a row
	maxMarks    = 8  // combining marks on one character
	revealMarks = 4  // combining marks on one letter that Reveal leaves in place
	revealRun   = 8  // equal marks in a row that Reveal writes out one by one
)

const (
	classBytes = "invalid UTF-8"
	classRuns  = "long blank space"
	classLines = "many line breaks"
	classMarks = "combining marks"
)

// classes is never changed.
var classes = []class{
	{"line feed", "U+000A", []span{{'\n', '\n'}}, space, "kept", "`⟨\\n⟩`", "a\nb"},
	{"other line ends", "CR, NEL U+0085, U+2028, U+2029", []span{{'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}, newline,
		"one line feed; CR LF is one line end", "`⟨\\r⟩` or its number", "a\r\nAllowed\u2028yes"},
	{"tab", "U+0009", []span{{'\t', '\t'}}, space, "kept", "`⟨\\t⟩`", "a\tb"},
	{"escape", "ESC U+001B, which begins terminal sequences", []span{{0x1b, 0x1b}}, picture,
		"`␛`, so that the sequence stands as text", "`⟨\\x1B⟩`", "\x1b[8mhidden\x1b[0m"},
	{"C0 controls", "U+0000–U+001F without those above, U+007F", []span{{0, 8}, {0xb, 0xc}, {0xe, 0x1a}, {0x1c, 0x1f}, {0x7f, 0x7f}}, picture,
		"the control picture, such as `␀`", "its number, such as `⟨\\x00⟩`", "a\x00b\x07"},
	{"C1 controls", "U+0080–U+009F without NEL", []span{{0x80, 0x84}, {0x86, 0x9f}}, escape,
		"`␛` and the letter of the two-character form", "its number", "\u009b31m"},
	{classBytes, "bytes that form no character, lone surrogates", nil, mark,
		"`\uFFFD`, one for each byte or lone surrogate", "each byte as `⟨\\xNN⟩`, a lone surrogate as `⟨\\uD800⟩`", "a\xffb\xed\xa0\x80"},
	{"direction controls", "U+061C, U+200E–U+200F, U+202A–U+202E, U+2066–U+2069", []span{{0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}}, mark,
		"a mark, such as `⟨\\u202E⟩`", "the same mark", "invoice\u202efdp.exe"},
	{"joiners", "ZWNJ U+200C, ZWJ U+200D", []span{{0x200c, 0x200d}}, joiner,
		"kept between letters of one script that uses them (Arabic, Syriac, Mongolian, the scripts of India and their kin), and ZWJ inside an emoji; else removed", "its number", "👨\u200d👩 می\u200cخواهم ig\u200dnore"},
	{"zero width", "U+200B, U+2060–U+2065, U+206A–U+206F, BOM U+FEFF, soft hyphen U+00AD, U+034F, U+17B4–U+17B5, U+FFF0–U+FFF8, U+13430–U+1343F, U+1BCA0–U+1BCA3, U+1D173–U+1D17A",
		[]span{{0xad, 0xad}, {0x34f, 0x34f}, {0x17b4, 0x17b5}, {0x200b, 0x200b}, {0x2060, 0x2065}, {0x206a, 0x206f}, {0xfeff, 0xfeff}, {0xfff0, 0xfff8},
			{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}}, drop,
		"removed", "its number", "ig\u200bnore\ufeff"},
	{"fillers", "U+115F–U+1160, U+180E, U+3164, U+FFA0, U+16FE4, U+1D159: letters and signs that show nothing",
		[]span{{0x115f, 0x1160}, {0x180e, 0x180e}, {0x3164, 0x3164}, {0xffa0, 0xffa0}, {0x16fe4, 0x16fe4}, {0x1d159, 0x1d159}}, drop, "removed", "its number", "a\u3164b"},
	{"variation selectors", "U+180B–U+180D, U+180F, U+FE00–U+FE0F, U+E0100–U+E01EF", []span{{0x180b, 0x180d}, {0x180f, 0x180f}, {0xfe00, 0xfe0f}, {0xe0100, 0xe01ef}}, selector,
		"one U+FE0E or U+FE0F kept after an emoji, and in a keycap; else removed", "its number", "❤\ufe0f\ufe0f a\ufe01"},
	{"tags", "U+E0000–U+E0FFF without variation selectors", []span{{0xe0000, 0xe00ff}, {0xe01f0, 0xe0fff}}, tag,
		"kept in the flags of England, Scotland and Wales; else removed", "its number", "ok\U000e0073\U000e0065"},
	{"annotations", "U+FFF9–U+FFFC", []span{{0xfff9, 0xfffc}}, mark, "a mark", "the same mark", "a\ufff9b"},
	{"private use", "U+E000–U+F8FF, planes 15 and 16", []span{{0xe000, 0xf8ff}, {0xf0000, 0xffffd}, {0x100000, 0x10fffd}}, mark, "a mark", "the same mark", "\ue000"},
	{"noncharacters", "U+FDD0–U+FDEF and the last two of each plane", nonCharacters(), mark, "a mark", "the same mark", "\ufdd0"},
	{"space", "U+0020", []span{{' ', ' '}}, space, "kept", "kept inside; counted, as in `⟨1 space⟩`, at both ends of the text", " rm -rf "},
	{"other spaces", "U+00A0, U+1680, U+2000–U+200A, U+202F, U+205F, U+2800, U+3000", []span{{0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x2800, 0x2800}, {0x3000, 0x3000}}, space,
		"kept", "its number", "a\u00a0b"},
	{classRuns, "more than 64 spaces and tabs in a row, of any kind", nil, mark, "counted, as in `⟨5,000 spaces⟩`", "counted, as in `⟨5,000 spaces⟩` or `⟨5,000 × \\u3000⟩`", "a                                                                        b"},
	{classLines, "more than 8 line ends in a row, with the blank space between them", nil, mark, "counted, as in `⟨10,000 line breaks⟩`", "counted, as in `⟨10,000 × \\n⟩`", "a\n\n\n\n\n\n\n\n\n\nb"},
	{classMarks, "Unicode category M", nil, mark, "8 kept on one character, more removed", "4 kept on one letter; more, and those on no letter, by number", "Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309"},
	{"opening mark", "`⟨` U+27E8, which begins every mark of Reveal", []span{{open, open}}, keep, "kept", "`⟨\\u27E8⟩`, so that no text can imitate a mark", "⟨5 spaces⟩"},
	{"unassigned", "what Unicode has not given a meaning", nil, keep, "kept; it shows as a box", "its number", "\u0378"},
	{"everything else", "letters, digits, signs, emoji, Markdown, HTML", nil, keep, "kept", "kept", "**管家** <!-- b -->"},
}

func nonCharacters() []span {
	all := []span{{0xfdd0, 0xfdef}}
	for plane := rune(0); plane <= 0x10; plane++ {
		all = append(all, span{plane<<16 | 0xfffe, plane<<16 | 0xffff})
	}
	return all
}

// entry is one span of the table, with the number of its class.
type entry struct {
	span
	class uint8
}

const none = 255 // class of characters in no span

// lookup is the table sorted by character; low answers for the first 256.
var lookup, low = index()

func index() ([]entry, [256]uint8) {
	var all []entry
	for i, c := range classes {
		for _, s := range c.spans {
			all = append(all, entry{s, uint8(i)})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].lo < all[j].lo })
	var first [256]uint8
	for r := range first {
		first[r] = none
		for _, e := range all {
			if e.lo <= rune(r) && rune(r) <= e.hi {
				first[r] = e.class
			}
		}
	}
	return all, first
}

// classOf finds the class of a character; none for most.
func classOf(r rune) uint8 {
	if r < 256 {
		return low[r]
	}
	if plain(r) {
		return none
	}
	i := sort.Search(len(lookup), func(i int) bool { return lookup[i].hi >= r })
	if i < len(lookup) && lookup[i].lo <= r {
		return lookup[i].class
	}
	return none
}

// plain is true for the large blocks without anything odd in them: Chinese
// and Japanese text and Korean syllables need no search.
func plain(r rune) bool {
	return 0x4e00 <= r && r <= 0x9fff || 0x3041 <= r && r <= 0x3096 || 0x30a0 <= r && r <= 0x30ff || 0xac00 <= r && r <= 0xd7a3 ||
		0x100 <= r && r < 0x300 || 0x400 <= r && r < 0x483
}

func isMark(r rune) bool {
	return r >= 0x300 && !plain(r) && unicode.Is(unicode.M, r)
}

func classNamed(name string) uint8 {
	for i, c := range classes {
		if c.name == name {
			return uint8(i)
		}
	}
	return none
}
