//go:build linux

package secrets

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// startGnomeKeyring runs the real service, unlocked with an empty password.
func startGnomeKeyring(t *testing.T, address, home string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t, "gnome-keyring-daemon"), "--foreground", "--unlock", "--components=secrets", "--control-directory="+filepath.Join(home, "control"))
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_RUNTIME_DIR="+home, "DBUS_SESSION_BUS_ADDRESS="+address)
	cmd.Stdin = strings.NewReader("\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
	})
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "gnome-keyring-daemon on the bus", func() bool {
		var collections dbus.Variant
		err := conn.Object(busName, servicePath).CallWithContext(t.Context(), "org.freedesktop.DBus.Properties.Get", 0, serviceFace, "Collections").Store(&collections)
		return err == nil && strings.Contains(collections.String(), "login")
	})
	return cmd
}

func TestRealSecretService(t *testing.T) {
	address := startBus(t)
	home, err := os.MkdirTemp("", "ring")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	daemon := startGnomeKeyring(t, address, home)
	s := opened(t, patient)
	wantState(t, s.State(t.Context()), KindKeyring, "system's keyring")
	exercise(t, s)
	exerciseAnchor(t, s)

	other := Open(Options{FolderID: func() string { return "another folder" }, Probe: patient})
	defer other.Close()
	if _, err := other.Get(t.Context(), "odd"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another folder's store finds this one's secret: %v", err)
	}

	// The service ends and comes back between two calls.
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait() // it reports the signal
	if _, err := s.Get(t.Context(), "odd"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("with the service gone: %v", err)
	}
	wantState(t, s.State(t.Context()), KindAbsent, "No keyring service")
	startGnomeKeyring(t, address, home)
	wantState(t, s.Retry(t.Context()), KindKeyring, "")
	if got, err := s.Get(withLimit(t, patient), "odd"); err != nil || got.Reveal() != values["odd"] {
		t.Errorf("after the service's restart: %v", err)
	}
	fresh := Open(Options{FolderID: s.o.FolderID, Probe: patient})
	defer fresh.Close()
	if _, err := fresh.Get(t.Context(), "odd"); err != nil || fresh.Redactor().Redact(values["odd"]) != "[secret:odd]" {
		t.Errorf("what was read in a new run is not redacted, %v", err)
	}

	// The real service locked.
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Object(busName, servicePath).CallWithContext(t.Context(), serviceFace+".Lock", 0, []dbus.ObjectPath{loginPath}).Err; err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(withLimit(t, patient), "odd"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("locked: %v", err)
	}
	wantState(t, s.State(t.Context()), KindLocked, "is locked")
}

// TestNoBus: absent at once, and no program is started to get a bus.
func TestNoBus(t *testing.T) {
	if _, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")); err == nil {
		t.Skip("this machine has a session bus at its fixed place, which no test can take away")
	}
	dir := t.TempDir()
	canary := filepath.Join(dir, "started")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\n: > '"+canary+"'\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, address := range []string{"", "autolaunch:"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		s := opened(t, patient)
		wantState(t, s.State(t.Context()), KindAbsent, "no session bus")
		_, err := s.Get(t.Context(), "a")
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "encrypted file") {
			t.Errorf("Get: %v", err)
		}
		for name, err := range map[string]error{"Set": s.Set(t.Context(), "a", NewSecret("value")), "Delete": s.Delete(t.Context(), "a"), "Save": s.Anchor().Save(t.Context(), "x")} {
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantState(t, s.Unlock(t.Context()), KindAbsent, "")
		wantState(t, s.Retry(t.Context()), KindAbsent, "")
		if left, err := os.ReadDir(s.o.Dir); err != nil || len(left) > 0 {
			t.Errorf("files appeared: %v, %v", left, err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("dbus-launch was started")
	}
	// The library itself would have started it.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if _, err := dbus.ConnectSessionBus(); err == nil {
		t.Error("a bus appeared")
	}
	if _, err := os.Stat(canary); err != nil {
		t.Error("the canary does not work: ", err)
	}
}

func TestBusAddress(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	own := filepath.Join(dir, strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, env := range []string{"", "disabled:"} {
		if got := busAddress(env, dir); got != "" {
			t.Errorf("%q without a socket: %q", env, got)
		}
	}
	l, err := net.Listen("unix", filepath.Join(own, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for env, want := range map[string]string{"": "unix:path=" + dbus.EscapeBusAddressValue(own+"/bus"), "autolaunch:": "unix:path=" + dbus.EscapeBusAddressValue(own+"/bus"), "unix:path=/x": "unix:path=/x"} {
		if got := busAddress(env, dir); got != want {
			t.Errorf("with %q: %q, want %q", env, got, want)
		}
	}
}

// TestBusThatNeverAnswers: a socket that accepts and says nothing.
func TestBusThatNeverAnswers(t *testing.T) {
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(dir, "s"))
	s := opened(t, 50*time.Millisecond)
	wantState(t, s.State(t.Context()), KindError, "not answer")
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Get: %v", err)
	}
	closing := Open(Options{Probe: patient})
	closing.Close() // ends the probe, or this test does not end
}

func TestNoService(t *testing.T) {
	startBus(t)
	s := opened(t, patient)
	wantState(t, s.State(t.Context()), KindAbsent, "No keyring service")
}

func TestNoDefaultKeyring(t *testing.T) {
	startService(t, startBus(t), func(s *secretService) { s.noDefault = true })
	s := opened(t, patient)
	wantState(t, s.State(t.Context()), KindError, "no default keyring")
}

func TestLockedKeyring(t *testing.T) {
	service := startService(t, startBus(t), func(s *secretService) { s.locked, s.onUnlock = true, "dismiss" })
	s := opened(t, patient)
	wantState(t, s.State(t.Context()), KindLocked, "locked")
	if err := s.Set(t.Context(), "a", NewSecret("value")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Set while locked: %v", err)
	}
	wantState(t, s.Unlock(t.Context()), KindLocked, "dismissed")

	service.set(func() { service.onUnlock = "never" })
	wantState(t, s.Unlock(withLimit(t, 50*time.Millisecond)), KindLocked, "not answered in time")
	eventually(t, "the question to be taken back", func() bool {
		service.mu.Lock()
		defer service.mu.Unlock()
		return service.dismissed == 1
	})

	service.set(func() { service.onUnlock = "complete" })
	wantState(t, s.Unlock(t.Context()), KindKeyring, "")
	if err := s.Set(t.Context(), "a", NewSecret("value")); err != nil {
		t.Errorf("Set after unlocking: %v", err)
	}

	// Locked again, and unlocked from outside: the store notices both.
	service.set(func() { service.locked = true })
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Get while locked again: %v", err)
	}
	service.set(func() { service.locked = false })
	if got, err := s.Get(t.Context(), "a"); err != nil || got.Reveal() != "value" {
		t.Errorf("Get after unlocking from outside: %v", err)
	}
}

func TestStoredOnlyWhenItComesBack(t *testing.T) {
	service := startService(t, startBus(t), func(*secretService) {})
	s := opened(t, patient)
	ctx := withLimit(t, patient)
	if err := s.Set(ctx, "first", NewSecret("value")); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"dismiss", "ignore", "error", "other"} {
		service.set(func() { service.onCreate = script })
		if err := s.Set(ctx, "second", NewSecret("value2")); err == nil || !strings.Contains(err.Error(), `"second" is not stored`) {
			t.Errorf("%s: %v", script, err)
		}
		if script == "other" {
			continue
		}
		service.set(func() { service.onCreate = "" })
		if names, err := s.Names(ctx); err != nil || !reflect.DeepEqual(names, []string{"first"}) {
			t.Errorf("%s: names %v, %v", script, names, err)
		}
	}
}

func TestServiceThatMisbehaves(t *testing.T) {
	service := startService(t, startBus(t), func(*secretService) {})
	s := opened(t, patient)
	ctx := withLimit(t, patient)
	if err := s.Set(ctx, "a", NewSecret("value")); err != nil {
		t.Fatal(err)
	}
	service.set(func() { service.onGet = "error" })
	if _, err := s.Get(ctx, "a"); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrNotFound) {
		t.Errorf("an error of the service: %v", err)
	}
	service.set(func() { service.onGet, service.onDelete = "", "error" })
	if err := s.Delete(ctx, "a"); err == nil || !strings.Contains(err.Error(), "may still be stored") {
		t.Errorf("an error while deleting: %v", err)
	}
	service.set(func() { service.onDelete = "ignore" })
	if err := s.Delete(ctx, "a"); err == nil || !strings.Contains(err.Error(), "may still be stored") {
		t.Errorf("a deletion that does nothing: %v", err)
	}
	service.set(func() {
		for _, it := range service.items {
			if it.attributes["username"] == "secret/a" {
				it.value = []byte("planted")
			}
		}
	})
	if got, err := s.Get(ctx, "a"); err == nil || !strings.Contains(err.Error(), "something else") || strings.Contains(err.Error(), "planted") {
		t.Errorf("an item of another program: %q, %v", got.Reveal(), err)
	}
}

func TestPartsThatDoNotFit(t *testing.T) {
	service := startService(t, startBus(t), func(*secretService) {})
	s := opened(t, patient)
	ctx := withLimit(t, patient)
	large := values["10,000"]
	for name, spoil := range map[string]func(path dbus.ObjectPath, it *item){
		"missing":  func(path dbus.ObjectPath, _ *item) { delete(service.items, path) },
		"no text":  func(_ dbus.ObjectPath, it *item) { it.value = []byte("!") },
		"exchange": func(_ dbus.ObjectPath, it *item) { it.value = []byte("AAAA") },
	} {
		if err := s.Set(ctx, "a", NewSecret(large)); err != nil {
			t.Fatal(err)
		}
		service.set(func() {
			for path, it := range service.items {
				if strings.HasPrefix(it.attributes["username"], "secret/a#") && strings.HasSuffix(it.attributes["username"], ".1") {
					spoil(path, it)
				}
			}
		})
		if _, err := s.Get(ctx, "a"); err == nil || !strings.Contains(err.Error(), "store it again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Set(ctx, "a", NewSecret("small now")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(ctx, "a"); err != nil || got.Reveal() != "small now" {
		t.Errorf("after storing it again: %v", err)
	}
}

// TestPartsThatCannotBeDeleted checks that a large secret of which a part could not be
// deleted is deleted whole the next time.
func TestPartsThatCannotBeDeleted(t *testing.T) {
	service := startService(t, startBus(t), func(*secretService) {})
	s := opened(t, patient)
	ctx := withLimit(t, patient)
	if err := s.Set(ctx, "a", NewSecret(values["10,000"])); err != nil {
		t.Fatal(err)
	}
	service.set(func() { service.onDelete = "parts" })
	if err := s.Delete(ctx, "a"); err == nil || !strings.Contains(err.Error(), "may still be stored") {
		t.Errorf("parts that stay: %v", err)
	}
	service.set(func() { service.onDelete = "" })
	if err := s.Delete(ctx, "a"); err != nil {
		t.Error(err)
	}
	service.set(func() {
		for _, it := range service.items {
			if name := it.attributes["username"]; strings.HasPrefix(name, "secret/a") {
				t.Errorf("%s is still stored", name)
			}
		}
	})
}

// TestStuckCall: one call that never ends is left behind, others fail at once,
// and when it ends after all, the keyring works again.
func TestStuckCall(t *testing.T) {
	service := startService(t, startBus(t), func(*secretService) {})
	s := opened(t, patient)
	if err := s.Set(t.Context(), "a", NewSecret("value")); err != nil {
		t.Fatal(err)
	}
	service.set(func() { service.onGet = "never" })
	if _, err := s.Get(withLimit(t, 50*time.Millisecond), "a"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a call that never ends: %v", err)
	}
	wantState(t, s.State(t.Context()), KindError, "in time")
	wantState(t, s.Retry(t.Context()), KindError, "still waiting")
	for range 3 { // none of these may wait: the limit is a minute
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("a call after it: %v", err)
		}
	}
	if _, err := s.ring.get(t.Context(), "secret/a"); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "still waiting") {
		t.Errorf("a call that passed the state: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(cancelled, "a"); err == nil {
		t.Error("a call that was cancelled succeeds")
	}
	service.set(func() { service.onGet = ""; close(service.release) })
	eventually(t, "the keyring to work again", func() bool { return s.Retry(t.Context()).Kind == KindKeyring })
	if got, err := s.Get(t.Context(), "a"); err != nil || got.Reveal() != "value" {
		t.Errorf("afterwards: %v", err)
	}
}

// TestQuestionThatIsNeverAnswered: a service that asks before it stores.
func TestQuestionThatIsNeverAnswered(t *testing.T) {
	startService(t, startBus(t), func(s *secretService) { s.onCreate = "never" })
	s := opened(t, patient)
	if err := s.Set(withLimit(t, 50*time.Millisecond), "a", NewSecret("value")); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "not stored") {
		t.Errorf("Set: %v", err)
	}
	wantState(t, s.Retry(t.Context()), KindError, "still waiting")
}

// TestBusGoesAway while a call is under way.
func TestBusGoesAway(t *testing.T) {
	address, bus := startBusProcess(t)
	service := startService(t, address, func(*secretService) {})
	s := opened(t, patient)
	if err := s.Set(t.Context(), "a", NewSecret("value")); err != nil {
		t.Fatal(err)
	}
	service.set(func() { service.onGet = "never" })
	result := make(chan error, 1)
	go func() {
		_, err := s.Get(t.Context(), "a")
		result <- err
	}()
	<-service.asked
	if err := bus.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, ErrUnavailable) {
		t.Errorf("Get: %v", err)
	}
	wantState(t, s.Retry(t.Context()), KindAbsent, "cannot be reached")
}

func TestFolderWithoutID(t *testing.T) {
	startService(t, startBus(t), func(*secretService) {})
	s := Open(Options{Probe: patient})
	defer s.Close()
	if err := s.Set(t.Context(), "a", NewSecret("value")); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Set: %v", err)
	}
}
