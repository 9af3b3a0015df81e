package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/schema"
)

// Every tool, in every protocol revision, gives a result that fits its own schema.
func TestToolsInEveryRevision(t *testing.T) {
	t.Parallel()
	calls := map[string]string{
		"get_weekly_report":     `{"date":"2025-03-17"}`,
		"weather_current":       `{"city":"Paris"}`,
		"calculator_arithmetic": `{"operation":"add","a":0.1,"b":0.2}`,
		"search_flights":        `{"from":"Beijing","to":"Paris","date":"2025-05-01"}`,
		"find_best_flight":      `{"from":"Beijing","to":"Paris","date":"2025-05-01","preference":"cheap"}`,
		"book_trip":             `{"destination":"Paris","start_date":"2025-05-01","end_date":"2025-05-06","travellers":2}`,
	}
	for _, version := range eras {
		t.Run("revision "+version, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, version, behaviour{elicit: confirm, sample: firstFlight})
			if got := p.InitializeResult(); version != "" && got.ProtocolVersion != version || version == "" && got.ProtocolVersion != "2026-07-28" {
				t.Fatalf("speaks %s", got.ProtocolVersion)
			}
			list, err := p.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				res := p.call(t, tool.Name, calls[tool.Name])
				if res.IsError {
					t.Errorf("%s: %s", tool.Name, text(res))
					continue
				}
				raw, err := json.Marshal(tool.OutputSchema)
				if err != nil {
					t.Fatal(err)
				}
				out, err := schema.Compile(raw)
				if err != nil {
					t.Fatalf("%s: %v", tool.Name, err)
				}
				if wrong := out.Validate([]byte(text(res))); wrong != nil {
					t.Errorf("%s gives %s, which does not fit its schema: %v", tool.Name, text(res), wrong)
				}
				if again := p.call(t, tool.Name, calls[tool.Name]); tool.Name != "book_trip" && text(again) != text(res) {
					t.Errorf("%s is not deterministic:\n%s\n%s", tool.Name, text(res), text(again))
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != "book_trip calculator_arithmetic find_best_flight get_weekly_report search_flights weather_current" {
				t.Errorf("tools: %s", got)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	list, err := p.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if a == nil || a.ReadOnlyHint != (tool.Name != "book_trip") || a.DestructiveHint == nil || *a.DestructiveHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		if tool.OutputSchema == nil || tool.Title == "" || !strings.Contains(tool.Description+" (invented)", "invented") {
			t.Errorf("%s lacks a schema, a title or the word that it is invented", tool.Name)
		}
	}
	if i := p.InitializeResult(); !strings.Contains(i.ServerInfo.Name, "demo") || !strings.Contains(i.Instructions, "demo") {
		t.Errorf("introduces itself as %+v, %q", i.ServerInfo, i.Instructions)
	}
}

func TestWeeklyReport(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	seen := map[string]bool{}
	for _, monday := range []string{"2025-03-17", "2025-03-24", "2024-02-26", "2000-01-03", "2100-12-27"} {
		r := value[report](t, p.call(t, "get_weekly_report", `{"date":"`+monday+`"}`))
		if !strings.HasPrefix(r.Week, monday) || r.RiskCount != len(r.Risks) || r.Completed < 1 || r.Risks == nil {
			t.Errorf("%s: %+v", monday, r)
		}
		seen[fmt.Sprint(r.Completed, r.Risks)] = true
	}
	if len(seen) < 3 {
		t.Error("all weeks are alike")
	}
	for in, want := range map[string]string{
		`{"date":"2025-03-18"}`:                          "date must be a Monday: 2025-03-18 is a Tuesday; the Monday of that week is 2025-03-17",
		`{"date":"2025-03-23"}`:                          "2025-03-23 is a Sunday; the Monday of that week is 2025-03-17",
		`{"date":"17.3.2025"}`:                           "written as YYYY-MM-DD",
		`{"date":"2025-02-30"}`:                          "date of the calendar",
		`{"date":"1999-12-27"}`:                          "between the years 2000 and 2100",
		`{"date":20250317}`:                              "/date must be a string, not a number",
		`{}`:                                             "/date is required but missing",
		`{"date":"2025-03-17","x":1}`:                    "/x is not allowed here",
		`{"date":"2025-03-17","date":"2025"}`:            "given more than once",
		`{"date":"` + strings.Repeat("9", 500) + `"}`:    "at most 40 characters",
		`{"date":"` + strings.Repeat("9", 70_000) + `"}`: "at most 65536 are read",
	} {
		res := p.call(t, "get_weekly_report", in)
		wantError(t, res, want)
		if len(text(res)) > 1000 {
			t.Errorf("the error for %.40s is %d bytes long", in, len(text(res)))
		}
	}
}

func TestWeather(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	english := value[weather](t, p.call(t, "weather_current", `{"city":" paris "}`))
	if english.City != "Paris" || english.Country != "France" {
		t.Errorf("%+v", english)
	}
	res := p.call(t, "weather_current", `{"city":"北京"}`)
	w := value[weather](t, res)
	if w.City != "北京" || !chinese(w.Condition) || !chinese(w.Note) || !strings.Contains(text(res), "北京") {
		t.Errorf("%s", text(res))
	}
	if same := value[weather](t, p.call(t, "weather_current", `{"city":"Beijing"}`)); same.Temperature != w.Temperature {
		t.Errorf("Beijing has %d degrees, 北京 %d", same.Temperature, w.Temperature)
	}
	wantError(t, p.call(t, "weather_current", `{"city":"Pariss"}`), "Did you mean Paris,")
	wantError(t, p.call(t, "weather_current", `{"city":"北平"}`), "北京")
	wantError(t, p.call(t, "weather_current", `{"city":""}`), "at least 1 character")
	// Nothing a client sends comes back as a control or invisible character.
	hostile := p.call(t, "weather_current", `{"city":"X\u001b[31m\u202e\u200b\u0007\u0085\u2028Y\udb40\udc41"}`)
	wantError(t, hostile, `"X[31m Y"`)
}

func TestCalculator(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	for _, c := range []struct{ op, a, b, want string }{
		{"add", "0.1", "0.2", `"result":0.3,"exact":true`},
		{"add", "12345678901234567890", "1", `"result":12345678901234567891,"exact":true`},
		{"subtract", "1", "1.0", `"result":0,"exact":true`},
		{"subtract", "0.3", "0.1", `"result":0.2,"exact":true`},
		{"multiply", "-1.5", "1e3", `"result":-1500,"exact":true`},
		{"multiply", "99999999999", "99999999999", `"result":9999999999800000000001,"exact":true`},
		{"divide", "1", "8", `"result":0.125,"exact":true`},
		{"divide", "1", "3", `"result":0.3333333333333333333333333333333333,"exact":false`},
		{"divide", "1e-50", "3", `"exact":false`},
		{"divide", "10", "5", `"result":2,"exact":true`},
		{"divide", "0", "5", `"result":0,"exact":true`},
	} {
		res := p.call(t, "calculator_arithmetic", fmt.Sprintf(`{"operation":%q,"a":%s,"b":%s}`, c.op, c.a, c.b))
		if res.IsError || !strings.Contains(text(res), c.want) {
			t.Errorf("%s %s %s = %s, want %s", c.a, c.op, c.b, text(res), c.want)
		}
	}
	if res := p.call(t, "calculator_arithmetic", `{"operation":"divide","a":1e-50,"b":3}`); strings.Contains(text(res), `"result":0,`) {
		t.Errorf("a small quotient is lost: %s", text(res))
	}
	for in, want := range map[string]string{
		`{"operation":"divide","a":1,"b":0}`:                             "cannot be divided by zero",
		`{"operation":"divide","a":1,"b":-0.0}`:                          "cannot be divided by zero",
		`{"operation":"power","a":1,"b":0}`:                              `/operation must be one of "add", "subtract", "multiply", "divide"`,
		`{"operation":"add","a":"1","b":0}`:                              "/a must be a number, not a string",
		`{"operation":"add","a":1e999999999,"b":0}`:                      "too large or too long",
		`{"operation":"add","a":1e399,"b":0}`:                            "exponent between -300 and 300",
		`{"operation":"add","a":` + strings.Repeat("9", 900) + `,"b":0}`: "at most 200 digits",
	} {
		wantError(t, p.call(t, "calculator_arithmetic", in), want)
	}
}

func TestSearchFlights(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "2025-11-25", behaviour{})
	found := value[search](t, p.call(t, "search_flights", `{"from":"北京","to":"Paris","date":"2025-05-01"}`))
	if found.From != "北京" || found.To != "Paris" || len(found.Flights) < 2 {
		t.Fatalf("%+v", found)
	}
	for i, f := range found.Flights {
		if f.Price <= 0 || f.Minutes <= 0 || i > 0 && f.Departure < found.Flights[i-1].Departure {
			t.Errorf("flight %d: %+v", i, f)
		}
	}
	p.mu.Lock()
	if len(p.progress) != 3 || p.progress[2].Progress != 3 || p.progress[2].Total != 3 || p.progress[0].Message == "" || p.progress[0].ProgressToken != "p-search_flights" {
		t.Errorf("progress: %+v", p.progress)
	}
	p.mu.Unlock()
	wantError(t, p.call(t, "search_flights", `{"from":"Paris","to":"CDG","date":"2025-05-01"}`), "the same city")
	wantError(t, p.call(t, "search_flights", `{"from":"Paris","to":"Lundon","date":"2025-05-01"}`), "to: the demo does not know the city \"Lundon\". Did you mean London")
	wantError(t, p.call(t, "search_flights", `{"from":"Paris","to":"London","date":"tomorrow"}`), "date must be a date of the calendar")
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	// Calls that do not fit, and other work, count as well.
	for what, do := range map[string]func() string{
		"calls":       func() string { return text(p.call(t, "weather_current", `{"city":"Paris"}`)) },
		"wrong calls": func() string { return text(p.call(t, "weather_current", `{"city":5}`)) },
		"reading": func() string {
			if _, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: calendarURI}); err != nil {
				return err.Error()
			}
			return ""
		},
	} {
		refused := false
		for range 600 {
			if refused = strings.Contains(do(), "Too many calls at once"); refused {
				break
			}
		}
		if !refused {
			t.Errorf("%s: six hundred at once are all answered", what)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{})
	if res, err := p.try(t, "rm", `{}`); err == nil {
		t.Errorf("answered %s", text(res))
	}
}
