package mcphost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // read by image.DecodeConfig
	_ "image/png"  // read by image.DecodeConfig
	"net/url"
	"strings"

	_ "golang.org/x/image/webp" // read by image.DecodeConfig
)

// Limits of an icon.
const (
	MaxIconBytes  = 256 << 10  // of one icon, decoded
	MaxIconPixels = 20_000_000 // that it may have, by its own claim
	maxIcons      = 16         // looked at in one entry
)

// Icon is a small picture that a server gives for one of its offers (MCP
// 2025-11-25, icons). It stood in the offer itself: nothing is ever fetched for
// one. Data is a PNG, JPEG or WebP picture by its own first bytes, whatever the
// server says it is, and small enough to be decoded.
type Icon struct {
	MIMEType string
	Data     []byte
	Theme    string // "light" or "dark": the ground it is made for; "" for any
}

// Icon returns the first icon of the tool that can be shown, preferring one for
// any ground; false if it has none. It is decoded anew each time.
func (t Tool) Icon() (Icon, bool) {
	m, _ := fields(t.Raw)
	return firstIcon(m["icons"])
}

// firstIcon reads a list of icons.
func firstIcon(raw json.RawMessage) (Icon, bool) {
	all, _ := array(raw)
	var found *Icon
	for _, entry := range all[:min(len(all), maxIcons)] {
		m, _ := fields(entry)
		data, err := iconData(str(m["src"]))
		if err != nil {
			continue // an icon is an ornament: its faults are told where the list was read
		}
		kind, err := iconKind(data)
		if err != nil {
			continue
		}
		icon := Icon{MIMEType: kind, Data: data}
		if theme := str(m["theme"]); theme == "light" || theme == "dark" {
			icon.Theme = theme
		}
		if icon.Theme == "" {
			return icon, true
		}
		if found == nil {
			found = &icon
		}
	}
	if found == nil {
		return Icon{}, false
	}
	return *found, true
}

var errFetched = errors.New("it would have to be fetched, which is never done")

// iconData reads a data: URI (RFC 2397).
func iconData(src string) ([]byte, error) {
	rest, ok := cutPrefixFold(src, "data:")
	if !ok {
		return nil, errFetched
	}
	about, encoded, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, errors.New("its address is no data: URI")
	}
	if len(encoded) > 4*MaxIconBytes {
		return nil, fmt.Errorf("it is larger than %d KiB", MaxIconBytes>>10)
	}
	plain, err := url.PathUnescape(encoded)
	if err != nil {
		return nil, errors.New("its data: URI is broken")
	}
	data := []byte(plain)
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(about)), ";base64") {
		if data, err = decode(plain); err != nil {
			return nil, errors.New("its data is not base64")
		}
	}
	if len(data) > MaxIconBytes {
		return nil, fmt.Errorf("it is larger than %d KiB", MaxIconBytes>>10)
	}
	return data, nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// iconKind tells a picture by its first bytes, and refuses one that claims more
// pixels than are decoded.
func iconKind(data []byte) (kind string, err error) {
	defer func() {
		if recover() != nil { // a decoder that fails on odd bytes must not end more than this icon
			kind, err = "", errors.New("it is no picture that can be read")
		}
	}()
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil || format != "png" && format != "jpeg" && format != "webp":
		return "", errors.New("it is no PNG, JPEG or WebP picture")
	case config.Width <= 0 || config.Height <= 0 || int64(config.Width)*int64(config.Height) > MaxIconPixels:
		return "", fmt.Errorf("it claims %d × %d pixels; at most %d are decoded", config.Width, config.Height, MaxIconPixels)
	}
	return "image/" + format, nil
}

// oddIcons says why none of an entry's icons can be shown; "" where one can, or
// where all would have to be fetched, which is no fault of theirs.
func oddIcons(raw json.RawMessage) string {
	all, _ := array(raw)
	if _, ok := firstIcon(raw); ok || len(all) == 0 {
		return ""
	}
	for _, entry := range all[:min(len(all), maxIcons)] {
		m, ok := fields(entry)
		if !ok || str(m["src"]) == "" {
			return "an icon has no address and is not shown"
		}
		data, err := iconData(str(m["src"]))
		if err == nil {
			_, err = iconKind(data)
		}
		if err != nil && !errors.Is(err, errFetched) {
			return "its icon is not shown: " + err.Error()
		}
	}
	return ""
}
