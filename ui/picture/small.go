package picture

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

// mostScale is how many pixels a screen has for a unit, at most.
const mostScale = 4

// Small is room for a small picture, square with this side; the picture comes when read has given its bytes and they
// could be decoded, else the room stays empty. read runs in the background. Fyne's goroutine.
func (r *Reader) Small(side float32, read func() []byte) fyne.CanvasObject {
	img := canvas.NewImageFromImage(nil)
	img.FillMode, img.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	img.SetMinSize(fyne.NewSquareSize(side))
	room := container.NewGridWrap(fyne.NewSquareSize(side))
	r.alone(func() {
		data := read()
		if len(data) == 0 {
			return
		}
		found, _, err := decode(data, mostSmall, mostScale*int(side))
		if err != nil {
			return // an ornament: what it belongs to stands beside it in words
		}
		r.do(func() {
			img.Image = found
			room.Add(img)
		})
	})
	return room
}
