package servers

import (
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/sentence"
	"steward/ui/theme"
)

// stateWords name a server's state, with the colour of its mark.
func stateWords(s app.ServerStatus, doing string) (string, fyne.ThemeColorName) {
	switch doing {
	case "start", "restart":
		return lang.X("servers.starting", "Starting"), theme.Accent
	case "stop", "disable", "remove":
		return lang.X("servers.stopping", "Stopping"), theme.Accent
	}
	if doing == signingIn || s.SignIn.Waiting {
		return lang.X("servers.signing_in", "Signing in"), theme.Waiting
	}
	if s.SignIn.Needed && s.State != app.ServerDisabled {
		return lang.X("servers.wants_signin", "Wants you to sign in"), theme.Waiting
	}
	switch s.State {
	case "ready":
		if s.Pending > 0 || !s.Reviewed {
			return lang.X("servers.ready", "Ready"), theme.Waiting
		}
		return lang.X("servers.ready", "Ready"), theme.Good
	case "starting":
		return lang.X("servers.starting", "Starting"), theme.Accent
	case "failed":
		return lang.X("servers.failed", "Could not start"), theme.Refusal
	case app.ServerDisabled:
		return lang.X("servers.disabled", "Off"), theme.Dim
	case app.ServerUnreviewed:
		return lang.X("servers.unreviewed", "Not reviewed"), theme.Waiting
	case app.ServerUnusable:
		return lang.X("servers.unusable", "Cannot be used"), theme.Refusal
	case app.ServerIdle:
		return lang.X("servers.idle", "Not started"), theme.Dim
	default:
		return lang.X("servers.stopped", "Stopped"), theme.Dim
	}
}

// secondLine is what the list says of a server below its name.
func secondLine(s app.ServerStatus, doing string, now time.Time) (string, fyne.ThemeColorName) {
	state, colour := stateWords(s, doing)
	if s.SignIn.Needed && s.State == "failed" || s.SignIn.Waiting {
		return strings.Join(nonEmpty(state, s.Transport), " · "), colour
	}
	if doing == "" && s.Error != "" {
		return oneLine(sentence.Lines(s.Error)), theme.Refusal
	}
	if doing == "" && s.State == app.ServerUnusable {
		return oneLine(strings.Join(append([]string{state}, s.Problems...), " · ")), theme.Refusal
	}
	words := []string{state, s.Transport}
	if s.State == "ready" && doing == "" {
		words[0] = "" // how long it has been up says so
	}
	if s.Tools >= 0 {
		words = append(words, counted(s.Tools, lang.X("servers.tool_one", "1 tool"), lang.X("servers.tools_many", "{{.n}} tools", map[string]any{"n": s.Tools})))
	}
	if s.Roots > 0 {
		words = append(words, lang.X("servers.roots_count", "roots {{.n}}", map[string]any{"n": s.Roots}))
	}
	if doing == "" && s.Pending > 0 {
		news := lang.X("servers.pending", "{{.n}} changed — review", map[string]any{"n": s.Pending})
		switch {
		case s.New == s.Pending:
			news = lang.X("servers.pending_new", "{{.n}} new — review", map[string]any{"n": s.New})
		case s.New > 0:
			news = lang.X("servers.pending_both", "{{.n}} new or changed — review", map[string]any{"n": s.Pending})
		}
		words = append(words[1:], news)
		return strings.Join(nonEmpty(words...), " · "), theme.Waiting
	}
	if doing == "" && s.State == app.ServerUnreviewed {
		return strings.Join(nonEmpty(words[1], lang.X("servers.pending_whole", "not reviewed yet — review")), " · "), theme.Waiting
	}
	if s.Latency > 0 {
		words = append(words, lang.X("servers.latency", "{{.n}} ms", map[string]any{"n": max(s.Latency.Milliseconds(), 1)}))
	}
	if s.State == "ready" && !s.Since.IsZero() {
		words = append(words, lang.X("servers.up", "up {{.time}}", map[string]any{"time": span(now.Sub(s.Since))}))
	}
	return strings.Join(nonEmpty(words...), " · "), theme.Dim
}

func counted(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// span is a length of time in its largest unit.
func span(d time.Duration) string {
	data := func(n float64) map[string]any { return map[string]any{"n": int(n)} }
	switch {
	case d < time.Minute:
		return lang.X("servers.seconds", "{{.n}} s", data(max(d.Seconds(), 0)))
	case d < time.Hour:
		return lang.X("servers.minutes", "{{.n}} min", data(d.Minutes()))
	case d < 48*time.Hour:
		return lang.X("servers.hours", "{{.n}} h", data(d.Hours()))
	default:
		return lang.X("servers.days", "{{.n}} d", data(d.Hours()/24))
	}
}

func permissionWords(p string) string {
	switch p {
	case app.PermissionAllow:
		return lang.X("servers.always_allow", "Always allow")
	case app.PermissionDeny:
		return lang.X("servers.never", "Never")
	default:
		return lang.X("servers.ask_every_time", "Ask every time")
	}
}

// permissionMeaning says in a sentence what a permission does.
func permissionMeaning(p string) string {
	switch p {
	case app.PermissionAllow:
		return lang.X("servers.always_allow_means", "Runs at once, with any arguments, in every conversation. Each call still stands in the audit. It ends when the definition changes.")
	case app.PermissionDeny:
		return lang.X("servers.never_means", "Is refused without asking you. The model is told so.")
	default:
		return lang.X("servers.ask_means", "You see each call, and nothing runs before you say yes.")
	}
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 2, 64) }

func recordNumber(n int64) string { return strconv.FormatInt(n, 10) }

func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

func clockShort(t time.Time) string { return t.Local().Format("15:04:05") }

func oneLine(s string) string { return clean.Line(s, 400) }

// size is a number of bytes as a person reads it.
func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	default:
		return strconv.FormatFloat(float64(n)/1000_000, 'f', 1, 64) + " MB"
	}
}

// grantWords say what a standing yes covers.
func grantWords(g app.Grant) string {
	words := lang.X("servers.grant_always", "Allowed by you in every chat")
	if g.Conversation != "" {
		words = lang.X("servers.grant_chat", "Allowed by you in the chat “{{.title}}”", map[string]any{"title": clean.Line(g.Title, 80)})
	}
	if g.Suspended {
		words += " · " + lang.X("servers.grant_suspended", "suspended, because the definition changed")
	}
	return words
}
