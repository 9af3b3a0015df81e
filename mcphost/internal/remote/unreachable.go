package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const proxyHint = "Check the proxy in the settings, or in the environment (HTTPS_PROXY), with its user and password."

// unreachable explains an error of the network. The text of the cause may hold the address with
// what is secret in it, so it is taken apart first.
func (l *Link) unreachable(err error) error {
	cause := err
	var ue *url.Error
	if errors.As(err, &ue) {
		cause = ue.Err
	}
	e := &Error{Err: cause, Unreached: true, Hint: "Check the address and the network, and whether the server is running."}
	if untrusted(e, show(l.url), err) || unproxied(e, show(l.url), err) {
		return e
	}
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Message = fmt.Sprintf("the server %s cannot be reached: the name %s is not known", show(l.url), dns.Name)
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("the server %s cannot be reached: the name %s could not be looked up (%s)", show(l.url), dns.Name, dns.Err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.Message = fmt.Sprintf("the server %s did not answer in time", show(l.url))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Message = fmt.Sprintf("the server %s closed the connection without an answer", show(l.url))
		e.Unreached = false
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Message = fmt.Sprintf("the server %s cannot be reached: nothing answers there", show(l.url))
	default:
		e.Message = fmt.Sprintf("the server %s cannot be reached: %v", show(l.url), cause)
	}
	return e
}

// untrusted explains a TLS connection that did not come about (RFC 8446). There is no way around it
// but to trust another certificate.
func untrusted(e *Error, address string, err error) bool {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var op *net.OpError
	const mend = "Its certificate must be put right; it is not used until then."
	switch {
	case errors.As(err, &unknown):
		e.Message = fmt.Sprintf("the server %s cannot be trusted: its certificate was issued by an authority that this computer does not know", address)
		e.Hint = `If your company or your own authority issued it, name that authority's certificate as "caFile" in the server's entry, or in the settings.`
	case errors.As(err, &host):
		e.Message = fmt.Sprintf("the server %s cannot be trusted: its certificate was issued for another name (%s)", address, names(host.Certificate))
		e.Hint = "Check the address. Its certificate must be put right; it is not used until then."
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		from, until := span(invalid.Cert)
		e.Message = fmt.Sprintf("the server %s cannot be trusted: its certificate has expired, or is not valid yet (it is valid from %s to %s)", address, from, until)
		e.Hint = "Check the date of this computer. Its certificate must be put right; it is not used until then."
	case errors.As(err, &invalid):
		e.Message = fmt.Sprintf("the server %s cannot be trusted: %v", address, invalid)
		e.Hint = mend
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Message = fmt.Sprintf("the server %s does not speak https", address)
		e.Hint = "Check whether its address begins with http://."
	case errors.As(err, &verify):
		e.Message = fmt.Sprintf("the server %s cannot be trusted: %v", address, verify.Err)
		e.Hint = mend
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"):
		e.Message = fmt.Sprintf("the server %s and this program found no way to speak https: %v", address, op.Err)
		e.Hint = "It may want a certificate of yours, or speak only old versions of TLS."
	default:
		return false
	}
	return true
}

// span is when a certificate is valid.
func span(c *x509.Certificate) (from, until string) {
	if c == nil {
		return "?", "?"
	}
	return c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly)
}

// names are the hosts a certificate is for, shortened.
func names(c *x509.Certificate) string {
	if c == nil {
		return "none"
	}
	all := c.DNSNames
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "none"
	}
	return short(strings.Join(all, ", "))
}

// unproxied explains what happened on the way through a proxy.
func unproxied(e *Error, address string, err error) bool {
	var refused *proxyRefusal
	var op *net.OpError
	switch {
	case errors.As(err, &refused) && refused.status == http.StatusProxyAuthRequired:
		e.Message = fmt.Sprintf("the server %s cannot be reached: the proxy %s wants a sign-in (407)", address, refused.host)
	case errors.As(err, &refused):
		e.Message = fmt.Sprintf("the server %s cannot be reached: %v", address, refused)
	case errors.Is(err, errBadProxy):
		e.Message = fmt.Sprintf("the server %s cannot be reached: %v", address, errBadProxy)
	case errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect"):
		e.Message = fmt.Sprintf("the server %s cannot be reached: the proxy does not answer: %v", address, op.Err)
	default:
		return false
	}
	e.Hint = proxyHint
	return true
}

// after says in how long a server wants to be asked again (RFC 9110, 10.2.3): " It asks to wait 5s."
// or nothing.
func after(header string, now time.Time) string {
	const most = 24 * time.Hour
	d := time.Duration(0)
	if n, err := strconv.ParseInt(strings.TrimSpace(header), 10, 64); err == nil {
		d = time.Duration(min(max(n, 0), int64(2*most/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		d = at.Sub(now).Round(time.Second)
	}
	switch {
	case d <= 0:
		return ""
	case d > most:
		return " It asks to wait for more than a day."
	}
	return fmt.Sprintf(" It asks to wait for %s.", d)
}
