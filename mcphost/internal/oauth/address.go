package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/net/idna"
)

// reach says which addresses that are not public may be spoken to: those of the
// same kind as the server's own (RFC 9728, 7.7). A server on the internet must
// not have this program speak to what only this computer or its network reaches.
type reach struct {
	loopback, private, link bool
	// here says that it may name this computer itself, also over http. That a name
	// leads here is not enough: whoever owns a domain says where its names lead, and
	// could have this program speak to whatever else runs here. Behind such a name
	// there has to be a certificate for it.
	here bool
}

// reachOf looks at where a server is.
func reachOf(ctx context.Context, server *url.URL) reach {
	return reachBy(ctx, server, net.DefaultResolver.LookupNetIP)
}

// reachBy is reachOf with another way of looking names up.
func reachBy(ctx context.Context, server *url.URL, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) reach {
	var r reach
	host := strings.TrimSuffix(strings.ToLower(server.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	ips := []netip.Addr{ip}
	named := err != nil
	if named {
		if ips, err = lookup(ctx, "ip", host); err != nil {
			ips = nil // it is spoken to as one on the internet
		}
	}
	for _, ip := range ips {
		switch kind(ip) {
		case loopback:
			r.loopback, r.private, r.here = true, true, !named || isUnowned(host)
		case private:
			r.private = true
		case link:
			r.link = true
		}
	}
	return r
}

// isUnowned reports whether nobody on the internet says where a name leads: it has no
// domain, or one that nobody can own (RFC 6761, RFC 6762).
func isUnowned(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return isLocalhost(host) || last == host || slices.Contains([]string{"test", "local", "internal", "lan"}, last)
}

// isLocalhost reports whether a name, in lower case and without a dot at its end, is
// one of this computer (RFC 6761, 6.3).
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isNumber reports whether a host that is no address as it should be written may be
// read as one: its last part is a number (WHATWG URL, 3.5).
func isNumber(host string) bool {
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	return last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// permits reports whether an address may be spoken to.
func (r reach) permits(ip netip.Addr) bool {
	switch kind(ip) {
	case public:
		return true
	case loopback:
		return r.loopback
	case private:
		return r.private
	case link:
		return r.link
	}
	return false
}

// control is for net.Dialer: it sees the address after the name was looked up.
func (r reach) control(_, address string, _ syscall.RawConn) error {
	ip, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %s cannot be read: %w", address, err)
	}
	if !r.permits(ip.Addr()) {
		return &forbiddenError{ip.Addr().String()}
	}
	return nil
}

// forbiddenError says that an address is not spoken to.
type forbiddenError struct{ address string }

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("%s is an address of this computer or its network, to which a server elsewhere must not point", e.address)
}

// Kinds of addresses.
type addressKind int

const (
	public addressKind = iota
	loopback
	private
	link  // of one link; cloud platforms keep secrets there
	never // names no single computer
)

// Ranges that netip has no question for (RFC 6890).
var (
	shared = prefixes("100.64.0.0/10", "198.18.0.0/15", "fec0::/10", "64:ff9b:1::/48") // the last translates to what a network likes (RFC 8215)
	nobody = prefixes("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16")
	nested = prefixes("64:ff9b::/96", "::ffff:0:0:0/96")
)

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, s := range all {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

func within(ip netip.Addr, all []netip.Prefix) bool {
	for _, p := range all {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// kind tells what an address is; one that carries an IPv4 address is what that is.
func kind(ip netip.Addr) addressKind {
	ip = ip.Unmap().WithZone("")
	b := ip.As16()
	switch {
	case within(ip, nested):
		return kind(netip.AddrFrom4([4]byte(b[12:])))
	case ip.Is6() && b[0] == 0x20 && b[1] == 0x02: // 6to4
		return kind(netip.AddrFrom4([4]byte(b[2:6])))
	case ip.IsUnspecified():
		return loopback // where it is dialled, it is this computer
	case ip.IsLoopback():
		return loopback
	case ip.IsPrivate(), within(ip, shared):
		return private
	case ip.IsLinkLocalUnicast():
		return link
	case ip.IsMulticast(), within(ip, nobody):
		return never
	}
	return public
}

// maxAddress is how long an address that a server names may be, in bytes.
const maxAddress = 4 << 10

// check reads an address that a server named. Only https with a host is taken,
// and http on this computer where the server itself is on it: nothing else may be
// fetched, or handed to a browser.
func (r reach) check(raw string) (*url.URL, error) {
	if len(raw) > maxAddress {
		return nil, fmt.Errorf("it is longer than %d bytes", maxAddress)
	}
	for _, c := range []byte(raw) {
		if c <= ' ' || c == 0x7F || c == '\\' {
			return nil, errors.New("it holds characters that no address has")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("it is no address") // the cause would repeat what may be secret
	case u.User != nil:
		return nil, errors.New("it holds a name or a password")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("it names no computer (%q)", short(raw))
	}
	host, err := asciiHost(u.Hostname())
	if err != nil {
		return nil, errors.New("its host is no name")
	}
	ip, err := netip.ParseAddr(host)
	literal := err == nil
	here := isLocalhost(host) || literal && kind(ip) == loopback
	switch {
	case host == "" || !literal && isNumber(host):
		return nil, fmt.Errorf("its host %q is a number in a form that programs read differently", short(u.Hostname()))
	case u.Scheme == "http" && !here, u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is neither https nor http on this computer", short(u.Scheme+"://"+u.Host))
	case here && !r.here:
		return nil, &forbiddenError{u.Host}
	case literal && !r.permits(ip):
		return nil, &forbiddenError{u.Host}
	}
	return u, nil
}

// asciiHost is a host as it is looked up, in lower case and without a dot at its end:
// other letters and digits are made of what looks like them (UTS 46), and what comes of
// that may be an address.
func asciiHost(host string) (string, error) {
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", err
		}
	}
	return strings.TrimSuffix(strings.ToLower(host), "."), nil
}

// show is an address for people, without what may be secret in it.
func show(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an address that cannot be read"
	}
	return short((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}

// short cuts a text from outside to what a message can hold.
func short(s string) string {
	const most = 200
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
