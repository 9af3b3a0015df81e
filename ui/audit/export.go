package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"steward/app/journal"
)

// export is a file that is being written.
type export struct {
	running  bool
	checking bool // it is written, and now read back
	part     float64
	cancel   context.CancelFunc
}

// export writes what is looked for into a new file of a folder, which is there under its name once everything is written and
// checked, and not before. done gets its path.
func (p *presenter) export(format, dir string, done func(path string, err error)) {
	if p.writing.running {
		return
	}
	p.writing = export{running: true}
	p.on.exported()
	f, name := p.filter, exportName(format, p.now())
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.d.Do(func() { p.writing.cancel = cancel })
		path, err := writeExport(ctx, p.d.App.Journal(), format, dir, name, f, func(part float64, checking bool) {
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
			done(path, err)
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

// exportName is the name that an export gets.
func exportName(format string, now time.Time) string {
	return "steward-audit-" + now.Format("2006-01-02") + "." + format
}

// writeExport writes into a file without a name of its own first. Only the file's owner may read it. The path is that of
// the finished export.
func writeExport(ctx context.Context, j *journal.Journal, format, dir, name string, f journal.Filter, progress func(part float64, checking bool)) (path string, err error) {
	file, err := os.CreateTemp(dir, ".steward-export-*")
	if err != nil {
		return "", fmt.Errorf("no file for the export can be made in %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	told := func(done, of int64) { progress(float64(done)/float64(max(of, 1)), false) }
	if err := errors.Join(j.ExportWith(ctx, file, format, f, told), file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("the export to %s failed: %w", dir, err)
	}
	if format == journal.FormatJSONL {
		// What can be proved is proved: the file as it stands on the disk.
		if err := readBack(ctx, file.Name(), progress); err != nil {
			return "", fmt.Errorf("the export to %s: %w", dir, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if path, err = give(file.Name(), dir, name); err != nil {
		return "", fmt.Errorf("the export cannot be put in its place in %s: %w", dir, err)
	}
	return path, nil
}

// most exports of one day in one folder.
const most = 1000

// give gives a file its name, with a number in it where there is one of that name already: nothing is replaced.
func give(file, dir, name string) (path string, err error) {
	ending := filepath.Ext(name)
	for n := 1; n <= most; n++ {
		path = filepath.Join(dir, name)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ending), n, ending))
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, os.Rename(file, path)
		}
	}
	return "", fmt.Errorf("there are %d exports of this day already", most)
}

// readBack checks an export as it stands on the disk.
func readBack(ctx context.Context, path string, progress func(part float64, checking bool)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	v, err := journal.VerifyExport(&watched{ctx: ctx, from: file, of: info.Size(), progress: func(part float64) { progress(part, true) }})
	if err == nil && !v.OK {
		err = fmt.Errorf("it does not hold: %s", v.Problem)
	}
	return err
}

// watched is a reader that tells how far it is, a hundred times at most, and ends with ctx.
type watched struct {
	ctx            context.Context
	from           io.Reader
	done, told, of int64
	progress       func(part float64)
}

// Read is io.Reader's.
func (w *watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.from.Read(p)
	if w.done += int64(n); (w.done-w.told)*100 >= w.of {
		w.told = w.done
		w.progress(float64(w.done) / float64(max(w.of, 1)))
	}
	return n, err
}
