//go:build linux

package secrets

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const phrase = "correct horse"

// fileStore opens the encrypted file in dir.
func fileStore(t *testing.T, dir string) *Store {
	t.Helper()
	s := Open(Options{Dir: dir, FolderID: func() string { return "f" }})
	t.Cleanup(s.Close)
	if err := s.UseFile(t.Context(), NewSecret(phrase)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := fileStore(t, dir)
	wantState(t, s.State(t.Context()), KindFile, "encrypted file")
	exercise(t, s)
	exerciseAnchor(t, s)

	again := Open(Options{Dir: dir})
	defer again.Close()
	wantState(t, again.State(t.Context()), KindLocked, "passphrase")
	if _, err := again.Get(t.Context(), "odd"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("before the passphrase: %v", err)
	}
	wantState(t, again.Unlock(t.Context()), KindLocked, "passphrase")
	if err := again.UseFile(t.Context(), NewSecret("wrong horse")); !errors.Is(err, ErrPassphrase) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if err := again.UseFile(t.Context(), NewSecret(phrase)); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Get(t.Context(), "odd"); err != nil || got.Reveal() != values["odd"] {
		t.Errorf("after it: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range values {
			if bytes.Contains(data, []byte(value)) || bytes.Contains(data, []byte(phrase)) {
				t.Errorf("%s holds the value of %s or the passphrase", e.Name(), name)
			}
		}
	}
}

func TestNewPassphrase(t *testing.T) {
	t.Parallel()
	s := Open(Options{Dir: t.TempDir()})
	defer s.Close()
	for _, p := range []string{"", "short"} {
		if err := s.UseFile(t.Context(), NewSecret(p)); err == nil || !strings.Contains(err.Error(), "at least") {
			t.Errorf("passphrase %q: %v", p, err)
		}
	}
	if left, err := os.ReadDir(s.o.Dir); err != nil || len(left) > 0 {
		t.Errorf("files appeared: %v, %v", left, err)
	}
	nowhere := Open(Options{})
	defer nowhere.Close()
	if err := nowhere.UseFile(t.Context(), NewSecret(phrase)); !errors.Is(err, ErrUnavailable) {
		t.Errorf("without a folder: %v", err)
	}
}

// TestFileThatWasChanged spoils the file in many ways; each is noticed, and
// the file stays as it is.
func TestFileThatWasChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := fileStore(t, dir)
	for _, name := range []string{"a", "b"} {
		if err := s.Set(t.Context(), name, NewSecret("value of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, fileName)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(path + backupSuffix)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(change func(*document)) []byte {
		var d document
		if err := json.Unmarshal(sound, &d); err != nil {
			t.Fatal(err)
		}
		change(&d)
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var old document
	if err := json.Unmarshal(older, &old); err != nil {
		t.Fatal(err)
	}
	const a, b = "secret/a", "secret/b"
	key := hex.EncodeToString(s.current.(*file).doc.KDF.key(phrase))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"truncated":    {sound[:len(sound)/2], "damaged"},
		"empty":        {nil, "damaged"},
		"zeros":        {make([]byte, 100), "damaged"},
		"newer":        {edit(func(d *document) { d.Version = 2 }), "newer"},
		"weak":         {edit(func(d *document) { d.KDF.MemoryKiB = 8 }), "does not accept"},
		"huge":         {edit(func(d *document) { d.KDF.MemoryKiB = 1 << 31 }), "does not accept"},
		"other kdf":    {edit(func(d *document) { d.KDF.Name = "none" }), "does not accept"},
		"more passes":  {edit(func(d *document) { d.KDF.Time = 4 }), ErrPassphrase.Error()},
		"swapped":      {edit(func(d *document) { d.Slots[a], d.Slots[b] = d.Slots[b], d.Slots[a] }), ErrPassphrase.Error()},
		"removed":      {edit(func(d *document) { delete(d.Slots, b) }), ErrPassphrase.Error()},
		"put back":     {edit(func(d *document) { d.Slots[a] = seal(s.current.(*file).aead, []byte("x"), slotData(a)) }), ErrPassphrase.Error()},
		"one bit":      {edit(func(d *document) { d.Slots[a].Data[0] ^= 1 }), ErrPassphrase.Error()},
		"short nonce":  {edit(func(d *document) { d.Seal.Nonce = nil }), ErrPassphrase.Error()},
		"older seal":   {edit(func(d *document) { d.Seal = old.Seal }), ErrPassphrase.Error()},
		"another salt": {edit(func(d *document) { d.KDF.Salt[0] ^= 1 }), ErrPassphrase.Error()},
	} {
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openWithKey(dir, key)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, c.data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if err := os.WriteFile(path, sound[:len(sound)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Open(Options{Dir: dir}).UseFile(t.Context(), NewSecret(phrase)); err == nil || !strings.Contains(err.Error(), path+backupSuffix) {
		t.Errorf("a damaged file: %v", err)
	}
	// A slot that was exchanged under an open store is noticed when it is read.
	f := s.current.(*file)
	f.doc.Slots[a], f.doc.Slots[b] = f.doc.Slots[b], f.doc.Slots[a]
	if got, err := s.Get(t.Context(), "a"); err == nil {
		t.Errorf("an exchanged slot gives %q", got.Reveal())
	}
}

func TestGuessingIsSlow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fileStore(t, dir)
	now := time.Unix(0, 0)
	var mu sync.Mutex
	s := Open(Options{Dir: dir, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	defer s.Close()
	try := func(p string) error { return s.UseFile(t.Context(), NewSecret(p)) }
	for range freeMisses {
		if err := try("wrong"); !errors.Is(err, ErrPassphrase) {
			t.Errorf("a wrong passphrase: %v", err)
		}
	}
	if err := try(phrase); err == nil || !strings.Contains(err.Error(), "wait 2 seconds") && !strings.Contains(err.Error(), "wait 1 second") {
		t.Errorf("a further try at once: %v", err)
	}
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	if err := try(phrase); err != nil {
		t.Errorf("after waiting: %v", err)
	}
}

func TestPermissionsAreMended(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fileStore(t, dir)
	path := filepath.Join(dir, fileName)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s := fileStore(t, dir)
	wantState(t, s.State(t.Context()), KindFile, "Other users could read")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestDeletedSecretLeavesNoCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := fileStore(t, dir)
	if err := s.Set(t.Context(), "a", NewSecret("value")); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("after deleting: %v, %v", entries, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil || bytes.Contains(data, []byte("secret/a")) {
		t.Errorf("the slot is still there, %v", err)
	}
}

// helpers are what this test program does when it is started as another process.
var helpers = map[string]func(){
	"save": helperSave,
	"full": helperFull,
	"mask": helperMask,
}

// helper starts this test program as another process.
func helper(t *testing.T, name, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "STEWARD_TEST_HELPER="+name, "STEWARD_TEST_DIR="+dir)...)
	return cmd
}

// openWithKey opens the file without the time that a passphrase takes.
func openWithKey(dir, key string) (*file, error) {
	path := filepath.Join(dir, fileName)
	raw, err := hex.DecodeString(key)
	if err != nil {
		return nil, err
	}
	data, _, err := read(path)
	if err != nil {
		return nil, err
	}
	doc, err := decode(path, data)
	if err != nil {
		return nil, err
	}
	return verified(path, doc, raw)
}

// helperSave stores rising numbers until it is killed, and says each that is
// stored.
func helperSave() {
	f, err := openWithKey(os.Getenv("STEWARD_TEST_DIR"), os.Getenv("STEWARD_TEST_KEY"))
	for i := 0; err == nil; i++ {
		if err = f.set(context.Background(), "secret/n", fmt.Sprint(i)); err == nil {
			fmt.Println(i)
		}
	}
	fmt.Println("failed:", err)
}

// TestKilledWhileSaving: whenever the process dies, the file is whole and
// holds the last number that was reported, or the one after.
func TestKilledWhileSaving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := fileStore(t, dir)
	if err := s.Set(t.Context(), "other", NewSecret("stays")); err != nil {
		t.Fatal(err)
	}
	key := hex.EncodeToString(s.current.(*file).doc.KDF.key(phrase))
	for range 20 {
		var out bytes.Buffer
		cmd := helper(t, "save", dir, "STEWARD_TEST_KEY="+key)
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rand.IntN(40)) * time.Millisecond) // any moment is a good one
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it reports the kill
		f, err := openWithKey(dir, key)
		if err != nil {
			t.Fatal("after the kill: ", err)
		}
		lines := strings.Fields(out.String())
		if strings.Contains(out.String(), "failed") {
			t.Fatal(out.String())
		}
		if len(lines) == 0 {
			continue
		}
		last := len(lines) - 1
		if got, err := f.get(t.Context(), "secret/n"); err != nil || got != fmt.Sprint(last) && got != fmt.Sprint(last+1) {
			t.Errorf("%d was stored, and the file holds %q, %v", last, got, err)
		}
		if got, err := f.get(t.Context(), "secret/other"); err != nil || got != "stays" {
			t.Errorf("another secret is %q, %v", got, err)
		}
	}
}

// helperFull stores under a limit for the size of files, which writing meets
// as it meets a full disk: part of the bytes, then an error.
func helperFull() {
	dir := os.Getenv("STEWARD_TEST_DIR")
	f, err := openWithKey(dir, os.Getenv("STEWARD_TEST_KEY"))
	if err != nil {
		fmt.Println("failed:", err)
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2000, Max: 2000}); err != nil {
		fmt.Println("failed:", err)
		return
	}
	err = f.set(context.Background(), "secret/n", strings.Repeat("x", 5000))
	fmt.Println("error:", err)
	value, err := f.get(context.Background(), "secret/n")
	fmt.Println("value:", value, err)
}

func TestDiskFullWhileSaving(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := fileStore(t, dir)
	if err := s.Set(t.Context(), "n", NewSecret("old value")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key := hex.EncodeToString(s.current.(*file).doc.KDF.key(phrase))
	out, err := helper(t, "full", dir, "STEWARD_TEST_KEY="+key).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the old one is unchanged") || !strings.Contains(string(out), "value: old value <nil>") {
		t.Errorf("%v: %s", err, out)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
	if _, err := os.Stat(path + newSuffix); err == nil {
		t.Error("half a file was left behind")
	}
}

// helperMask makes a file under a umask that forbids nothing.
func helperMask() {
	syscall.Umask(0)
	s := Open(Options{Dir: os.Getenv("STEWARD_TEST_DIR")})
	defer s.Close()
	fmt.Println(s.UseFile(context.Background(), NewSecret(phrase)), s.Set(context.Background(), "a", NewSecret("value")))
}

func TestUmaskDoesNotMatter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := helper(t, "mask", dir).CombinedOutput(); err != nil || string(out) != "<nil> <nil>\n" {
		t.Fatalf("%v: %s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}
