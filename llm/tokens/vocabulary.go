package tokens

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"math"
)

// packed is the vocabulary o200k_base, published by OpenAI with tiktoken (MIT): its tokens in the
// order of their ranks, each as one byte for its length and its bytes, packed with gzip. A test
// holds it to the library that it was made from; it says how to make it anew.
//
// It is data in one piece and not that library's Go map, since that spreads 200,000 strings among
// the program's own: every run would have some of them in memory, whether it counts or not.
//
//go:embed o200k_base.gz
var packed []byte

// vocabulary finds the rank of a token: which pairs of a text are joined first.
type vocabulary struct {
	text   []byte   // all tokens behind each other, each after its length
	begins []uint32 // where each begins, by rank
	table  []uint32 // ranks + 1 by hash, with open addressing; 0 is empty
}

// token is the one of a rank.
func (v *vocabulary) token(rank uint32) []byte {
	from := v.begins[rank]
	return v.text[from : from+uint32(v.text[from-1])]
}

const (
	tableSize = 1 << 19 // more than twice the tokens
	noRank    = math.MaxUint32
)

// unpack reads a vocabulary; nil where it cannot be one. What is embedded is held by a test.
func unpack(packed []byte) *vocabulary {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	v := &vocabulary{table: make([]uint32, tableSize)}
	if v.text, err = io.ReadAll(z); err != nil {
		return nil
	}
	for i := 0; i < len(v.text); i += 1 + int(v.text[i]) {
		if i+1+int(v.text[i]) > len(v.text) || len(v.begins) >= tableSize/2 {
			return nil
		}
		v.begins = append(v.begins, uint32(i+1))
		at := slot(v.token(uint32(len(v.begins) - 1)))
		for v.table[at] != 0 {
			at = (at + 1) % tableSize
		}
		v.table[at] = uint32(len(v.begins))
	}
	return v
}

// slot is where a token is looked for first (FNV-1a).
func slot[T string | []byte](token T) uint32 {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return (h ^ h>>19) % tableSize
}

// rank is that of a token, or noRank.
func (v *vocabulary) rank(token string) uint32 {
	for at := slot(token); v.table[at] != 0; at = (at + 1) % tableSize {
		r := v.table[at] - 1
		if string(v.token(r)) == token {
			return r
		}
	}
	return noRank
}

// maxPiece is the longest piece in bytes whose pairs are joined as a whole. Joining takes the
// square of its length; of a longer one its parts are, which makes a token more or less.
const maxPiece = 1024

// count is how many tokens a piece is (byte pair encoding: of all neighbours those are joined
// first that make the token of the lowest rank).
func (v *vocabulary) count(piece string) int {
	n := 0
	for len(piece) > maxPiece {
		n += v.join(piece[:maxPiece])
		piece = piece[maxPiece:]
	}
	return n + v.join(piece)
}

func (v *vocabulary) join(piece string) int {
	if len(piece) < 2 || v.rank(piece) != noRank {
		return min(len(piece), 1)
	}
	var begins [maxPiece + 1]uint16 // of the parts, and the end
	var ranks [maxPiece + 1]uint32  // of a part joined with the next one
	n := len(piece)
	for i := range n + 1 {
		begins[i] = uint16(i)
	}
	joined := func(i int) uint32 {
		if i+2 > n {
			return noRank
		}
		return v.rank(piece[begins[i]:begins[i+2]])
	}
	for i := range n {
		ranks[i] = joined(i)
	}
	for {
		best := 0
		for i := 1; i < n; i++ {
			if ranks[i] < ranks[best] {
				best = i
			}
		}
		if n < 2 || ranks[best] == noRank {
			return n
		}
		copy(begins[best+1:n], begins[best+2:n+1])
		copy(ranks[best+1:n-1], ranks[best+2:n])
		n--
		ranks[best] = joined(best)
		if best > 0 {
			ranks[best-1] = joined(best - 1)
		}
	}
}
