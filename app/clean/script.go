package clean

import (
	"slices"
	"strings"
	"unicode"
)

// joining lists the scripts whose spelling needs ZWJ or ZWNJ.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam, unicode.Phags_Pa,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
}

// joins reports whether a joiner may stand between the two letters: both of
// one script that uses joiners.
func joins(before, after rune) bool {
	if before < 0x600 || after < 0x600 {
		return false
	}
	for _, script := range joining {
		if unicode.Is(script, before) {
			return unicode.Is(script, after) && (unicode.IsLetter(after) || unicode.IsMark(after))
		}
	}
	return false
}

// pictographs is Extended_Pictographic of Unicode's emoji-data.txt (UTS 51).
var pictographs = []span{
	{0xa9, 0xa9}, {0xae, 0xae}, {0x203c, 0x203c}, {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139}, {0x2194, 0x2199}, {0x21a9, 0x21aa},
	{0x231a, 0x231b}, {0x2328, 0x2328}, {0x2388, 0x2388}, {0x23cf, 0x23cf}, {0x23e9, 0x23f3}, {0x23f8, 0x23fa}, {0x24c2, 0x24c2}, {0x25aa, 0x25ab},
	{0x25b6, 0x25b6}, {0x25c0, 0x25c0}, {0x25fb, 0x25fe}, {0x2600, 0x2605}, {0x2607, 0x2612}, {0x2614, 0x2685}, {0x2690, 0x2705}, {0x2708, 0x2712},
	{0x2714, 0x2714}, {0x2716, 0x2716}, {0x271d, 0x271d}, {0x2721, 0x2721}, {0x2728, 0x2728}, {0x2733, 0x2734}, {0x2744, 0x2744}, {0x2747, 0x2747},
	{0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2763, 0x2767}, {0x2795, 0x2797}, {0x27a1, 0x27a1}, {0x27b0, 0x27b0},
	{0x27bf, 0x27bf}, {0x2934, 0x2935}, {0x2b05, 0x2b07}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x3030, 0x3030}, {0x303d, 0x303d},
	{0x3297, 0x3297}, {0x3299, 0x3299}, {0x1f000, 0x1f0ff}, {0x1f10d, 0x1f10f}, {0x1f12f, 0x1f12f}, {0x1f16c, 0x1f171}, {0x1f17e, 0x1f17f},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f1ad, 0x1f1e5}, {0x1f201, 0x1f20f}, {0x1f21a, 0x1f21a}, {0x1f22f, 0x1f22f}, {0x1f232, 0x1f23a},
	{0x1f23c, 0x1f23f}, {0x1f249, 0x1f3fa}, {0x1f400, 0x1f53d}, {0x1f546, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f774, 0x1f77f}, {0x1f7d5, 0x1f7ff},
	{0x1f80c, 0x1f80f}, {0x1f848, 0x1f84f}, {0x1f85a, 0x1f85f}, {0x1f888, 0x1f88f}, {0x1f8ae, 0x1f8ff}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
	{0x1f947, 0x1faff}, {0x1fc00, 0x1fffd},
}

func isPictograph(r rune) bool {
	_, found := slices.BinarySearchFunc(pictographs, r, func(s span, r rune) int {
		switch {
		case s.hi < r:
			return -1
		case s.lo > r:
			return 1
		}
		return 0
	})
	return found
}

// isTone reports an emoji skin tone (Emoji_Modifier of UTS 51).
func isTone(r rune) bool { return 0x1f3fb <= r && r <= 0x1f3ff }

// regionFlags are the only flags of tags that are recommended for general
// interchange (RGI_Emoji_Tag_Sequence of UTS 51), without the black flag.
var regionFlags = []string{tags("gbeng"), tags("gbsct"), tags("gbwls")}

func tags(region string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, region) + "\U000e007f"
}

// lookalikes are the scripts whose letters can pass for one another's.
var lookalikes = map[string]*unicode.RangeTable{
	"Latin": unicode.Latin, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek, "Armenian": unicode.Armenian,
	"Cherokee": unicode.Cherokee, "Coptic": unicode.Coptic, "Lisu": unicode.Lisu, "Georgian": unicode.Georgian,
}

// Mixed names the scripts, sorted, of the first word in s that mixes letters
// of scripts that look alike (UTS 39): "pаypal" with a Cyrillic а gives
// Cyrillic and Latin. It is nil for a text without such a word.
func Mixed(s string) []string {
	var scripts []string
	for _, r := range s {
		if !unicode.IsLetter(r) && !isMark(r) && r != '_' && r != '-' {
			scripts = scripts[:0]
			continue
		}
		if r < 0x80 && (r == '_' || r == '-') {
			continue
		}
		for name, table := range lookalikes {
			if unicode.Is(table, r) && !slices.Contains(scripts, name) {
				scripts = append(scripts, name)
			}
		}
		if len(scripts) > 1 {
			slices.Sort(scripts)
			return scripts
		}
	}
	return nil
}
