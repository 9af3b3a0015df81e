package chat

import (
	"bytes"
	"image"

	// Kinds of pictures that a result may hold.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"steward/ui/theme"
)

// mostPixels keeps a small file from becoming a huge picture.
const mostPixels = 24 << 20

// picture shows an image of a result, no larger than the column; nil where it is none, or too large.
func picture(data []byte) fyne.CanvasObject {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width*c.Height > mostPixels {
		return nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	shown := canvas.NewImageFromImage(img)
	shown.FillMode = canvas.ImageFillContain
	shown.ScaleMode = canvas.ImageScaleSmooth
	w, h := float32(c.Width), float32(c.Height)
	if most := columnWidth - 8*theme.Step; w > most {
		w, h = most, h*most/w
	}
	if h > 480 {
		w, h = w*480/h, 480
	}
	shown.SetMinSize(fyne.NewSize(w, h))
	return shown
}
