package secrets

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"
)

const (
	fileName    = "secrets.enc"
	fileVersion = 1
	maxFile     = 64 << 20 // bytes
	minPhrase   = 8        // bytes of a new passphrase
)

// derivation is how the passphrase becomes a key: Argon2id (RFC 9106).
type derivation struct {
	Name      string `json:"name"`
	Time      uint32 `json:"time"`
	MemoryKiB uint32 `json:"memoryKiB"`
	Threads   uint8  `json:"threads"`
	Salt      []byte `json:"salt"`
}

// strength of new files: RFC 9106's second recommended choice has 64 MiB and
// three passes.
func newDerivation() derivation {
	salt := make([]byte, 16)
	rand.Read(salt) //nolint:errcheck // never fails since Go 1.24
	return derivation{"argon2id", 3, 64 << 10, 4, salt}
}

// check refuses numbers that would exhaust the machine or protect nothing.
func (d derivation) check() bool {
	return d.Name == "argon2id" && d.Time >= 3 && d.Time <= 64 && d.MemoryKiB >= 64<<10 && d.MemoryKiB <= 1<<20 && d.Threads >= 1 && len(d.Salt) >= 16 && len(d.Salt) <= 64
}

func (d derivation) key(passphrase string) []byte {
	return argon2.IDKey([]byte(passphrase), d.Salt, d.Time, d.MemoryKiB, d.Threads, chacha20poly1305.KeySize)
}

// box is one sealed value: XChaCha20-Poly1305, with a random nonce.
type box struct {
	Nonce []byte `json:"nonce"`
	Data  []byte `json:"data"`
}

// document is the file. Names are readable in it, values are not. Each slot is
// bound to its name, and the seal to all slots together, so that none can be
// exchanged, removed or put back from an older file without being noticed.
type document struct {
	Version int            `json:"version"`
	KDF     derivation     `json:"kdf"`
	Slots   map[string]box `json:"slots"`
	Seal    box            `json:"seal"`
}

// digest is what the seal holds: everything else in the file.
func (d document) digest() []byte {
	h := sha256.New()
	put := func(parts ...[]byte) {
		for _, p := range parts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
			h.Write(p)
		}
	}
	put(fmt.Appendf(nil, "%d %s %d %d %d", d.Version, d.KDF.Name, d.KDF.Time, d.KDF.MemoryKiB, d.KDF.Threads), d.KDF.Salt)
	for _, name := range slices.Sorted(maps.Keys(d.Slots)) {
		put([]byte(name), d.Slots[name].Nonce, d.Slots[name].Data)
	}
	return h.Sum(nil)
}

func slotData(name string) []byte {
	return fmt.Appendf(nil, "steward secrets %d slot %s", fileVersion, name)
}

var sealData = fmt.Appendf(nil, "steward secrets %d seal", fileVersion)

// file is the encrypted file, open.
type file struct {
	path string
	aead cipher.AEAD

	mu  sync.Mutex
	doc document // as it stands on disk
}

func seal(aead cipher.AEAD, text, bound []byte) box {
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) //nolint:errcheck // never fails since Go 1.24
	return box{nonce, aead.Seal(nil, nonce, text, bound)}
}

// unseal gives one error for every fault, so that nothing can be learnt from it.
func unseal(aead cipher.AEAD, b box, bound []byte) ([]byte, error) {
	if len(b.Nonce) != aead.NonceSize() {
		return nil, ErrPassphrase
	}
	text, err := aead.Open(nil, b.Nonce, b.Data, bound)
	if err != nil {
		return nil, ErrPassphrase
	}
	return text, nil
}

func (f *file) get(_ context.Context, account string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.doc.Slots[account]
	if !ok {
		return "", ErrNotFound
	}
	text, err := unseal(f.aead, b, slotData(account))
	return string(text), err
}

func (f *file) set(_ context.Context, account, value string) error {
	return f.change(func(slots map[string]box) error {
		slots[account] = seal(f.aead, []byte(value), slotData(account))
		return nil
	})
}

func (f *file) remove(_ context.Context, account string) error {
	err := f.change(func(slots map[string]box) error {
		if _, ok := slots[account]; !ok {
			return ErrNotFound
		}
		delete(slots, account)
		return nil
	})
	if err != nil {
		return err
	}
	// The copy of the file before this change still holds the value.
	if err := os.Remove(f.path + backupSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("an encrypted copy remains in %s: %w", f.path+backupSuffix, err)
	}
	return nil
}

func (f *file) names(context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return secretNames(slices.Collect(maps.Keys(f.doc.Slots))), nil
}

// change writes a changed copy; what is in memory follows only what is on disk.
func (f *file) change(edit func(map[string]box) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.doc
	next.Slots = maps.Clone(f.doc.Slots)
	if err := edit(next.Slots); err != nil {
		return err
	}
	next.Seal = seal(f.aead, next.digest(), sealData)
	if err := save(f.path, next); err != nil {
		return err
	}
	f.doc = next
	return nil
}

// passphraseGuard opens the file, and makes guessing slow.
type passphraseGuard struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	misses int
	next   time.Time // no attempt before it
}

const freeMisses = 3

// open opens or makes the file. The notice tells of permissions that were mended.
func (g *passphraseGuard) open(ctx context.Context, passphrase string) (*file, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if wait := g.next.Sub(g.now()); wait > 0 {
		return nil, "", fmt.Errorf("too many wrong passphrases; wait %d seconds before the next", int(wait.Seconds())+1)
	}
	data, notice, err := read(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := create(g.path, passphrase)
		return f, "", err
	}
	if err != nil {
		return nil, "", err
	}
	doc, err := decode(g.path, data)
	if err != nil {
		return nil, "", err
	}
	f, err := verified(g.path, doc, doc.KDF.key(passphrase))
	if err != nil {
		if g.misses++; g.misses >= freeMisses {
			g.next = g.now().Add(min(time.Minute, time.Second<<min(g.misses-freeMisses, 6)))
		}
		return nil, "", err
	}
	g.misses, g.next = 0, time.Time{}
	return f, notice, nil
}

func create(path, passphrase string) (*file, error) {
	if len(passphrase) < minPhrase {
		return nil, fmt.Errorf("the passphrase of a new secrets file needs at least %d characters", minPhrase)
	}
	doc := document{Version: fileVersion, KDF: newDerivation(), Slots: map[string]box{}}
	aead, err := chacha20poly1305.NewX(doc.KDF.key(passphrase))
	if err != nil {
		return nil, err
	}
	doc.Seal = seal(aead, doc.digest(), sealData)
	if err := save(path, doc); err != nil {
		return nil, err
	}
	return &file{path: path, aead: aead, doc: doc}, nil
}

// verified opens a document with a key, if the seal says that it is whole.
func verified(path string, doc document, key []byte) (*file, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	digest, err := unseal(aead, doc.Seal, sealData)
	if err != nil || !bytes.Equal(digest, doc.digest()) {
		return nil, ErrPassphrase
	}
	return &file{path: path, aead: aead, doc: doc}, nil
}

// decode reads the document; what cannot be read is left as it is.
func decode(path string, data []byte) (document, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		hint := "restore it from your own backup, or move it away to begin a new one"
		if _, err := os.Lstat(path + backupSuffix); err == nil {
			hint = "the version before it is " + path + backupSuffix + "; move that one here"
		}
		return doc, fmt.Errorf("the secrets file %s is damaged; nothing was changed; %s", path, hint)
	}
	if doc.Version > fileVersion {
		return doc, fmt.Errorf("the secrets file %s was written by a newer Steward; use that one", path)
	}
	if doc.Version != fileVersion || !doc.KDF.check() {
		return doc, fmt.Errorf("the secrets file %s has settings that Steward does not accept; it may have been changed by another program", path)
	}
	if doc.Slots == nil {
		doc.Slots = map[string]box{}
	}
	return doc, nil
}

// read reads the file and takes it back from other users if they could read it.
func read(path string) (data []byte, notice string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, "", fmt.Errorf("the secrets file cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, "", fmt.Errorf("%s is not a secrets file", path)
	}
	if data, err = os.ReadFile(path); err != nil {
		return nil, "", fmt.Errorf("the secrets file cannot be read: %w", err)
	}
	if posix && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, "", fmt.Errorf("other users can read the secrets file, and that cannot be changed: %w", err)
		}
		notice = "Other users could read that file; this was corrected."
	}
	return data, notice, nil
}

const (
	backupSuffix = ".bak"
	newSuffix    = ".new"
)

// save replaces the file in one step: whenever it is broken off, the old or
// the new file is there, whole. The one before stays as a copy.
func save(path string, doc document) error {
	data, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	if err := writeSynced(path+newSuffix, data); err != nil {
		return fmt.Errorf("the secrets file cannot be written, and the old one is unchanged: %w", errors.Join(err, discard(path+newSuffix)))
	}
	if err := keepCopy(path); err != nil {
		return fmt.Errorf("the secrets file cannot be copied, and is unchanged: %w", errors.Join(err, discard(path+newSuffix)))
	}
	if err := os.Rename(path+newSuffix, path); err != nil {
		return fmt.Errorf("the secrets file cannot be replaced, and is unchanged: %w", errors.Join(err, discard(path+newSuffix)))
	}
	return syncDir(filepath.Dir(path))
}

func discard(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeSynced makes a new file that only this user can read, whatever the
// umask, and waits until it is on disk.
func writeSynced(path string, data []byte) (err error) {
	if err := discard(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if posix {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// keepCopy makes the present file the copy. A hard link takes no space and is
// there at once; where there are none, the bytes are copied.
func keepCopy(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	next := path + backupSuffix + newSuffix
	if err := discard(next); err != nil {
		return err
	}
	if os.Link(path, next) != nil {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := writeSynced(next, data); err != nil {
			return errors.Join(err, discard(next))
		}
	}
	if err := os.Rename(next, path+backupSuffix); err != nil {
		return err
	}
	return discard(next) // rename leaves it where both were the same file already
}
