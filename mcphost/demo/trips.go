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

// trip is one invented booking.
type trip struct {
	Booking     string `json:"booking"`
	Destination string `json:"destination"`
	Start       string `json:"start_date"`
	End         string `json:"end_date"`
	Nights      int    `json:"nights"`
	Travellers  int    `json:"travellers"`
	Seat        string `json:"seat"`
	Room        string `json:"room"`
	Insurance   bool   `json:"insurance"`
	Total       int    `json:"total"`
	Currency    string `json:"currency"`
}

// booking is the result of book_trip.
type booking struct {
	Status  string `json:"status"` // booked, not_confirmed, declined, cancelled
	Message string `json:"message"`
	Trip    *trip  `json:"trip,omitempty"`
}

// tripOrder is what book_trip is asked for.
type tripOrder struct {
	Destination string `json:"destination"`
	Start       string `json:"start_date"`
	End         string `json:"end_date"`
	Travellers  int    `json:"travellers"`
}

const (
	tripKey   = "booking" // names the question in a multi-round-trip result
	tripsURI  = "travel://trips/current"
	maxTrips  = 100 // that are kept
	maxNights = 60
)

// tripForm is what the traveller is asked. The confirmation has no default: it must be
// given.
const tripForm = `{"type":"object","properties":{` +
	`"confirmBooking":{"type":"boolean","title":"Confirm the booking","description":"Nothing is booked without this. It is a demo: nothing is really booked or paid."},` +
	`"seatPreference":{"type":"string","title":"Seat","enum":["window","aisle","no preference"],"default":"no preference"},` +
	`"roomType":{"type":"string","title":"Room","oneOf":[{"const":"sea view","title":"Room with a view of the sea"},{"const":"city view","title":"Room with a view of the city"},{"const":"garden view","title":"Room with a view of the garden"}],"default":"city view"},` +
	`"travelInsurance":{"type":"boolean","title":"Travel insurance","description":"29 USD for each traveller","default":false}},` +
	`"required":["confirmBooking"]}`

func addTrips(s *server) error {
	return addTool(s, &mcp.Tool{
		Name:        "book_trip",
		Title:       "Book a trip",
		Description: "Books an (invented) trip. The traveller is asked to confirm it and to choose seat, room and insurance (elicitation); nothing is booked without the confirmation.",
		Annotations: hints("Book a trip", false, false, false),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"destination":{"type":"string","description":"City to travel to","minLength":1,"maxLength":80},` +
			`"start_date":{"type":"string","description":"First day, as YYYY-MM-DD","minLength":1,"maxLength":40},"end_date":{"type":"string","description":"Last day, as YYYY-MM-DD","minLength":1,"maxLength":40},` +
			`"travellers":{"type":"integer","description":"Number of travellers","minimum":1,"maximum":9,"default":1}},"required":["destination","start_date","end_date"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"status":{"type":"string","enum":["booked","not_confirmed","declined","cancelled"]},"message":{"type":"string"},` +
			`"trip":{"type":"object","properties":{"booking":{"type":"string"},"destination":{"type":"string"},"start_date":{"type":"string"},"end_date":{"type":"string"},"nights":{"type":"integer"},"travellers":{"type":"integer"},` +
			`"seat":{"type":"string"},"room":{"type":"string"},"insurance":{"type":"boolean"},"total":{"type":"integer"},"currency":{"type":"string"}}}},"required":["status","message"]}`),
	}, bookTrip)
}

// bookTrip is the tool book_trip.
func bookTrip(ctx context.Context, c *call, in tripOrder) (*mcp.CallToolResult, error) {
	place, start, end, err := in.check()
	if err != nil {
		return nil, err
	}
	if !c.canElicit() {
		return nil, refuse("This client cannot ask the traveller for a confirmation (elicitation), so nothing was booked.")
	}
	in.Travellers = max(in.Travellers, 1)
	nights := int(end.Sub(start).Hours() / 24)
	form := &mcp.ElicitParams{
		Mode:            "form",
		Message:         fmt.Sprintf("Book a trip to %s from %s to %s (%s) for %s?", place.in(in.Destination), in.Start, in.End, plural(nights, "night"), plural(in.Travellers, "traveller")),
		RequestedSchema: json.RawMessage(tripForm),
	}
	if c.modern() && c.req.Params.InputResponses == nil {
		return c.ask(tripKey, form), nil
	}
	answer, err := c.answer(ctx, form)
	if err != nil {
		return nil, err
	}
	if b := notBooked(answer); b != nil {
		return structured(b)
	}
	t := trip{Destination: place.in(in.Destination), Start: in.Start, End: in.End, Nights: nights, Travellers: in.Travellers, Seat: "no preference", Room: "city view", Currency: "USD"}
	if err := t.choose(answer.Content); err != nil {
		return nil, err
	}
	t.price(place)
	c.server.book(ctx, &t)
	return structured(booking{Status: "booked", Trip: &t,
		Message: fmt.Sprintf("Booked %s: %s, %s to %s, %d USD in all. This is a demo; nothing was really booked.", t.Booking, t.Destination, t.Start, t.End, t.Total)})
}

// check reads the order.
func (in tripOrder) check() (place city, start, end time.Time, err error) {
	if place, err = findCity("destination", in.Destination); err != nil {
		return
	}
	if start, err = day("start_date", in.Start); err != nil {
		return
	}
	if end, err = day("end_date", in.End); err != nil {
		return
	}
	switch nights := end.Sub(start).Hours() / 24; {
	case nights < 1:
		err = refuse("end_date must be after start_date: %s is not after %s.", in.End, in.Start)
	case nights > maxNights:
		err = refuse("A trip may last at most %d nights; this one would last %.0f.", maxNights, nights)
	}
	return
}

// canElicit says whether the client can show a form.
func (c *call) canElicit() bool {
	caps := c.req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// answer gets what the traveller answered: out of the second round of the call, or by
// a request of our own where the protocol has those.
func (c *call) answer(ctx context.Context, form *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if !c.modern() {
		res, err := c.req.Session.Elicit(ctx, form)
		if err != nil {
			return nil, refuse("The traveller could not be asked (%s), so nothing was booked.", clean(err.Error(), 200))
		}
		return res, nil
	}
	if err := c.sameCall(); err != nil {
		return nil, err
	}
	res, ok := c.req.Params.InputResponses[tripKey].(*mcp.ElicitResult)
	if !ok || res == nil {
		return nil, refuse("The client sent no answer of the traveller, so nothing was booked.")
	}
	return res, nil
}

// notBooked is the result where the traveller did not confirm, else nil.
func notBooked(answer *mcp.ElicitResult) *booking {
	switch answer.Action {
	case "accept":
		if yes, _ := answer.Content["confirmBooking"].(bool); yes {
			return nil
		}
		return &booking{Status: "not_confirmed", Message: "The traveller did not confirm the booking; nothing was booked."}
	case "decline":
		return &booking{Status: "declined", Message: "The traveller declined; nothing was booked. Do not book again without being asked to."}
	}
	return &booking{Status: "cancelled", Message: "The traveller closed the form without an answer; nothing was booked."}
}

// choose takes over what the traveller chose. A client may send anything.
func (t *trip) choose(content map[string]any) error {
	for _, q := range []struct {
		field   string
		into    *string
		allowed []string
	}{
		{"seatPreference", &t.Seat, []string{"window", "aisle", "no preference"}},
		{"roomType", &t.Room, []string{"sea view", "city view", "garden view"}},
	} {
		v, given := content[q.field]
		if !given {
			continue
		}
		text, ok := v.(string)
		if !ok || !slices.Contains(q.allowed, text) {
			return refuse("The form's answer for %s must be one of %s; nothing was booked.", q.field, strings.Join(q.allowed, ", "))
		}
		*q.into = text
	}
	if v, given := content["travelInsurance"]; given {
		yes, ok := v.(bool)
		if !ok {
			return refuse("The form's answer for travelInsurance must be true or false; nothing was booked.")
		}
		t.Insurance = yes
	}
	return nil
}

// price makes up what the trip costs.
func (t *trip) price(place city) {
	night := roll("room", place.name).next(60, 180)
	switch t.Room {
	case "garden view":
		night = night * 9 / 10
	case "sea view":
		night = night * 3 / 2
	}
	travel := roll("travel", place.name, t.Start).next(80, 600)
	t.Total = night*t.Nights + travel*t.Travellers
	if t.Insurance {
		t.Total += 29 * t.Travellers
	}
}

// book stores the trip, numbers it, and tells who subscribed to the trip document.
func (s *server) book(ctx context.Context, t *trip) {
	s.mu.Lock()
	s.booked++
	t.Booking = fmt.Sprintf("SD-%04d", s.booked)
	s.trips = append(s.trips, *t)
	if len(s.trips) > maxTrips {
		s.trips = s.trips[len(s.trips)-maxTrips:]
	}
	s.mu.Unlock()
	// The trip is booked, whether or not a subscriber still listens.
	_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: tripsURI})
}

// tripDocument writes the trips as Markdown.
func (s *server) tripDocument() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	b.WriteString("# Trips\n\nInvented by the demo server. Nothing here was really booked.\n")
	if len(s.trips) == 0 {
		b.WriteString("\nNo trip is booked yet.\n")
	}
	if gone := s.booked - len(s.trips); gone > 0 {
		fmt.Fprintf(&b, "\n%d earlier trips are no longer listed.\n", gone)
	}
	for _, t := range s.trips {
		insurance := "no"
		if t.Insurance {
			insurance = "yes"
		}
		fmt.Fprintf(&b, "\n## %s %s\n\n- %s to %s, %s\n- %s\n- Seat: %s\n- Room: %s\n- Travel insurance: %s\n- Total: %d %s\n",
			t.Booking, t.Destination, t.Start, t.End, plural(t.Nights, "night"), plural(t.Travellers, "traveller"), t.Seat, t.Room, insurance, t.Total, t.Currency)
	}
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
