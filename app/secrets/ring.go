package secrets

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

// Forms of what stands in the keyring: the value itself, or where its parts
// are. The mark tells our items from what another program put there.
const (
	wholeMark = "steward1:"
	partsMark = "steward1-parts:"
	// Windows takes 2,560 bytes, macOS about 3,000 with its own encoding.
	maxItem  = 2000
	partSize = 1500 // bytes of a value in one part, which is base64 there
)

// ring is the system's keyring. Its library has no contexts and no limits of
// time, so calls run one after the other, each in a goroutine that is left
// behind if it never ends; while one is stuck, further calls fail at once.
type ring struct {
	folder func() string
	limit  time.Duration

	mu    sync.Mutex
	turn  chan struct{} // holds one token while a call runs
	stuck bool
}

// ringError is a failure of the keyring, with the state it shows.
type ringError struct {
	state State
	err   error
}

func (e *ringError) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return e.state.Message
}

func (e *ringError) Unwrap() []error {
	if e.err != nil {
		return []error{ErrUnavailable, e.err}
	}
	return []error{ErrUnavailable}
}

func failed(kind, format string, args ...any) *ringError {
	return &ringError{state: State{kind, fmt.Sprintf(format, args...)}}
}

// bounded gives the call the time its caller allows.
func (r *ring) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, longestCall)
	}
	return context.WithTimeout(ctx, r.limit)
}

// do runs one piece of work with the keyring, after looking whether it is
// unlocked: the library would otherwise ask the person, without an end.
func (r *ring) do(ctx context.Context, work func(service string) error) error {
	folder := r.folder()
	if folder == "" {
		return &ringError{err: errors.New("the data folder has no id yet")}
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	if r.isStuck() {
		return failed(KindError, "The keyring does not answer; an earlier request to it is still waiting.")
	}
	if state := r.look(ctx); state.Kind != KindKeyring {
		return &ringError{state: state}
	}
	return r.call(ctx, func() error { return work("steward " + folder) })
}

func (r *ring) isStuck() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stuck
}

// token returns the channel that calls queue at.
func (r *ring) token() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn == nil {
		r.turn = make(chan struct{}, 1)
	}
	return r.turn
}

// call waits its turn, and then for the work, until ctx is done.
func (r *ring) call(ctx context.Context, work func() error) error {
	turn := r.token()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return slow(ctx)
	}
	done := make(chan error, 1)
	go func() {
		err := recovered(work)
		r.mu.Lock() // the end of a call and giving it up exclude each other
		defer r.mu.Unlock()
		r.stuck = false
		done <- err
		<-turn
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case err := <-done: // it ended in this moment
		return err
	default:
		r.stuck = true
		return slow(ctx)
	}
}

// recovered runs work; the library panics when the bus goes away under it.
func recovered(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = failed(KindError, "The keyring broke off while it was asked.")
		}
	}()
	return work()
}

// slow is the error of a call that was given up. Only the keyring's own
// slowness changes its state, not a caller that stopped.
func slow(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return failed(KindError, "The keyring did not answer in time; it may be waiting for you in another window.")
}

// told words an error of the library.
func told(err error) error {
	var known *ringError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, ErrNotFound), errors.As(err, &known):
		return err
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return failed(KindAbsent, "This system has no keyring that Steward can use.")
	}
	return &ringError{err: fmt.Errorf("the keyring refused: %w", err)}
}

func (r *ring) get(ctx context.Context, account string) (string, error) {
	var value string
	err := r.do(ctx, func(service string) (err error) {
		value, err = readItem(service, account)
		return err
	})
	if err != nil {
		return "", told(err) // a call that was given up may still write to value
	}
	return value, nil
}

// readItem reads a value and, where it is in parts, checks that they are whole.
func readItem(service, account string) (string, error) {
	head, err := keyring.Get(service, account)
	if err != nil {
		return "", err
	}
	if value, ok := strings.CutPrefix(head, wholeMark); ok {
		return value, nil
	}
	generation, count, sum, ok := parseParts(head)
	if !ok {
		return "", &ringError{err: fmt.Errorf("the keyring holds something else under %q; another program may have put it there", account)}
	}
	var value strings.Builder
	for i := range count {
		part, err := keyring.Get(service, partName(account, generation, i))
		if err != nil {
			return "", &ringError{err: fmt.Errorf("part %d of %d of %q is missing in the keyring; store it again", i+1, count, account)}
		}
		raw, err := base64.StdEncoding.DecodeString(part)
		if err != nil {
			return "", &ringError{err: fmt.Errorf("part %d of %d of %q is damaged in the keyring; store it again", i+1, count, account)}
		}
		value.Write(raw)
	}
	if found := sha256.Sum256([]byte(value.String())); hex.EncodeToString(found[:]) != sum {
		return "", &ringError{err: fmt.Errorf("the parts of %q in the keyring do not fit together; store it again", account)}
	}
	return value.String(), nil
}

func partName(account, generation string, i int) string {
	return fmt.Sprintf("%s#%s.%d", account, generation, i)
}

// parseParts reads "steward1-parts:GENERATION:COUNT:SHA256".
func parseParts(head string) (generation string, count int, sum string, ok bool) {
	rest, ok := strings.CutPrefix(head, partsMark)
	if !ok {
		return "", 0, "", false
	}
	fields := strings.Split(rest, ":")
	if len(fields) != 3 {
		return "", 0, "", false
	}
	count, err := strconv.Atoi(fields[1])
	return fields[0], count, fields[2], err == nil && count > 0 && count <= 1+4*maxSecret/partSize
}

// set writes the name into the index first: a secret that is stored can then
// always be listed and removed, whenever the program ends.
func (r *ring) set(ctx context.Context, account, value string) error {
	return told(r.do(ctx, func(service string) error {
		if !strings.HasPrefix(account, "secret/") {
			return writeItem(service, account, value)
		}
		if err := changeIndex(service, account, true); err != nil {
			return err
		}
		err := writeItem(service, account, value)
		if err == nil {
			return nil
		}
		if _, getErr := keyring.Get(service, account); errors.Is(getErr, keyring.ErrNotFound) {
			err = errors.Join(err, changeIndex(service, account, false))
		}
		return err
	}))
}

// writeItem stores a value and reads it back: libraries and services report
// success for what they did not store.
func writeItem(service, account, value string) error {
	old, oldErr := keyring.Get(service, account)
	head := wholeMark + value
	var parts []string
	if len(head) > maxItem {
		sum := sha256.Sum256([]byte(value))
		generation := rand.Text()[:12]
		for i := 0; i*partSize < len(value); i++ {
			parts = append(parts, partName(account, generation, i))
			piece := value[i*partSize : min(len(value), (i+1)*partSize)]
			if err := keyring.Set(service, parts[i], base64.StdEncoding.EncodeToString([]byte(piece))); err != nil {
				return errors.Join(err, removeItems(service, parts))
			}
		}
		head = fmt.Sprintf("%s%s:%d:%s", partsMark, generation, len(parts), hex.EncodeToString(sum[:]))
	}
	if err := keyring.Set(service, account, head); err != nil {
		return errors.Join(err, removeItems(service, parts))
	}
	back, err := readItem(service, account)
	if err != nil || subtle.ConstantTimeCompare([]byte(back), []byte(value)) != 1 {
		return &ringError{err: errors.New("the keyring reported success, but did not give the value back; the request may have been dismissed")}
	}
	if generation, count, _, ok := parseParts(old); ok && oldErr == nil {
		return removeItems(service, partNames(account, generation, count))
	}
	return nil
}

func partNames(account, generation string, count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = partName(account, generation, i)
	}
	return names
}

// removeItems removes what is there of them.
func removeItems(service string, accounts []string) error {
	var all []error
	for _, account := range accounts {
		if err := keyring.Delete(service, account); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (r *ring) remove(ctx context.Context, account string) error {
	return told(r.do(ctx, func(service string) error {
		head, err := keyring.Get(service, account)
		if errors.Is(err, keyring.ErrNotFound) {
			// A name without a value is left when a store was broken off.
			return errors.Join(keyring.ErrNotFound, changeIndex(service, account, false))
		}
		if err != nil {
			return err
		}
		// The parts first: what names them is needed again where one of them stays.
		if generation, count, _, ok := parseParts(head); ok {
			if err := removeItems(service, partNames(account, generation, count)); err != nil {
				return err
			}
		}
		if err := keyring.Delete(service, account); err != nil {
			return err
		}
		if _, err := keyring.Get(service, account); !errors.Is(err, keyring.ErrNotFound) {
			return &ringError{err: errors.New("the keyring reported success, but still has the value; the request may have been dismissed")}
		}
		return changeIndex(service, account, false)
	}))
}

// names reads the index: a keyring cannot be asked for what it holds in the
// same way on all systems.
func (r *ring) names(ctx context.Context) ([]string, error) {
	var accounts []string
	err := r.do(ctx, func(service string) (err error) {
		accounts, err = readIndex(service)
		return err
	})
	if err != nil {
		return nil, told(err)
	}
	return secretNames(accounts), nil
}

const indexAccount = "index"

func readIndex(service string) ([]string, error) {
	text, err := readItem(service, indexAccount)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var accounts []string
	if err := json.Unmarshal([]byte(text), &accounts); err != nil {
		return nil, &ringError{err: errors.New("the list of names in the keyring is damaged")}
	}
	return accounts, nil
}

func changeIndex(service, account string, present bool) error {
	accounts, err := readIndex(service)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearch(accounts, account)
	switch {
	case found == present:
		return nil
	case present:
		accounts = slices.Insert(accounts, i, account)
	default:
		accounts = slices.Delete(accounts, i, i+1)
	}
	text, err := json.Marshal(accounts)
	if err != nil {
		return err
	}
	return writeItem(service, indexAccount, string(text))
}
