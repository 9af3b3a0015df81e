package consent

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"

	// Kinds of pictures that models take.
	_ "image/gif"
	_ "image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture, too
)

const (
	mostPixels  = 40 << 20 // of a picture that is decoded: a small file can claim to be a huge one
	longestEdge = 2048     // pixels of one that was made smaller; models see no more of it
	quality     = 85       // of JPEG, 1 to 100
)

// Picture is what a model gets of bytes that claim to be a picture: those of a PNG, JPEG, GIF
// or WebP of at most MaxImage bytes as they are, of a larger one a JPEG of at most 2048
// pixels a side; false for anything else and for what cannot be made small enough. What
// the bytes are is read from them alone. It may be called from any goroutine.
func Picture(data []byte) (Image, bool) {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if len(data) <= MaxImage {
			return Image{MIMEType: kind, Data: data}, true
		}
		return smaller(data)
	}
	return Image{}, false
}

func smaller(data []byte) (out Image, ok bool) {
	defer func() {
		if recover() != nil { // a decoder that fails on odd bytes must not end more than this picture
			out, ok = Image{}, false
		}
	}()
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width > mostPixels/c.Height {
		return Image{}, false
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Image{}, false
	}
	width, height := c.Width, c.Height
	if longer := max(width, height); longer > longestEdge {
		width, height = max(width*longestEdge/longer, 1), max(height*longestEdge/longer, 1)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(to, to.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src) // JPEG has nothing to see through
	draw.ApproxBiLinear.Scale(to, to.Bounds(), img, img.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, to, &jpeg.Options{Quality: quality}); err != nil || b.Len() > MaxImage {
		return Image{}, false
	}
	return Image{MIMEType: "image/jpeg", Data: b.Bytes()}, true
}
