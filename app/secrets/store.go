package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kinds of [State].
const (
	KindKeyring = "keyring" // the system's keyring, and it works
	KindLocked  = "locked"  // the keyring, or the encrypted file, waits for its password
	KindAbsent  = "absent"  // there is no keyring
	KindError   = "error"   // there is one, but it does not work
	KindFile    = "file"    // the encrypted file, open
	KindMemory  = "memory"  // until the program ends
)

// Errors to compare with errors.Is.
var (
	ErrNotFound    = errors.New("there is no such secret")
	ErrUnavailable = errors.New("secrets cannot be kept or read now")
	ErrPassphrase  = errors.New("the passphrase is wrong, or the secrets file was damaged")
)

const (
	maxSecret     = 64 << 10 // bytes of one value
	maxName       = 100      // characters
	defaultProbe  = 2 * time.Second
	longestCall   = time.Minute
	again         = 10 * time.Second // between looks at a keyring that does not work
	anchorAccount = "anchor"
)

// Options of [Open].
type Options struct {
	// Dir is the data folder; the encrypted file stands in it, if the person chose one.
	Dir string
	// FolderID names this data folder in the keyring, so that two folders never
	// meet. It is called from any goroutine, when a call needs it.
	FolderID func() string
	// Probe limits how long the keyring may take to answer where the caller
	// sets no deadline; 0 is two seconds.
	Probe time.Duration
	Now   func() time.Time // nil is time.Now
}

// State says where secrets are kept, with a sentence for the person.
type State struct{ Kind, Message string }

// backend is one place where values are kept. Accounts are "secret/NAME" and
// "anchor". A missing account is ErrNotFound.
type backend interface {
	get(ctx context.Context, account string) (string, error)
	set(ctx context.Context, account, value string) error
	remove(ctx context.Context, account string) error
	names(ctx context.Context) ([]string, error)
}

// Store keeps secrets. All methods may be called from any goroutine. Where the
// caller's context has no deadline, a call waits for the keyring two seconds
// at most; with one it waits as long as that allows, up to a minute.
type Store struct {
	o        Options
	redactor Redactor
	ring     *ring
	file     *passphraseGuard

	stop   context.CancelFunc
	probes sync.WaitGroup

	mu      sync.Mutex // guards what follows
	chosen  bool       // the person chose the file or memory; the keyring is not used
	state   State
	current backend       // nil while nothing can be kept
	looked  time.Time     // when the keyring's state was last found out
	probed  chan struct{} // closed when the first probe has ended
}

// Open returns at once; whether the keyring works is found out meanwhile. If
// the folder holds an encrypted secrets file, the person chose that earlier,
// and the store waits for its passphrase instead.
func Open(o Options) *Store {
	if o.Probe <= 0 {
		o.Probe = defaultProbe
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FolderID == nil {
		o.FolderID = func() string { return "" }
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{o: o, ring: &ring{folder: o.FolderID, limit: o.Probe}, file: &passphraseGuard{path: filepath.Join(o.Dir, fileName), now: o.Now}, stop: stop, probed: make(chan struct{})}
	if _, err := os.Lstat(s.file.path); o.Dir != "" && err == nil {
		s.chosen = true
		s.state = State{KindLocked, "The encrypted secrets file is closed; --secrets-file asks for its passphrase, --passphrase-env VAR takes it from a variable."}
		close(s.probed)
		return s
	}
	s.state = State{KindError, "The keyring has not answered yet."}
	s.probes.Go(func() { s.runProbe(ctx, s.probed) })
	return s
}

// Close ends what runs in the background. A call that the keyring never
// answers cannot be ended and is left behind; there is at most one.
func (s *Store) Close() {
	s.stop()
	s.probes.Wait()
}

// runProbe finds out the keyring's state and stores it, unless the person has
// chosen something else meanwhile.
func (s *Store) runProbe(ctx context.Context, done chan struct{}) {
	defer close(done)
	ctx, cancel := context.WithTimeout(ctx, s.o.Probe)
	defer cancel()
	s.adopt(s.ring.probe(ctx))
}

// adopt makes a state of the keyring the store's, unless the person has chosen
// another place.
func (s *Store) adopt(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen {
		return
	}
	s.state, s.looked = state, s.o.Now()
	s.current = nil
	if state.Kind == KindKeyring {
		s.current = s.ring
	}
}

// State waits for the probe, at most as long as it is allowed to take.
func (s *Store) State(ctx context.Context) State {
	s.mu.Lock()
	probed := s.probed
	s.mu.Unlock()
	timer := time.NewTimer(s.o.Probe)
	defer timer.Stop()
	select {
	case <-probed:
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Retry looks at the keyring again, after the person has started or unlocked
// it. It never asks the person anything.
func (s *Store) Retry(ctx context.Context) State {
	if s.hasChosen() {
		return s.State(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Probe)
	defer cancel()
	s.adopt(s.ring.probe(ctx))
	return s.State(ctx)
}

// Unlock lets the keyring ask the person for its password, and waits for the
// answer until ctx is done, up to a minute. Call it only when the person
// wants it, away from the window's thread.
func (s *Store) Unlock(ctx context.Context) State {
	if s.hasChosen() {
		return s.State(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, longestCall)
	defer cancel()
	s.adopt(s.ring.unlock(ctx))
	return s.State(ctx)
}

func (s *Store) hasChosen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chosen
}

// UseFile keeps secrets in an encrypted file in the data folder from now on;
// it is made if there is none, else opened. Only the person may choose this.
// A wrong passphrase is ErrPassphrase; after several, further tries have to
// wait. It takes about a tenth of a second and 64 MiB of memory (Argon2id).
func (s *Store) UseFile(ctx context.Context, passphrase Secret) error {
	if s.o.Dir == "" {
		return fmt.Errorf("there is no data folder for the secrets file: %w", ErrUnavailable)
	}
	f, notice, err := s.file.open(ctx, passphrase.Reveal())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chosen = true
	s.state = State{KindFile, strings.TrimSpace("Secrets are kept in an encrypted file in the data folder. " + notice)}
	s.current = f
	return nil
}

// UseMemory keeps secrets until the program ends, and nowhere else. Only the
// person may choose this.
func (s *Store) UseMemory() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chosen = true
	s.state = State{KindMemory, "Secrets are kept until Steward ends, and must be entered again after that."}
	s.current = &memory{values: map[string]string{}}
}

// place gives what keeps secrets now, or why nothing does.
func (s *Store) place(ctx context.Context) (backend, error) {
	state := s.State(ctx)
	if s.stale() {
		state = s.Retry(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, &unavailable{why: state.Message, short: s.chosen}
	}
	return s.current, nil
}

// stale reports that the keyring may work by now: the person may have unlocked
// it any moment, and a service that was away or stuck is tried now and then.
func (s *Store) stale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen {
		return false
	}
	switch s.state.Kind {
	case KindLocked:
		return true
	case KindAbsent, KindError:
		return !s.looked.IsZero() && s.o.Now().Sub(s.looked) >= again
	}
	return false
}

// unavailable is ErrUnavailable with the reason.
type unavailable struct {
	why   string
	short bool // there is nothing to choose, or why says what
}

func (u *unavailable) Error() string {
	if u.short {
		return u.why
	}
	return u.why + " " + choices
}
func (u *unavailable) Unwrap() error { return ErrUnavailable }

const choices = "Unlock or start the keyring and try again, or keep secrets in an encrypted file: --secrets-file asks for its passphrase, --passphrase-env VAR takes it from a variable."

// Get returns a secret. Errors are ErrNotFound and ErrUnavailable, or say what
// else went wrong. The value is known to the redactor afterwards.
func (s *Store) Get(ctx context.Context, name string) (Secret, error) {
	if err := checkName(name); err != nil {
		return Secret{}, err
	}
	value, err := s.read(ctx, "secret/"+name)
	if err != nil {
		return Secret{}, fmt.Errorf("the secret %q cannot be read: %w", name, err)
	}
	s.redactor.Learn(name, value)
	return NewSecret(value), nil
}

func (s *Store) read(ctx context.Context, account string) (string, error) {
	b, err := s.place(ctx)
	if err != nil {
		return "", err
	}
	value, err := b.get(ctx, account)
	return value, s.noted(err)
}

// Set stores a secret under a name and reads it back; it returns nil only
// when the very value came back. Values have 1 byte to 64 kB.
func (s *Store) Set(ctx context.Context, name string, value Secret) error {
	if err := checkName(name); err != nil {
		return err
	}
	plain := value.Reveal()
	switch n := len(plain); {
	case n == 0:
		return fmt.Errorf("the secret %q is empty and is not stored", name)
	case n > maxSecret:
		return fmt.Errorf("the secret %q has %d bytes; at most %d are stored", name, n, maxSecret)
	}
	s.redactor.Learn(name, plain)
	if err := s.write(ctx, "secret/"+name, plain); err != nil {
		return fmt.Errorf("the secret %q is not stored: %w", name, err)
	}
	return nil
}

func (s *Store) write(ctx context.Context, account, value string) error {
	b, err := s.place(ctx)
	if err != nil {
		return err
	}
	return s.noted(b.set(ctx, account, value))
}

// Delete removes a secret. Where that fails, the error says that it may remain.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	b, err := s.place(ctx)
	if err != nil {
		return fmt.Errorf("the secret %q is not removed: %w", name, err)
	}
	err = s.noted(b.remove(ctx, "secret/"+name))
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("the secret %q cannot be removed: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("the secret %q may still be stored: %w", name, err)
	}
	return nil
}

// Names lists the stored secrets by name, sorted.
func (s *Store) Names(ctx context.Context) ([]string, error) {
	b, err := s.place(ctx)
	if err != nil {
		return nil, err
	}
	names, err := b.names(ctx)
	if err != nil {
		return nil, fmt.Errorf("the names of the secrets cannot be read: %w", s.noted(err))
	}
	return names, nil
}

// noted keeps the state true: what the keyring said in a call holds until the
// next look at it.
func (s *Store) noted(err error) error {
	var e *ringError
	if errors.As(err, &e) && e.state.Kind != "" {
		s.adopt(e.state)
	}
	return err
}

// Expand puts the values of secrets in the place of ${secret:NAME}; all of
// them are known to the redactor afterwards. What a value holds is not
// expanded again. The first missing secret is the error.
func (s *Store) Expand(ctx context.Context, text string) (string, error) {
	const open = "${secret:"
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, open)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", errors.New("${secret: is not closed with }")
		}
		value, err := s.Get(ctx, name)
		if errors.Is(err, ErrNotFound) {
			return "", &missing{name}
		}
		if err != nil {
			return "", err
		}
		out.WriteString(value.Reveal())
		text = rest
	}
}

// HasFile reports whether the folder holds an encrypted secrets file.
func (s *Store) HasFile() bool {
	_, err := os.Lstat(s.file.path)
	return s.o.Dir != "" && err == nil
}

// missing is ErrNotFound for a value that an entry of servers.json names.
type missing struct{ name string }

func (m *missing) Error() string {
	return fmt.Sprintf("${secret:%s} stands for a secret that is not stored; store it with: steward servers review SERVER --secret %s", m.name, m.name)
}
func (m *missing) Unwrap() error { return ErrNotFound }

// Redactor knows every value that has passed through the store.
func (s *Store) Redactor() *Redactor { return &s.redactor }

// checkName keeps names typeable, and fit for ${secret:NAME} and the keyring.
func checkName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || strings.ContainsRune("{}$#", r) }) {
		return fmt.Errorf("%q cannot be the name of a secret: use 1 to %d visible characters without {, }, $ and #", name[:min(len(name), 4*maxName)], maxName)
	}
	return nil
}

// Anchor is a place for the journal's anchor, beside the secrets. Load gives
// "" where none was saved.
type Anchor struct{ store *Store }

// Anchor returns it.
func (s *Store) Anchor() *Anchor { return &Anchor{s} }

// Load reads the anchor.
func (a *Anchor) Load(ctx context.Context) (string, error) {
	value, err := a.store.read(ctx, anchorAccount)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	var u *unavailable
	if errors.As(err, &u) {
		return "", &unavailable{why: u.why, short: true}
	}
	if err != nil {
		return "", fmt.Errorf("the journal's anchor cannot be read: %w", err)
	}
	return value, nil
}

// Save stores the anchor and reads it back. In memory it would prove nothing,
// so there it is ErrUnavailable.
func (a *Anchor) Save(ctx context.Context, value string) error {
	if a.store.State(ctx).Kind == KindMemory {
		return &unavailable{why: "The journal's anchor is not kept in memory.", short: true}
	}
	if err := a.store.write(ctx, anchorAccount, value); err != nil {
		return fmt.Errorf("the journal's anchor is not stored: %w", err)
	}
	return nil
}
