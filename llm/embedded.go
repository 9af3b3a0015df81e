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

const (
	maxMediaType = 200 // bytes before ";base64,"
	minData      = 64  // bytes of base64 from which on they are left out
)

// withoutData replaces data addresses (RFC 2397) that hold base64 by a note, wherever they
// stand: alone, in a sentence, or in strings of JSON within strings of JSON, where slashes
// have a backslash or several and characters are written as escapes. As text they tell a
// model nothing and fill its context.
func withoutData(s string) string {
	const mark = "base64,"
	var b strings.Builder
	done := 0
	for from := 0; ; {
		at := strings.Index(s[from:], mark)
		if at < 0 {
			break
		}
		at += from
		from = at + len(mark)
		begin := strings.LastIndex(s[max(done, at-maxMediaType):at], "data:")
		if begin < 0 {
			continue
		}
		begin += max(done, at-maxMediaType)
		media, ok := mediaType(s[begin+len("data:") : at])
		end := encodedEnd(s, from)
		if !ok || end-from < minData {
			continue
		}
		b.WriteString(s[done:begin])
		fmt.Fprintf(&b, "[%s data, %d kB, left out]", media, ((end-from)*3/4+1023)/1024)
		done, from = end, end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// mediaType reads what stands between "data:" and "base64,".
func mediaType(s string) (string, bool) {
	s = strings.ReplaceAll(s, `\`, "")
	for _, escape := range []string{"u002f", "u002F", "%2f", "%2F"} {
		s = strings.ReplaceAll(s, escape, "/")
	}
	for _, escape := range []string{"u003b", "u003B", "%3b", "%3B"} {
		s = strings.ReplaceAll(s, escape, ";")
	}
	rest, ok := strings.CutSuffix(s, ";")
	if !ok && s != "" || strings.ContainsAny(s, " \t\r\n\"'<>()[]{}") {
		return "", false
	}
	media, _, _ := strings.Cut(rest, ";")
	if media == "" {
		media = "binary"
	}
	return media, true
}

// encodedEnd is where base64 that begins at i ends, with the escapes that JSON and addresses
// may write in it.
func encodedEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/', c == '=', c == '-', c == '_':
			i++
		case c == '%' && i+2 < len(s) && (s[i+1] == '2' || s[i+1] == '3'):
			i += 3
		case c == '\\':
			n := i
			for n < len(s) && s[n] == '\\' {
				n++
			}
			switch {
			case n < len(s) && (s[n] == '/' || s[n] == 'n' || s[n] == 'r'):
				i = n + 1
			case n+5 <= len(s) && s[n] == 'u' && strings.HasPrefix(s[n+1:], "00"):
				i = n + 5
			default:
				return i
			}
		default:
			return i
		}
	}
	return i
}
