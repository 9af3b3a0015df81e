package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() {
	children["full disk"] = func(dir string) error { return inTmpfs(dir, "size=9m", fullDisk) }
	children["size limit"] = func(dir string) error {
		limit := syscall.Rlimit{Cur: 6 << 20, Max: 6 << 20}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		return sizeLimit(dir)
	}
	children["read-only medium"] = readOnlyMedium
	children["somebody else"] = somebodyElse
}

// inTmpfs mounts a file system of its own over dir, in a mount namespace that
// ends with the process.
func inTmpfs(dir, options string, then func(string) error) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	return then(dir)
}

// fillUp opens a folder and writes until no more goes in.
func fillUp(ctx context.Context, dir string) (*DB, error) {
	db, err := Open(ctx, Options{Dir: dir, OnError: func(error) {}})
	if err != nil {
		return nil, err
	}
	if err := db.Write(ctx, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(conversation("c", "kept")), tx.PutConversation(conversation("d", "to delete")),
			tx.PutMessage(message("d", "d", strings.Repeat("words ", 1000))))
	}); err != nil {
		return nil, err
	}
	fill := func(size int) (int, error) {
		for i := 0; i < 100000; i++ {
			err := db.Write(ctx, func(tx *Tx) error {
				return tx.PutMessage(message(fmt.Sprintf("m%d_%d", size, i), "c", strings.Repeat("x", size)))
			})
			if err != nil {
				return i, err
			}
		}
		return 0, errors.New("the disk never got full")
	}
	saved := 0
	for _, size := range []int{100000, 1000, 1} { // until nothing goes any more
		n, err := fill(size)
		saved += n
		if !errors.Is(err, ErrFull) {
			return nil, fmt.Errorf("a full disk gives %w", err)
		}
	}
	all, err := db.Messages(ctx, "c", 0, -1)
	if err != nil || len(all) != saved {
		return nil, fmt.Errorf("%d messages of %d are there (%w)", len(all), saved, err)
	}
	return db, nil
}

// sizeLimit: no file may grow beyond a size, as on some file systems.
func sizeLimit(dir string) error {
	ctx := context.Background()
	db, err := fillUp(ctx, dir)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	db, err = Open(ctx, Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("opening again: %w", err)
	}
	return errors.Join(db.Check(ctx), db.Close())
}

// fullDisk: deleting works all the same, and saving after it.
func fullDisk(dir string) error {
	ctx := context.Background()
	db, err := fillUp(ctx, dir)
	if err != nil {
		return err
	}
	if err := db.Write(ctx, func(tx *Tx) error { return tx.DeleteConversation("d") }); err != nil {
		return fmt.Errorf("deleting on a full disk: %w", err)
	}
	if _, err := db.Conversation(ctx, "d"); !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("it was not deleted: %w", err)
	}
	if err := db.Write(ctx, func(tx *Tx) error { return tx.DeleteConversation("c") }); err != nil {
		return fmt.Errorf("deleting the large one: %w", err)
	}
	// with space, it goes on by itself
	if err := db.Write(ctx, func(tx *Tx) error { return tx.PutConversation(conversation("e", "after")) }); err != nil {
		return fmt.Errorf("after deleting: %w", err)
	}
	if err := db.Close(); err != nil {
		return err
	}
	db, err = Open(ctx, Options{Dir: dir})
	if err != nil {
		return fmt.Errorf("opening again: %w", err)
	}
	return errors.Join(db.Check(ctx), db.Close())
}

// runChild runs a child to its end, in a mount namespace of its own.
func runChild(t *testing.T, name, dir string, attr *syscall.SysProcAttr) {
	t.Helper()
	cmd := child(t, name, dir)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "skip:"):
		t.Skipf("not possible here: %v %s", err, out)
	case err != nil && !errors.As(err, new(*exec.ExitError)):
		t.Skipf("not possible here: %v", err)
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	runChild(t, "full disk", t.TempDir(), ownMounts())
}

func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	runChild(t, "size limit", t.TempDir(), nil)
}

func TestReadOnlyMedium(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, from := range []string{made(t), killed(t)} {
		into := filepath.Join(dir, filepath.Base(filepath.Dir(from))+filepath.Base(from))
		if err := os.CopyFS(into, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	runChild(t, "read-only medium", dir, ownMounts())
}

// readOnlyMedium makes dir read-only as a whole and reads each folder in it.
func readOnlyMedium(dir string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	return readAndFailToWrite(dir)
}

func readAndFailToWrite(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		db, err := Open(context.Background(), Options{Dir: path, ReadOnly: true})
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		list, err := db.Conversations(context.Background(), ConversationFilter{})
		if err = errors.Join(err, db.Close()); err != nil || len(list) == 0 {
			return fmt.Errorf("reading %s: %d conversations, %w", path, len(list), err)
		}
		if _, err := Open(context.Background(), Options{Dir: path, OnError: func(error) {}}); !errors.Is(err, ErrReadOnly) {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return nil
}

// A folder of somebody else, who lets us read: opened to read, refused to write.
func TestFolderWithoutRights(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs to become somebody else")
	}
	dir, err := os.MkdirTemp("", "steward-rights-") // everyone may enter here
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, from := range []string{made(t), killed(t)} {
		into := filepath.Join(dir, fmt.Sprint(i))
		if err := os.CopyFS(into, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(into)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.Chmod(filepath.Join(into, e.Name()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	runChild(t, "somebody else", dir, nil)
}

func somebodyElse(dir string) error {
	if err := os.Setenv("HOME", "/nonexistent"); err != nil {
		return err
	}
	if err := syscall.Setgid(65534); err != nil {
		return err
	}
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	return readAndFailToWrite(dir)
}
