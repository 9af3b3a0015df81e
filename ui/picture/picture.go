// Package picture shows pictures that came from outside: what a server sent, what a person attached. Their bytes are
// never trusted: they are decoded off the window's goroutine, one picture at a time, never fetched from anywhere, and
// kept no larger than they can be seen.
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"

	// Kinds of pictures that are shown.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture, too
)

const (
	mostPixels = 24 << 20 // of a picture that is decoded: a small file can claim to be a huge one
	keptEdge   = 1200     // pixels of the longer edge of what is kept of it
	mostSmall  = 4 << 20  // as mostPixels, of a picture that is an ornament
)

// errNoPicture is why something is not shown as a picture.
var errNoPicture = errors.New("it is no picture that can be shown")

// decode gives a picture of at most so many pixels, with its longer edge scaled down to edge where it is longer, and the
// size it had.
func decode(data []byte, most, edge int) (img image.Image, was image.Point, err error) {
	defer func() {
		if recover() != nil { // a decoder that fails on odd bytes must not end more than this picture
			err = errNoPicture
		}
	}()
	data = essential(data)
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width > most/c.Height {
		return nil, was, errNoPicture
	}
	was = image.Pt(c.Width, c.Height)
	if img, _, err = image.Decode(bytes.NewReader(data)); err != nil {
		return nil, was, errNoPicture
	}
	if longer := max(c.Width, c.Height); longer > edge {
		to := image.NewRGBA(image.Rect(0, 0, max(c.Width*edge/longer, 1), max(c.Height*edge/longer, 1)))
		draw.ApproxBiLinear.Scale(to, to.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = to
	}
	return img, was, nil
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// essential leaves out of a PNG the parts that are not needed to see it (ISO/IEC 15948, section 5.4): programs write
// them with wrong checksums, and the whole picture would be refused for that.
func essential(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte(pngSignature)) {
		return data
	}
	const around = 12 // length, name and checksum of a part, in bytes
	out := slices.Clone(data[:len(pngSignature)])
	for rest := data[len(pngSignature):]; len(rest) >= around; {
		n := int64(binary.BigEndian.Uint32(rest)) + around
		if n > int64(len(rest)) {
			return append(out, rest...) // cut off: the decoder says so
		}
		if name := rest[4:8]; name[0]&0x20 == 0 || string(name) == "tRNS" {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out
}
