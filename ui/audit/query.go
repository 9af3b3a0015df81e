package audit

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"steward/app/journal"
)

// Words of a query that choose by a field: server:NAME, outcome:denied, …
const (
	wordServer   = "server"
	wordTool     = "tool"
	wordDecision = "decision"
	wordOutcome  = "outcome"
	wordKind     = "kind"
	wordSince    = "since"
	wordUntil    = "until"
)

const dayForm = "2006-01-02"

// Years of a day: beyond them a time in nanoseconds, as the record is stored, means another one.
const (
	firstYear = 1970
	lastYear  = 2200
)

// outcomes are the words of a record's state, in the order of the menu.
var outcomes = []string{
	journal.Waiting, journal.Running, journal.OK, journal.ToolError, journal.ProtocolError, journal.Denied, journal.Expired,
	journal.Withdrawn, journal.Cancelled, journal.Timeout, journal.Unknown,
}

var decisions = []string{journal.Allowed, journal.Denied, journal.Expired, journal.Withdrawn}

var kinds = []journal.Kind{
	journal.KindCall, journal.KindElicitation, journal.KindSampling, journal.KindModel, journal.KindResource, journal.KindPrompt,
	journal.KindServer, journal.KindDefinition, journal.KindGrant, journal.KindSettings,
}

// part is one word of a query. Without a key it is text to look for.
type part struct {
	key, value string
	from, to   int // where it stands, in bytes
}

// fault is a word that cannot be used.
type fault struct{ key, value string }

// split takes a query apart. Quotes keep words together, straight ones as well as those that keyboards make of them.
func split(query string) []part {
	var parts []part
	for at := 0; at < len(query); {
		if r, size := utf8.DecodeRuneInString(query[at:]); unicode.IsSpace(r) {
			at += size
			continue
		}
		p := part{from: at}
		p.key, p.value, p.to = word(query, at)
		parts = append(parts, p)
		at = p.to
	}
	return parts
}

// word reads one word from at on.
func word(query string, at int) (key, value string, end int) {
	var b strings.Builder
	quoted, first := false, true
	for i, r := range query[at:] {
		switch {
		case strings.ContainsRune(`"“”„`, r):
			quoted = !quoted
		case unicode.IsSpace(r) && !quoted:
			return key, b.String(), at + i
		case r == ':' && first && !quoted && isKey(b.String()):
			key, first = strings.ToLower(b.String()), false
			b.Reset()
			continue
		default:
			b.WriteRune(r)
		}
		if quoted && key == "" && b.Len() == 0 {
			first = false // a quoted word is text even where it holds a colon
		}
	}
	return key, b.String(), len(query)
}

func isKey(s string) bool {
	return slices.Contains([]string{wordServer, wordTool, wordDecision, wordOutcome, wordKind, wordSince, wordUntil}, strings.ToLower(s))
}

// parse turns a query into what the journal is asked for. Days are those of zone. Words that cannot be used are told
// and choose nothing.
func parse(query string, zone *time.Location) (f journal.Filter, faults []fault) {
	var search []string
	for _, p := range split(query) {
		ok := true
		switch p.key {
		case "":
			if p.value != "" {
				search = append(search, p.value)
			}
		case wordServer:
			f.Server = p.value
		case wordTool:
			f.Tool = p.value
		case wordDecision:
			f.Decision = strings.ToLower(p.value)
			if ok = slices.Contains(decisions, f.Decision); !ok {
				f.Decision = ""
			}
		case wordOutcome:
			f.Outcome = strings.ReplaceAll(strings.ToLower(p.value), "-", "_")
			if ok = slices.Contains(outcomes, f.Outcome); !ok {
				f.Outcome = ""
			}
		case wordKind:
			f.Kind = strings.ToLower(p.value)
			if ok = slices.Contains(kinds, journal.Kind(f.Kind)); !ok {
				f.Kind = ""
			}
		case wordSince:
			f.Since, ok = day(p.value, zone)
		case wordUntil:
			if f.Until, ok = day(p.value, zone); ok {
				f.Until = f.Until.AddDate(0, 0, 1) // the day is included
			}
		}
		if !ok && p.value != "" {
			faults = append(faults, fault{p.key, p.value})
		}
	}
	f.Search = strings.Join(search, " ")
	return f, faults
}

func day(s string, zone *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(dayForm, s, zone)
	return t, err == nil && t.Year() >= firstYear && t.Year() <= lastYear
}

// with is the query with the word key set to value, in the place where it stood; an empty value takes it out.
func with(query, key, value string) string {
	set := ""
	if value != "" {
		set = key + ":" + quote(value)
	}
	var out []string
	done := false
	for _, p := range split(query) {
		switch {
		case p.key != key:
			out = append(out, query[p.from:p.to])
		case !done && set != "":
			out, done = append(out, set), true
		}
	}
	if !done && set != "" {
		out = append([]string{set}, out...)
	}
	return strings.Join(out, " ")
}

func quote(s string) string {
	if strings.ContainsFunc(s, unicode.IsSpace) {
		return `"` + s + `"`
	}
	return s
}

// value is what a query says for a key, "" where it says nothing.
func value(query, key string) string {
	v := ""
	for _, p := range split(query) {
		if p.key == key {
			v = p.value
		}
	}
	return v
}

// period is how far back the table reaches.
type period int

const (
	always period = iota
	today
	week
	month
)

var periods = []period{always, today, week, month}

// since is where a period begins; the zero time where it does not.
func (p period) since(now time.Time) time.Time {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch p {
	case today:
		return midnight
	case week:
		return midnight.AddDate(0, 0, -6)
	case month:
		return midnight.AddDate(0, 0, -29)
	}
	return time.Time{}
}
