package servers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	// Kinds of pictures that a server may send.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture, too

	"steward/app/clean"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	mostPixels  = 24 << 20 // of a picture that is decoded: a small file can claim to be a huge one
	keptEdge    = 1200     // pixels of the longer edge of what is kept of it
	pictureHigh = 360      // units at most
)

// errNoPicture is why something is not shown as a picture.
var errNoPicture = errors.New("it is no picture that can be shown")

// picture shows the bytes of a picture that a server sent. They are decoded off the window's goroutine, one picture at
// a time, never fetched from anywhere and kept no larger than they can be seen.
func (k *kit) picture(p *page, kind string, data []byte) fyne.CanvasObject {
	about := strings.Join(nonEmpty(clean.Line(kind, 80), size(int64(len(data)))), " · ")
	box := column(step, caption(about+" · "+lang.X("common.loading", "Loading…"), theme.Dim, text.Wrap))
	k.d.Go(func(ctx context.Context) {
		select {
		case k.decoding <- struct{}{}:
			defer func() { <-k.decoding }()
		case <-ctx.Done():
			return
		}
		img, was, err := decodePicture(data)
		k.d.Do(func() {
			if err != nil {
				box.Objects = []fyne.CanvasObject{caption(about+" · "+lang.X("servers.no_picture", "cannot be shown as a picture"), theme.Dim, text.Wrap)}
			} else {
				about += fmt.Sprintf(" · %d × %d", was.X, was.Y)
				box.Objects = []fyne.CanvasObject{newPictureBox(img), caption(about, theme.Dim, text.Wrap)}
			}
			p.changed()
		})
	})
	return box
}

func newPictureBox(img image.Image) fyne.CanvasObject {
	shown := canvas.NewImageFromImage(img)
	shown.FillMode, shown.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	return container.New(&pictureLayout{img.Bounds().Size()}, shown)
}

// decodePicture gives a picture, scaled down where it is large, and the size it had.
func decodePicture(data []byte) (img image.Image, was image.Point, err error) {
	defer func() {
		if recover() != nil { // a decoder that fails on odd bytes must not end more than this picture
			err = errNoPicture
		}
	}()
	data = essential(data)
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width > mostPixels/c.Height {
		return nil, was, errNoPicture
	}
	was = image.Pt(c.Width, c.Height)
	if img, _, err = image.Decode(bytes.NewReader(data)); err != nil {
		return nil, was, errNoPicture
	}
	if longer := max(c.Width, c.Height); longer > keptEdge {
		to := image.NewRGBA(image.Rect(0, 0, max(c.Width*keptEdge/longer, 1), max(c.Height*keptEdge/longer, 1)))
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

// pictureLayout keeps a picture's shape at the left, no wider than there is room and no higher than pictureHigh.
type pictureLayout struct{ pixels image.Point }

func (l *pictureLayout) fit(width float32) fyne.Size {
	w, h := float32(l.pixels.X), float32(l.pixels.Y)
	by := min(1, width/w, pictureHigh/h)
	return fyne.NewSize(max(w*by, 1), max(h*by, 1))
}

func (l *pictureLayout) heightFor(_ []fyne.CanvasObject, width float32) float32 {
	return l.fit(width).Height
}

// MinSize is Fyne's.
func (l *pictureLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(16, 0) }

// Layout is Fyne's.
func (l *pictureLayout) Layout(o []fyne.CanvasObject, s fyne.Size) { o[0].Resize(l.fit(s.Width)) }
