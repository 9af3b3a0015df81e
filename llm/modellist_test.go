package llm

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// lists are what endpoints answer to GET /models, in the forms that they document.
var lists = map[string]struct {
	body string
	want string
}{
	"OpenAI": {`{"object":"list","data":[{"id":"gpt-x","object":"model","created":1,"owned_by":"openai"}]}`, "gpt-x"},
	"OpenRouter": {`{"data":[{"id":"a/b","name":"A: B","context_length":128000,"architecture":{"modality":"text+image->text","input_modalities":["text","image"],"output_modalities":["text"]},"supported_parameters":["tools","temperature","reasoning"]},` +
		`{"id":"c/d","architecture":{"input_modalities":["text"],"output_modalities":["text"]},"supported_parameters":["temperature"]},` +
		`{"id":"e/f","architecture":{"modality":"text->image","output_modalities":["image"]}}]}`,
		"a/b[A: B] images tools reasons chat 128000; c/d -images -tools -reasons chat; e/f -images -chat"},
	"Mistral":          {`{"data":[{"id":"m","capabilities":{"completion_chat":true,"function_calling":true,"vision":false},"max_context_length":32768,"type":"base"},{"id":"e","capabilities":{"completion_chat":false,"function_calling":false,"vision":false}}]}`, "m -images tools chat 32768; e -images -tools -chat"},
	"LM Studio":        {`{"data":[{"id":"q","type":"vlm","max_context_length":8192,"loaded_context_length":4096,"capabilities":["tool_use"]},{"id":"n","type":"embeddings"},{"id":"l","type":"llm"}]}`, "q images tools 4096; n -chat; l -images"},
	"LM Studio, newer": {`{"models":[{"key":"q","display_name":"Q","type":"llm","capabilities":{"vision":false,"trained_for_tool_use":true}}]}`, "q[Q] -images tools"},
	"llama.cpp":        {`{"models":[{"name":"g.gguf","model":"g.gguf","type":"model","tags":[""],"capabilities":["completion","multimodal"],"parameters":"","details":{"family":""}}],"object":"list","data":[{"id":"g.gguf","object":"model","meta":{"n_ctx":16384,"n_vocab":1}}]}`, "g.gguf images chat 16384"},
	"Anthropic":        {`{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":200000,"capabilities":{"image_input":{"supported":true},"thinking":{"supported":true,"types":{}}}}],"has_more":false}`, "claude-x[Claude X] images reasons 200000"},
	"vLLM":             {`{"object":"list","data":[{"id":"v","max_model_len":4096,"permission":[{}]}]}`, "v 4096"},
	"Fireworks":        {`{"data":[{"id":"f","supports_chat":true,"supports_image_input":false,"supports_tools":true,"context_length":"8192"}]}`, "f -images tools chat 8192"},
	"LiteLLM":          {`{"data":[{"model_name":"l","supports_vision":true,"supports_function_calling":null}]}`, "l images"},
	"GitHub":           {`[{"id":"g","name":"G","capabilities":["streaming","tool-calling"],"supported_input_modalities":["text","image","audio"]}]`, "g[G] images tools"},
	"Together":         {`[{"id":"t","type":"chat"},{"id":"i","type":"image"}]`, "t; i -chat"},
	"a gateway":        {`{"data":[{"id":"w","tags":["vision","reasoning"]}]}`, "w images reasons"},

	"names":                {`{"models":["a","b"]}`, "a; b"},
	"bare":                 {`["a"]`, "a"},
	"by name":              {`{"data":{"a":{"context_length":1000},"b":{}}}`, "a 1000; b"},
	"nested":               {`{"data":{"models":[{"id":"a"}]}}`, "a"},
	"under result":         {`{"result":[{"name":"@cf/a"}],"success":true}`, "@cf/a"},
	"twice":                {`{"data":[{"id":"a"},{"id":"a","context_length":5000}]}`, "a 5000"},
	"odd entries":          {`{"data":[null,3,{"id":7},{"name":["x"]},{"id":"ok","context_length":-4,"capabilities":"all","tags":{},"architecture":{"input_modalities":"text"}}]}`, "ok"},
	"an odd architecture":  {`{"data":[{"id":"a","architecture":"x"}]}`, "a"},
	"none":                 {`{"data":[]}`, ""},
	"byte order mark":      {"\xef\xbb\xbf" + `{"data":[{"id":"a"}]}`, "a"},
	"a list and something": {`{"data":[{"id":"a"}],"models":"see data"}`, "a"},

	"no list":     {`{"object":"list"}`, "!"},
	"a null list": {`{"data":null}`, "!"},
	"an error":    {`{"error":{"message":"no such tenant"}}`, "! no such tenant"},
	"a page":      {`<html><title>Welcome</title></html>`, "!"},

	"an empty body": {``, "!"},
	"cut":           {`{"data":[{"id":"a"`, "!"},
}

func told(m ModelInfo) string {
	out := m.ID
	if m.Title != "" {
		out += "[" + m.Title + "]"
	}
	for _, k := range []struct {
		s    Support
		word string
	}{{m.Images, "images"}, {m.Tools, "tools"}, {m.Reasoning, "reasons"}, {m.Chat, "chat"}} {
		switch k.s {
		case Supported:
			out += " " + k.word
		case Unsupported:
			out += " -" + k.word
		}
	}
	if m.Window > 0 {
		out += " " + strconv.Itoa(m.Window)
	}
	return out
}

// Lists of models are read in every form that endpoints give them; what they do not say stays unknown.
func TestListsOfModels(t *testing.T) {
	t.Parallel()
	for name, tt := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, tt.body) }))
			defer s.Close()
			list, err := newClient(t, s.URL, nil).ModelList(t.Context())
			if words, fails := strings.CutPrefix(tt.want, "!"); fails {
				if err == nil || !strings.Contains(err.Error(), "did not answer with a list of models") || !strings.Contains(err.Error(), words) {
					t.Errorf("%v, %v", list, err)
				}
				return
			}
			var got []string
			for _, m := range list {
				got = append(got, told(m))
			}
			if err != nil || strings.Join(got, "; ") != tt.want {
				t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, "; "), tt.want, err)
			}
		})
	}
}

// An endpoint without a list says so, and that the model can be named all the same.
func TestNoListOfModels(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 405, 501} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
		_, err := newClient(t, s.URL, nil).ModelList(t.Context())
		if err == nil || !strings.Contains(err.Error(), "write the model's name yourself") {
			t.Errorf("%d: %v", status, err)
		}
		s.Close()
	}
}

// Ollama and LM Studio say in their own interfaces what a model can do; Ollama's list of that is complete. What they do
// not answer stays unknown, and the list is there all the same.
func TestWhatLocalProgramsSayBesides(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/v1/models":                         `{"object":"list","data":[{"id":"llava:latest","owned_by":"library"},{"id":"plain:7b"},{"id":"nomic:latest"},{"id":"broken:1b"}]}`,
		`/api/show {"model":"llava:latest"}`: `{"capabilities":["completion","vision","tools"],"parameters":"num_ctx 4096","model_info":{"x":1}}`,
		`/api/show {"model":"plain:7b"}`:     `{"capabilities":["completion"]}`,
		`/api/show {"model":"nomic:latest"}`: `{"capabilities":["embedding"]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := r.URL.Path
		if r.Method == http.MethodPost {
			raw, _ := io.ReadAll(r.Body)
			what += " " + string(raw)
		}
		body, ok := answers[what]
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	list, err := newClient(t, s.URL, nil).ModelList(t.Context())
	var got []string
	for _, m := range list {
		got = append(got, told(m))
	}
	if want := "llava:latest images tools -reasons chat; plain:7b -images -tools -reasons chat; nomic:latest -chat; broken:1b"; err != nil || strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, "; "), want, err)
	}

	studio := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v0/models" {
			_, _ = io.WriteString(w, `{"data":[{"id":"a","type":"vlm","max_context_length":4096},{"id":"other","type":"llm"}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"}]}`)
	}))
	defer studio.Close()
	list, err = newClient(t, studio.URL, func(e *Endpoint, _ *Options) { e.Profile = "lmstudio" }).ModelList(t.Context())
	if err != nil || len(list) != 2 || told(list[0]) != "a images 4096" || told(list[1]) != "b" {
		t.Errorf("%v, %v", list, err)
	}
}
