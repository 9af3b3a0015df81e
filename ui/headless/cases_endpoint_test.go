//go:build linux

package headless

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	. "steward/testdata/scriptedmodel"
)

// A busy endpoint is asked again when it says, and no tool runs a second time for it.
func TestABusyEndpointIsAskedAgain(t *testing.T) {
	t.Parallel()
	busy := func(body string) Step { return Fail(429, body) }
	limit := `{"error":{"message":"slow down","type":"rate_limit_error"}}`
	call := CallTool("echo", `{"text":"once"}`)
	for name, tc := range map[string]struct {
		steps    []Step
		requests int
		wait     time.Duration // between the refusal and the next request, at least
		code     int
	}{
		"Retry-After in seconds": {[]Step{call, busy(limit).With("Retry-After", "1"), Say("Done.")}, 3, 950 * time.Millisecond, 0},
		"a delay in the body":    {[]Step{call, busy(`{"error":{"code":429,"message":"quota","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`), Say("Done.")}, 3, 950 * time.Millisecond, 0},
		"no hint":                {[]Step{call, busy(limit), Say("Done.")}, 3, 100 * time.Millisecond, 0},
		"no money left":          {[]Step{call, busy(`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`).With("Retry-After", "1")}, 2, 0, 1},
		"503 with a second":      {[]Step{call, Fail(503, `{"error":"loading"}`).With("Retry-After", "1"), Say("Done.")}, 3, 950 * time.Millisecond, 0},
		"a bad request":          {[]Step{call, Fail(400, `{"error":{"message":"no"}}`)}, 2, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(tc.steps...), tools)
			p.mustExit(t, tc.code)
			all := p.model.Requests()
			if len(all) != tc.requests || len(p.received(t)) != 1 {
				t.Fatalf("%d requests, want %d; %d calls, want 1\n%s", len(all), tc.requests, len(p.received(t)), p.out)
			}
			if len(all) == 3 && all[2].Time.Sub(all[1].Time) < tc.wait {
				t.Errorf("asked again after %s, want %s", all[2].Time.Sub(all[1].Time), tc.wait)
			}
			p.noProblems(t)
		})
	}
}

// An endpoint that wants to be left alone for years does not lock the program.
func TestALongWaitCanBeStopped(t *testing.T) {
	t.Parallel()
	_, flags := model(t, Fail(429, `{"error":{"message":"slow down"}}`).With("Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT"))
	cmd := prepared(t, with(flags, "ask", "go", "--data", t.TempDir(), "--servers", serversFile(t, minimal()), "--events")...)
	start := time.Now()
	all := lines(t, interrupted(t, cmd, `"kind":"retrying"`, os.Interrupt).mustExit(t, 3).out)
	if one(t, all, "turn").str("state") != "stopped" || time.Since(start) > 20*time.Second {
		t.Errorf("after %s: %s", time.Since(start), texts(all))
	}
}

// Whatever an error looks like, the person reads its status and its reason.
func TestErrorsOfEveryForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step Step
		says []string
	}{
		"plain text":       {Fail(422, "Failed to deserialize: missing field x"), []string{"422", "missing field x"}},
		"a page":           {Fail(404, "<!doctype html><html><head><title>Not here</title><style>p{}</style></head><body><p>Nothing lives here</p></body></html>"), []string{"404", "Nothing lives here"}},
		"detail":           {Fail(400, `{"detail":[{"loc":["body"],"msg":"bad value"}]}`), []string{"400", "bad value"}},
		"detail as text":   {Fail(400, `{"detail":"bad value"}`), []string{"400", "bad value"}},
		"error as text":    {Fail(401, `{"error":"Unauthorized"}`), []string{"401", "Unauthorized"}},
		"message at top":   {Fail(400, `{"object":"error","message":"too few","code":40001}`), []string{"400", "too few"}},
		"a list":           {Fail(400, `[{"error":{"code":400,"message":"wrong field"}}]`), []string{"400", "wrong field"}},
		"a tool by number": {Fail(400, `{"error":{"message":"Invalid schema: object schema missing properties","type":"invalid_request_error","param":"tools[0].function.parameters"}}`), []string{"400", "s/e"}},
		"no body":          {Fail(403, ""), []string{"403"}},
		"an empty 200":     {Reply(), []string{"200", "empty"}},
		"a nested message": {Fail(400, `{"error":{"message":"{\"error\":{\"message\":\"inner reason\"}}"}}`), []string{"400", "inner reason"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(tc.step), tools)
			p.mustExit(t, 1)
			said := one(t, p.all, "turn").str("error")
			for _, want := range tc.says {
				if !strings.Contains(said, want) {
					t.Errorf("the error does not say %q: %s", want, said)
				}
			}
			if strings.Contains(said, "invalid character") || strings.Contains(said, "<p>") {
				t.Errorf("the error is a parser's complaint or a page: %s", said)
			}
		})
	}
}

// A huge result is shortened for the model, kept whole in the record, and leaves a
// conversation that goes on.
func TestAHugeResultDoesNotFillTheConversation(t *testing.T) {
	t.Parallel()
	script := strict(CallTool("huge", "{}"), Say("Read."), Say("Next."))
	script.Check = func(r Request) (int, string) {
		if len(r.Body) > 500_000 {
			return 400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 131072 tokens"}}`
		}
		return 0, ""
	}
	p := play(t, script, []string{"--only", "huge", "--step", "tool:huge=@big 20000000"})
	p.mustExit(t, 0)
	p.again(t, "--conversation", p.conversation(t))
	p.mustExit(t, 0)
	if n := len(p.model.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// Tools with any schema and any name reach a strict endpoint, and the right one is called.
func TestSchemasAndNamesOfTools(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 70)
	names := []string{"calendar.read", "calendar_read", "user/update", "查询", "a b", long + "_read", long + "_delete", "x__y", "-", "A", "a"}
	schemas := []string{`{"type":"object"}`, `{"type":"object","properties":{"args":{"type":"array"}}}`, `{}`, `{"type":"object","properties":null}`, `{"type":"object","properties":{},"required":null}`,
		`{"type":"object","$defs":{"K":{"type":"string","enum":["a","b"]}},"properties":{"k":{"$ref":"#/$defs/K","default":"a"},"h":{"type":"object"},"l":{"type":"array","items":{"$ref":"#/properties/h"}}}}`,
		`{"type":"object","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["array","null"],"items":{"type":"array","items":{}}}}}`,
		`{"type":"object","properties":{"a":true,"b":{"type":"array","items":[{"type":"string"}]}}}`, `{"$ref":"#/$defs/R","$defs":{"R":{"type":"object","properties":{"q":{"type":"string"}}}}}`}
	var entries []string
	for i, name := range names {
		q, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf(`{"name":%s,"description":"d","inputSchema":%s}`, q, schemas[i%len(schemas)]))
	}
	entries = append(entries, `{"name":"none"}`, `{"name":"nothing","inputSchema":null}`)
	server := []string{"--step", `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[` + strings.Join(entries, ",") + `]}}`, "--step", "tools/call=@text ${arguments}"}
	p := play(t, strict(Say("Hi.")), server)
	p.mustExit(t, 0)
	p.noProblems(t)
	body := p.request(t, 0)
	for _, bad := range []string{`"$ref"`, `"properties":null`, `"required":null`} {
		if strings.Contains(body, bad) {
			t.Errorf("the request holds %s", bad)
		}
	}
	alias := map[string]string{}
	for _, l := range array(t, steward(t, "tools", "--data", p.data, "--servers", p.file).mustExit(t, 0).out) {
		alias[l.str("tool")] = l.str("name")
	}
	seen := map[string]string{}
	var calls []Part
	for i, name := range names {
		a := alias[name]
		if other := seen[a]; a == "" || other != "" || !strings.Contains(body, `"name":"`+a+`"`) {
			t.Fatalf("%q is called %q as is %q, or not offered under it", name, a, other)
		}
		seen[a] = name
		calls = append(calls, CallDelta(i, fmt.Sprint("c", i), a, `{}`))
	}
	p.model = StartScript(t, strict(Reply(append(calls, Finish("tool_calls"), Done())...), Say("All called.")))
	p.again(t, "--consent", "allow")
	p.noProblems(t)
	var want []string
	for _, name := range names {
		want = append(want, name+" {}")
	}
	if got := p.received(t); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server received %q, want %q", got, want)
	}
}

// Pictures and other bytes never reach the model as text.
func TestBytesOfResultsAreNotText(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 90_000)
	rand.NewChaCha8([32]byte{7}).Read(noise) //nolint:errcheck // never fails
	png := append([]byte("\x89PNG\r\n\x1a\n"), noise...)
	data := base64.StdEncoding.EncodeToString(png)
	part := data[4000:4400]
	for name, content := range map[string]string{
		"a picture":                   `{"type":"image","mimeType":"image/png","data":"` + data + `"}`,
		"a picture with another case": `{"type":"image","mimeType":"image/PNG","data":"` + data + `"}`,
		"a picture that is none":      `{"type":"image","mimeType":"image/png","data":"not base64!` + data + `"}`,
		"sound":                       `{"type":"audio","mimeType":"audio/wav","data":"` + data + `"}`,
		"a resource of bytes":         `{"type":"resource","resource":{"uri":"test://b","mimeType":"application/octet-stream","blob":"` + data + `"}}`,
		"a data address in JSON":      `{"type":"text","text":"{\"shot\":\"data:image/png;base64,` + data + `\"}"}`,
		"a link":                      `{"type":"resource_link","uri":"test://one","name":"one"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := `{"content":[{"type":"text","text":"shot"},` + content + `]}`
			p := play(t, strict(CallTool("shot", "{}"), Say("Seen.")), []string{"--only", "shot", "--step", "tool:shot=@result " + result})
			p.mustExit(t, 0)
			p.noProblems(t)
			for _, m := range p.sent(t, 1) {
				if text, _ := json.Marshal(m); m["role"] == "tool" && (strings.Contains(string(text), part) || !strings.Contains(string(text), "shot")) {
					t.Errorf("the tool's answer: %.300s", text)
				}
			}
			body := p.request(t, 1)
			if n := strings.Count(body, part); n > strings.Count(body, `"image_url":{`) {
				t.Errorf("the bytes stand %d times in the request outside of pictures: %.300s", n, body)
			}
		})
	}
}

// An endpoint that is particular about ids or contents gets them its way, in old
// conversations too.
func TestEndpointsThatAreParticular(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`"(?:tool_call_id|id)":"([^"]*)"`)
	for name, check := range map[string]func(body string) string{
		"nine letters and digits": func(body string) string {
			for _, m := range id.FindAllStringSubmatch(body, -1) {
				if !regexp.MustCompile(`^[a-zA-Z0-9]{9}$`).MatchString(m[1]) {
					return `Tool call id was ` + m[1] + ` but must be a-z, A-Z, 0-9, with a length of 9.`
				}
			}
			return ""
		},
		"no lists of types": func(body string) string {
			if strings.Contains(body, `"type":[`) {
				return `Invalid JSON payload received. Unknown name "type" at 'tools[0].function_declarations[0].parameters.properties[0].value': Proto field is not repeating, cannot start list.`
			}
			return ""
		},
		"no content beside calls": func(body string) string {
			if regexp.MustCompile(`"content":"","tool_calls"|"tool_calls":\[[^\]]*\],"content":""`).MatchString(body) {
				return "messages: text content blocks must be non-empty"
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := Reply(CallDelta(0, "call_0fypS1hVXabc", "s__echo", `{"text":"a"}`), CallDelta(1, "call_0fypS1hVXabd", "s__quiet", `{}`), Finish("tool_calls"), Done())
			script := Script{Steps: []Step{two, Say("One."), Say("Two.")}}
			script.Check = func(r Request) (int, string) {
				if why := check(string(r.Body)); why != "" {
					return 400, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, why)
				}
				return 0, ""
			}
			list := `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["array","null"],"items":{"type":"array","items":{}}}}}},{"name":"quiet","inputSchema":{}}]}}`
			p := play(t, script, []string{"--step", list, "--step", `tool:quiet=@result {"content":[]}`})
			p.mustExit(t, 0)
			p.again(t, "--conversation", p.conversation(t))
			p.mustExit(t, 0)
			if len(p.received(t)) != 2 {
				t.Errorf("the server received %q", p.received(t))
			}
		})
	}
}

// One id for every call of a session loses no approval, no run and no result.
func TestOneIDForEveryCall(t *testing.T) {
	t.Parallel()
	var steps []Step
	for k := range 3 {
		steps = append(steps, Reply(echoes(0, "SAME", fmt.Sprintf(`{"text":"n%d"}`, k)), Finish("tool_calls"), Done()))
	}
	p := play(t, strict(append(steps, Say("Done."))...), tools)
	p.mustExit(t, 0)
	p.noProblems(t)
	if len(p.received(t)) != 3 || len(only(p.all, "decision")) != 3 {
		t.Errorf("received %q\n%s", p.received(t), texts(p.all))
	}
	answers := 0
	for _, m := range p.sent(t, 3) {
		if m["role"] == "tool" {
			if m["content"] != fmt.Sprintf("n%d", answers) {
				t.Errorf("answer %d is %v", answers, m["content"])
			}
			answers++
		}
	}
	if answers != 3 {
		t.Errorf("%d answers in the last request, want 3", answers)
	}
}

// Results without text still tell the model something.
func TestResultsWithoutText(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"content":[],"structuredContent":{"total":36},"isError":false}`: `{"total":36}`,
		`{"content":[]}`: "",
		`{"content":[{"type":"text","text":""}]}`:                                                       "",
		`{"structuredContent":{"z":1,"a":12345678901234567890}}`:                                        `{"z":1,"a":12345678901234567890}`,
		`{"content":[{"type":"text","text":"36 in all"}],"structuredContent":{"total":36}}`:             "36 in all",
		`{"content":[{"type":"image","mimeType":"image/png","data":""}],"structuredContent":{"n":[1]}}`: `{"n":[1]}`,
	} {
		t.Run(result, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(CallTool("r", "{}"), Say("Seen.")), []string{"--only", "r", "--step", "tool:r=@result " + result})
			p.mustExit(t, 0)
			p.noProblems(t)
			for _, m := range p.sent(t, 1) {
				if text, _ := m["content"].(string); m["role"] == "tool" && (text == "" || !strings.Contains(text, want)) {
					t.Errorf("the model was told %q, want %q", text, want)
				}
			}
		})
	}
}
