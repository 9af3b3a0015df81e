// Package opener hands an address to the system's browser. Addresses come from
// servers, so only two kinds pass: https with a host, and http to this
// computer. No shell is involved.
package opener

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"steward/app/clean"
)

const (
	maxURL  = 8 << 10 // bytes
	patient = 5 * time.Second
)

// Shown is an address as it is to be shown to the person, and exactly as it
// will be opened.
type Shown struct {
	URL     string // ASCII only
	Host    string // ASCII (punycode), without the port
	Domain  string // the part of Host that somebody registered; Host itself for a number or this computer
	Warning string // a sentence about the host, or ""
}

// Check says whether an address may be opened, and how it is shown. The error
// is a sentence that shows the address with everything odd in it visible.
// Checking Shown.URL again gives the same.
func Check(address string) (Shown, error) {
	refuse := func(why string) (Shown, error) {
		return Shown{}, fmt.Errorf("the address %s is not opened: %s", clean.Line(clean.Reveal(address), 200), why)
	}
	if why := refusedText(address); why != "" {
		return refuse(why)
	}
	u, err := url.Parse(address)
	if err != nil {
		return refuse("it is not written as an address")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("only https addresses are, and http on this computer")
	case u.User != nil:
		return refuse("it holds a user name or password before the host, which can hide where it leads")
	case u.Opaque != "" || u.Hostname() == "":
		return refuse("it names no host")
	}
	host, warning, err := asciiHost(u.Hostname())
	if err != nil {
		return refuse("its host is not a valid name")
	}
	if u.Scheme == "http" && !loopback(host) {
		return refuse("http is open to everyone on the way; only https addresses are opened, and http on this computer")
	}
	return Shown{URL: spelled(u, address, host), Host: host, Domain: domain(host), Warning: warning}, nil
}

// refusedText looks at the characters alone, before anything is parsed.
func refusedText(address string) string {
	switch {
	case len(address) > maxURL:
		return "it is longer than 8 kB"
	case address == "":
		return "it is empty"
	case !utf8.ValidString(address):
		return "it holds bytes that are no text"
	case strings.HasPrefix(address, "-"):
		return "it begins with a minus sign, as an option does"
	case strings.ContainsRune(address, '\\'):
		return "it holds a backslash, which browsers and programs read differently"
	case strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "it holds a space or control character"
	case len(clean.Inspect(address)) > 0 || strings.ContainsFunc(address, invisible):
		return "it holds invisible characters"
	}
	return ""
}

// invisible finds the line ends that Inspect takes for ordinary, and what
// Clean leaves in prose but an address never needs.
func invisible(r rune) bool {
	return r >= 0x80 && strings.HasPrefix(clean.Reveal("a"+string(r)), "a⟨")
}

// asciiHost gives the host as resolvers see it (UTS 46, RFC 5891), and a
// warning where it may look like another.
func asciiHost(host string) (ascii, warning string, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", "", errors.New("zone")
		}
		if addr.IsLoopback() {
			return addr.String(), "", nil
		}
		return addr.String(), "The host is a number instead of a name.", nil
	}
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(false), idna.VerifyDNSLength(true))
	if ascii, err = profile.ToASCII(strings.TrimSuffix(host, ".")); err != nil {
		return "", "", err
	}
	ascii = strings.ToLower(ascii)
	for _, r := range ascii {
		if !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_') {
			return "", "", errors.New("character")
		}
	}
	if ascii == "" || len(ascii) > 253 || strings.HasPrefix(ascii, ".") || strings.HasPrefix(ascii, "-") || strings.Contains(ascii, "..") {
		return "", "", errors.New("form")
	}
	if numeric(ascii) {
		return "", "", errors.New("a number in a form that programs read differently")
	}
	return ascii, nameWarning(host, ascii, profile), nil
}

// numeric reports a last part of digits or 0x…, which browsers take for an
// IPv4 address (WHATWG URL, "ends in a number").
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits := strings.TrimLeft(last, "0123456789") == ""
	return last != "" && digits || strings.HasPrefix(last, "0x") && strings.TrimLeft(last[2:], "0123456789abcdef") == ""
}

func nameWarning(host, ascii string, profile *idna.Profile) string {
	if !strings.Contains("."+ascii, ".xn--") {
		return ""
	}
	shown, err := profile.ToUnicode(ascii)
	if err != nil {
		shown = host
	}
	for _, label := range strings.Split(shown, ".") {
		if scripts := clean.Mixed(label); scripts != nil {
			return fmt.Sprintf("The name %s mixes letters of different scripts (%s) and may imitate another; its real name is %s.", clean.Reveal(shown), strings.Join(scripts, ", "), ascii)
		}
	}
	return fmt.Sprintf("The name %s is written with letters beyond a to z and may look like another; its real name is %s.", clean.Reveal(shown), ascii)
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// domain is the registrable part of a name, after the public suffix list.
func domain(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return d
	}
	return host
}

// spelled gives the address in ASCII. One that is ASCII already, with an
// ordinary host, is left byte for byte as it came, because signed addresses
// do not survive another spelling.
func spelled(u *url.URL, address, host string) string {
	if isPlain(address) && (u.Hostname() == host) {
		return address
	}
	c := *u
	c.Host = host
	if strings.Contains(host, ":") {
		c.Host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		c.Host += ":" + port
	}
	return escape(c.String())
}

func isPlain(s string) bool { return escape(s) == s }

// escape percent-encodes what may not stand in an address (RFC 3986, 2).
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>^`{|}'", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Open checks the address and hands it to the system's browser. It returns
// when the program that does so has ended or has been running for five
// seconds, or when ctx is done. Call it only when the person asked for it.
func Open(ctx context.Context, address string) error {
	return Opener{}.Open(ctx, address)
}

// Opener opens addresses with another way of starting programs. The zero value
// starts them itself.
type Opener struct {
	// Start runs a program with exactly these arguments, no shell between, and
	// returns when it has ended or is plainly running.
	Start func(name string, args ...string) error
}

// Open is [Open], through o.Start.
func (o Opener) Open(ctx context.Context, address string) error {
	shown, err := Check(address)
	if err != nil {
		return err
	}
	name, args := command(runtime.GOOS, shown.URL)
	if err := o.run(ctx, name, args); err != nil {
		return fmt.Errorf("the browser could not be opened with %s: %w; open %s yourself", name, err, shown.URL)
	}
	return nil
}

// run starts a program, unless ctx is done.
func (o Opener) run(ctx context.Context, name string, args []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := o.Start
	if start == nil {
		start = startProgram
	}
	done := make(chan error, 1)
	go func() { done <- start(name, args...) }() // ends with start, which is bounded
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// command is how each system opens an address.
func command(system, address string) (string, []string) {
	switch system {
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler", address}
	case "darwin":
		return "open", []string{address}
	}
	return "xdg-open", []string{address}
}

// startProgram starts the program found on PATH, never one in the current
// folder. A failure is told if it comes within a few seconds; after that the
// program is the browser itself, and goes on without us.
func startProgram(name string, args ...string) error {
	path, err := exec.LookPath(name) // refuses the current folder (exec.ErrDot)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }() // ends with the program, so that it leaves no zombie
	timer := time.NewTimer(patient)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return nil
	}
}
