//go:build !windows

package secrets

import (
	"errors"
	"os"
)

const posix = true

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
