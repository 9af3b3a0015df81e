package llm

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWindowInAList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list  string
		model string
		want  int
	}{
		"OpenRouter":       {`{"data":[{"id":"a/b","context_length":32768,"top_provider":{"context_length":16384}},{"id":"c/d","context_length":9}]}`, "a/b", 16384},
		"vLLM":             {`{"object":"list","data":[{"id":"m","max_model_len":8192}]}`, "m", 8192},
		"llama.cpp, alias": {`{"models":[{"name":"x.gguf","model":"x.gguf"}],"object":"list","data":[{"id":"x.gguf","meta":{"n_ctx":4096,"n_ctx_train":131072}}]}`, "anything", 4096},
		"LM Studio":        {`{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":4096}]}`, "m", 4096},
		"Groq":             {`{"data":[{"id":"m","context_window":131072},{"id":"n","context_window":8}]}`, "m", 131072},
		"Gemini":           {`{"models":[{"name":"models/gemini-x","inputTokenLimit":1048576}]}`, "gemini-x", 1048576},
		"another model":    {`{"data":[{"id":"a","context_length":32768},{"id":"b","context_length":4096}]}`, "c", 0},
		"nothing said":     {`{"data":[{"id":"m","object":"model"}]}`, "m", 0},
		"nonsense":         {`{"data":[{"id":"m","context_length":-1,"max_model_len":"many","context_window":[]}]}`, "m", 0},
		"a bare list":      {`[{"id":"m","context_length":"32768"}]`, "m", 32768},
		"no list":          {`<html>`, "m", 0},
		"training alone":   {`{"data":[{"id":"m","meta":{"n_ctx_train":131072}}]}`, "m", 0},
	} {
		if got := listedWindow([]byte(c.list), c.model); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestKnownWindow(t *testing.T) {
	t.Parallel()
	const away, here = "https://api.example.com/v1", "http://localhost:8080/v1"
	for _, c := range []struct {
		base, model string
		want        int
	}{
		{away, "gpt-5-mini", 400_000},
		{away, "openai/gpt-4o-2024-08-06", 128_000},
		{away, "GPT-4.1-nano", 1_047_576},
		{away, "gpt-4", 8_192},
		{here, "gpt-4o", 128_000}, // a gateway: nobody else runs it
		{away, "claude-sonnet-4-5", 200_000},
		{away, "some-model", 0},
		{away, "", 0},
		{away, "meta-llama/llama-3.3-70b-instruct", 131_072},
		{here, "llama-3.3-70b-instruct", 0}, // its own server decides
		{"http://192.168.1.5:8000/v1", "gpt-oss-20b", 0},
		{"http://gpu-box:8000/v1", "gpt-oss-20b", 0},
	} {
		if got := KnownWindow(c.base, c.model); got != c.want {
			t.Errorf("%s at %s: %d, want %d", c.model, c.base, got, c.want)
		}
	}
	for i, w := range windows {
		for _, before := range windows[:i] {
			if len(w.prefix) > len(before.prefix) && w.prefix[:len(before.prefix)] == before.prefix {
				t.Errorf("%s is never looked at: %s stands before it", w.prefix, before.prefix)
			}
		}
	}
}

// modelServer answers questions about models; asked are the paths in order.
func modelServer(t *testing.T, answers map[string]string) (base string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*asked = append(*asked, r.Method+" "+r.URL.Path+" "+string(body)+" "+r.Header.Get("Authorization"))
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, `{"error":"no such path"}`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

func TestWindowIsAsked(t *testing.T) {
	t.Parallel()
	const library = `{"object":"list","data":[{"id":"fake","object":"model","owned_by":"library"}]}`
	for name, c := range map[string]struct {
		answers map[string]string
		want    int
		asked   string
	}{
		"its list says":        {map[string]string{"/v1/models": `{"data":[{"id":"fake","max_model_len":8192}]}`}, 8192, "/v1/models"},
		"its list says not":    {map[string]string{"/v1/models": `{"data":[{"id":"fake"}]}`, "/api/show": `{"parameters":"num_ctx 9"}`}, 0, "/v1/models"},
		"Ollama, loaded":       {map[string]string{"/v1/models": library, "/api/ps": `{"models":[{"name":"fake","model":"fake","context_length":16384}]}`}, 16384, "/v1/models /api/ps"},
		"Ollama, as it is set": {map[string]string{"/v1/models": library, "/api/ps": `{"models":[]}`, "/api/show": `{"parameters":"stop \"x\"\nnum_ctx                        8192\n","model_info":{"llama.context_length":131072}}`}, 8192, "/v1/models /api/ps /api/show"},
		"Ollama, not known":    {map[string]string{"/v1/models": library, "/api/show": `{"model_info":{"llama.context_length":131072}}`}, 0, "/v1/models /api/ps /api/show"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, asked := modelServer(t, c.answers)
			client := newClient(t, base, func(e *Endpoint, _ *Options) { e.Key = func() string { return "k-123" } })
			got, err := client.Window(t.Context())
			if err != nil || got != c.want {
				t.Errorf("%d (%v), want %d", got, err, c.want)
			}
			var paths []string
			for _, a := range *asked {
				paths = append(paths, strings.Fields(a)[1])
				if !strings.HasSuffix(a, "Bearer k-123") {
					t.Errorf("asked without the key: %s", a)
				}
				if strings.HasPrefix(a, "POST") && !strings.Contains(a, `{"model":"fake"}`) {
					t.Errorf("asked of another model: %s", a)
				}
			}
			if strings.Join(paths, " ") != c.asked {
				t.Errorf("asked %s, want %s", paths, c.asked)
			}
		})
	}
}

func TestWindowOfAnEndpointThatRefuses(t *testing.T) {
	t.Parallel()
	base, _ := modelServer(t, nil)
	client := newClient(t, base, func(e *Endpoint, _ *Options) { e.Key = func() string { return "k-secret-1" } })
	if got, err := client.Window(t.Context()); err == nil || got != 0 || strings.Contains(err.Error(), "k-secret-1") {
		t.Errorf("%d, %v", got, err)
	}
}
