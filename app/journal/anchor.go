package journal

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"steward/storage"
)

// AnchorStore is a second place for the anchor, outside the folder, such as
// the keyring. It may be slow; Load gives "" where there is none. Both should
// honour ctx.
type AnchorStore interface {
	Load(ctx context.Context) (string, error)
	Save(ctx context.Context, anchor string) error
}

const (
	anchorEvery  = time.Second     // at most once in this time
	ringPatience = 5 * time.Second // for one access to the keyring
	ringFarewell = 3 * time.Second // for the keyring while closing
	anchorLimit  = 4 << 10         // bytes of a sensible side file
)

// anchor is the end of the chain as of some moment. It may be behind the
// chain, never ahead of it.
type anchor struct {
	Folder string `json:"folder"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
	Time   string `json:"time"`
}

func parseAnchor(text string) (a anchor, err error) {
	if err = json.Unmarshal([]byte(text), &a); err == nil && (a.Seq < 1 || len(a.Hash) != 64 || a.Folder == "") {
		err = errors.New("it lacks its number, its hash or its folder")
	}
	return a, err
}

// compare says in what the chain contradicts an anchor, "" where it does not.
func compare(s *storage.Snapshot, folder, where, text string) (string, error) {
	a, err := parseAnchor(text)
	if err != nil {
		return fmt.Sprintf("the anchor in %s cannot be read: %v", where, err), nil
	}
	if a.Folder != folder {
		return fmt.Sprintf("the anchor in %s is of another data file (%s, this one is %s)", where, a.Folder, folder), nil
	}
	found, err := s.Events(a.Seq-1, 1)
	if err != nil {
		return "", err
	}
	switch {
	case len(found) == 0:
		head, err := s.Head()
		return fmt.Sprintf("the journal ends with event %d, but the anchor in %s has seen event %d: its end was removed, or an older copy put back", head.Seq, where, a.Seq), err
	case found[0].Seq != a.Seq || hex.EncodeToString(found[0].Hash) != a.Hash:
		return fmt.Sprintf("event %d is not the one that the anchor in %s has seen: the journal was rewritten", a.Seq, where), nil
	}
	return "", nil
}

// keeper writes the anchor to its two places from goroutines of its own, so
// that neither a slow disk nor a slow keyring holds up the journal.
type keeper struct {
	path, folder string
	ring         AnchorStore
	now          func() time.Time
	check        func(where, text string) (string, error)

	mu     sync.Mutex
	latest anchor
	frozen bool // the anchors are evidence now
	fileMu sync.Mutex

	fileWake, ringWake   chan struct{}
	stop                 chan struct{}
	fileEnded, ringEnded chan struct{}
	cancel               context.CancelFunc
	fileError            error // of the last write; owned by the file's goroutine, then by end
}

func newKeeper(dir, folder string, ring AnchorStore, now func() time.Time) *keeper {
	return &keeper{
		path: filepath.Join(dir, storage.AnchorName), folder: folder, ring: ring, now: now,
		fileWake: make(chan struct{}, 1), ringWake: make(chan struct{}, 1), stop: make(chan struct{}),
		fileEnded: make(chan struct{}), ringEnded: make(chan struct{}),
	}
}

// missing says that the side file is gone although there are events, so that the end of
// the journal is not protected by it until it is written again, which is soon.
func (k *keeper) missing(head storage.Head) string {
	if _, err := os.Lstat(k.path); head.Seq == 0 || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return fmt.Sprintf("The journal holds %d events, but the side file %s that guards its end is gone. Either Steward was killed in its very first moments, or the file was removed; then entries may have been cut off the end of the journal unnoticed. It is written anew now. If you did not remove it, compare the last entries with what you remember, or with a backup.", head.Seq, k.path)
}

// begin starts the goroutines. broken hears that the keyring's copy
// contradicts the chain, trouble that the side file cannot be written.
func (k *keeper) begin(broken func(string), trouble func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go func() {
		defer close(k.fileEnded)
		k.tick(k.fileWake, func(a anchor) { k.saveFile(a, trouble) })
	}()
	go func() {
		defer close(k.ringEnded)
		if k.ring != nil && k.firstLook(ctx, broken) {
			k.tick(k.ringWake, func(a anchor) { k.saveRing(ctx, a) })
		}
	}()
}

// tick saves at most once per anchorEvery, and once more at the end.
func (k *keeper) tick(wake chan struct{}, save func(anchor)) {
	var done int64
	now := func() {
		k.mu.Lock()
		a, frozen := k.latest, k.frozen
		k.mu.Unlock()
		if !frozen && a.Seq > done {
			save(a)
			done = a.Seq
		}
	}
	for {
		select {
		case <-wake:
		case <-k.stop:
			now()
			return
		}
		now()
		timer := time.NewTimer(anchorEvery)
		select {
		case <-timer.C:
		case <-k.stop:
			timer.Stop()
		}
	}
}

// advance takes note of a new head; it waits for nothing.
func (k *keeper) advance(h storage.Head) {
	k.mu.Lock()
	k.latest = anchor{Folder: k.folder, Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), Time: clock(k.now())}
	k.mu.Unlock()
	for _, wake := range []chan struct{}{k.fileWake, k.ringWake} {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

func (k *keeper) freeze() {
	k.mu.Lock()
	k.frozen = true
	k.mu.Unlock()
}

// forgive replaces the anchors, which were evidence, and waits for it.
func (k *keeper) forgive(ctx context.Context) error {
	k.mu.Lock()
	k.frozen = false
	a := k.latest
	k.mu.Unlock()
	if k.ring != nil {
		k.saveRing(ctx, a)
	}
	return k.write(a)
}

// saveFile replaces the side file as a whole (write aside, sync, rename).
func (k *keeper) saveFile(a anchor, trouble func(error)) {
	err := k.write(a)
	if err != nil && k.fileError == nil {
		trouble(fmt.Errorf("the anchor of the journal could not be written to %s; the journal itself is written: %w", k.path, err))
	}
	k.fileError = err
}

func (k *keeper) write(a anchor) error {
	k.fileMu.Lock()
	defer k.fileMu.Unlock()
	return writeAnchor(k.path, a)
}

func writeAnchor(path string, a anchor) error {
	text, err := encode(a)
	if err != nil {
		return err
	}
	aside := path + ".part"
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	return nil
}

// firstLook compares the keyring's copy before it is ever replaced. It gives
// false where the keyring cannot be used in this run.
func (k *keeper) firstLook(ctx context.Context, broken func(string)) bool {
	text, err := k.loadRing(ctx)
	if err != nil {
		return false // Verify says so; without having looked nothing is replaced
	}
	if text == "" {
		return true
	}
	problem, err := k.check("the keyring", text)
	if err != nil {
		return false
	}
	if problem != "" {
		k.freeze()
		broken(problem)
	}
	return true
}

func (k *keeper) loadRing(ctx context.Context) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, ringPatience)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading the anchor in the keyring: %v", p)
		}
	}()
	if text, err = k.ring.Load(ctx); err != nil {
		text = "" // whatever it gave cannot be trusted
	}
	return text, err
}

func (k *keeper) saveRing(ctx context.Context, a anchor) {
	ctx, cancel := context.WithTimeout(ctx, ringPatience)
	defer cancel()
	defer func() { _ = recover() }() // a failed save leaves the copy behind, which is allowed
	if text, err := encode(a); err == nil {
		_ = k.ring.Save(ctx, string(text))
	}
}

// loadFile reads the side file, "" where there is none.
func (k *keeper) loadFile() (string, error) {
	info, err := os.Lstat(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no plain file", k.path)
	}
	f, err := os.Open(k.path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, anchorLimit))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if len(text) == 0 {
		return "(empty)", nil // a file that is there and says nothing is a finding
	}
	return string(text), nil
}

// evidence gives both anchors as they are.
func (k *keeper) evidence(ctx context.Context) map[string]string {
	found := map[string]string{}
	if text, err := k.loadFile(); err == nil {
		found["file"] = text
	}
	if k.ring != nil {
		if text, err := k.loadRing(ctx); err == nil {
			found["keyring"] = text
		}
	}
	return found
}

// end saves what is due and ends the goroutines. One that hangs in a keyring
// which ignores its context is not waited for.
func (k *keeper) end(ctx context.Context) error {
	close(k.stop)
	<-k.fileEnded
	timer := time.NewTimer(ringFarewell)
	defer timer.Stop()
	select {
	case <-k.ringEnded:
		k.cancel()
		return k.fileError
	case <-timer.C:
	case <-ctx.Done():
	}
	k.cancel()
	select {
	case <-k.ringEnded:
	case <-time.After(100 * time.Millisecond):
	}
	return k.fileError
}
