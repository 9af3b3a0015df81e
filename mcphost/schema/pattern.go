package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of regular expressions, in estimated instructions of the compiled program.
const (
	maxPattern     = 20_000  // of one
	maxAllPatterns = 100_000 // of all in one schema
)

// patterns compiles the regular expressions of one schema. JSON Schema means those of
// ECMA-262; Go's RE2 cannot do look-around or back-references, which are left out
// with a warning. RE2 needs time linear in pattern times text, which spend charges.
type patterns struct {
	meter    *meter
	cache    map[string]*pattern
	total    int
	warnings []string
	sealed   bool // the schema is compiled: no more writes, Validate may run
}

func newPatterns(m *meter) *patterns {
	return &patterns{meter: m, cache: map[string]*pattern{}}
}

// pattern implements jsonschema.Regexp. Without re it matches everything.
type pattern struct {
	src   string
	re    *regexp.Regexp
	size  int
	meter *meter
}

func (p *pattern) String() string { return p.src }

func (p *pattern) MatchString(s string) bool {
	if p.re == nil {
		return true
	}
	p.meter.spend(1 + len(s)*p.size/128)
	return p.re.MatchString(s)
}

// usable says whether src can be compiled, and warns once if not.
func (ps *patterns) usable(src string) bool { return ps.get(src).re != nil }

// engine implements jsonschema.RegexpEngine. It never fails: see pattern.
func (ps *patterns) engine(src string) (jsonschema.Regexp, error) {
	if ps.sealed {
		return &pattern{src: src, meter: ps.meter}, nil
	}
	return ps.get(src), nil
}

func (ps *patterns) get(src string) *pattern {
	if p, ok := ps.cache[src]; ok {
		return p
	}
	p := &pattern{src: src, meter: ps.meter}
	ps.cache[src] = p
	why := ps.compile(p)
	if why != "" && len(ps.warnings) < 20 {
		ps.warnings = append(ps.warnings, fmt.Sprintf("the pattern %s is not checked: %s", quoted(short(src, 80)), why))
	}
	return p
}

// compile fills p, or says why it cannot.
func (ps *patterns) compile(p *pattern) string {
	text := fromECMA(p.src)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "it uses something this program's regular expressions do not have"
	}
	p.size = instructions(tree)
	if p.size > maxPattern || ps.total+p.size > maxAllPatterns {
		return "it is too large"
	}
	ps.total += p.size
	if p.re, err = regexp.Compile(text); err != nil {
		return "it uses something this program's regular expressions do not have"
	}
	return ""
}

// instructions estimates the size of the program re compiles to, before counted
// repetitions are unrolled.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += instructions(sub)
		if n > maxPattern {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// fromECMA rewrites the escapes of ECMA-262 that Go spells in another way: \uXXXX,
// \u{X…}, \cX and an escaped slash or hyphen, which mean themselves.
func fromECMA(src string) string {
	if !strings.Contains(src, `\`) {
		return src
	}
	var b strings.Builder
	for i := 0; i < len(src); {
		if src[i] != '\\' || i+1 >= len(src) {
			b.WriteByte(src[i])
			i++
			continue
		}
		switch c := src[i+1]; c {
		case 'u':
			r, n := unicodeEscape(src[i:])
			if n == 0 {
				b.WriteString(src[i : i+2])
				i += 2
				continue
			}
			fmt.Fprintf(&b, `\x{%x}`, r)
			i += n
		case 'c':
			if i+2 < len(src) && (src[i+2]|0x20) >= 'a' && (src[i+2]|0x20) <= 'z' {
				fmt.Fprintf(&b, `\x{%x}`, src[i+2]&0x1f)
				i += 3
				continue
			}
			b.WriteString(src[i : i+2])
			i += 2
		default:
			b.WriteString(src[i : i+2])
			i += 2
		}
	}
	return b.String()
}

// unicodeEscape reads \uXXXX (two of them where they are a pair) or \u{X…} at the
// start of s and gives the character and the length, 0 if there is none.
func unicodeEscape(s string) (rune, int) {
	if strings.HasPrefix(s, `\u{`) {
		end := strings.IndexByte(s, '}')
		var r rune
		if end < 4 || end > 9 {
			return 0, 0
		}
		if _, err := fmt.Sscanf(s[3:end], "%x", &r); err != nil || r > utf8.MaxRune {
			return 0, 0
		}
		return r, end + 1
	}
	u, ok := hex4([]byte(s), 2)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(u) {
		if low, ok := lowHalf([]byte(s), 6); ok {
			if r := utf16.DecodeRune(u, low); r != utf8.RuneError {
				return r, 12
			}
		}
		return 0, 0
	}
	return u, 6
}
