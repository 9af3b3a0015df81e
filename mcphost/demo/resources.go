package demo

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	calendarURI        = "calendar://events/2024"
	forecastPrefix     = "weather://forecast/"
	activitiesPrefix   = "travel://activities/"
	forecastTemplate   = forecastPrefix + "{city}/{date}"
	activitiesTemplate = activitiesPrefix + "{city}/{category}"
)

func (s *server) addResources() {
	s.mcp.AddResource(&mcp.Resource{URI: calendarURI, Name: "calendar-2024", Title: "Calendar 2024", Description: "Invented events of the year 2024.", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return asJSON(req.Params.URI, calendar())
		})
	s.mcp.AddResource(&mcp.Resource{URI: tripsURI, Name: "current-trips", Title: "Booked trips", Description: "The trips booked with book_trip since the demo server started. Changes with every booking.", MIMEType: "text/markdown"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return asText(req.Params.URI, "text/markdown", s.tripDocument()), nil
		})
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: forecastTemplate, Name: "weather-forecast", Title: "Weather forecast", Description: "The (invented) weather of a city on a day, written as YYYY-MM-DD.", MIMEType: "application/json"}, readForecast)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: activitiesTemplate, Name: "travel-activities", Title: "Things to do", Description: "(Invented) things to do in a city, by category.", MIMEType: "text/markdown"}, readActivities)
}

func (s *server) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	if uri := req.Params.URI; uri != tripsURI && uri != calendarURI {
		return mcp.ResourceNotFoundError(clean(uri, 200))
	}
	return nil
}

func asText(uri, mime, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}
}

func asJSON(uri string, v any) (*mcp.ReadResourceResult, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return asText(uri, "application/json", string(raw)), nil
}

// event is one entry of the calendar.
type event struct {
	Date  string `json:"date"`
	Title string `json:"title"`
	City  string `json:"city"`
	Kind  string `json:"kind"`
}

// calendar makes up two events a month.
func calendar() any {
	kinds := []string{"conference", "holiday", "meeting", "trip"}
	titles := map[string][]string{
		"conference": {"Developer conference", "Design days", "Data summit"},
		"holiday":    {"Public holiday", "Long weekend"},
		"meeting":    {"Quarterly review", "Planning", "Team day"},
		"trip":       {"Family visit", "Hiking weekend", "City tour"},
	}
	var events []event
	for month := time.January; month <= time.December; month++ {
		for i := range 2 {
			dice := roll("calendar", month.String(), fmt.Sprint(i))
			kind := dice.pick(kinds)
			d := time.Date(2024, month, 1+i*15+dice.next(0, 12), 0, 0, 0, 0, time.UTC)
			events = append(events, event{d.Format(time.DateOnly), dice.pick(titles[kind]), cities[dice.next(0, len(cities)-1)].name, kind})
		}
	}
	return struct {
		Year   int     `json:"year"`
		Events []event `json:"events"`
		Note   string  `json:"note"`
	}{2024, events, "invented by the demo server"}
}

// variables reads the two variables of a template out of a URI.
func variables(uri, prefix string) (first, second string, err error) {
	parts := strings.Split(strings.TrimPrefix(uri, prefix), "/")
	if len(parts) != 2 {
		return "", "", mcp.ResourceNotFoundError(clean(uri, 200))
	}
	if first, err = url.PathUnescape(parts[0]); err == nil {
		second, err = url.PathUnescape(parts[1])
	}
	if err != nil {
		return "", "", mcp.ResourceNotFoundError(clean(uri, 200))
	}
	return first, second, nil
}

func readForecast(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	where, when, err := variables(req.Params.URI, forecastPrefix)
	if err != nil {
		return nil, err
	}
	c, err := findCity("city", where)
	if err != nil {
		return nil, invalid(err)
	}
	d, err := day("date", when)
	if err != nil {
		return nil, invalid(err)
	}
	return asJSON(req.Params.URI, c.weather(where, d))
}

// categories of things to do, with their Chinese names and what they may be.
var categories = []struct {
	name, chinese string
	things        []string
}{
	{"beaches", "海滩", []string{"a walk along the water", "a swim before breakfast", "a boat trip"}},
	{"food", "美食", []string{"the market hall", "a cooking class", "a tour of small restaurants", "a tasting of local tea"}},
	{"hiking", "徒步", []string{"the ridge path", "a walk to the lookout", "the forest loop"}},
	{"museums", "博物馆", []string{"the city museum", "the museum of modern art", "the museum of technology", "the house of a painter"}},
	{"music", "音乐", []string{"an evening concert", "a jazz cellar", "street musicians at the river"}},
	{"nightlife", "夜生活", []string{"the old harbour at night", "a rooftop bar", "a night market"}},
	{"shopping", "购物", []string{"the main street", "a flea market", "a hall of craftsmen"}},
	{"skiing", "滑雪", []string{"the long slope", "a lesson for beginners", "a cross-country track"}},
}

// offered says which categories a city has: the same five or six always.
func (c city) offered() []string {
	var out []string
	for _, k := range categories {
		switch k.name {
		case "skiing":
			if c.degrees > 9 {
				continue
			}
		case "beaches":
			if c.degrees < 15 {
				continue
			}
		default:
			if roll("category", c.name, k.name).next(0, 3) == 0 {
				continue
			}
		}
		out = append(out, k.name)
	}
	return out
}

func readActivities(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	where, what, err := variables(req.Params.URI, activitiesPrefix)
	if err != nil {
		return nil, err
	}
	c, err := findCity("city", where)
	if err != nil {
		return nil, invalid(err)
	}
	for _, k := range categories {
		if key(what) != k.name && key(what) != k.chinese {
			continue
		}
		if !slices.Contains(c.offered(), k.name) {
			break
		}
		var b strings.Builder
		fmt.Fprintf(&b, "# %s: %s\n\nInvented by the demo server.\n\n", c.in(where), k.name)
		dice := roll("activities", c.name, k.name)
		first := dice.next(0, len(k.things)-1)
		for i := range min(3, len(k.things)) {
			fmt.Fprintf(&b, "- %s (%d USD, %d hours)\n", k.things[(first+i)%len(k.things)], dice.next(0, 12)*5, dice.next(1, 5))
		}
		return asText(req.Params.URI, "text/markdown", b.String()), nil
	}
	return nil, invalid(refuse("category: the demo knows nothing of the kind %q in %s; it knows %s.", clean(what, 40), c.name, strings.Join(c.offered(), ", ")))
}
