package language

import (
	"strconv"
	"strings"

	"fyne.io/fyne/v2/lang"

	"steward/app"
)

// CanDo says in a few words what is known of a model, such as "pictures · tools · 128k"; ""
// where nothing is.
func CanDo(m app.ModelInfo) string {
	var out []string
	for _, k := range []struct {
		known   app.Support
		yes, no string
	}{
		{m.Images, lang.X("common.model_images", "pictures"), lang.X("common.model_no_images", "no pictures")},
		{m.Tools, lang.X("common.model_tools", "tools"), lang.X("common.model_no_tools", "no tools")},
		{m.Reasoning, lang.X("common.model_reasons", "reasoning"), ""},
	} {
		switch {
		case k.known == app.Supported:
			out = append(out, k.yes)
		case k.known == app.Unsupported && k.no != "":
			out = append(out, k.no)
		}
	}
	if m.Window > 0 {
		out = append(out, roughly(m.Window))
	}
	return strings.Join(out, " · ")
}

// roughly is a number of tokens as people name context windows.
func roughly(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
	case n >= 1000 && n%8192 == 0: // 131072 is known as 128k, 128000 as well
		return strconv.Itoa(n/1024) + "k"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}
