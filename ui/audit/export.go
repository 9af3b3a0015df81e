package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"steward/app"
	"steward/app/journal"
)

// mostNames is how many files of one name an export looks past.
const mostNames = 1000

// export writes what is looked for into a new file of a folder. Nothing that is there is overwritten.
func (p *presenter) export(format, folder string, done func(path string, err error)) {
	f, now := p.filter, p.now()
	p.d.Go(func(ctx context.Context) {
		path, err := writeExport(ctx, p.d.App.Journal(), format, folder, f, now)
		p.d.Do(func() { done(path, err) })
	})
}

// writeExport gives the path of the file it made. After an error there is none.
func writeExport(ctx context.Context, j *journal.Journal, format, folder string, f journal.Filter, now time.Time) (path string, err error) {
	file, err := newFile(folder, "steward-audit-"+now.Format("2006-01-02"), format)
	if err != nil {
		return "", fmt.Errorf("no file for the export can be made in %s: %w", folder, err)
	}
	path = file.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := errors.Join(j.Export(ctx, file, format, f), file.Sync(), file.Close()); err != nil {
		return path, fmt.Errorf("the export to %s failed: %w", path, err)
	}
	if format != journal.FormatJSONL {
		return path, nil
	}
	// What can be proved is proved: the file as it stands on the disk.
	v, err := app.VerifyExport(path)
	if err == nil && !v.OK {
		err = fmt.Errorf("the export to %s does not hold: %s", path, v.Problem)
	}
	return path, err
}

// newFile makes a file that was not there, with a number in its name where need be. Only its owner may read it.
func newFile(folder, name, extension string) (*os.File, error) {
	for n := 1; ; n++ {
		path := filepath.Join(folder, name+"."+extension)
		if n > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d.%s", name, n, extension))
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < mostNames {
			continue
		}
		return file, err
	}
}
