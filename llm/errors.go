package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kinds of Error.
const (
	KindAuth       = "auth"        // the key is missing, wrong or not allowed
	KindNotFound   = "not_found"   // no such path or model
	KindRateLimit  = "rate_limit"  // too many requests; later it may work
	KindQuota      = "quota"       // nothing left to spend
	KindContext    = "context"     // the request is longer than the model can read
	KindBadRequest = "bad_request" // the endpoint does not take the request
	KindBadTool    = "bad_tool"    // it does not take one tool; see Error.Tool
	KindManyTools  = "many_tools"  // it does not take so many tools; see Error.Limit
	KindServer     = "server"      // the endpoint failed
	KindNetwork    = "network"     // it cannot be reached, or the connection broke
	KindProtocol   = "protocol"    // what it sent is no answer
	KindConfig     = "config"      // the settings are wrong or unsafe
)

// Error is why a request failed. Nothing in it holds the key in use.
type Error struct {
	Kind    string
	Status  int    // HTTP status, 0 if there was none
	Message string // what failed, where, and what to do
	// Body is what the endpoint sent, at most 64 KiB of it.
	Body string
	// Tool is the Origin of the tool the endpoint refuses, if it named one. Suspect says
	// that it speaks of the tools, and names none.
	Tool    string
	Suspect bool
	// Retryable says that the same request may work later.
	Retryable bool
	// Limit and Used are the model's context window and the size of the
	// request in tokens, for KindContext, where the endpoint told; for KindManyTools how
	// many tools it takes, where it told, and how many there were.
	Limit, Used int

	after  time.Duration // the endpoint's own wish how long to wait; 0 = none
	reason string        // Message without the advice, "" if there is none in it
	cause  error
}

// Error is Message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the error below, if there is one.
func (e *Error) Unwrap() error { return e.cause }

var (
	quotaWords  = regexp.MustCompile(`insufficient_quota|billing_hard_limit|insufficient (balance|credit|funds|quota)|exceeded your current quota|credit balance|payment required|out of credits`)
	brokenInput = regexp.MustCompile(`image input is not supported|does not support image|json\.exception|failed to parse`)
)

// classify turns what an endpoint said into an Error. where names the endpoint.
func classify(where string, f failure, body []byte, tools []Tool) *Error {
	e := &Error{Status: f.status, Body: keep(body), after: f.after}
	all := strings.ToLower(f.kind + " " + f.message)
	e.Kind = f.errorKind(all)
	hint := ""
	switch e.Kind {
	case KindAuth:
		hint = "Check the API key (--api-key-env)."
	case KindNotFound:
		hint = "Check the base URL (--base-url; most end in /v1) and the model's name (--model)."
	case KindQuota:
		hint = "Nothing is left to spend at this provider; check its billing page or use another endpoint."
	case KindRateLimit:
		e.Retryable, hint = true, "Wait a little and try again."
	case KindServer:
		e.Retryable, hint = f.passing(all), "Try again; if it stays, look at the endpoint's own log or status page."
	case KindContext:
		e.Used, e.Limit = f.used, f.limit
		readTooLarge(e, all)
		hint = "Shorten or leave out tool results, sum up the older part, or begin a new conversation."
	case KindBadRequest:
		if !noTools.MatchString(all) { // else none of them is to blame
			hint = e.aboutTools(f, tools)
		}
		hint = cmp.Or(hint, badHint(f.status, all))
	}
	e.Message = where + " answered " + statusText(f.status)
	if f.message != "" {
		e.Message += ": " + f.message
	}
	e.reason = sentence(e.Message)
	e.Message = strings.TrimSpace(e.reason + " " + hint)
	return e
}

var (
	noPictures = regexp.MustCompile(`image input is not supported|does not support image|mmproj`)
	badHistory = regexp.MustCompile(`json\.exception|failed to parse`)
	badSchema  = regexp.MustCompile(`schema|\$ref|function_declarations`)
	noTools    = regexp.MustCompile(`(does not|doesn't|not) support(ed)? .{0,20}(tools?|function)|(tools?|function.?call\w*) (is|are) not supported`)
)

// badHint says what to do about a request that an endpoint does not take, as far as it can be told.
func badHint(status int, all string) string {
	switch {
	case noPictures.MatchString(all):
		return "The model takes no pictures: leave them out, or use one that does."
	case noTools.MatchString(all):
		return "The model takes no tools: use another one, or leave the tools out."
	case badHistory.MatchString(all):
		return "It could not read a tool call or a result in the conversation: begin a new one, or go back before it."
	case badSchema.MatchString(all):
		return "It does not take the definition of a tool: leave out the tools of one server after the other to find it."
	case status == http.StatusRequestEntityTooLarge:
		return "Shorten or leave out tool results and pictures, or begin a new conversation."
	case status == http.StatusMethodNotAllowed:
		return "Check the base URL (most end in /v1)."
	}
	return ""
}

func (f failure) errorKind(all string) string {
	// Some say "quota" for a limit of this minute, and then tell when it ends; the code
	// insufficient_quota never means that, whatever stands in Retry-After.
	temporary := f.after > 0
	switch {
	case tooLarge(f.status, all):
		return KindContext
	case f.status == 402 || strings.Contains(f.kind, "insufficient_quota") || quotaWords.MatchString(all) && !temporary:
		return KindQuota
	case f.status == 429 || strings.Contains(f.kind, "rate_limit"):
		return KindRateLimit
	case f.status == 401 || f.status == 403 || strings.Contains(f.kind, "authentication") || strings.Contains(f.kind, "permission"):
		return KindAuth
	case strings.Contains(f.kind, "invalid_request") && f.status != 404 || brokenInput.MatchString(all):
		return KindBadRequest
	case f.status == 404:
		return KindNotFound
	case f.status == 408 || f.status >= 500 || strings.Contains(f.kind, "overloaded") || strings.Contains(f.kind, "server_error"):
		return KindServer
	case f.status >= 400:
		return KindBadRequest
	}
	return KindServer
}

// passing tells whether a server's failure is of a kind that passes. Where the
// endpoint does not say, it is the person's to try again.
func (f failure) passing(all string) bool {
	return f.status == 408 || f.status >= 500 || strings.Contains(all, "overloaded") || strings.Contains(f.kind, "server_error") || strings.Contains(f.kind, "unavailable")
}

func statusText(status int) string {
	switch {
	case status == 0 || status == http.StatusOK:
		return "with an error"
	case http.StatusText(status) == "":
		return strconv.Itoa(status)
	}
	return strconv.Itoa(status) + " " + http.StatusText(status)
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "…") || strings.HasSuffix(s, "。") {
		return s
	}
	return s + "."
}

func keep(body []byte) string {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	return strings.ToValidUTF8(string(body), "\ufffd")
}

// tryAgain is the advice where nothing else can be done.
const tryAgain = "Try again."

// networkError explains why no answer came.
func networkError(where string, err error) *Error {
	e := &Error{Kind: KindNetwork, Retryable: true, cause: err}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // the method and path say nothing to a person
	}
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		timeout   net.Error
	)
	var proxy *proxyRefusal
	switch {
	case errors.As(err, &proxy):
		proxy.explain(e, where)
	case throughProxy(err):
		e.Message = fmt.Sprintf("The proxy on the way to %s cannot be reached (%s), so nothing was sent. Look at Settings, Network, or at the endpoint's own proxy.", where, firstLines(dialed(err)))
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("The host of %s cannot be found (%s). Check the base URL and the network.", where, dns.Err)
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		e.Retryable = false
		e.Message = fmt.Sprintf("The certificate of %s is not trusted, so nothing was sent (%s). Use an address with a valid certificate; where your company has certificates of its own, name their file in Settings, Network.", where, firstLines(err.Error()))
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Retryable = false
		e.Message = fmt.Sprintf("%s does not speak https. If it is a server on this machine, write http:// in the base URL.", where)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = fmt.Sprintf("Nothing answers at %s (connection refused). Start the model server or correct the base URL.", where)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Message = fmt.Sprintf("%s did not answer in time. Check that the model server is running and can be reached.", where)
	default:
		e.reason = fmt.Sprintf("The connection to %s broke before an answer came (%s).", where, brokenBy(err))
		e.Message = e.reason + " " + tryAgain
	}
	return e
}

// brokenBy says how a connection broke, without the addresses and system calls in what the system says.
func brokenBy(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return "it was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE):
		return "it was closed"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no way to it"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return firstLines(err.Error())
}
