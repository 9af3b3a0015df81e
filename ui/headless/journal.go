package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"steward/app"
	"steward/app/clean"
	"steward/app/journal"
)

// journal reads the record; the folder is opened read-only, also while somebody writes.
func (r *run) journal(ctx context.Context) (code int, err error) {
	filter, err := r.filter()
	if err != nil {
		return exitUsage, err
	}
	number := int64(0)
	if r.sub == "show" {
		number, err = strconv.ParseInt(r.args[0], 10, 64)
		if err != nil || number < 1 {
			return exitUsage, usagef("%q is not the number of a record; steward journal list shows them", r.args[0])
		}
	}
	if r.exported != "" {
		return r.verifyExport()
	}
	reader, err := app.OpenReader(ctx, r.options(), r.sub == "verify")
	if folderEmpty(err) {
		return r.nothingStored(err)
	}
	if err != nil {
		return exitFailed, err
	}
	code, err = r.read(ctx, reader, filter, number)
	err = errors.Join(err, reader.Close(ctx))
	if r.acknowledge && code == exitFailed && err == nil {
		return r.goOn(ctx)
	}
	return code, err
}

func (r *run) read(ctx context.Context, reader *app.Reader, filter journal.Filter, number int64) (int, error) {
	j := reader.Journal()
	switch r.sub {
	case "list":
		return exitOK, r.listRecords(ctx, j, filter)
	case "show":
		return exitOK, r.showRecord(ctx, reader, number)
	case "verify":
		return r.verify(ctx, j)
	default:
		return exitOK, r.export(ctx, j, filter)
	}
}

// nothingStored answers for a folder in which nothing was ever written.
func (r *run) nothingStored(err error) (int, error) {
	switch r.sub {
	case "list":
		if r.json {
			return exitOK, writeJSON(r.Out, []journal.Record{})
		}
		fmt.Fprintln(r.Err, "steward: "+sentence(err))
		return exitOK, nil
	case "export":
		if r.output == "" && r.format == "jsonl" {
			fmt.Fprintln(r.Err, "steward: "+sentence(err))
			return exitOK, nil
		}
	}
	return exitFailed, err
}

func (r *run) filter() (journal.Filter, error) {
	since, err := parseTime("since", r.since)
	if err != nil {
		return journal.Filter{}, err
	}
	until, err := parseTime("until", r.until)
	if err != nil {
		return journal.Filter{}, err
	}
	limit := r.limit
	if r.sub == "export" && !r.limitGiven {
		limit = -1 // an export is whole unless said otherwise
	}
	return journal.Filter{
		Kind: r.kind, Server: r.server, Tool: r.tool, Outcome: r.outcome, Conversation: r.conversation, Search: r.search,
		Since: since, Until: until, Limit: limit, After: r.after,
	}, nil
}

func (r *run) listRecords(ctx context.Context, j *journal.Journal, f journal.Filter) error {
	shown := f.Limit
	if f.Limit > 0 {
		f.Limit++ // to see whether there are more
	}
	records, err := j.List(ctx, f)
	if err != nil {
		return err
	}
	if shown > 0 && len(records) > shown {
		records = records[:shown]
		defer fmt.Fprintf(r.Err, "These are the newest %d; there are more. The next: --after %d; or give a larger --limit.\n", shown, records[shown-1].Record)
	}
	if r.json {
		if records == nil {
			records = []journal.Record{}
		}
		return writeJSON(r.Out, records)
	}
	return table(r.Out, []string{"RECORD", "TIME", "KIND", "SERVER", "TOOL", "DECISION", "BY", "OUTCOME", "EFFECT", "SECONDS", "ARGUMENTS"}, len(records), func(i int) []string {
		rec := records[i]
		return []string{
			strconv.FormatInt(rec.Record, 10), rec.Time.Local().Format("2006-01-02 15:04:05"), string(rec.Kind), clean.Reveal(rec.Server), clean.Reveal(rec.Tool),
			rec.Decision, clean.Line(rec.By, 40), rec.Outcome, rec.Effect, fmt.Sprintf("%.3f", rec.Seconds), clean.Line(clean.Reveal(rec.Arguments), 80),
		}
	})
}

func (r *run) showRecord(ctx context.Context, reader *app.Reader, n int64) error {
	d, err := reader.Journal().Show(ctx, n)
	if err != nil {
		return err
	}
	whole, err := reader.WholeResult(ctx, d)
	if err != nil {
		return fmt.Errorf("the whole result of record %d cannot be read: %w", n, err)
	}
	if r.json {
		return writeJSON(r.Out, wholeRecord{d, whole})
	}
	text, err := recordText(d)
	if err != nil {
		return fmt.Errorf("record %d cannot be shown: %w", n, err)
	}
	text += wholeText(whole)
	_, err = io.WriteString(r.Out, text)
	return err
}

// verify prints the first bad record on stdout; what could not be checked goes to stderr.
func (r *run) verify(ctx context.Context, j *journal.Journal) (int, error) {
	v, err := j.Verify(ctx)
	if err != nil {
		return exitFailed, err
	}
	if v.Notice != "" {
		fmt.Fprintln(r.Err, "Notice: "+clean.Clean(v.Notice))
	}
	return r.tellVerdict(v, fmt.Sprintf("The journal holds: %d events, anchor checked against %s.", v.Events, anchorWords(v.AnchorChecked)))
}

func (r *run) tellVerdict(v journal.Verification, holds string) (code int, err error) {
	switch {
	case r.json:
		err = writeJSON(r.Out, verdict{v.OK, v.Events, v.BadRecord, v.BadEvent, v.Problem, v.AnchorChecked, v.Notice})
	case v.OK:
		_, err = fmt.Fprintln(r.Out, holds)
	default:
		_, err = fmt.Fprintln(r.Out, badRecord(v))
	}
	if !v.OK {
		code = exitFailed
	}
	return code, err
}

// badRecord names the first bad record and event, each once; what is wrong with the whole
// names none.
func badRecord(v journal.Verification) string {
	problem := clean.Clean(v.Problem)
	if v.BadRecord == 0 && v.BadEvent == 0 {
		return "The journal does not hold: " + problem
	}
	where := fmt.Sprintf("event %d (record %d): ", v.BadEvent, v.BadRecord)
	return fmt.Sprintf("record %d, event %d: %s", v.BadRecord, v.BadEvent, strings.Replace(problem, where, "", 1))
}

func (r *run) verifyExport() (int, error) {
	v, err := app.VerifyExport(r.exported)
	if err != nil {
		return exitFailed, err
	}
	return r.tellVerdict(v, fmt.Sprintf("The export holds: %d events. Whether it is the whole journal, only a head_hash that was kept elsewhere can tell.", v.Events))
}

// goOn lets a journal go on that was just shown not to hold. The flag is the person's yes;
// at a terminal they are asked once more.
func (r *run) goOn(ctx context.Context) (int, error) {
	t, err := openTerminal(r.In, r.Err, asking{})
	if err == nil {
		yes, err := t.confirm(ctx, "What is wrong stays in the record; Steward records from here on again, and replaces the copies of the journal's end, which show what happened. If you may need them as evidence, copy the data folder first.")
		t.close()
		if err != nil || !yes {
			fmt.Fprintln(r.Err, "Nothing was changed.")
			return exitFailed, nil
		}
	}
	problem, err := app.Acknowledge(ctx, r.options())
	switch {
	case err != nil:
		return exitFailed, err
	case problem == "":
		fmt.Fprintln(r.Err, "There was nothing to acknowledge: what was found lies further back than Steward looks when it starts, so it records as before.")
	default:
		fmt.Fprintln(r.Err, "Acknowledged: what was found is recorded, and Steward records again. journal verify goes on naming what is wrong in the chain itself.")
	}
	return exitOK, nil
}

type verdict struct {
	OK        bool   `json:"ok"`
	Events    int64  `json:"events"`
	BadRecord int64  `json:"bad_record"`
	BadEvent  int64  `json:"bad_event"`
	Problem   string `json:"problem"`
	Anchor    string `json:"anchor"`
	Notice    string `json:"notice"`
}

func anchorWords(checked string) string {
	switch checked {
	case "keyring+file":
		return "the keyring and the side file"
	case "file":
		return "the side file alone"
	}
	return "nothing"
}

// export writes to stdout or to a new file that only the person can read; an existing
// file is never overwritten, and a failed export leaves none behind.
func (r *run) export(ctx context.Context, j *journal.Journal, f journal.Filter) error {
	if r.output == "" {
		return j.Export(ctx, r.Out, r.format, f)
	}
	if _, err := os.Lstat(r.output); err == nil {
		return fmt.Errorf("%s exists already and is not overwritten; name another file", r.output)
	}
	file, err := os.CreateTemp(filepath.Dir(r.output), ".steward-export-*") // mode 0600
	if err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	err = j.Export(ctx, file, r.format, f)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Link(file.Name(), r.output) // unlike a rename, never replaces a file
	}
	return errors.Join(err, os.Remove(file.Name()))
}
