// Package tokens estimates how many tokens a text is for a language model.
//
// Each family of models cuts text in its own way, and few publish how. Count cuts it as
// OpenAI's newer models do (the vocabulary o200k_base); for others that is an estimate, which
// a [Factor] corrects by what their endpoints report. Rough needs no vocabulary at all.
// Everything here may be called from any goroutine.
package tokens

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

const (
	// maxWhole is the longest text in bytes that is cut as a whole. Of a longer one pieces of
	// samplePiece bytes are, evenly spread, and the rest is taken to be like them.
	maxWhole    = 64 << 10
	samplePiece = 8 << 10
	samples     = 6
	// maxKept bounds the counts that are remembered, and minKept is the shortest text in bytes
	// for which remembering is cheaper than counting.
	maxKept = 4096
	minKept = 128
)

// The vocabulary takes some 4 MB once it is read, so it is read with the first count: a program
// that only sends and shows never does.
var (
	read   sync.Once
	loaded atomic.Bool
	words  *vocabulary
)

func theVocabulary() *vocabulary {
	read.Do(func() {
		words = unpack(packed)
		loaded.Store(true)
	})
	return words
}

// Loaded says whether the vocabulary is in memory: whether somebody has counted.
func Loaded() bool { return loaded.Load() }

// kept remembers counts of texts, since a conversation's are counted again with each request.
// It keeps hashes alone, never a text.
var kept = struct {
	sync.Mutex
	seed   maphash.Seed
	counts map[key]int
}{seed: maphash.MakeSeed(), counts: map[key]int{}}

type key struct {
	hash uint64
	len  int
}

// Count estimates the tokens of a text. The first call reads the vocabulary (some 25 ms). Of a
// text of more than 64 kB only samples are counted.
func Count(text string) int {
	if len(text) < minKept {
		return count(text)
	}
	k := key{maphash.String(kept.seed, text), len(text)}
	kept.Lock()
	n, ok := kept.counts[k]
	kept.Unlock()
	if ok {
		return n
	}
	n = count(text)
	kept.Lock()
	defer kept.Unlock()
	if len(kept.counts) >= maxKept {
		clear(kept.counts)
	}
	kept.counts[k] = n
	return n
}

func count(text string) int {
	switch {
	case text == "":
		return 0
	case len(text) <= maxWhole:
		return whole(text)
	}
	counted, length := 0, 0
	for i := range samples {
		from := boundary(text, (len(text)-samplePiece)*i/(samples-1))
		piece := text[from:boundary(text, min(from+samplePiece, len(text)))]
		counted += whole(piece)
		length += len(piece)
	}
	return int(float64(counted) / float64(length) * float64(len(text)))
}

// boundary is the place where a character begins, at or before i.
func boundary(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

func whole(text string) int {
	v := theVocabulary()
	if v == nil {
		return Rough(text)
	}
	n := 0
	for text != "" {
		end := piece(text)
		n += v.count(text[:end])
		text = text[end:]
	}
	return n
}

// Rough estimates the tokens of a text without the vocabulary: about four ASCII characters to
// a token, one token for a character of the CJK scripts, two characters of other scripts to a
// token. It is meant for telling whether counting is worth its cost.
func Rough(text string) int {
	ascii, other, wide := 0, 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
			ascii++
		case r >= 0x2E80:
			wide++
		default:
			other++
		}
	}
	return (ascii+3)/4 + (other+1)/2 + wide
}
