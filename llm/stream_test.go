package llm

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sm "steward/testdata/scriptedmodel"
)

// describe writes calls as "name arguments" or "name !" for unusable ones.
func describe(calls []ToolCall) string {
	var out []string
	for _, c := range calls {
		if c.Problem != "" {
			out = append(out, c.Name+" !")
		} else {
			out = append(out, c.Name+" "+c.Arguments)
		}
	}
	return strings.Join(out, " | ")
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	tools := []Tool{{Name: "get_time"}, {Name: "weather"}, {Name: "time"}, {Name: "edit_file"}, {Name: "edit"}, {Name: "write"}, {Name: "list_all"}}
	d, fin, done := sm.CallDelta, sm.Finish, sm.Done()
	plain := func(json string) sm.Part { return sm.Event(json) }
	cases := map[string]struct {
		parts []sm.Part
		want  string
	}{
		"no index":               {[]sm.Part{d(-1, "call_a", "get_time", "{}"), fin("tool_calls"), done}, "get_time {}"},
		"no index, two calls":    {[]sm.Part{d(-1, "a", "get_time", "{}"), d(-1, "b", "time", "{\"a\":"), d(-1, "-", "-", "1}"), fin("tool_calls")}, `get_time {} | time {"a":1}`},
		"no index, ids mixed":    {[]sm.Part{d(-1, "a", "get_time", "{\"x\""), d(-1, "b", "time", "{"), d(-1, "a", "-", ":1}"), d(-1, "b", "-", "}"), fin("tool_calls")}, `get_time {"x":1} | time {}`},
		"no index and no id":     {[]sm.Part{d(-1, "-", "get_time", "{}"), d(-1, "-", "get_time", "{\"a\":1}"), fin("tool_calls")}, `get_time {} | get_time {"a":1}`},
		"index null":             {[]sm.Part{plain(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":null,"id":"g1","function":{"name":"get_time","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)}, "get_time {}"},
		"index in quotes":        {[]sm.Part{plain(`{"choices":[{"delta":{"tool_calls":[{"index":"0","id":"a","function":{"name":"get_time","arguments":"{"}},{"index":"1","id":"b","function":{"name":"time","arguments":"{"}}]}}]}`), plain(`{"choices":[{"delta":{"tool_calls":[{"index":"0","function":{"arguments":"}"}},{"index":"1","function":{"arguments":"}"}}]}}]}`), done}, "get_time {} | time {}"},
		"all index 0":            {[]sm.Part{d(0, "c1", "weather", `{"city":"Oslo"}`), d(0, "c2", "weather", `{"city":"Rome"}`), d(0, "c3", "time", `{"tz":"UTC"}`), fin("tool_calls"), done}, `weather {"city":"Oslo"} | weather {"city":"Rome"} | time {"tz":"UTC"}`},
		"all index 0, no ids":    {[]sm.Part{d(0, "-", "weather", `{"city":"Oslo"}`), d(0, "-", "weather", `{"city":"Rome"}`), d(0, "-", "time", ``), fin("tool_calls"), done}, `weather {"city":"Oslo"} | weather {"city":"Rome"} | time {}`},
		"one id for all":         {[]sm.Part{d(0, "S", "weather", `{"city":"Oslo"}`), d(0, "S", "weather", `{"city":"Rome"}`), fin("tool_calls"), done}, `weather {"city":"Oslo"} | weather {"city":"Rome"}`},
		"one id, two indexes":    {[]sm.Part{d(0, "S", "weather", `{`), d(1, "S", "time", `{`), d(0, "-", "-", `}`), d(1, "-", "-", `}`), fin("tool_calls"), done}, `weather {} | time {}`},
		"calls sent once more":   {[]sm.Part{d(0, "c1", "weather", `{"city":`), d(0, "-", "-", `"Oslo"}`), d(0, "c1", "weather", `{"city":"Oslo"}`), fin("tool_calls"), done}, `weather {"city":"Oslo"}`},
		"new id in every piece":  {[]sm.Part{d(0, "r1", "weather", `{"city":`), d(0, "r2", "-", `"Oslo"`), d(0, "r3", "-", `}`), fin("tool_calls"), done}, `weather {"city":"Oslo"}`},
		"name repeated":          {[]sm.Part{d(0, "c1", "edit_file", ""), d(0, "c1", "edit_file", `{"p":`), d(0, "c1", "edit_file", `"a"}`), fin("tool_calls")}, `edit_file {"p":"a"}`},
		"name split":             {[]sm.Part{d(0, "c1", "edit_", ""), d(0, "-", "file", ""), d(0, "-", "-", `{"p":"a"}`), fin("tool_calls")}, `edit_file {"p":"a"}`},
		"known name goes on":     {[]sm.Part{d(0, "c1", "edit", ""), d(0, "-", "_file", `{"p":"a"}`), fin("tool_calls")}, `edit_file {"p":"a"}`},
		"name grows":             {[]sm.Part{d(0, "c1", "edit_", ""), d(0, "c1", "edit_file", `{"p":"a"}`), fin("tool_calls")}, `edit_file {"p":"a"}`},
		"two names in one call":  {[]sm.Part{d(0, "-", "weather", `{"city":`), d(0, "-", "time", `{"tz":"UTC"}`), fin("tool_calls")}, `weather !`},
		"arguments an object":    {[]sm.Part{sm.Chunk(`{"tool_calls":[{"index":0,"id":"m1","type":"function","function":{"name":"write","arguments":{"cmd":"echo \"ok\"","n":1.0}}}]}`), fin("tool_calls"), done}, `write {"cmd":"echo \"ok\"","n":1.0}`},
		"calls an object":        {[]sm.Part{sm.Chunk(`{"tool_calls":{"id":"m1","function":{"name":"write","arguments":"{}"}}}`), fin("tool_calls"), done}, `write {}`},
		"older function_call":    {[]sm.Part{sm.Chunk(`{"function_call":{"name":"write","arguments":"{\"a\""}}`), sm.Chunk(`{"function_call":{"arguments":":1}"}}`), fin("function_call"), done}, `write {"a":1}`},
		"no arguments":           {[]sm.Part{d(0, "c1", "list_all", ""), fin("tool_calls"), done}, `list_all {}`},
		"blank arguments":        {[]sm.Part{d(0, "c1", "list_all", " \n"), fin("tool_calls"), done}, `list_all {}`},
		"arguments \"null\"":     {[]sm.Part{d(0, "c1", "list_all", "null"), fin("tool_calls"), done}, `list_all {}`},
		"arguments null":         {[]sm.Part{sm.Chunk(`{"tool_calls":[{"index":0,"id":"m1","function":{"name":"list_all","arguments":null}}]}`), fin("tool_calls"), done}, `list_all {}`},
		"arguments absent":       {[]sm.Part{d(0, "c1", "list_all", "-"), fin("tool_calls"), done}, `list_all {}`},
		"no arguments, cut":      {[]sm.Part{d(0, "c1", "write", ""), fin("length"), done}, `write !`},
		"quotes not escaped":     {[]sm.Part{d(0, "c1", "write", `{"path":"a","text":"he said "hi""}`), fin("tool_calls")}, `write !`},
		"a number":               {[]sm.Part{d(0, "c1", "write", `42`), fin("tool_calls")}, `write !`},
		"a bare number":          {[]sm.Part{sm.Chunk(`{"tool_calls":[{"index":0,"id":"m1","function":{"name":"write","arguments":42}}]}`), fin("tool_calls")}, `write !`},
		"an array":               {[]sm.Part{d(0, "c1", "write", `[1,2]`), fin("tool_calls")}, `write !`},
		"two objects":            {[]sm.Part{d(0, "c1", "write", `{"a":1}{"a":2}`), fin("tool_calls")}, `write !`},
		"trailing text":          {[]sm.Part{d(0, "c1", "write", `{"a":1} ok`), fin("tool_calls")}, `write !`},
		"name twice":             {[]sm.Part{d(0, "c1", "write", `{"a": {"b":1,"\u0062":2}}`), fin("tool_calls")}, `write {"a":{"b":1,"\u0062":2}}`},
		"NaN":                    {[]sm.Part{d(0, "c1", "write", `{"a":NaN}`), fin("tool_calls")}, `write !`},
		"1e400":                  {[]sm.Part{d(0, "c1", "write", `{"a":[1e400]}`), fin("tool_calls")}, `write !`},
		"half a surrogate":       {[]sm.Part{d(0, "c1", "write", `{"a":"\ud83d"}`), fin("tool_calls")}, `write !`},
		"half, in the event":     {[]sm.Part{sm.Event(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":"{\"a\":\"\ud83dx\"}"}}]}}]}`), fin("tool_calls")}, `write !`},
		"bytes that are no text": {[]sm.Part{sm.Raw("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"write\",\"arguments\":\"{\\\"a\\\":\\\"\xff\\\"}\"}}]}}]}\n\n"), fin("tool_calls")}, `write !`},
		"as written":             {[]sm.Part{d(0, "c1", "write", "{ \"z\" : 12345678901234567890 ,\n\"a\":[ 1.50 , \"\\u4f60<>&\" ] }"), fin("tool_calls")}, `write {"z":12345678901234567890,"a":[1.50,"\u4f60<>&"]}`},
		"finish stop":            {[]sm.Part{d(0, "c1", "get_time", "{}"), fin("stop"), done}, `get_time {}`},
		"finish missing":         {[]sm.Part{d(0, "c1", "get_time", "{}"), done}, `get_time {}`},
		"finish empty":           {[]sm.Part{d(0, "c1", "get_time", "{}"), fin(""), done}, `get_time {}`},
		"cut, length":            {[]sm.Part{d(0, "c1", "write", `{"path":"a.txt","text":"line1`), fin("length"), done}, `write !`},
		"cut, tool_calls":        {[]sm.Part{d(0, "c1", "write", `{"path":"a.txt","text":"line1`), fin("tool_calls"), done}, `write !`},
		"complete, length":       {[]sm.Part{d(0, "c1", "write", `{"path":"a.txt"}`), fin("length"), done}, `write {"path":"a.txt"}`},
		"first complete, length": {[]sm.Part{d(0, "c1", "list_all", ``), d(1, "c2", "write", `{`), fin("length"), done}, `list_all {} | write !`},
		"phantom":                {[]sm.Part{sm.Text("Done"), sm.Chunk(`{"tool_calls":[{"index":0,"id":"","type":"function"}]}`), fin("tool_calls")}, ``},
		"phantom with {}":        {[]sm.Part{sm.Text("Done"), d(0, "x", "", "{}"), fin("tool_calls")}, ``},
		"index before delta":     {[]sm.Part{plain(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"weather","arguments":"{}"}}]},"index":1},{"delta":{"tool_calls":[{"index":0,"id":"y","function":{"name":"time","arguments":"{}"}}]},"index":0}]}`), done}, `time {}`},
		"emoji in two halves":    {[]sm.Part{plain(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"write","arguments":"{\"a\":\"\ud83c"}}]}}]}`), plain(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\udf0d\"}"}}]}}]}`), done}, `write {"a":"🌍"}`},
		"nested too deep":        {[]sm.Part{d(0, "c", "write", `{"a":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`), done}, `write !`},
		"5 MB":                   {[]sm.Part{d(0, "c", "write", `{"a":"`+strings.Repeat("x", 5<<20)+`"}`), done}, `write !`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := ask(t, Request{Tools: tools}, sm.Reply(c.parts...))
			if o.answer.State != StateFinished {
				t.Fatalf("state %s, error %v", o.answer.State, o.err)
			}
			if got := describe(o.answer.Calls); got != c.want {
				t.Errorf("calls\n got %s\nwant %s", got, c.want)
			}
			ids := map[string]bool{}
			for _, call := range o.answer.Calls {
				if call.ID == "" || ids[call.ID] {
					t.Errorf("id %q is empty or repeated", call.ID)
				}
				ids[call.ID] = true
				if call.Problem != "" && (call.Arguments != "" || !strings.HasSuffix(call.Problem, ".")) {
					t.Errorf("unusable call %+v", call)
				}
			}
		})
	}
}

func TestBrokenCallKeepsWhatTheModelWrote(t *testing.T) {
	t.Parallel()
	o, _ := ask(t, Request{}, sm.Reply(sm.CallDelta(0, "c1", "write", `{"a":"he said "hi""}`), sm.Finish("tool_calls")))
	if c := o.answer.Calls[0]; c.Raw != `{"a":"he said "hi""}` || c.ID != "c1" {
		t.Errorf("got %+v", c)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	half := sm.CallDelta(0, "c1", "rm", `{"path":"/tmp/a`)
	whole := sm.CallDelta(0, "c1", "rm", `{}`)
	cases := map[string]struct {
		step        sm.Step
		state, text string
		kind        string
		says        string
		warns       string
	}{
		"text, end":             {sm.Reply(sm.Text("The answer is")), StateInterrupted, "The answer is", KindNetwork, "ended before", ""},
		"half a call, end":      {sm.Reply(half), StateInterrupted, "", KindNetwork, "ended before", ""},
		"a whole call, end":     {sm.Reply(whole), StateInterrupted, "", KindNetwork, "ended before", ""},
		"reasoning, end":        {sm.Reply(sm.Reasoning("...")), StateInterrupted, "", KindNetwork, "ended before", ""},
		"text, reset":           {sm.Step{Parts: []sm.Part{sm.Text("Part")}, End: "reset"}, StateInterrupted, "Part", KindNetwork, "ended before", ""},
		"half an event":         {sm.Reply(sm.Text("Part"), sm.Raw(`data: {"choices":[{"delta":{"content":"mo`)), StateInterrupted, "Part", KindNetwork, "ended before", ""},
		"finish without done":   {sm.Reply(sm.Text("Hi"), sm.Finish("stop")), StateFinished, "Hi", "", "", ""},
		"finish, then reset":    {sm.Step{Parts: []sm.Part{sm.Text("Hi"), sm.Finish("stop")}, End: "reset"}, StateFinished, "Hi", "", "", ""},
		"done without finish":   {sm.Reply(sm.Text("Hi"), sm.Done()), StateFinished, "Hi", "", "", ""},
		"done without newline":  {sm.Reply(sm.Text("Hi"), sm.Raw("data: [DONE]")), StateFinished, "Hi", "", "", ""},
		"done, still open":      {sm.Step{Parts: []sm.Part{sm.Text("Hi"), sm.Raw("data: [DONE]\n")}, End: "hang"}, StateFinished, "Hi", "", "", ""},
		"length":                {sm.Reply(sm.Text("Hi"), sm.Finish("length"), sm.Done()), StateFinished, "Hi", "", "", "cut"},
		"filter":                {sm.Reply(sm.Text("Hi"), sm.Finish("content_filter"), sm.Done()), StateFinished, "Hi", "", "", "content_filter"},
		"nothing":               {sm.Reply(sm.Finish("stop"), sm.Done()), StateFinished, "", "", "", "empty_answer"},
		"calls that never came": {sm.Reply(sm.Finish("tool_calls"), sm.Done()), StateFinished, "", "", "", "empty_answer"},

		"error after text":    {sm.Reply(sm.Text("Part"), sm.Event(`{"error":{"message":"Overloaded","type":"overloaded_error","code":529}}`)), StateFailed, "Part", KindServer, "Overloaded", ""},
		"error event":         {sm.Reply(sm.Text("Part"), sm.Raw("event: error\n"), sm.Event(`{"error":{"message":"Overloaded","type":"overloaded_error","code":529}}`)), StateFailed, "Part", KindServer, "Overloaded", ""},
		"error event, text":   {sm.Reply(sm.Text("Part"), sm.Raw("event: error\n"), sm.Event(`out of memory`)), StateFailed, "Part", KindServer, "out of memory", ""},
		"error event, object": {sm.Reply(sm.Text("Part"), sm.Raw("event: error\n"), sm.Event(`{"message":"out of memory"}`)), StateFailed, "Part", KindServer, "out of memory", ""},
		"error key last":      {sm.Reply(sm.Text("Part"), sm.Event(`{"id":"c1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"Provider down"}}`)), StateFailed, "Part", KindServer, "Provider down", ""},
		"error in choice":     {sm.Reply(sm.Text("Part"), sm.Event(`{"choices":[{"index":0,"delta":{"content":"x"},"error":{"message":"Provider down"}}]}`)), StateFailed, "Partx", KindServer, "Provider down", ""},
		"error a text":        {sm.Reply(sm.Text("Part"), sm.Event(`{"error":"Provider down"}`)), StateFailed, "Part", KindServer, "Provider down", ""},
		"object error":        {sm.Reply(sm.Text("Part"), sm.Event(`{"object":"error","message":"bad thing","type":"BadRequestError","code":400}`)), StateFailed, "Part", KindBadRequest, "bad thing", ""},
		"error, then done":    {sm.Reply(sm.Text("Part"), sm.Event(`{"error":{"message":"Provider down"}}`), sm.Done()), StateFailed, "Part", KindServer, "Provider down", ""},
		"error null":          {sm.Reply(sm.Text("Hi"), sm.Event(`{"choices":[],"error":null}`), sm.Finish("stop"), sm.Done()), StateFinished, "Hi", "", "", ""},
		"finish error":        {sm.Reply(sm.Text("Part"), sm.Finish("error"), sm.Done()), StateFailed, "Part", KindServer, "error", ""},
		"broken event":        {sm.Reply(sm.Text("Part"), sm.Event(`{"choices":[{"delta":{"content":}}]}`), sm.Text("x"), sm.Finish("stop"), sm.Done()), StateFailed, "Part", KindProtocol, "not JSON", ""},
		"line of 20 MB":       {sm.Reply(sm.Text("Part"), sm.Raw("data: {\""+strings.Repeat("x", 20<<20))), StateFailed, "Part", KindProtocol, "longer than 16 MB", ""},

		"JSON error":       {sm.Step{Body: `{"error":{"message":"no such model","type":"invalid_request_error"}}`, Header: map[string]string{"Content-Type": "application/json"}}, StateFailed, "", KindBadRequest, "no such model", ""},
		"JSON, no error":   {sm.Step{Body: `{"detail":"nothing here"}`, Header: map[string]string{"Content-Type": "application/json"}}, StateFailed, "", KindServer, "nothing here", ""},
		"JSON answer":      {sm.Step{Body: `{"model":"m2","choices":[{"index":0,"message":{"role":"assistant","content":"Whole"},"finish_reason":"stop"}]}`, Header: map[string]string{"Content-Type": "application/json"}}, StateFinished, "Whole", "", "", ""},
		"HTML":             {sm.Step{Body: "<!DOCTYPE html><html><head><title>Sign in</title><script>x</script></head><body><h1>Sign in</h1> please</body></html>", Header: map[string]string{"Content-Type": "text/html"}}, StateFailed, "", KindProtocol, "a web page. Sign in please", ""},
		"plain text":       {sm.Step{Body: "Internal error", Header: map[string]string{"Content-Type": "text/plain"}}, StateFailed, "", KindProtocol, "Internal error", ""},
		"empty body":       {sm.Step{}, StateFailed, "", KindProtocol, "empty body", ""},
		"comments only":    {sm.Reply(sm.Raw(": hi\n\n: hi\n\n")), StateFailed, "", KindProtocol, "200 OK", ""},
		"data not JSON":    {sm.Reply(sm.Event("Too many users")), StateFailed, "", KindProtocol, "Too many users", ""},
		"stream as a text": {sm.Reply(sm.Text("Hi"), sm.Finish("stop"), sm.Done()).With("Content-Type", "text/plain"), StateFinished, "Hi", "", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, s := ask(t, Request{}, c.step)
			if o.answer.State != c.state || o.text != c.text {
				t.Errorf("state %s, text %q; want %s, %q (error %v)", o.answer.State, o.text, c.state, c.text, o.err)
			}
			if c.kind != "" && (o.err == nil || o.err.Kind != c.kind || !strings.Contains(o.err.Message, c.says)) {
				t.Errorf("error %+v; want kind %s saying %q", o.err, c.kind, c.says)
			}
			if c.warns != "" && !o.warned(c.warns) {
				t.Errorf("warnings %v, want %s", o.warnings, c.warns)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestStreamForms(t *testing.T) {
	t.Parallel()
	ok := `{"choices":[{"index":0,"delta":{"content":"ok"}}]}`
	cases := map[string]struct {
		raw           string
		text, thought string
	}{
		"CRLF and odd frames":    {": OPENROUTER PROCESSING\r\n\r\nretry: 3000\r\n\r\nevent: ping\r\n\r\ndata:\r\n\r\ndata:" + ok + "\r\n\r\ndata: [DONE]\r\n\r\n", "ok", ""},
		"CR":                     {": c\r\rdata: " + ok + "\r\rdata: [DONE]\r\r", "ok", ""},
		"400 comments":           {strings.Repeat(": wait\n\n", 400) + "data: " + ok + "\n\ndata: [DONE]\n\n", "ok", ""},
		"byte order mark":        {"\xef\xbb\xbfdata: " + ok + "\n\ndata: [DONE]\n\n", "ok", ""},
		"several data lines":     {"data: {\"choices\":\ndata: [{\"index\":0,\ndata:\"delta\":{\"content\":\"ok\"}}]}\n\ndata: [DONE]\n\n", "ok", ""},
		"no blank lines":         {"data: " + ok + "\ndata: " + ok + "\ndata: [DONE]\n", "okok", ""},
		"id and event fields":    {"id: 7\nevent: message\ndata: " + ok + "\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: ping\n\ndata: [DONE]\n\n", "ok", ""},
		"no choices":             {"data: {\"id\":\"x\"}\n\ndata: {\"choices\":null}\n\ndata: {\"choices\":[],\"prompt_filter_results\":[]}\n\ndata: " + ok + "\n\ndata: [DONE]\n\n", "ok", ""},
		"content a list":         {`data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"o"},{"type":"text","text":"k"}]}}]}` + "\n\ndata: [DONE]\n\n", "ok", "hm"},
		"unknown keys":           {`data: {"x":{"y":[1,{"z":null}]},"choices":[{"logprobs":{"content":"odd"},"delta":{"role":"system","audio":{},"content":"ok"}}],"created":"soon","system_fingerprint":7}` + "\n\ndata: [DONE]\n\n", "ok", ""},
		"escaped keys":           {`data: {"ch\u006fices":[{"delta":{"c\u006fntent":"ok"}}]}` + "\n\ndata: [DONE]\n\n", "ok", ""},
		"refusal":                {`data: {"choices":[{"delta":{"refusal":"no"}}]}` + "\n\ndata: [DONE]\n\n", "no", ""},
		"reasoning":              {`data: {"choices":[{"delta":{"reasoning":"hm","content":"ok"}}]}` + "\n\ndata: [DONE]\n\n", "ok", "hm"},
		"reasoning twice":        {`data: {"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm","content":null}}]}` + "\n\ndata: " + ok + "\n\ndata: [DONE]\n\n", "ok", "hm"},
		"emoji in two halves":    {`data: {"choices":[{"delta":{"content":"\ud83c"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"\udf0d"}}]}` + "\n\ndata: [DONE]\n\n", "🌍", ""},
		"bytes that are no text": {"data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\ndata: [DONE]\n\n", "a\ufffdb", ""},
		"delta null":             {`data: {"choices":[{"delta":null}]}` + "\n\n" + `data: {"choices":[null,{"delta":{"content":"ok"}}]}` + "\n\ndata: [DONE]\n\n", "ok", ""},
		"events in an array":     {`data: [` + ok + `,` + ok + `]` + "\n\ndata: [DONE]\n\n", "okok", ""},
	}
	for name, c := range cases {
		for _, split := range []int{0, 1, 7} {
			t.Run(fmt.Sprintf("%s/%d", name, split), func(t *testing.T) {
				t.Parallel()
				o, _ := ask(t, Request{}, sm.Reply(sm.Part{Text: c.raw, Split: split}))
				if o.answer.State != StateFinished || o.text != c.text || o.thought != c.thought {
					t.Errorf("state %s, text %q, reasoning %q, error %v", o.answer.State, o.text, o.thought, o.err)
				}
			})
		}
	}
}

func TestTextSplitBetweenReads(t *testing.T) {
	t.Parallel()
	part := sm.Text("你好🌍")
	part.Split = 1
	call := sm.CallDelta(0, "c1", "write", `{"文件":"报告🌍.txt"}`)
	call.Split = 1
	o, _ := ask(t, Request{}, sm.Reply(part, call, sm.Finish("tool_calls"), sm.Done()))
	if o.text != "你好🌍" || describe(o.answer.Calls) != `write {"文件":"报告🌍.txt"}` || o.warned("replacement_character") {
		t.Errorf("text %q, calls %s", o.text, describe(o.answer.Calls))
	}
	o, _ = ask(t, Request{}, sm.Reply(sm.CallDelta(0, "c1", "write", "{\"a\":\"\ufffd\"}"), sm.Finish("tool_calls"), sm.Done()))
	if !o.warned("replacement_character") || o.warned("repeated_name") {
		t.Error("a replacement character in arguments went unnoticed")
	}
}

func TestRepeatedNameIsKeptAndTold(t *testing.T) {
	t.Parallel()
	o, _ := ask(t, Request{}, sm.Reply(sm.CallDelta(0, "c1", "write", `{"a":1,"b":[{"x":1, "y":2,"x":3}],"a":2}`), sm.Finish("tool_calls"), sm.Done()))
	if describe(o.answer.Calls) != `write {"a":1,"b":[{"x":1,"y":2,"x":3}],"a":2}` || !o.warned("repeated_name") {
		t.Errorf("calls %s, warnings %v", describe(o.answer.Calls), o.warnings)
	}
}

func TestThink(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ in, text, thought string }{
		"split tags":       {"<th|ink>plan A</thi|nk>Answer: 4", "Answer: 4", "plan A"},
		"with blank lines": {"\n<think>\n|plan\n\nB\n|</think>\n\n|Hi  ", "Hi  ", "plan\n\nB"},
		"empty":            {"<think>\n\n</think>\n\nHi", "Hi", ""},
		"literal":          {"Use `<think>` to hide text. Done.", "Use `<think>` to hide text. Done.", ""},
		"in a fence":       {"```\n<think>x</think>\n```", "```\n<think>x</think>\n```", ""},
		"never closed":     {"<think>all of it", "", "all of it"},
		"half a tag":       {"  <thin", "  <thin", ""},
		"other tag":        {"<thing>x", "<thing>x", ""},
		"second block":     {"<think>a</think>b<think>c</think>", "b<think>c</think>", "a"},
		"unequal marks":    {"<|channel>thought\nplan<channel|>Answer", "Answer", "plan"},
		"channels":         {"<|channel|>analysis<|message|>plan<|end|><|start|>assis|tant<|channel|>final<|message|>Answer", "Answer", "plan"},
		"closing inside":   {"<think>a </b> < /think </think>ok", "ok", "a </b> < /think"},
		"tool call markup": {"<tool_call>\n{\"name\":\"rm\"}</tool_call>", "<tool_call>\n{\"name\":\"rm\"}</tool_call>", ""},
		"only blanks":      {" \n", " \n", ""},
	}
	for name, c := range cases {
		// Cut at the marks, into single bytes, and not at all.
		whole := strings.ReplaceAll(c.in, "|", "")
		if name == "unequal marks" || name == "channels" {
			whole = c.in
		}
		for form, pieces := range map[string][]string{"marks": strings.Split(c.in, "|"), "bytes": strings.Split(whole, ""), "whole": {whole}} {
			if form == "marks" && whole == c.in {
				continue
			}
			var text, thought string
			s := thinkSplitter{text: func(p string) { text += p }, reasoning: func(p string) { thought += p }}
			for _, p := range pieces {
				s.add(p)
			}
			s.end()
			if name == "channels" {
				continue // its mark in the middle of a word is covered below
			}
			if text != c.text || thought != c.thought {
				t.Errorf("%s/%s: text %q, reasoning %q", name, form, text, thought)
			}
		}
	}
	var text string
	s := thinkSplitter{text: func(p string) { text += p }, reasoning: func(string) {}}
	for _, p := range strings.Split("<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Answer", "") {
		s.add(p)
	}
	if s.end(); text != "Answer" {
		t.Errorf("channels: text %q", text)
	}
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	tool := `read_file {"path":"Draft`
	cases := map[string]struct {
		model, finish, textHas, callHas string
		calls                           int
		usage                           *Usage
	}{
		"llama-server-text":    {"tiny-tools", "stop", "folder.", "", 0, &Usage{Input: 92, Output: 19, Total: 111}},
		"llama-server-tools":   {"tiny-tools", "tool_calls", "", tool, 1, &Usage{Input: 903, Output: 51, Total: 954}},
		"llama-server-tools-5": {"tiny-tools", "tool_calls", "", tool, 1, nil},
		"ollama-text":          {"tiny", "stop", "a file.", "", 0, &Usage{Input: 22, Output: 19, Total: 41}},
		"ollama-markup":        {"tiny", "stop", "<tool_call>", "", 0, &Usage{Input: 315, Output: 34, Total: 349}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, body := recording(t, name+".http")
			for _, split := range []int{0, 13} {
				o, _ := ask(t, Request{Tools: []Tool{{Name: "read_file"}}}, sm.Reply(sm.Part{Text: body, Split: split}))
				if o.answer.State != StateFinished || o.answer.Model != c.model || o.answer.Finish != c.finish || len(o.answer.Calls) != c.calls {
					t.Fatalf("%+v, error %v", o.answer, o.err)
				}
				if !strings.Contains(o.text, c.textHas) || c.calls > 0 && !strings.HasPrefix(describe(o.answer.Calls), c.callHas) {
					t.Errorf("text %q, calls %s", o.text, describe(o.answer.Calls))
				}
				if c.usage == nil && o.usage != nil || c.usage != nil && (o.usage == nil || *o.usage != *c.usage) {
					t.Errorf("usage %v, want %v", o.usage, c.usage)
				}
			}
		})
	}
}

// recording reads the status and the body of a recorded answer.
func recording(t testing.TB, name string) (status int, body string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(replays, "recorded", name))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		head, rest, ok = bytes.Cut(raw, []byte("\n\n"))
	}
	if _, err := fmt.Sscanf(string(head), "HTTP/1.1 %d", &status); err != nil || !ok {
		t.Fatalf("%s is no recorded answer: %v", name, err)
	}
	return status, string(rest)
}

func TestStop(t *testing.T) {
	t.Parallel()
	s := sm.Start(t, sm.Step{Parts: []sm.Part{sm.Text("Part"), sm.CallDelta(0, "c", "rm", "{}")}, End: "hang"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := newClient(t, s.URL(), nil)
	var stopped time.Time
	answer, err := c.Stream(ctx, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}, func(e Event) {
		if _, ok := e.(TextDelta); ok {
			stopped = time.Now()
			cancel()
		}
	})
	if err != nil || answer.State != StateStopped || answer.Text != "Part" || len(answer.Calls) != 0 {
		t.Errorf("answer %+v, error %v", answer, err)
	}
	if took := time.Since(stopped); took > 5*time.Second {
		t.Errorf("stopping took %v", took)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	s := sm.Start(t,
		sm.Step{Parts: []sm.Part{sm.Text("Part")}, End: "hang"},
		sm.Step{Parts: []sm.Part{{Text: strings.Repeat(": wait\n\n", 1000), Split: 8, Delay: sm.Duration(5 * time.Millisecond)}}},
		sm.Step{Parts: []sm.Part{{Text: strings.Repeat("data: {\"x\":1}", 1000), Split: 8, Delay: sm.Duration(5 * time.Millisecond)}}},
		sm.Step{Parts: []sm.Part{sm.Text("Hi"), sm.Finish("stop")}, End: "hang"},
	)
	c := newClient(t, s.URL(), func(_ *Endpoint, o *Options) { o.Idle, o.FirstToken = 150*time.Millisecond, 300*time.Millisecond })
	r := Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}
	if o := run(t.Context(), t, c, r); o.answer.State != StateInterrupted || o.text != "Part" || !strings.Contains(o.err.Message, "sent nothing") {
		t.Errorf("silence: %+v %v", o.answer, o.err)
	}
	if o := run(t.Context(), t, c, r); o.answer.State != StateFailed || !strings.Contains(o.err.Message, "did not begin its answer") {
		t.Errorf("comments without end: %+v %v", o.answer, o.err)
	}
	if o := run(t.Context(), t, c, r); o.answer.State != StateFailed || !strings.Contains(o.err.Message, "did not begin its answer") {
		t.Errorf("a line that does not end: %+v %v", o.answer, o.err)
	}
	if o := run(t.Context(), t, c, r); o.answer.State != StateFinished || o.text != "Hi" {
		t.Errorf("no end after a finish reason: %+v %v", o.answer, o.err)
	}
}

func TestPanicInStreamIsAnError(t *testing.T) {
	t.Parallel()
	s := sm.Start(t, sm.Say("Hello there"))
	c := newClient(t, s.URL(), nil)
	answer, err := c.Stream(t.Context(), Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}, func(e Event) {
		if _, ok := e.(TextDelta); ok {
			panic("boom")
		}
	})
	if err == nil || answer.State != StateFailed || !strings.Contains(err.Error(), "boom") {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Say("Hi")}, Repeat: true})
	dials := map[string]bool{}
	c := newClient(t, s.URL(), nil)
	remote := make(chan string, 10)
	c.http.Transport = door{roundTrip(func(r *http.Request) (*http.Response, error) {
		return c.own.RoundTrip(r.WithContext(traced(r.Context(), remote)))
	})}
	for range 5 {
		if o := run(t.Context(), t, c, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}); o.answer.State != StateFinished {
			t.Fatal(o.err)
		}
		dials[<-remote] = true
	}
	if len(dials) != 1 {
		t.Errorf("%d connections for five requests one after the other", len(dials))
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// traced reports the local address of the connection a request gets.
func traced(ctx context.Context, local chan<- string) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { local <- i.Conn.LocalAddr().String() },
	})
}
