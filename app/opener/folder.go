package opener

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"steward/app/clean"
)

// OpenFolder shows a folder of this computer in the system's file manager. It refuses everything that is not a folder:
// the same programs would run or open a file. Call it only when the person asked for it, with a path of the program's
// own; it returns as [Open] does.
func OpenFolder(ctx context.Context, path string) error { return Opener{}.OpenFolder(ctx, path) }

// OpenFolder is [OpenFolder], through o.Start.
func (o Opener) OpenFolder(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("the folder %s is not opened: it is not named from the root on", clean.Reveal(path))
	case err != nil:
		return fmt.Errorf("the folder %s cannot be opened: %w", clean.Reveal(path), err)
	case !info.IsDir():
		return fmt.Errorf("%s is not opened: it is no folder", clean.Reveal(path))
	}
	name, args := folderCommand(runtime.GOOS, path)
	if err := o.run(ctx, name, args); err != nil {
		return fmt.Errorf("the file manager could not be opened with %s: %w; open %s yourself", name, err, clean.Reveal(path))
	}
	return nil
}

// folderCommand is how each system shows a folder.
func folderCommand(system, path string) (string, []string) {
	if system == "darwin" {
		return "open", []string{"-R", path} // shows it in the one above: a folder named like a program would be run
	}
	return command(system, path)
}
