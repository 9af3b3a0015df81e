package llm

import (
	"fmt"
	"strings"
)

const maxImage = 20 << 20 // bytes

// sift separates pictures that can be sent from those that cannot, which become
// notes in the text.
func (p Profile) sift(text string, images []Image) (string, []Image) {
	var good []Image
	for _, img := range images {
		kind, ok := imageType(img.MIMEType)
		why := ""
		switch {
		case p.NoImages:
			why = "this model takes no pictures"
		case !ok:
			why = "not a kind of picture models take"
		case len(img.Data) == 0:
			why = "empty"
		case len(img.Data) > maxImage:
			why = "too large"
		default:
			good = append(good, Image{kind, img.Data})
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("[picture %s, %d kB, not sent: %s]", firstLines(img.MIMEType), (len(img.Data)+1023)/1024, why)
	}
	return text, good
}

func imageType(mime string) (string, bool) {
	mime, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(mime)), ";")
	switch mime {
	case "image/jpg", "image/pjpeg":
		return "image/jpeg", true
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return mime, true
	}
	return mime, false
}
