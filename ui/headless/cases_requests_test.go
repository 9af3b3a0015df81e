package headless

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"steward/testdata/chatrules"
	. "steward/testdata/scriptedmodel"
)

// What an endpoint adds to a call goes back with it to that endpoint, in the same turn and from another process, and to
// no other one.
func TestWhatAVendorAddsGoesBackToItAlone(t *testing.T) {
	t.Parallel()
	const signature = `"extra_content":{"google":{"thought_signature":"CsQB+/x="}}`
	signed := Chunk(`{"tool_calls":[{"index":0,"id":"","type":"function",` + signature + `,"function":{"name":"s__echo","arguments":"{\"text\":\"a\"}"}}]}`)
	for model, back := range map[string]bool{"google/gemini-3-pro": true, "fake": false} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			script := strict(Reply(signed, Finish("tool_calls"), Done()), Say("Plain."), Say("Next."))
			if back {
				script.Rules = "gemini"
			}
			p := play(t, script, tools, "--model", model)
			p.mustExit(t, 0)
			p.again(t, "--conversation", p.conversation(t), "--model", model)
			p.mustExit(t, 0)
			for n := 1; n <= 2; n++ {
				if got := strings.Contains(p.request(t, n), signature); got != back {
					t.Errorf("request %d holds the signature: %v, want %v: %s", n, got, back, p.request(t, n))
				}
			}
			p.noProblems(t)
		})
	}
}

// A conversation that began at one endpoint goes on at a stricter one, whose ids of calls have nine letters and digits
// and where nobody speaks straight behind a tool; the first one used one id for everything.
func TestAConversationGoesOnAtAStricterEndpoint(t *testing.T) {
	t.Parallel()
	p := play(t, strict(Reply(echoes(0, "call_0fypS1hVXabc", `{"text":"a"}`), echoes(1, "call_0fypS1hVXabc", `{"text":"b"}`), Finish("tool_calls"), Done()),
		Reply(echoes(0, "call_0fypS1hVXabc", `{"text":"c"}`), Finish("tool_calls"), Done()), Fail(401, `{"error":"no"}`)), tools)
	id := p.conversation(t)
	first := p.model
	p.model = StartScript(t, Script{Strict: true, Rules: "mistral", Steps: []Step{Say("ok")}})
	p.again(t, "--conversation", id, "--model", "mistral-large")
	p.mustExit(t, 0)
	// What nobody could know of it, it told by refusing.
	all := p.model.Requests()
	if wrong := chatrules.Check(all[len(all)-1].Body, chatrules.For("mistral")); wrong != nil || len(all) > 4 {
		t.Errorf("after %d requests: %q", len(all), wrong)
	}
	sent := p.sent(t, len(all)-1)
	var results []string
	for _, m := range sent {
		if m["role"] == "tool" {
			results = append(results, fmt.Sprint(m["content"]))
		}
	}
	if got := strings.Join(results, ","); got != "a,b,c" {
		t.Errorf("results %s in %v", got, sent)
	}
	if len(first.Problems()) > 0 {
		t.Error(first.Problems())
	}
}

// Bytes never go out as text: a picture goes as a picture, behind the results; of a model that takes none, and of sounds
// and other bytes, a mark stands in its place.
func TestBytesNeverGoOutAsText(t *testing.T) {
	t.Parallel()
	noise := image.NewGray(image.Rect(0, 0, 150, 150))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rand.IntN(256))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, noise); err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	nested, err := json.Marshal(map[string]string{"shot": "data:image/png;base64," + data})
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) string { return `{"type":"text","text":` + jsonText(s) + `}` }
	for name, tc := range map[string]struct {
		content string
		picture bool
	}{
		"a picture":             {text("shot") + `,{"type":"image","mimeType":"image/PNG","data":"` + data + `"}`, true},
		"wrongly named":         {`{"type":"image","mimeType":"image/JPEG","data":"` + data + `"}`, true},
		"bytes of a resource":   {`{"type":"resource","resource":{"uri":"x://1","mimeType":"image/png","blob":"` + data + `"}}`, true},
		"an address in text":    {text("see data:image/png;base64," + data + " there"), true},
		"an address in JSON":    {text(string(nested)), true},
		"with escaped slashes":  {text(strings.ReplaceAll(string(nested), "/", `\/`)), true},
		"JSON in JSON":          {text(jsonText(strings.ReplaceAll(string(nested), "/", `\/`))), true},
		"no base64":             {`{"type":"image","mimeType":"image/png","data":"%%%"}`, false},
		"a sound":               {`{"type":"audio","mimeType":"audio/wav","data":"` + data + `"}`, false},
		"a sound in an address": {text("data:audio/wav;base64," + data), false},
		"other bytes":           {`{"type":"resource","resource":{"uri":"x://1","blob":"` + base64.StdEncoding.EncodeToString(make([]byte, 4000)) + `"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(CallTool("shot", "{}"), Say("Seen.")), []string{"--only", "shot", "--step", `tool:shot=@result {"content":[` + tc.content + `]}`})
			p.mustExit(t, 0)
			p.noProblems(t)
			body := p.request(t, 1)
			want := 0
			if tc.picture {
				want = 1
			}
			if n, pictures := strings.Count(body, data[100:200]), strings.Count(body, `"url":"data:image/png;base64,`+data+`"`); n != want || pictures != want {
				t.Errorf("the bytes stand %d times in the request, %d times as a picture, want %d: %.2000s", n, pictures, want, body)
			}
			if strings.Count(body, "AAAAAAAA") > 0 || strings.Contains(body, "%%%") {
				t.Errorf("bytes as text: %.2000s", body)
			}
		})
	}
}
