package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Smallest and largest size of a message that a file may ask for, in bytes. A
// message is held in memory whole.
const (
	minMessage = 64 << 10
	maxMessage = 1 << 30
)

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3},
	{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}, {"", 1},
}

// size reads bytes as a number, or text such as "128MiB". What is out of bounds is left
// at the default, with a warning.
func (e *entry) size(field string, v hujson.Value, into *int) {
	lit, ok := v.Value.(hujson.Literal)
	n := math.NaN()
	if ok && kind(lit) == "a number" {
		n = lit.Float()
	} else if ok && kind(lit) == "text" {
		n = parseSize(lit.String())
	}
	if math.IsNaN(n) {
		e.wrong(field, "a size", v, `Write bytes, or text such as "128MiB".`)
		return
	}
	if n < minMessage || n > maxMessage {
		e.warns(e.line(v), fmt.Sprintf("%q is outside of %s to %s, so the default is used", field, sizeText(minMessage), sizeText(maxMessage)),
			`A number counts bytes; write "128MiB" to be sure.`)
		return
	}
	*into = int(n)
}

// parseSize reads a number and a unit; NaN where it is none.
func parseSize(s string) float64 {
	s = strings.ToUpper(strings.TrimSpace(s))
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return math.NaN()
		}
		return n * u.bytes
	}
	return math.NaN()
}

// sizeText writes a size as [parseSize] reads it, in the largest unit that keeps it exact.
func sizeText(n int) string {
	for _, u := range sizeUnits[:3] {
		if size := int(u.bytes); n >= size && n%size == 0 {
			return fmt.Sprintf("%d%ciB", n/size, u.name[0])
		}
	}
	return fmt.Sprintf("%dB", n)
}
