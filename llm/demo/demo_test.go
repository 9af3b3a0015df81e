package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"steward/llm"
	"steward/llm/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var thursday = time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)

func start(t *testing.T) (*Server, *llm.Client) {
	t.Helper()
	s, err := serve(t.Context(), func() time.Time { return thursday })
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New(llm.Endpoint{BaseURL: s.BaseURL(), Key: s.Token, Model: s.Model()}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

const route = `{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"date":{"type":"string"}},"required":["from","to","date"]}`

func offered() []llm.Tool {
	tool := func(name, schema string) llm.Tool {
		return llm.Tool{Name: llm.Alias("demo", name), Schema: json.RawMessage(schema), Origin: "demo/" + name}
	}
	return []llm.Tool{
		tool("get_weekly_report", `{"type":"object","properties":{"date":{"type":"string"}},"required":["date"]}`),
		tool("weather_current", `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		tool("calculator_arithmetic", `{"type":"object","properties":{"operation":{"type":"string","enum":["add","subtract","multiply","divide"]},"a":{"type":"number"},"b":{"type":"number"}},"required":["operation","a","b"]}`),
		tool("search_flights", route),
		tool("find_best_flight", strings.ReplaceAll(strings.ReplaceAll(route, `"date":{"type":"string"}`, `"date":{"type":"string"},"preference":{"type":"string"}`), `"date"]`, `"date","preference"]`)),
		tool("book_trip", `{"type":"object","properties":{"destination":{"type":"string"},"start_date":{"type":"string"},"end_date":{"type":"string"},"travellers":{"type":"integer"}},"required":["destination","start_date","end_date"]}`),
	}
}

func ask(t *testing.T, c *llm.Client, r llm.Request) llm.Answer {
	t.Helper()
	a, err := c.Stream(t.Context(), r, func(llm.Event) {})
	if err != nil || a.State != llm.StateFinished {
		t.Fatalf("state %s, error %v", a.State, err)
	}
	return a
}

func user(text string) []llm.Message { return []llm.Message{{Role: llm.RoleUser, Text: text}} }

func TestIntents(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	cases := map[string]string{
		"Check the weekly report for 2025-03-17":                          `get_weekly_report {"date":"2025-03-17"}`,
		"Show me the weekly report of 2025-03-20, please":                 `get_weekly_report {"date":"2025-03-17"}`,
		"查一下本周周报":                                                         `get_weekly_report {"date":"2026-04-27"}`,
		"上周的周报呢?":                                                         `get_weekly_report {"date":"2026-04-20"}`,
		"2025年3月19日的周报":                                                   `get_weekly_report {"date":"2025-03-17"}`,
		"What is the weather in Paris?":                                   `weather_current {"city":"Paris"}`,
		"how is the weather in new york today":                            `weather_current {"city":"New York"}`,
		"What's the weather in Timbuktu":                                  `weather_current {"city":"Timbuktu"}`,
		"请帮我查一下拉萨今天的天气":                                                   `weather_current {"city":"拉萨"}`,
		"北京天气怎么样?":                                                        `weather_current {"city":"北京"}`,
		"What is 12.5 * 8?":                                               `calculator_arithmetic {"operation":"multiply","a":12.5,"b":8}`,
		"12345678901234567890 plus 1":                                     `calculator_arithmetic {"operation":"add","a":12345678901234567890,"b":1}`,
		"7 除以 2 等于多少":                                                     `calculator_arithmetic {"operation":"divide","a":7,"b":2}`,
		"Search flights from London to Paris on 2026-05-04":               `search_flights {"from":"London","to":"Paris","date":"2026-05-04"}`,
		"flights to Paris from London on 2026-05-04":                      `search_flights {"from":"London","to":"Paris","date":"2026-05-04"}`,
		"查一下 2026-05-04 从上海到东京的航班":                                        `search_flights {"from":"上海","to":"东京","date":"2026-05-04"}`,
		"Find the best flight from London to Rome on 2026-05-04":          `find_best_flight {"from":"London","to":"Rome","date":"2026-05-04","preference":"a good balance of price, travel time and stops"}`,
		"找一个 2026-05-04 从上海到东京最便宜的航班":                                     `find_best_flight {"from":"上海","to":"东京","date":"2026-05-04","preference":"最便宜"}`,
		"Book a trip to Paris from 2026-05-04 to 2026-05-08 for 2 people": `book_trip {"destination":"Paris","start_date":"2026-05-04","end_date":"2026-05-08","travellers":2}`,
		"预订 2026-05-04 到 2026-05-08 去东京的行程":                               `book_trip {"destination":"东京","start_date":"2026-05-04","end_date":"2026-05-08","travellers":1}`,
		"Please plan a vacation in Rome for me. Look for flights (search_flights). Ask me before you book anything (book_trip).": `weather_current {"city":"Rome"}`,
	}
	for text, want := range cases {
		a := ask(t, c, llm.Request{Messages: user(text), Tools: offered()})
		got := a.Text
		if len(a.Calls) == 1 {
			got = strings.TrimPrefix(a.Calls[0].Name, "demo__") + " " + a.Calls[0].Arguments
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestAliasWithHash(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	tool := llm.Tool{Name: llm.Alias("周报服务", "get_weekly_report")}
	if !strings.Contains(tool.Name, "__h") {
		t.Fatalf("alias %s has no hash", tool.Name)
	}
	a := ask(t, c, llm.Request{Messages: user("Check the weekly report for 2025-03-17"), Tools: []llm.Tool{tool}})
	if len(a.Calls) != 1 || a.Calls[0].Name != tool.Name {
		t.Errorf("calls %+v, text %q", a.Calls, a.Text)
	}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	for text, want := range map[string]string{
		"Hello":                                 "demo model",
		"你好":                                    "演示模型",
		"What can you do?":                      "weekly report",
		"Write a poem about the sea":            "I do not understand this. I am Steward's demo model",
		"写一首诗":                                  "我不明白这个问题。我是管家的演示模型",
		"What is the weather?":                  "I still need: city",
		"Search flights to Paris on 2026-05-04": "I still need: from",
	} {
		if a := ask(t, c, llm.Request{Messages: user(text), Tools: offered()}); !strings.Contains(a.Text, want) || len(a.Calls) != 0 {
			t.Errorf("%s: %q, calls %v", text, a.Text, a.Calls)
		}
	}
	if a := ask(t, c, llm.Request{Messages: user("What is the weather in Paris?")}); !strings.Contains(a.Text, "weather_current, but it is not offered") {
		t.Errorf("without tools: %q", a.Text)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	cases := []struct{ name, question, tool, result, want string }{
		{"report", "weekly report for 2025-03-17", "get_weekly_report", `{"week":"2025-03-17 to 2025-03-23","completed":21,"risk_count":1,"risks":["Late parts"]}`, "Weekly report 2025-03-17 to 2025-03-23: tasks completed: 21, risks: 1.\n- Late parts"},
		{"Chinese report", "查一下本周周报", "get_weekly_report", `{"week":"2025-03-17~2025-03-23","completed":12,"risk_count":2,"risks":["供应商延迟","人手不足"]}`, "2025-03-17~2025-03-23 周报：完成 12 项任务，2 个风险。\n- 供应商延迟\n- 人手不足"},
		{"other values", "weekly report for 2025-03-17", "get_weekly_report", `{"week":"W","completed":3}`, "tasks completed: 3."},
		{"other form", "weekly report", "get_weekly_report", `{"Woche":12,"Erledigt":"viel"}`, "- Erledigt: viel\n- Woche: 12"},
		{"plain text", "weekly report", "get_weekly_report", `All is well.`, "answered: All is well."},
		{"text around", "weather in Oslo", "weather_current", "Result:\n{\"city\":\"Oslo\",\"condition\":\"fog\",\"temperature_c\":-3}", "Oslo: fog, -3 °C."},
		{"sum", "2+3", "calculator_arithmetic", `{"operation":"add","a":2,"b":3,"result":99,"exact":true}`, "2 + 3 = 99"},
		{"flights", "flights", "search_flights", `{"from":"A","to":"B","date":"D","flights":[{"flight":"SD1","departure":"06:00","arrival":"07:00","duration_minutes":60,"stops":0,"price":50,"currency":"USD"}]}`, "Flights from A to B on D: 1\n- SD1: 06:00 to 07:00, 60 min, stops: 0, 50 USD"},
		{"best", "best flight", "find_best_flight", `{"flight":{"flight":"SD2","departure":"06:00","arrival":"07:00","duration_minutes":60,"stops":0,"price":50,"currency":"USD"},"reason":"because","considered":4}`, "The best flight is SD2"},
		{"booked", "预订", "book_trip", `{"status":"booked","message":"m","trip":{"booking":"T-1","destination":"东京","start_date":"2026-05-04","end_date":"2026-05-08","total":900,"currency":"USD"}}`, "已预订：东京，2026-05-04 至 2026-05-08，共 900 USD，预订号 T-1。"},
		{"not booked", "book a trip", "book_trip", `{"status":"declined","message":"The traveller declined."}`, "Nothing was booked. The traveller declined."},
		{"denied", "weekly report", "get_weekly_report", "Not executed. The person did not allow this call.", "was not executed, so I have no result"},
		{"denied, Chinese", "查一下周报", "get_weekly_report", "Not executed. The person did not allow this call.", "没有执行"},
		{"failed", "weekly report", "get_weekly_report", "The tool reported an error:\ndate must be a Monday", "failed. What I was told: The tool reported an error:\ndate must be a Monday"},
		{"unknown", "weekly report", "get_weekly_report", "No answer came in time. Whether the call had an effect is not known.", "I do not know what came of"},
		{"nothing", "weekly report", "get_weekly_report", "", "without any output"},
	}
	for _, x := range cases {
		alias := llm.Alias("demo", x.tool)
		m := append(user(x.question),
			llm.Message{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "c", Name: alias, Arguments: "{}"}}},
			llm.Message{Role: llm.RoleTool, CallID: "c", Tool: alias, Text: x.result})
		if a := ask(t, c, llm.Request{Messages: m, Tools: offered()}); !strings.Contains(a.Text, x.want) || len(a.Calls) != 0 {
			t.Errorf("%s: %q, want %q", x.name, a.Text, x.want)
		}
	}
}

func TestChoosesAFlight(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	list := "Flights from London to Paris on 2026-05-04:\n- SD101: 06:00 to 08:00, 120 minutes, 0 stops, 300 USD\n- SD202: 07:00 to 12:00, 300 minutes, 2 stops, 90 USD\n- SD303: 09:00 to 10:30, 90 minutes, 0 stops, 400 USD\n\nThe traveller wants: %s\n\nName the flight that suits best."
	for wish, want := range map[string]string{"the cheapest": "SD202", "a fast one": "SD303", "no stops": "SD101", "comfort": "SD101", "最便宜": "SD202"} {
		a := ask(t, c, llm.Request{Messages: user(strings.Replace(list, "%s", wish, 1)), MaxTokens: 200})
		if !strings.HasPrefix(a.Text, want) {
			t.Errorf("%s: %q, want %s", wish, a.Text, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if names, err := c.Models(t.Context()); err != nil || len(names) != 1 || names[0] != "steward-demo" {
		t.Errorf("models %v, error %v", names, err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	post := func(token, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL()+"/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if status, body := post(s.Token(), `{"model":"steward-demo","messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`); status != 200 || !strings.Contains(body, `"object":"chat.completion"`) || !strings.Contains(body, "demo model") {
		t.Errorf("without stream: %d %s", status, body)
	}
	for name, x := range map[string]struct {
		token, body string
		status      int
	}{
		"wrong token": {"x", `{}`, 401}, "no JSON": {s.Token(), `{`, 400}, "other model": {s.Token(), `{"model":"x","messages":[]}`, 404}, "no messages": {s.Token(), `{"model":"steward-demo"}`, 400},
	} {
		if status, body := post(x.token, x.body); status != x.status || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	other, err := llm.New(llm.Endpoint{BaseURL: s.BaseURL(), Key: func() string { return "wrong" }, Model: s.Model()}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var e *llm.Error
	if _, err := other.Stream(t.Context(), llm.Request{Messages: user("hi")}, func(llm.Event) {}); !errors.As(err, &e) || e.Kind != llm.KindAuth {
		t.Errorf("wrong key: %v", err)
	}
	if a := ask(t, c, llm.Request{Messages: user("hello"), MaxTokens: 5}); a.Finish != "length" || tokens.Rough(a.Text) > 5 {
		t.Errorf("limit: %q, %s", a.Text, a.Finish)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Serve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-s.served:
	case <-time.After(10 * time.Second):
		t.Fatal("the endpoint still runs")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
