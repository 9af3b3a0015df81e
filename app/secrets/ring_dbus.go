//go:build (dragonfly && cgo) || (freebsd && cgo) || linux || netbsd || openbsd

package secrets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

// The parts of the Secret Service API (freedesktop.org, 0.2) that the keyring
// library does not give: whether the collection is locked, and a prompt that
// can be waited for with an end.
const (
	busName       = "org.freedesktop.secrets"
	servicePath   = dbus.ObjectPath("/org/freedesktop/secrets")
	loginPath     = dbus.ObjectPath("/org/freedesktop/secrets/collection/login")
	serviceFace   = "org.freedesktop.Secret.Service"
	collectedFace = "org.freedesktop.Secret.Collection"
	promptFace    = "org.freedesktop.Secret.Prompt"
	noObject      = dbus.ObjectPath("/")
)

// busAddress finds the session bus without ever starting one. The library
// starts dbus-launch where it finds none, so it must not be called then.
func busAddress(fromEnv, runtimeDirs string) string {
	switch fromEnv {
	case "", "autolaunch:":
	case "disabled:":
		return ""
	default:
		return fromEnv
	}
	socket := filepath.Join(runtimeDirs, strconv.Itoa(os.Getuid()), "bus")
	if info, err := os.Stat(socket); err == nil && info.Mode().Type() == os.ModeSocket {
		return "unix:path=" + dbus.EscapeBusAddressValue(socket)
	}
	return ""
}

// session is one private connection to the bus, for one question.
type session struct {
	conn       *dbus.Conn
	cancel     context.CancelFunc
	collection dbus.ObjectPath
}

// connect finds the collection that the library uses: login, else the default.
func connect(ctx context.Context) (*session, State) {
	address := busAddress(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "/run/user")
	if address == "" {
		return nil, State{KindAbsent, "There is no session bus (D-Bus), and so no keyring."}
	}
	// The connection outlives ctx by what it takes to withdraw a question.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, cancel)
	conn, err := dbus.Connect(address, dbus.WithContext(own))
	release()
	if err != nil {
		cancel()
		if ctx.Err() != nil {
			return nil, State{KindError, "The session bus (D-Bus) did not answer in time, so the keyring cannot be reached."}
		}
		return nil, State{KindAbsent, "The session bus (D-Bus) cannot be reached, and so no keyring."}
	}
	s := &session{conn: conn, cancel: cancel}
	if state := s.find(ctx); state.Kind != KindKeyring {
		s.close()
		return nil, state
	}
	return s, State{Kind: KindKeyring}
}

func (s *session) close() {
	_ = s.conn.Close() // there is nothing left to lose on it
	s.cancel()
}

// find looks for a service and its collection.
func (s *session) find(ctx context.Context) State {
	var running bool
	if err := s.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, busName).Store(&running); err != nil {
		return s.trouble(ctx, err)
	}
	if !running {
		var startable []string
		if err := s.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&startable); err != nil {
			return s.trouble(ctx, err)
		}
		if !slices.Contains(startable, busName) {
			return State{KindAbsent, "No keyring service (Secret Service) is running in this session."}
		}
	}
	service := s.conn.Object(busName, servicePath)
	var collections []dbus.ObjectPath
	if err := s.property(ctx, service, serviceFace, "Collections", &collections); err != nil {
		return s.trouble(ctx, err)
	}
	if slices.Contains(collections, loginPath) {
		s.collection = loginPath
		return State{Kind: KindKeyring}
	}
	if err := service.CallWithContext(ctx, serviceFace+".ReadAlias", 0, "default").Store(&s.collection); err != nil {
		return s.trouble(ctx, err)
	}
	if s.collection == noObject {
		return State{KindError, "The keyring service has no default keyring; make one in the system's password settings."}
	}
	return State{Kind: KindKeyring}
}

func (s *session) property(ctx context.Context, object dbus.BusObject, face, name string, into any) error {
	var value dbus.Variant
	if err := object.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, face, name).Store(&value); err != nil {
		return err
	}
	return value.Store(into)
}

// trouble words a failure on the bus.
func (s *session) trouble(ctx context.Context, err error) State {
	if ctx.Err() != nil {
		return State{KindError, "The keyring service did not answer in time."}
	}
	var named dbus.Error
	if errors.As(err, &named) && (strings.HasSuffix(named.Name, ".ServiceUnknown") || strings.HasSuffix(named.Name, ".NameHasNoOwner")) {
		return State{KindAbsent, "No keyring service (Secret Service) is running in this session."}
	}
	return State{KindError, fmt.Sprintf("The keyring service failed: %v.", err)}
}

// look finds the keyring's state and never makes it ask the person.
func (r *ring) look(ctx context.Context) State {
	s, state := connect(ctx)
	if s == nil {
		return state
	}
	defer s.close()
	return s.locked(ctx)
}

func (s *session) locked(ctx context.Context) State {
	var locked bool
	if err := s.property(ctx, s.conn.Object(busName, s.collection), collectedFace, "Locked", &locked); err != nil {
		return s.trouble(ctx, err)
	}
	if locked {
		return State{KindLocked, "The keyring is locked."}
	}
	return State{KindKeyring, "Secrets are kept in the system's keyring. Every program of this user can read them there."}
}

// probe is a look that also tells a stuck call.
func (r *ring) probe(ctx context.Context) State {
	if r.isStuck() {
		return State{KindError, "The keyring does not answer; an earlier request to it is still waiting."}
	}
	return r.look(ctx)
}

// unlock lets the service ask the person, and takes the question back when ctx
// is done.
func (r *ring) unlock(ctx context.Context) State {
	s, state := connect(ctx)
	if s == nil {
		return state
	}
	defer s.close()
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	service := s.conn.Object(busName, servicePath)
	if err := service.CallWithContext(ctx, serviceFace+".Unlock", 0, []dbus.ObjectPath{s.collection}).Store(&unlocked, &prompt); err != nil {
		return s.trouble(ctx, err)
	}
	if prompt != noObject {
		if state := s.ask(ctx, prompt); state.Kind != KindKeyring {
			return state
		}
	}
	return s.locked(ctx)
}

// ask shows the service's prompt and waits for its end.
func (s *session) ask(ctx context.Context, prompt dbus.ObjectPath) State {
	match := []dbus.MatchOption{dbus.WithMatchObjectPath(prompt), dbus.WithMatchInterface(promptFace), dbus.WithMatchMember("Completed")}
	if err := s.conn.AddMatchSignalContext(ctx, match...); err != nil {
		return s.trouble(ctx, err)
	}
	signals := make(chan *dbus.Signal, 8)
	s.conn.Signal(signals)
	object := s.conn.Object(busName, prompt)
	if err := object.CallWithContext(ctx, promptFace+".Prompt", 0, "").Err; err != nil {
		return s.trouble(ctx, err)
	}
	for {
		select {
		case signal, ok := <-signals:
			if !ok {
				return State{KindError, "The session bus (D-Bus) went away while the keyring was asking."}
			}
			if signal.Path != prompt || len(signal.Body) == 0 {
				continue
			}
			if dismissed, _ := signal.Body[0].(bool); dismissed {
				return State{KindLocked, "The keyring is locked; its question was dismissed."}
			}
			return State{Kind: KindKeyring}
		case <-ctx.Done():
			object.Go(promptFace+".Dismiss", dbus.FlagNoReplyExpected, nil)
			return State{KindLocked, "The keyring is locked; its question was not answered in time."}
		}
	}
}
