//go:build linux

package secrets

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if run := helpers[os.Getenv("STEWARD_TEST_HELPER")]; run != nil {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

// program finds a program that a test needs. Where everything has to be
// tested, its absence is a failure.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and this test needs it", name)
		}
		t.Skipf("%s is not installed, and this test needs it", name)
	}
	return path
}

// startBus starts a private session bus without any service, and makes it the
// session's bus for this test, which therefore cannot run beside others.
func startBus(t *testing.T) string {
	t.Helper()
	address, _ := startBusProcess(t)
	return address
}

func startBusProcess(t *testing.T) (string, *exec.Cmd) {
	t.Helper()
	path := program(t, "dbus-daemon")
	dir, err := os.MkdirTemp("", "bus") // short, as a socket's path has to be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "bus.conf")
	text := `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=` + dir + `/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--config-file="+config, "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the bus did not start: ", err)
	}
	useBus(t, strings.TrimSpace(address))
	return strings.TrimSpace(address), cmd
}

// useBus makes a bus the session's, and afterwards closes the connection that
// the keyring library keeps for the whole process.
func useBus(t *testing.T, address string) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	t.Cleanup(func() {
		if conn, err := dbus.SessionBus(); err == nil {
			_ = conn.Close()
		}
	})
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("gave up waiting: ", what)
}

// secretService is a Secret Service on a private bus that follows a script.
type secretService struct {
	conn *dbus.Conn

	mu         sync.Mutex
	locked     bool
	noDefault  bool
	onUnlock   string // "complete", "dismiss", "never"
	onCreate   string // "", "dismiss", "never", "ignore", "other", "error"
	onGet      string // "", "error", "never"
	onDelete   string // "", "ignore", "error", "parts": an error for parts of a large value
	dismissed  int    // prompts taken back by the client
	items      map[dbus.ObjectPath]*item
	next       int
	asked      chan struct{} // gets a token when a call begins to wait
	release    chan struct{}
	promptRuns string
}

type item struct {
	attributes map[string]string
	value      []byte
}

type wireSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

const fakePrompt = dbus.ObjectPath("/org/freedesktop/secrets/prompt/p1")

func startService(t *testing.T, address string, script func(*secretService)) *secretService {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	s := &secretService{conn: conn, items: map[dbus.ObjectPath]*item{}, release: make(chan struct{}), asked: make(chan struct{}, 8)}
	script(s)
	t.Cleanup(func() { s.stop() })
	for _, e := range []struct {
		v    any
		path dbus.ObjectPath
		face string
	}{
		{(*serviceFaceOf)(s), servicePath, serviceFace},
		{(*propertiesOf)(s), servicePath, "org.freedesktop.DBus.Properties"},
		{(*propertiesOf)(s), loginPath, "org.freedesktop.DBus.Properties"},
		{(*collectionFaceOf)(s), loginPath, collectedFace},
		{(*promptFaceOf)(s), fakePrompt, promptFace},
	} {
		if err := conn.Export(e.v, e.path, e.face); err != nil {
			t.Fatal(err)
		}
	}
	for path, v := range map[dbus.ObjectPath]struct {
		face string
		v    any
	}{"/org/freedesktop/secrets/item": {"org.freedesktop.Secret.Item", (*itemFaceOf)(s)}, "/org/freedesktop/secrets/session": {"org.freedesktop.Secret.Session", (*sessionFaceOf)(s)}} {
		if err := conn.ExportSubtree(v.v, path, v.face); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := conn.RequestName(busName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal("the name of the Secret Service is taken: ", reply, err)
	}
	return s
}

func (s *secretService) stop() {
	s.mu.Lock()
	select {
	case <-s.release:
	default:
		close(s.release)
	}
	s.mu.Unlock()
	_ = s.conn.Close()
}

// set changes the script while the service runs.
func (s *secretService) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

type serviceFaceOf secretService

func (s *serviceFaceOf) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), "/org/freedesktop/secrets/session/s1", nil
}

func (s *serviceFaceOf) ReadAlias(string) (dbus.ObjectPath, *dbus.Error) {
	return noObject, nil
}

func (s *serviceFaceOf) Unlock(paths []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.locked {
		return paths, noObject, nil
	}
	s.promptRuns = s.onUnlock
	return nil, fakePrompt, nil
}

type propertiesOf secretService

func (s *propertiesOf) Get(_, name string) (dbus.Variant, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name {
	case "Collections":
		if s.noDefault {
			return dbus.MakeVariant([]dbus.ObjectPath{}), nil
		}
		return dbus.MakeVariant([]dbus.ObjectPath{loginPath}), nil
	case "Locked":
		return dbus.MakeVariant(s.locked), nil
	}
	return dbus.Variant{}, dbus.MakeFailedError(fmt.Errorf("no property %s", name))
}

type promptFaceOf secretService

func (s *promptFaceOf) Prompt(string) *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locked { // something else on the same path first: only Completed is an answer
		_ = s.conn.Emit(fakePrompt, promptFace+".Progress", true)
	}
	switch s.promptRuns {
	case "complete":
		s.locked = false
		_ = s.conn.Emit(fakePrompt, promptFace+".Completed", false, dbus.MakeVariant([]dbus.ObjectPath{loginPath}))
	case "dismiss":
		_ = s.conn.Emit(fakePrompt, promptFace+".Completed", true, dbus.MakeVariant([]dbus.ObjectPath{}))
	}
	return nil
}

func (s *promptFaceOf) Dismiss() *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dismissed++
	return nil
}

type collectionFaceOf secretService

func (s *collectionFaceOf) CreateItem(properties map[string]dbus.Variant, secret wireSecret, replace bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value := secret.Value
	switch s.onCreate {
	case "dismiss", "never":
		s.promptRuns = s.onCreate
		return noObject, fakePrompt, nil
	case "ignore":
		return "/org/freedesktop/secrets/item/none", noObject, nil
	case "error":
		return "", "", dbus.NewError("org.freedesktop.Secret.Error.IsLocked", []any{"no"})
	case "other":
		value = []byte(wholeMark + "something else")
	}
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	for path, it := range s.items {
		if fmt.Sprint(it.attributes) == fmt.Sprint(attributes) && replace {
			it.value = value
			return path, noObject, nil
		}
	}
	s.next++
	path := dbus.ObjectPath(fmt.Sprintf("/org/freedesktop/secrets/item/i%d", s.next))
	s.items[path] = &item{attributes, value}
	return path, noObject, nil
}

func (s *collectionFaceOf) SearchItems(wanted map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []dbus.ObjectPath{}
	for path, it := range s.items {
		if fmt.Sprint(it.attributes) == fmt.Sprint(wanted) {
			found = append(found, path)
		}
	}
	return found, nil
}

type itemFaceOf secretService

func (s *itemFaceOf) GetSecret(m dbus.Message, session dbus.ObjectPath) (wireSecret, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.onGet {
	case "error":
		return wireSecret{}, dbus.NewError("org.freedesktop.Secret.Error.NoSuchObject", []any{"gone"})
	case "never":
		s.mu.Unlock()
		s.asked <- struct{}{}
		<-s.release
		s.mu.Lock()
	}
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	it, ok := s.items[path]
	if !ok {
		return wireSecret{}, dbus.NewError("org.freedesktop.Secret.Error.NoSuchObject", []any{"gone"})
	}
	return wireSecret{session, []byte{}, it.value, "text/plain"}, nil
}

func (s *itemFaceOf) Delete(m dbus.Message) (dbus.ObjectPath, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.onDelete {
	case "ignore":
		return noObject, nil
	case "error":
		return "", dbus.NewError("org.freedesktop.Secret.Error.IsLocked", []any{"no"})
	}
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	if it := s.items[path]; s.onDelete == "parts" && it != nil && strings.Contains(it.attributes["username"], "#") {
		return "", dbus.NewError("org.freedesktop.Secret.Error.IsLocked", []any{"no"})
	}
	delete(s.items, path)
	return noObject, nil
}

type sessionFaceOf secretService

func (s *sessionFaceOf) Close(dbus.Message) *dbus.Error { return nil }

// opened is a store for a folder of its own; it is closed with the test.
func opened(t *testing.T, probe time.Duration) *Store {
	t.Helper()
	s := Open(Options{Dir: t.TempDir(), FolderID: func() string { return "folder-" + t.Name() }, Probe: probe})
	t.Cleanup(s.Close)
	return s
}

func wantState(t *testing.T, got State, kind, message string) {
	t.Helper()
	if got.Kind != kind || !strings.Contains(got.Message, message) {
		t.Errorf("the state is %+v, want %s with %q", got, kind, message)
	}
}

func withLimit(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
