package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"steward/app"
	"steward/app/journal"
)

// export is a file that is being written.
type export struct {
	running  bool
	checking bool // it is written, and now read back
	part     float64
	cancel   context.CancelFunc
}

// export writes what is looked for into a file. What is there under its name is replaced once everything is written and
// checked, and not before.
func (p *presenter) export(format, path string, done func(err error)) {
	if p.writing.running {
		return
	}
	p.writing = export{running: true}
	p.on.exported()
	f := p.filter
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.d.Do(func() { p.writing.cancel = cancel })
		err := writeExport(ctx, p.d.App.Journal(), format, path, f, func(part float64, checking bool) {
			p.d.Do(func() {
				if p.writing.running {
					p.writing.part, p.writing.checking = part, checking
					p.on.exported()
				}
			})
		})
		if err != nil && ctx.Err() != nil {
			err = errStopped
		}
		p.d.Do(func() {
			p.writing = export{}
			p.on.exported()
			done(err)
		})
	})
}

// stopExport ends an export that is being written; nothing of it is left.
func (p *presenter) stopExport() {
	if p.writing.cancel != nil {
		p.writing.cancel()
	}
}

// errStopped says that the person ended something.
var errStopped = errors.New("it was stopped")

// exportName is the name that an export is offered under.
func exportName(format string, now time.Time) string {
	return "steward-audit-" + now.Format("2006-01-02") + "." + format
}

// writeExport writes beside path first. Only the file's owner may read it.
func writeExport(ctx context.Context, j *journal.Journal, format, path string, f journal.Filter, progress func(part float64, checking bool)) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".steward-export-*")
	if err != nil {
		return fmt.Errorf("no file for the export can be made in %s: %w", filepath.Dir(path), err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	told := func(done, of int64) { progress(float64(done)/float64(max(of, 1)), false) }
	if err := errors.Join(j.ExportWith(ctx, file, format, f, told), file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("the export to %s failed: %w", path, err)
	}
	if format == journal.FormatJSONL {
		// What can be proved is proved: the file as it stands on the disk.
		progress(1, true)
		v, err := app.VerifyExport(file.Name())
		if err == nil && !v.OK {
			err = fmt.Errorf("the export to %s does not hold: %s", path, v.Problem)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(ctx.Err(), os.Rename(file.Name(), path)); err != nil {
		return fmt.Errorf("the export cannot be put in its place, %s: %w", path, err)
	}
	return nil
}
