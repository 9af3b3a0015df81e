package llm

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	maxBody    = 64 << 10 // kept of an error's body
	maxMessage = 600      // characters of it in the message
	maxNested  = 4        // errors told inside of errors
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

// readFailure reads an error body: {"error":{…}}, {"error":"…"}, {"detail":…}, {"message":…}, {"errors":[…]},
// {"error_msg":…}, {"base_resp":{…}}, any of them in a list or as a text inside of another, HTML, or plain text.
func readFailure(status int, body []byte) failure { return readNested(status, body, 0) }

func readNested(status int, body []byte, depth int) failure {
	f := failure{status: status}
	value, err := whole(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if err != nil || depth > maxNested {
		f.message = plainText(body)
		return f
	}
	if value[0] == '[' {
		if first := firstItem(value); first != nil {
			return readNested(status, first, depth+1)
		}
		return f
	}
	if value[0] != '{' {
		f.message = firstLines(unquoteOr(value))
		return f
	}
	inner := value
	for _, name := range []string{"error", "errors", "base_resp"} {
		e := member(value, name)
		if len(e) > 0 && e[0] == '[' {
			e = firstItem(e)
		}
		if len(e) > 0 && e[0] == '{' && string(e) != "{}" {
			inner = e
			break
		}
		if len(e) > 0 && e[0] == '"' {
			f.message = firstLines(unquote(e))
		}
	}
	f.readObject(inner)
	if raw := unquoteOr(member(member(inner, "metadata"), "raw")); raw != "" { // of the provider behind a gateway
		f.add(firstLines(readNested(status, []byte(raw), depth+1).message))
	}
	if m := strings.TrimSpace(f.message); m != "" && (m[0] == '{' || m[0] == '[') {
		if nested := readNested(f.status, []byte(m), depth+1); nested.message != "" && nested.message[0] != '{' {
			f.message, f.status = nested.message, nested.status
			f.kind += nested.kind
		}
	}
	if f.message == "" && len(inner) != len(value) {
		f.message = firstLines(f.kind)
	}
	if f.message == "" {
		f.message = firstLines(string(value))
	}
	if f.after == 0 {
		f.after = delayInWords(f.message)
	}
	return f
}

// add appends what another one says to the message, unless it says so itself.
func (f *failure) add(more string) {
	switch {
	case more == "" || strings.Contains(f.message, more):
	case f.message == "":
		f.message = more
	default:
		f.message += ": " + more
	}
}

// firstItem is the first item of a list, nil if there is none.
func firstItem(list []byte) []byte {
	var first []byte
	_, _ = eachItem(list, 0, 0, func(i, depth int) (int, error) { // it has been checked before
		end, err := skipValue(list, i, depth)
		if err == nil && first == nil {
			first = list[i:end]
		}
		return end, err
	})
	return first
}

func (f *failure) readObject(o []byte) {
	for _, name := range []string{"message", "msg", "detail", "error_description", "error_msg", "error_message", "status_msg", "title"} {
		v := member(o, name)
		switch {
		case f.message != "" || len(v) == 0 || string(v) == "null":
		case v[0] == '[':
			f.message = firstLines(complaints(v))
		default:
			f.message = firstLines(unquoteOr(v))
		}
	}
	for _, name := range []string{"type", "code", "status", "error_code", "status_code"} {
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

// complaints are the sentences of a list such as [{"loc":["body","x"],"msg":"field required"}].
func complaints(list []byte) string {
	var out []string
	_, _ = eachItem(list, 0, 0, func(i, depth int) (int, error) { // it has been checked before
		end, err := skipValue(list, i, depth)
		if err != nil || len(out) == 3 {
			return end, err
		}
		said := unquote(member(list[i:end], "msg"))
		if said == "" {
			said = unquoteOr(list[i:end])
		} else if where := member(list[i:end], "loc"); len(where) > 0 && where[0] == '[' {
			said = strings.NewReplacer(`"`, "", ",", ".").Replace(strings.Trim(string(where), "[]")) + ": " + said
		}
		out = append(out, said)
		return end, err
	})
	return strings.Join(out, "; ")
}

var errorWord = regexp.MustCompile(`(?i)err|fail|exhausted|unavailable|invalid|denied|limit|overload`)

// looksLikeError tells whether an event without choices reports an error although it has no member of that name.
func looksLikeError(event []byte) bool {
	for _, name := range []string{"errors", "error_msg", "error_message", "detail"} {
		if present(member(event, name)) {
			return true
		}
	}
	if !present(member(event, "message")) && !present(member(event, "msg")) {
		return false
	}
	if string(member(event, "success")) == "false" {
		return true
	}
	for _, name := range []string{"code", "status", "status_code", "error_code"} {
		switch v := member(event, name); {
		case !present(v):
		case number(v) != 0:
			return number(v) < 200 || number(v) > 299
		case v[0] == '"':
			return errorWord.MatchString(unquote(v))
		}
	}
	return false
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
