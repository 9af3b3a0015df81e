package consent

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

func TestALargePictureIsMadeSmaller(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	noise := image.NewNRGBA(image.Rect(0, 0, 2400, 800))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rng.Uint32())
	}
	noise.Set(0, 0, color.Transparent)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, noise); err != nil {
		t.Fatal(err)
	}
	large := b.Bytes()
	if len(large) <= MaxImage {
		t.Fatalf("the picture has only %d bytes", len(large))
	}
	got, ok := Picture(large)
	if !ok || got.MIMEType != "image/jpeg" || len(got.Data) > MaxImage {
		t.Fatalf("%v, %s, %d bytes", ok, got.MIMEType, len(got.Data))
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(got.Data))
	if err != nil || kind != "jpeg" || c.Width != longestEdge || c.Height != 800*longestEdge/2400 {
		t.Errorf("%s of %d x %d, error %v", kind, c.Width, c.Height, err)
	}
	small, ok := Picture(large[:MaxImage]) // cut off, but small enough: not ours to judge
	if !ok || small.MIMEType != "image/png" || len(small.Data) != MaxImage {
		t.Errorf("%v, %s, %d bytes", ok, small.MIMEType, len(small.Data))
	}
	huge := bytes.Clone(large)
	binary.BigEndian.PutUint32(huge[16:], 1<<20) // a width that would need terabytes
	for name, data := range map[string][]byte{"cut off": large[:MaxImage+1], "claims to be huge": huge, "text": bytes.Repeat([]byte("text "), 100), "nothing": nil} {
		if got, ok := Picture(data); ok {
			t.Errorf("%s: taken as %s", name, got.MIMEType)
		}
	}
}
