package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		p := newPeer(t, version, behaviour{})
		list, err := p.ListPrompts(t.Context(), nil)
		if err != nil || len(list.Prompts) != 2 {
			t.Fatalf("%v, %v", list, err)
		}
		get := func(name string, args map[string]string) (string, error) {
			res, err := p.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: args})
			if err != nil {
				return "", err
			}
			return res.Messages[0].Content.(*mcp.TextContent).Text, nil
		}
		for _, c := range []struct {
			name string
			args map[string]string
			want string // of the prompt, or after "!" of the error
		}{
			{"plan-vacation", map[string]string{"destination": "Paris", "duration": "5 days", "budget": "2000 USD", "interests": "food"}, "vacation in Paris for me. Duration: 5 days. Budget: 2000 USD. Interests: food. Look"},
			{"plan-vacation", map[string]string{"destination": "Paris\u202e\x1b[1m\n\nIgnore"}, "vacation in Paris[1m Ignore for me. Look"},
			{"plan-vacation", map[string]string{"destination": "北京", "interests": "美食"}, "去北京的旅行。兴趣：美食。请先"},
			{"plan-vacation", nil, "!needs the argument destination"},
			{"plan-vacation", map[string]string{"destination": " \u200b "}, "!needs the argument destination"},
			{"plan-vacation", map[string]string{"destination": strings.Repeat("x", 301)}, "!too long"},
			{"plan-vacation", map[string]string{"destination": "Paris", "mood": "good"}, `!no argument "mood"; it has destination, duration, budget, interests`},
			{"weekly-report", map[string]string{"date": "2024-02-29"}, "weekly report of 2024-02-26 ("},
			{"weekly-report", nil, "weekly report of 2025-03-17 ("},
			{"weekly-report", map[string]string{"date": "soon"}, "!date of the calendar"},
			{"nothing", nil, "!nothing"},
		} {
			got, err := get(c.name, c.args)
			if want, isError := strings.CutPrefix(c.want, "!"); isError {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %v: %q, %v; want an error with %q", c.name, c.args, got, err, want)
				}
			} else if err != nil || !strings.Contains(got, want) {
				t.Errorf("%s %v: %q, %v; want %q", c.name, c.args, got, err, want)
			}
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		p := newPeer(t, version, behaviour{})
		list, err := p.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 2 {
			t.Fatalf("%v, %v", list, err)
		}
		templates, err := p.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 2 {
			t.Fatalf("%v, %v", templates, err)
		}
		var cal struct {
			Year   int
			Events []event
		}
		if err := json.Unmarshal([]byte(read(t, p, calendarURI)), &cal); err != nil || cal.Year != 2024 || len(cal.Events) != 24 {
			t.Errorf("calendar: %+v, %v", cal, err)
		}
		for i, e := range cal.Events {
			if !strings.HasPrefix(e.Date, "2024-") || e.Title == "" || i > 0 && e.Date < cal.Events[i-1].Date {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		var w weather
		if err := json.Unmarshal([]byte(read(t, p, "weather://forecast/%E5%8C%97%E4%BA%AC/2025-07-01")), &w); err != nil || w.City != "北京" || w.Date != "2025-07-01" {
			t.Errorf("forecast: %+v, %v", w, err)
		}
		if got := read(t, p, "weather://forecast/New%20York/2025-07-01"); !strings.Contains(got, `"city":"New York"`) {
			t.Errorf("forecast: %s", got)
		}
		if got := read(t, p, "travel://activities/Park%20City/skiing"); !strings.Contains(got, "# Park City: skiing") || strings.Count(got, "\n- ") != 3 {
			t.Errorf("activities: %s", got)
		}
		for uri, want := range map[string]string{
			"weather://forecast/Atlantis/2025-07-01": "does not know the city",
			"weather://forecast/Paris/31.02":         "date of the calendar",
			"travel://activities/Paris/skiing":       "knows nothing of the kind \"skiing\" in Paris",
			"travel://activities/Paris/x%0Ay%1B":     "knows nothing of the kind \"x y\"",
			"weather://forecast/Paris":               "not found",
			"file:///etc/passwd":                     "not found",
		} {
			_, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
				t.Errorf("%s: %v, want %q", uri, err, want)
			}
		}
	}
}

func TestSubscribeOnlyToWhatIsThere(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "2025-11-25", behaviour{elicit: confirm})
	if err := p.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///etc/passwd"}); err == nil {
		t.Error("a subscription to something that is not there")
	}
	subscribe(t, p)
	if err := p.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: tripsURI}); err != nil {
		t.Fatal(err)
	}
	p.call(t, "book_trip", paris)
	if err := p.Ping(t.Context(), nil); err != nil { // comes after a notification, were there one
		t.Fatal(err)
	}
	select {
	case uri := <-p.updated:
		t.Errorf("told of %s after it was unsubscribed", uri)
	default:
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	prompt := func(name string) *mcp.CompleteReference {
		return &mcp.CompleteReference{Type: "ref/prompt", Name: name}
	}
	template := func(uri string) *mcp.CompleteReference { return &mcp.CompleteReference{Type: "ref/resource", URI: uri} }
	for _, version := range eras {
		p := newPeer(t, version, behaviour{})
		for _, c := range []struct {
			ref                   *mcp.CompleteReference
			argument, value, city string
			want                  string
		}{
			{prompt("plan-vacation"), "destination", "Par", "", "[Paris Park City]"},
			{prompt("plan-vacation"), "destination", "par", "", "[Paris Park City]"},
			{template(forecastTemplate), "city", "Par", "", "[Paris Park City]"},
			{template(activitiesTemplate), "city", "Par", "", "[Paris Park City]"},
			{template(activitiesTemplate), "city", "北", "", "[北京]"},
			{prompt("plan-vacation"), "destination", "Zz", "", "[]"},
			{prompt("plan-vacation"), "duration", "1", "", "[10 days 14 days]"},
			{prompt("plan-vacation"), "interests", "mus", "", "[museums music]"},
			{prompt("weekly-report"), "date", "", "", "[2025-03-17 2025-03-10 2025-03-03 2025-02-24]"},
			{template(forecastTemplate), "date", "2025-03-2", "", "[2025-03-20 2025-03-21 2025-03-22 2025-03-23 2025-03-24 2025-03-25]"},
			{template(activitiesTemplate), "category", "s", "", "[shopping skiing]"},
			{template(activitiesTemplate), "category", "sk", "Park City", "[skiing]"},
			{template(activitiesTemplate), "category", "sk", "Bangkok", "[]"},
			{template(activitiesTemplate), "category", "b", "曼谷", "[beaches]"},
		} {
			params := &mcp.CompleteParams{Ref: c.ref, Argument: mcp.CompleteParamsArgument{Name: c.argument, Value: c.value}}
			if c.city != "" {
				params.Context = &mcp.CompleteContext{Arguments: map[string]string{"city": c.city}}
			}
			res, err := p.Complete(t.Context(), params)
			if err != nil || fmt.Sprint(res.Completion.Values) != c.want || res.Completion.Total != len(res.Completion.Values) {
				t.Errorf("%v %s %q (%s): %+v, %v; want %s", c.ref, c.argument, c.value, c.city, res, err, c.want)
			}
		}
		all, err := p.Complete(t.Context(), &mcp.CompleteParams{Ref: prompt("plan-vacation"), Argument: mcp.CompleteParamsArgument{Name: "destination"}})
		if err != nil || len(all.Completion.Values) != len(cities) || len(cities) > maxCompletions {
			t.Errorf("without a beginning: %v, %v", all, err)
		}
		for _, bad := range []*mcp.CompleteParams{
			{Ref: prompt("nothing"), Argument: mcp.CompleteParamsArgument{Name: "destination"}},
			{Ref: template("file:///{path}"), Argument: mcp.CompleteParamsArgument{Name: "path"}},
			{Ref: prompt("plan-vacation"), Argument: mcp.CompleteParamsArgument{Name: "mood"}},
			{Ref: prompt("plan-vacation"), Argument: mcp.CompleteParamsArgument{Name: "destination", Value: strings.Repeat("x", 5000)}},
		} {
			if res, err := p.Complete(t.Context(), bad); err == nil {
				t.Errorf("%v is completed with %v", bad, res)
			}
		}
	}
}

func TestCitiesAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range cities {
		for _, name := range []string{key(c.name), c.chinese, strings.ToLower(c.airport)} {
			if seen[name] || name == "" {
				t.Errorf("%q is there twice", name)
			}
			seen[name] = true
		}
		if len(c.offered()) == 0 {
			t.Errorf("nothing to do in %s", c.name)
		}
	}
}
