package journal

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"hash"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"steward/storage"
)

// The formats of Export.
const (
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
	FormatHTML  = "html"
)

// Export writes the records that the filter chooses, the oldest first. Limit 0
// is no limit here; with a limit it is the newest ones.
//
//   - jsonl: one record a line with its events, each with every field that its
//     hash covers, and a last line "manifest" with the range, the end of the
//     chain and the SHA-256 of all lines before it. VerifyExport checks it alone.
//   - csv: the fields of the list; what a spreadsheet would run as a formula
//     begins with an apostrophe.
//   - html: a page without any reference to elsewhere; odd characters are shown
//     by their number.
func (j *Journal) Export(ctx context.Context, w io.Writer, format string, f Filter) error {
	return j.ExportWith(ctx, w, format, f, nil)
}

// ExportWith is Export that tells, from the same goroutine and about two hundred times, how many of the records have
// been written. progress may be nil.
func (j *Journal) ExportWith(ctx context.Context, w io.Writer, format string, f Filter, progress func(done, of int64)) error {
	out := bufio.NewWriter(w)
	var e exporter
	switch format {
	case FormatJSONL:
		e = newJSONL(j, out, f)
	case FormatCSV:
		e = &csvExport{w: csv.NewWriter(out)}
	case FormatHTML:
		e = &htmlExport{w: out, title: "Journal " + j.store.FolderID(), time: clock(j.now())}
	default:
		return fmt.Errorf("exporting the journal: there is no format %q; use jsonl, csv or html", format)
	}
	err := j.store.Read(ctx, func(s *storage.Snapshot) error { return exportRows(ctx, s, e, f, progress) })
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("exporting the journal as %s: %w", format, err)
	}
	return nil
}

// exporter writes one format.
type exporter interface {
	begin(s *storage.Snapshot) error
	record(s *storage.Snapshot, r storage.Record) error
	end(s *storage.Snapshot) error
}

// exportRows reads the records by their numbers: a list that is read on from where it stopped would be searched anew
// for every part.
func exportRows(ctx context.Context, s *storage.Snapshot, e exporter, f Filter, progress func(done, of int64)) error {
	numbers, err := s.RecordNumbers(f.rows())
	if err != nil {
		return err
	}
	if f.Limit > 0 && len(numbers) > f.Limit {
		numbers = numbers[:f.Limit]
	}
	if err := e.begin(s); err != nil {
		return err
	}
	of, told := int64(len(numbers)), int64(0)
	for i, n := range slices.Backward(numbers) {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := s.Record(n)
		if err == nil {
			err = e.record(s, r)
		}
		if err != nil {
			return err
		}
		if done := of - int64(i); progress != nil && (done-told)*steps >= of {
			told = done
			progress(done, of)
		}
	}
	return e.end(s)
}

// exportedEvent holds every field that the event's hash covers, and the body
// with its nonce, which the body's hash covers.
type exportedEvent struct {
	Seq      int64  `json:"seq"`
	Record   int64  `json:"record"`
	Event    string `json:"event"`
	Time     int64  `json:"time_ns"`
	Mono     int64  `json:"mono_ns"`
	Run      string `json:"run"`
	Meta     string `json:"meta"`
	BodyHash string `json:"body_hash"`
	Nonce    string `json:"nonce,omitempty"`
	Body     string `json:"body,omitempty"`
	Erased   bool   `json:"erased,omitempty"`
	Prev     string `json:"prev"`
	Hash     string `json:"hash"`
}

type exportedRecord struct {
	recordShape
	Events []exportedEvent `json:"events"`
}

// Manifest is the last line of a jsonl export.
type Manifest struct {
	Format    string `json:"format"`
	Program   string `json:"program"`
	Folder    string `json:"folder"`
	Time      string `json:"time"`
	Filter    Filter `json:"filter"`
	Records   int64  `json:"records"`
	Events    int64  `json:"events"`
	Redacted  int64  `json:"redacted"` // events in which a secret was replaced
	First     int64  `json:"first_record"`
	Last      int64  `json:"last_record"`
	HeadEvent int64  `json:"head_event"` // the end of the whole chain
	HeadHash  string `json:"head_hash"`
	SHA256    string `json:"sha256"` // of all lines before, in hex
	Self      string `json:"self"`   // SHA-256 of this line with an empty self
}

// sealed returns the manifest with its own hash.
func (m Manifest) sealed() (Manifest, error) {
	m.Self = ""
	text, err := m.line()
	sum := sha256.Sum256(text)
	m.Self = hex.EncodeToString(sum[:])
	return m, err
}

// line is the manifest as the last line.
func (m Manifest) line() ([]byte, error) {
	text, err := encode(map[string]Manifest{"manifest": m})
	return append(text, '\n'), err
}

// exportFormat names the layout of a jsonl export.
const exportFormat = "steward-journal-export-1"

type jsonlExport struct {
	w        *bufio.Writer
	sum      hash.Hash
	into     io.Writer // w and sum
	manifest Manifest
}

func newJSONL(j *Journal, w *bufio.Writer, f Filter) *jsonlExport {
	sum := sha256.New()
	return &jsonlExport{w: w, sum: sum, into: io.MultiWriter(w, sum), manifest: Manifest{
		Format: exportFormat, Program: j.store.Program(), Folder: j.store.FolderID(), Time: clock(j.now()), Filter: f,
	}}
}

func (x *jsonlExport) begin(s *storage.Snapshot) error {
	head, err := s.Head()
	x.manifest.HeadEvent, x.manifest.HeadHash = head.Seq, hex.EncodeToString(head.Hash)
	return err
}

func (x *jsonlExport) record(s *storage.Snapshot, r storage.Record) error {
	events, err := s.EventsOf(r.N)
	if err != nil {
		return err
	}
	line := exportedRecord{recordShape: recordOf(r).shape(), Events: make([]exportedEvent, 0, len(events))}
	for _, e := range events {
		if m, err := readMeta(e); err == nil && m.Redacted {
			x.manifest.Redacted++
		}
		line.Events = append(line.Events, exported(e))
	}
	text, err := encode(line)
	if err != nil {
		return err
	}
	m := &x.manifest
	if m.First == 0 {
		m.First = r.N
	}
	m.Last = r.N
	m.Records++
	m.Events += int64(len(events))
	_, err = x.into.Write(append(text, '\n'))
	return err
}

func exported(e storage.Event) exportedEvent {
	x := exportedEvent{
		Seq: e.Seq, Record: e.Record, Event: e.Kind, Time: nanos(e.Time), Mono: e.Mono, Run: e.Run, Meta: e.Meta,
		BodyHash: hex.EncodeToString(e.BodyHash), Prev: hex.EncodeToString(e.Prev), Hash: hex.EncodeToString(e.Hash),
	}
	if e.Body != nil {
		x.Nonce, x.Body, x.Erased = hex.EncodeToString(e.Body.Nonce), string(e.Body.Bytes), e.Body.Erased
	}
	return x
}

func (x *jsonlExport) end(*storage.Snapshot) error {
	x.manifest.SHA256 = hex.EncodeToString(x.sum.Sum(nil))
	sealed, err := x.manifest.sealed()
	if err != nil {
		return err
	}
	text, err := sealed.line()
	if err != nil {
		return err
	}
	_, err = x.w.Write(text)
	return err
}

// columns are the list's fields, in its order.
var columns = []string{"record", "kind", "parent", "time", "conversation", "server", "tool", "arguments", "decision", "by", "outcome", "effect", "seconds", "model"}

func cells(r storage.Record) []string {
	s := recordOf(r).shape()
	return []string{
		strconv.FormatInt(s.Record, 10), string(s.Kind), strconv.FormatInt(s.Parent, 10), s.Time, s.Conversation, s.Server, s.Tool,
		s.Arguments, s.Decision, s.By, s.Outcome, s.Effect, strconv.FormatFloat(s.Seconds, 'f', -1, 64), s.Model,
	}
}

type csvExport struct{ w *csv.Writer }

func (x *csvExport) begin(*storage.Snapshot) error { return x.w.Write(columns) }

func (x *csvExport) record(_ *storage.Snapshot, r storage.Record) error {
	row := cells(r)
	for i := range row {
		row[i] = harmless(row[i])
	}
	return x.w.Write(row)
}

func (x *csvExport) end(*storage.Snapshot) error {
	x.w.Flush()
	return x.w.Error()
}

// harmless keeps a spreadsheet from running a cell as a formula (OWASP, CSV
// injection): its first character decides, the full-width forms too.
func harmless(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + cell
	}
	return cell
}

type htmlExport struct {
	w           io.Writer
	title, time string
}

var pageHead = template.Must(template.New("head").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Title}}</title>
<style>
body { font: 14px sans-serif; margin: 1em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #999; padding: .2em .4em; text-align: left; vertical-align: top; }
td { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 40em; }
</style>
</head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Time}}</p>
<table>
<tr>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
`))

var pageRow = template.Must(template.New("row").Parse("<tr>{{range .}}<td><bdi>{{.}}</bdi></td>{{end}}</tr>\n"))

func (x *htmlExport) begin(*storage.Snapshot) error {
	return pageHead.Execute(x.w, struct {
		Title, Time string
		Columns     []string
	}{x.title, x.time, columns})
}

func (x *htmlExport) record(_ *storage.Snapshot, r storage.Record) error {
	row := cells(r)
	for i := range row {
		row[i] = visible(row[i])
	}
	return pageRow.Execute(x.w, row)
}

func (x *htmlExport) end(*storage.Snapshot) error {
	_, err := io.WriteString(x.w, "</table>\n</body>\n</html>\n")
	return err
}

// visible shows by their number the characters that a page would hide or obey:
// controls, and those that turn the direction of the text.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029) {
			fmt.Fprintf(&b, "[U+%04X]", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
