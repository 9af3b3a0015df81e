package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// flight is one invented flight.
type flight struct {
	Flight    string `json:"flight"`
	Departure string `json:"departure"`
	Arrival   string `json:"arrival"` // local wording; "+1" is the next day
	Minutes   int    `json:"duration_minutes"`
	Stops     int    `json:"stops"`
	Price     int    `json:"price"`
	Currency  string `json:"currency"`
}

// search is the result of search_flights.
type search struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Date    string   `json:"date"`
	Flights []flight `json:"flights"`
	Note    string   `json:"note"`
}

// route is what the flight tools are asked for.
type route struct {
	From string `json:"from"`
	To   string `json:"to"`
	Date string `json:"date"`
}

const routeProperties = `"from":{"type":"string","description":"City of departure","minLength":1,"maxLength":80},"to":{"type":"string","description":"City of arrival","minLength":1,"maxLength":80},` +
	`"date":{"type":"string","description":"Day of departure, as YYYY-MM-DD","minLength":1,"maxLength":40}`

const flightSchema = `{"type":"object","properties":{"flight":{"type":"string"},"departure":{"type":"string"},"arrival":{"type":"string"},"duration_minutes":{"type":"integer"},` +
	`"stops":{"type":"integer"},"price":{"type":"integer"},"currency":{"type":"string"}},"required":["flight","departure","arrival","price"]}`

// searchStep is how long each of the steps of a search takes, so that there is
// progress to see.
const searchStep = 40 * time.Millisecond

func addFlights(s *server) error {
	err := addTool(s, &mcp.Tool{
		Name:        "search_flights",
		Title:       "Search flights",
		Description: "Finds (invented) flights between two cities on one day.",
		Annotations: hints("Search flights", true, true, false),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + routeProperties + `},"required":["from","to","date"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"},"date":{"type":"string"},"flights":{"type":"array","items":` + flightSchema +
			`},"note":{"type":"string"}},"required":["from","to","date","flights"]}`),
	}, func(ctx context.Context, c *call, in route) (*mcp.CallToolResult, error) {
		found, err := c.search(ctx, in)
		if err != nil {
			return nil, err
		}
		return structured(found)
	})
	if err != nil {
		return err
	}
	return addTool(s, &mcp.Tool{
		Name:  "find_best_flight",
		Title: "Find the best flight",
		Description: "Finds (invented) flights between two cities on one day and lets the client's model choose the one that suits a preference best. " +
			"It asks the client for a model answer (sampling); where that is not possible, use search_flights.",
		Annotations: hints("Find the best flight", true, false, true),
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + routeProperties + `,"preference":{"type":"string","description":"What matters, for example: cheap, fast, no stops, not too early","minLength":1,"maxLength":300}},` +
			`"required":["from","to","date","preference"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"flight":` + flightSchema + `,"reason":{"type":"string","description":"What the client's model wrote"},"considered":{"type":"integer"}},"required":["flight","reason","considered"]}`),
	}, bestFlight)
}

// search finds flights the slow way, telling how far it is.
func (c *call) search(ctx context.Context, in route) (search, error) {
	found, err := in.find()
	if err != nil {
		return search{}, err
	}
	steps := []string{"Asking the airlines", "Looking for connections", "Comparing prices"}
	for i, step := range steps {
		c.progress(ctx, float64(i+1), float64(len(steps)), step)
		select {
		case <-time.After(searchStep):
		case <-ctx.Done():
			return search{}, refuse("The search was cancelled.")
		}
	}
	return found, nil
}

// find checks a route and makes up its flights.
func (in route) find() (search, error) {
	from, err := findCity("from", in.From)
	if err != nil {
		return search{}, err
	}
	to, err := findCity("to", in.To)
	if err != nil {
		return search{}, err
	}
	if from == to {
		return search{}, refuse("from and to are the same city, %s; choose two different ones.", from.name)
	}
	d, err := day("date", in.Date)
	if err != nil {
		return search{}, err
	}
	return search{From: from.in(in.From), To: to.in(in.To), Date: in.Date, Note: "invented by the demo server", Flights: flights(from, to, d)}, nil
}

// flights makes up three to six flights in the order of departure.
func flights(from, to city, d time.Time) []flight {
	dice := roll("flights", from.name, to.name, d.Format(time.DateOnly))
	direct := roll("distance", min(from.name, to.name), max(from.name, to.name)).next(75, 720)
	var list []flight
	for range dice.next(3, 6) {
		f := flight{Flight: fmt.Sprintf("SD%d", dice.next(100, 999)), Stops: max(0, dice.next(-1, 2)), Currency: "USD"}
		if slices.ContainsFunc(list, func(other flight) bool { return other.Flight == f.Flight }) {
			continue
		}
		f.Minutes = direct + f.Stops*dice.next(60, 200)
		leave := dice.next(6*12, 22*12) * 5 // minutes after midnight, in fives
		f.Departure, f.Arrival = clock(leave), clock(leave+f.Minutes)
		f.Price = 40 + direct*dice.next(8, 22)/10 - f.Stops*dice.next(5, 30)
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b flight) int { return strings.Compare(a.Departure+a.Flight, b.Departure+b.Flight) })
	return list
}

func clock(minutes int) string {
	text := fmt.Sprintf("%02d:%02d", minutes/60%24, minutes%60)
	if days := minutes / (24 * 60); days > 0 {
		text += fmt.Sprintf(" +%d", days)
	}
	return text
}
