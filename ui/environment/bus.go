package environment

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

const (
	busVariable = "DBUS_SESSION_BUS_ADDRESS"
	// noBus is an address with a transport that no bus has, by which others switch the bus off as well: who reads it
	// finds none, and starts none.
	noBus = "disabled:"
)

// forBus keeps the toolkit's D-Bus library from starting dbus-launch where a session has no bus: the daemon that this
// starts serves nobody else and stays behind for good. The variable counts for this process and those it starts.
func forBus(runDirs string) {
	switch runtime.GOOS {
	case "windows", "darwin":
		return
	}
	if address := busAddress(os.Getenv(busVariable), runDirs+"/"+strconv.Itoa(os.Getuid()), os.Getenv("XDG_RUNTIME_DIR")); address != "" {
		os.Setenv(busVariable, address)
	}
}

// busAddress is what the address of the session bus must be set to, or "" where it may stay as it is: it names a bus, or
// the library finds one at own, the folder that the system keeps for this person's session.
func busAddress(now, own, runtimeDir string) string {
	if now != "" && now != "autolaunch:" {
		return ""
	}
	for _, name := range [...]string{"/bus", "/dbus-session"} {
		if _, err := os.Stat(own + name); err == nil {
			return ""
		}
	}
	if socket := runtimeDir + "/bus"; strings.HasPrefix(runtimeDir, "/") {
		if info, err := os.Stat(socket); err == nil && info.Mode().Type() == os.ModeSocket {
			return "unix:path=" + escape(socket)
		}
	}
	return noBus
}

// escape writes a value of an address as the D-Bus specification has it ("Server Addresses").
func escape(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_/.*\\", c) >= 0:
			b.WriteByte(c)
		default:
			const digits = "0123456789abcdef"
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
