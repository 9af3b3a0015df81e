package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
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

	after time.Duration // the endpoint's own wish how long to wait; 0 = none
	cause error
}

// Error is Message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the error below, if there is one.
func (e *Error) Unwrap() error { return e.cause }

const (
	maxBody    = 64 << 10 // kept of an error's body
	maxMessage = 600      // characters of it in the message
)

// failure is what an endpoint says about an error, in whatever form.
type failure struct {
	status  int
	message string
	kind    string // its type and code, joined
	param   string
	after   time.Duration
	limit   int
	used    int
}

// readFailure reads an error body: {"error":{…}}, {"error":"…"}, {"detail":…},
// {"message":…}, any of them in an array, HTML, or plain text.
func readFailure(status int, body []byte) failure {
	f := failure{status: status}
	value, err := whole(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if err != nil {
		f.message = plainText(body)
		return f
	}
	if value[0] == '[' {
		_, _ = eachItem(value, 0, 0, func(i, depth int) (int, error) {
			end, err := skipValue(value, i, depth)
			if err == nil && f.message == "" {
				f = readFailure(status, value[i:end])
			}
			return end, err
		})
		return f
	}
	if value[0] != '{' {
		f.message = firstLines(unquoteOr(value))
		return f
	}
	inner := value
	if e := member(value, "error"); len(e) > 0 && e[0] == '{' {
		inner = e
	} else if len(e) > 0 && e[0] == '"' {
		f.message = firstLines(unquote(e))
	}
	f.readObject(inner)
	if f.message == "" {
		if raw := member(inner, "metadata"); raw != nil {
			f.message = firstLines(unquoteOr(member(raw, "raw")))
		}
	}
	if f.message == "" {
		f.message = firstLines(string(value))
	}
	return f
}

func (f *failure) readObject(o []byte) {
	for _, name := range []string{"message", "msg", "detail", "error_description", "title"} {
		if v := member(o, name); f.message == "" && len(v) > 0 && string(v) != "null" {
			f.message = firstLines(unquoteOr(v))
		}
	}
	for _, name := range []string{"type", "code", "status"} {
		v := member(o, name)
		if len(v) == 0 {
			continue
		}
		if n := number(v); n >= 400 && n < 600 && (f.status < 400 || f.status >= 600) {
			f.status = n
		}
		f.kind += " " + strings.ToLower(unquoteOr(v))
	}
	f.param = unquote(member(o, "param"))
	f.used, f.limit = number(member(o, "n_prompt_tokens")), number(member(o, "n_ctx"))
	f.after = retryDelay(o)
}

// retryDelay finds "retryDelay":"17s" (google.rpc.RetryInfo) or retry_after.
func retryDelay(o []byte) time.Duration {
	var after time.Duration
	if d := member(o, "details"); len(d) > 0 && d[0] == '[' {
		_, _ = eachItem(d, 0, 0, func(i, depth int) (int, error) {
			end, err := skipValue(d, i, depth)
			if err == nil {
				if v, perr := time.ParseDuration(unquote(member(d[i:end], "retryDelay"))); perr == nil {
					after = v
				}
			}
			return end, err
		})
	}
	if v, err := time.ParseDuration(unquote(member(o, "retryDelay"))); err == nil {
		after = v
	}
	if v, err := strconv.ParseFloat(unquoteOr(member(o, "retry_after")), 64); err == nil && v > 0 && v < 1e6 {
		after = time.Duration(v * float64(time.Second))
	}
	return after
}

func unquoteOr(v []byte) string {
	if len(v) > 0 && v[0] == '"' {
		return unquote(v)
	}
	return string(v)
}

var (
	htmlHidden = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>`)
	htmlTitle  = regexp.MustCompile(`(?is)<title>(.*?)</title>`)
	htmlTag    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// plainText is the readable part of a body that is not JSON.
func plainText(body []byte) string {
	s := string(body)
	if !strings.HasPrefix(strings.TrimSpace(s), "<") {
		return firstLines(s)
	}
	title := ""
	if m := htmlTitle.FindStringSubmatch(s); m != nil {
		title = strings.TrimSpace(m[1])
	}
	text := firstLines(htmlTag.ReplaceAllString(htmlHidden.ReplaceAllString(s, " "), " "))
	switch {
	case text == "" || strings.HasPrefix(text, title) && title != "":
		text = strings.TrimSpace(title + strings.TrimPrefix(text, title))
	case title != "":
		text = title + ": " + text
	}
	return strings.TrimSpace("a web page. " + text)
}

// firstLines is the beginning of a text on one line, without characters that
// cannot be seen.
func firstLines(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if unicode.Is(unicode.C, r) || r == ' ' && (b.Len() == 0 || strings.HasSuffix(b.String(), " ")) {
			continue
		}
		if n++; n > maxMessage {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

var (
	contextWords = regexp.MustCompile(`context_length_exceeded|exceed_context_size|maximum context length|context (size|window|length)|prompt is too long|too many tokens|token count.*exceeds|exceeds the maximum number of tokens|input is too long|string_above_max_tokens`)
	quotaWords   = regexp.MustCompile(`insufficient_quota|billing_hard_limit|insufficient (balance|credit|funds|quota)|exceeded your current quota|credit balance|payment required|out of credits`)
	brokenInput  = regexp.MustCompile(`image input is not supported|does not support image|json\.exception|failed to parse`)
	numbers      = []*regexp.Regexp{ // used, limit
		regexp.MustCompile(`request \((?P<used>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)`),
		regexp.MustCompile(`maximum context length is (?P<limit>\d+)(?:[^0-9]+(?P<used>\d+))?`),
		regexp.MustCompile(`(?P<used>\d+) tokens > (?P<limit>\d+)`),
		regexp.MustCompile(`token count \((?P<used>\d+)\) exceeds the maximum number of tokens allowed \((?P<limit>\d+)`),
	}
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
		readNumbers(e, strings.ReplaceAll(all, ",", ""))
		hint = "Shorten or leave out tool results, or begin a new conversation."
	case KindBadRequest:
		hint = e.aboutTools(f, tools)
	}
	e.Message = where + " answered " + statusText(f.status)
	if f.message != "" {
		e.Message += ": " + f.message
	}
	e.Message = sentence(e.Message) + " " + hint
	e.Message = strings.TrimSpace(e.Message)
	return e
}

func (f failure) errorKind(all string) string {
	// Some say "quota" for a limit of this minute, and then tell when it ends; the code
	// insufficient_quota never means that, whatever stands in Retry-After.
	temporary := f.after > 0
	switch {
	case contextWords.MatchString(all) && f.status != 429:
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

func readNumbers(e *Error, text string) {
	for _, re := range numbers {
		m := re.FindStringSubmatch(text)
		if m == nil || e.Limit != 0 && e.Used != 0 {
			continue
		}
		for i, name := range re.SubexpNames() {
			n, err := strconv.Atoi(m[i])
			switch {
			case err != nil:
			case name == "used" && e.Used == 0:
				e.Used = n
			case name == "limit" && e.Limit == 0:
				e.Limit = n
			}
		}
	}
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
		e.Message = fmt.Sprintf("The connection to %s broke before an answer came (%s). Try again.", where, firstLines(err.Error()))
	}
	return e
}
