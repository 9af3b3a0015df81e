package llm

import (
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// What endpoints say when a request is longer than the model can read, each in its own words.
func TestTooLargeIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status      int
		body        string
		used, limit int
	}{
		"OpenAI":             {400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 150123, 128000},
		"OpenAI, newer":      {400, `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300001 tokens. Please reduce the length of the messages.","type":"invalid_request_error","code":"context_length_exceeded"}}`, 300001, 272000},
		"OpenAI, no figure":  {400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`, 0, 0},
		"OpenAI, one text":   {400, `{"error":{"message":"Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 20000012 instead.","code":"string_above_max_length"}}`, 0, 0},
		"Azure":              {413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, 0, 8000},
		"Anthropic":          {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210123 tokens > 200000 maximum"}}`, 210123, 200000},
		"Anthropic, answer":  {400, `{"error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 199000 + 8192 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, 0, 200000},
		"Bedrock":            {400, `{"message":"Input is too long for requested model."}`, 0, 0},
		"Gemini":             {400, `[{"error":{"code":400,"message":"The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, 1200000, 1048576},
		"Mistral":            {400, `{"object":"error","message":"Prompt contains 40123 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`, 40123, 32768},
		"vLLM":               {400, `{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8001 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`, 9001, 8192},
		"vLLM, decoder":      {400, `{"error":{"message":"The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure that max_model_len is no smaller than the number of text tokens.","type":"BadRequestError"}}`, 9001, 8192},
		"SGLang":             {400, `{"error":{"message":"The input (9001 tokens) is longer than the model's context length (8192 tokens)."}}`, 9001, 8192},
		"TGI":                {422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5001 `inputs` tokens and 20 `max_new_tokens`" + `","error_type":"validation"}`, 5001, 4096},
		"llama.cpp":          {400, `{"error":{"code":400,"message":"request (35088 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":35088,"n_ctx":8192}}`, 35088, 8192},
		"llama.cpp, members": {400, `{"error":{"code":400,"message":"no","type":"exceed_context_size_error","n_prompt_tokens":35088,"n_ctx":8192}}`, 35088, 8192},
		"llama-cpp-python":   {400, `{"error":{"message":"Requested tokens (5001) exceed context window of 4096","type":"invalid_request_error"}}`, 5001, 4096},
		"Ollama":             {400, `{"error":{"message":"prompt too long; exceeded max context length by 500 tokens","type":"invalid_request_error"}}`, 0, 0},
		"LM Studio":          {400, `{"error":"Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, 9001, 4096},
		"xAI":                {400, `{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, 537812, 131072},
		"Cohere":             {400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5001."}`, 5001, 4081},
		"Moonshot":           {400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}`, 0, 8192},
		"Qwen":               {400, `{"error":{"message":"Range of input length should be [1, 129024]","type":"invalid_request_error"}}`, 0, 129024},
		"Zhipu":              {400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, 0, 0},
		"gateway, bytes":     {413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, 0, 0},
		"gateway, no words":  {413, `{"message":"no"}`, 0, 0},
		"OpenRouter":         {400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40123 tokens (39000 of text input, 1123 of tool input). Please reduce the length of either one.","code":400}}`, 40123, 32768},
		"in a 200":           {200, `{"error":{"code":400,"message":"request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}`, 9001, 8192},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := refusedFor(t, sm.Fail(c.status, c.body))
			if e.Kind != KindContext || e.Used != c.used || e.Limit != c.limit {
				t.Errorf("%s, %d of %d tokens; want %s, %d of %d (%s)", e.Kind, e.Used, e.Limit, KindContext, c.used, c.limit, e.Message)
			}
			if e.Retryable {
				t.Error("the same request would be sent again")
			}
		})
	}
}

// Other refusals speak of tokens and lengths as well.
func TestWhatIsNotTooLarge(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]sm.Step{
		"tokens in a minute": sm.Fail(413, `{"error":{"message":"Request too large for model llama in organization x on tokens per minute (TPM): Limit 6000, Requested 9001","type":"tokens","code":"rate_limit_exceeded"}}`),
		"the answer's limit": sm.Fail(400, `{"error":{"message":"max_tokens is too large: 200000. This model supports at most 16384 completion tokens.","type":"invalid_request_error"}}`),
		"a name":             sm.Fail(400, `{"error":{"message":"Invalid 'tools[0].function.name': expected a string with maximum length 64.","type":"invalid_request_error"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e := refusedFor(t, step, step, step, step, step, step, step); e.Kind == KindContext {
				t.Errorf("read as too large: %s", e.Message)
			}
		})
	}
}

func refusedFor(t *testing.T, steps ...sm.Step) *Error {
	t.Helper()
	o, _ := ask(t, Request{}, steps...)
	if o.err == nil {
		t.Fatal("it was not refused")
	}
	return o.err
}
