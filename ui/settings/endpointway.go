package settings

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// Examples that are the same in every language.
const (
	proxyForm       = "http://proxy:3128"
	certificateForm = "/etc/ssl/company.pem"
	headerForm      = "X-Team: blue"
)

// reachFields are how an endpoint is reached, where that is not the usual.
type reachFields struct {
	canvas  *fyne.Container
	proxy   *form.Entry
	caFile  *form.Entry
	headers *form.Entry
	first   *form.Entry
	idle    *form.Entry
}

func newReachFields(r app.Reach) *reachFields {
	f := &reachFields{proxy: form.NewEntry(), caFile: form.NewEntry(), headers: form.NewMultiLine(2), first: form.NewEntry(), idle: form.NewEntry()}
	f.headers.EnterBreaks = true
	for entry, values := range map[*form.Entry][2]string{
		f.proxy: {r.Proxy, proxyForm}, f.caFile: {r.CAFile, certificateForm}, f.headers: {headerLines(r.Headers), headerForm},
		f.first: {wholeSeconds(r.FirstToken), "900"}, f.idle: {wholeSeconds(r.Idle), "300"},
	} {
		entry.SetText(values[0])
		entry.SetPlaceHolder(values[1])
	}
	help := func(s string) fyne.CanvasObject {
		return labelled("", wrapped(s, text.Run{Color: theme.Dim}, asking-150-2*theme.Step))
	}
	f.canvas = below(
		labelled(lang.X("settings.proxy", "Proxy"), f.proxy),
		labelled(lang.X("settings.ca_file", "File of further certificates"), f.caFile),
		help(lang.X("settings.reach_help", "Empty takes what Settings, Network says.")),
		labelled(lang.X("settings.headers", "Headers"), f.headers),
		help(lang.X("settings.headers_help", "One a line, as a gateway in front of the model wants them. A value that looks like a key is moved to your secrets when this is saved.")),
		labelled(lang.X("settings.first_token", "Seconds until an answer begins"), f.first),
		labelled(lang.X("settings.idle", "Seconds of silence within an answer"), f.idle),
	)
	return f
}

func (f *reachFields) entries() []*form.Entry {
	return []*form.Entry{f.proxy, f.caFile, f.headers, f.first, f.idle}
}

// reach reads the fields; the error names what in them cannot be read.
func (f *reachFields) reach() (r app.Reach, err error) {
	r.Proxy, r.CAFile = strings.TrimSpace(f.proxy.Text), strings.TrimSpace(f.caFile.Text)
	if r.Headers, err = readHeaders(f.headers.Text); err != nil {
		return r, err
	}
	if r.FirstToken, err = readSeconds(f.first.Text); err != nil {
		return r, err
	}
	r.Idle, err = readSeconds(f.idle.Text)
	return r, err
}

func headerLines(h map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(h)) {
		lines = append(lines, name+": "+h[name])
	}
	return strings.Join(lines, "\n")
}

func readHeaders(typed string) (map[string]string, error) {
	var out map[string]string
	for line := range strings.Lines(typed) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, errors.New(lang.X("settings.bad_header", "“{{.line}}” is no header; write a name, a colon and a value.", map[string]any{"line": clean.Line(line, 40)}))
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

func wholeSeconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strconv.Itoa(int(d / time.Second))
}

func readSeconds(typed string) (time.Duration, error) {
	if typed = strings.TrimSpace(typed); typed == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil || n < 1 || n > 14400 {
		return 0, errors.New(lang.X("settings.bad_seconds", "“{{.text}}” is no number of seconds from 1 to 14400.", map[string]any{"text": clean.Line(typed, 40)}))
	}
	return time.Duration(n) * time.Second, nil
}
