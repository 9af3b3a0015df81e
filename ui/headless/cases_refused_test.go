package headless

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	. "steward/testdata/scriptedmodel"
)

// refusing refuses, in the form of body, each request that holds text.
func refusing(status int, body, text string, steps ...Step) Script {
	return Script{Steps: steps, Repeat: true, Check: func(q Request) (int, string) {
		if bytes.Contains(q.Body, []byte(text)) {
			return status, body
		}
		return 0, ""
	}}
}

// A tool that the endpoint refuses is named with its server, and the flag that leaves it out
// lets the turn go on; what is left out is not sent.
func TestRefusedToolIsNamedAndLeftOut(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"by number": `{"error":{"message":"Invalid schema: array schema missing items","type":"invalid_request_error","param":"tools[1].function.parameters"}}`,
		"by name":   `{"error":{"message":"Invalid schema for function 's__edit_file': None is not of type 'object'"}}`,
		"in 500":    `{"error":{"code":500,"message":"failed to parse tools.1.function.parameters"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := 400
			if name == "in 500" {
				status = 500
			}
			p := play(t, refusing(status, body, `"s__edit_file"`, Say("Hello.")), tools)
			p.mustExit(t, 1)
			end := only(p.all, "turn")[0].str("error")
			if !strings.Contains(end, "edit_file of the server s") || !strings.Contains(end, "--without s/edit_file") || len(p.model.Requests()) != 1 {
				t.Errorf("%d requests, %s", len(p.model.Requests()), end)
			}
			p.again(t, "--conversation", p.conversation(t), "--without", "s/edit_file")
			p.mustExit(t, 0)
			if sent := p.request(t, 1); strings.Contains(sent, "edit_file\"") || !strings.Contains(sent, "s__echo") {
				t.Errorf("sent: %s", sent)
			}
		})
	}
}

func TestLeavingOut(t *testing.T) {
	t.Parallel()
	p := play(t, Script{Steps: []Step{Say("Hello.")}, Repeat: true}, tools, "--without", "s")
	p.mustExit(t, 0)
	if strings.Contains(p.request(t, 0), `"tools"`) {
		t.Errorf("sent: %s", p.request(t, 0))
	}
	p.again(t, "--without", "s/nonsense")
	p.mustExit(t, 0)
	if n := only(p.all, "notice"); len(n) != 1 || !strings.Contains(n[0].str("message"), "no tool named nonsense") {
		t.Errorf("%v", n)
	}
	for _, wrong := range []string{"t", "s/", "t/echo", "S"} {
		r := steward(t, "ask", "go", "--base-url", p.model.URL(), "--model", "fake", "--data", p.data, "--servers", p.file, "--without", wrong)
		r.mustExit(t, 2)
		if !strings.Contains(r.errOut, "names no server that is configured") {
			t.Errorf("%s: %s", wrong, r.errOut)
		}
	}
	r := steward(t, "tools", "--json", "--data", p.data, "--servers", p.file, "--without", "s/echo")
	r.mustExit(t, 0)
	for _, tool := range array(t, r.out) {
		if on, _ := tool.value["enabled"].(bool); on == (tool.str("tool") == "echo") {
			t.Errorf("%s", tool.text)
		}
	}
	steward(t, "call", "s", "echo", "{}", "--data", p.data, "--servers", p.file, "--without", "s/echo").mustExit(t, 2)
}

// Where the endpoint says only that it takes fewer tools, that is learned; from then on
// nothing is sent before the person has chosen.
func TestTooManyTools(t *testing.T) {
	t.Parallel()
	script := Script{Steps: []Step{Say("Hello.")}, Repeat: true, Check: func(q Request) (int, string) {
		if n := bytes.Count(q.Body, []byte(`"type":"function"`)); n > 128 {
			return 400, fmt.Sprintf(`{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.","type":"invalid_request_error","param":"tools","code":"array_above_max_length"}}`, n)
		}
		return 0, ""
	}}
	p := play(t, script, []string{"--only", "echo", "--tools", "0"})
	p.mustExit(t, 0)
	p.file = serversFile(t, scripted("--tools", "140"))
	for round := range 2 {
		p.again(t)
		p.mustExit(t, 1)
		end := only(p.all, "turn")[0].str("error")
		if !strings.Contains(end, "128") || !strings.Contains(end, "--without") || len(p.model.Requests()) != 2 {
			t.Errorf("round %d: %d requests, %s", round, len(p.model.Requests()), end)
		}
	}
	p.again(t, "--without", "s")
	p.mustExit(t, 0)
}

// A model whose own provider takes fewer tools: the person is told, and the request is sent.
func TestManyToolsForAKnownModel(t *testing.T) {
	t.Parallel()
	p := play(t, Script{Steps: []Step{Say("Hello.")}, Repeat: true}, []string{"--tools", "140"}, "--model", "openai/gpt-4o")
	p.mustExit(t, 0)
	n := only(p.all, "notice")
	if len(n) != 1 || n[0].str("kind") != "many_tools" || !strings.Contains(n[0].str("message"), "at most 128") {
		t.Errorf("%v", n)
	}
}

// What a refusal teaches is adapted to once, told, and known after a restart.
func TestWhatAnEndpointHasShownIsKept(t *testing.T) {
	t.Parallel()
	p := play(t, refusing(400, `{"error":{"message":"Unknown field: stream_options"}}`, "stream_options", Say("Hello.")), tools)
	p.mustExit(t, 0)
	if n := only(p.all, "notice"); len(n) != 1 || n[0].str("kind") != "adapted" || len(p.model.Requests()) != 2 {
		t.Errorf("%d requests, %v", len(p.model.Requests()), n)
	}
	p.again(t)
	p.mustExit(t, 0)
	if n := only(p.all, "notice"); len(n) != 0 || len(p.model.Requests()) != 3 {
		t.Errorf("%d requests, %v", len(p.model.Requests()), n)
	}
	// Another model at the same address is another matter.
	p.again(t, "--model", "other")
	if n := only(p.all, "notice"); len(n) != 1 || len(p.model.Requests()) != 5 {
		t.Errorf("%d requests, %v", len(p.model.Requests()), n)
	}
}
