package demo

//lint:file-ignore SA1019 Sampling is deprecated since MCP 2026-07-28 but has to be tested while it is served.

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/schema"
)

func confirm(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirmBooking": true, "seatPreference": "window", "roomType": "sea view", "travelInsurance": true}}, nil
}

var flightNumber = regexp.MustCompile(`SD\d+`)

func firstFlight(question string) (string, error) {
	return "I choose " + flightNumber.FindString(question) + ", it is cheap.\u202e\x1b[31m", nil
}

const (
	paris = `{"destination":"Paris","start_date":"2025-05-01","end_date":"2025-05-06","travellers":2}`
	best  = `{"from":"Beijing","to":"Paris","date":"2025-05-01","preference":"cheap\u202e"}`
)

func TestFindBestFlight(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		t.Run("revision "+version, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, version, behaviour{sample: firstFlight})
			got := value[struct {
				Flight     flight
				Reason     string
				Considered int
			}](t, p.call(t, "find_best_flight", best))
			if !strings.HasPrefix(got.Flight.Flight, "SD") || got.Reason != "I choose "+got.Flight.Flight+", it is cheap.[31m" || got.Considered < 2 {
				t.Errorf("%+v", got)
			}
			if len(p.sampled) != 1 || !strings.Contains(p.sampled[0], "The traveller wants: cheap\n") {
				t.Errorf("asked: %q", p.sampled)
			}
			wantError(t, p.call(t, "find_best_flight", `{"from":"Beijing","to":"Atlantis","date":"2025-05-01","preference":"x"}`), "does not know the city")

			none := newPeer(t, version, behaviour{})
			wantError(t, none.call(t, "find_best_flight", best), "This client offers no model to choose with (sampling). Call search_flights")

			vague := newPeer(t, version, behaviour{sample: func(string) (string, error) { return "Whatever.", nil }})
			wantError(t, vague.call(t, "find_best_flight", best), "named none of the flights")
		})
	}
}

// A client that does not let its model answer gets an error the model can act on, where
// the server is told of it at all.
func TestSamplingDenied(t *testing.T) {
	t.Parallel()
	deny := behaviour{sample: func(string) (string, error) { return "", errors.New("the person said no") }}
	for _, version := range eras[1:] {
		p := newPeer(t, version, deny)
		wantError(t, p.call(t, "find_best_flight", best), "did not let its model answer")
		wantError(t, p.call(t, "find_best_flight", best), "Call search_flights")
	}
	if _, err := newPeer(t, "", deny).try(t, "find_best_flight", best); err == nil || !strings.Contains(err.Error(), "the person said no") {
		t.Errorf("2026-07-28: %v; the client's own error was to end the call", err)
	}
}

func TestBookTrip(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		t.Run("revision "+version, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, version, behaviour{elicit: confirm})
			subscribe(t, p)
			b := value[booking](t, p.call(t, "book_trip", paris))
			if b.Status != "booked" || b.Trip == nil || b.Trip.Booking != "SD-0001" || b.Trip.Nights != 5 || b.Trip.Travellers != 2 || b.Trip.Seat != "window" || b.Trip.Room != "sea view" || !b.Trip.Insurance || b.Trip.Total < 100 {
				t.Errorf("%+v %+v", b, b.Trip)
			}
			checkForm(t, p)
			select {
			case uri := <-p.updated:
				if uri != tripsURI {
					t.Errorf("updated %s", uri)
				}
			case <-time.After(10 * time.Second):
				t.Error("no update of the trip document")
			}
			if doc := read(t, p, tripsURI); !strings.Contains(doc, "SD-0001 Paris") || !strings.Contains(doc, "Room: sea view") {
				t.Errorf("the trip document: %s", doc)
			}
		})
	}
}

// checkForm looks at the form the person was shown.
func checkForm(t *testing.T, p *peer) {
	t.Helper()
	if len(p.asked) != 1 || p.asked[0].Message != "Book a trip to Paris from 2025-05-01 to 2025-05-06 (5 nights) for 2 travellers?" {
		t.Fatalf("asked %d times: %+v", len(p.asked), p.asked)
	}
	raw, err := json.Marshal(p.asked[0].RequestedSchema)
	if err != nil {
		t.Fatal(err)
	}
	form, err := schema.ParseForm(raw)
	if err != nil || len(form.Fields) != 4 || len(form.Notes) != 0 {
		t.Fatalf("%s: %+v, %v", raw, form, err)
	}
	// Defaults alone must not book.
	if _, given := form.Defaults()["confirmBooking"]; given || form.Check(form.Defaults()) == nil {
		t.Error("the confirmation has a default")
	}
}

func subscribe(t *testing.T, p *peer) {
	t.Helper()
	if err := p.Subscribe(t.Context(), &mcp.SubscribeParams{URI: tripsURI}); err != nil {
		t.Fatal(err)
	}
	if p.InitializeResult().ProtocolVersion >= firstStateless {
		time.Sleep(50 * time.Millisecond) // the client does not say when its listening has begun
	}
}

func read(t *testing.T, p *peer, uri string) string {
	t.Helper()
	res, err := p.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("read %s: %v", uri, err)
	}
	return res.Contents[0].Text
}

func TestNotBooked(t *testing.T) {
	t.Parallel()
	answer := func(action string, content map[string]any) behaviour {
		return behaviour{elicit: func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}}
	}
	for _, version := range eras {
		t.Run("revision "+version, func(t *testing.T) {
			t.Parallel()
			for status, b := range map[string]behaviour{
				"declined":      answer("decline", nil),
				"cancelled":     answer("cancel", nil),
				"not_confirmed": answer("accept", map[string]any{"confirmBooking": false}),
			} {
				p := newPeer(t, version, b)
				if got := value[booking](t, p.call(t, "book_trip", paris)); got.Status != status || got.Trip != nil || !strings.Contains(got.Message, "nothing was booked") {
					t.Errorf("%s: %+v", status, got)
				}
				if doc := read(t, p, tripsURI); !strings.Contains(doc, "No trip is booked yet") {
					t.Errorf("%s: %s", status, doc)
				}
			}
			wantError(t, newPeer(t, version, behaviour{}).call(t, "book_trip", paris), "cannot ask the traveller")
		})
	}
	p := newPeer(t, "2025-11-25", behaviour{elicit: func(*mcp.ElicitParams) (*mcp.ElicitResult, error) { return nil, errors.New("broken dialog") }})
	wantError(t, p.call(t, "book_trip", paris), "could not be asked")
}

func TestTripOrders(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{elicit: confirm})
	for in, want := range map[string]string{
		`{"destination":"Paris","start_date":"2025-05-06","end_date":"2025-05-01"}`:                "end_date must be after start_date",
		`{"destination":"Paris","start_date":"2025-05-01","end_date":"2025-05-01"}`:                "end_date must be after start_date",
		`{"destination":"Paris","start_date":"2025-05-01","end_date":"2026-05-01"}`:                "at most 60 nights",
		`{"destination":"Nowhere","start_date":"2025-05-01","end_date":"2025-05-02"}`:              "does not know the city",
		`{"destination":"Paris","start_date":"2025-05-01","end_date":"2025-05-02","travellers":0}`: "/travellers must be 1 or more, not 0",
		`{"destination":"Paris","start_date":"31.02","end_date":"2025-05-02"}`:                     "start_date must be a date of the calendar",
	} {
		wantError(t, p.call(t, "book_trip", in), want)
	}
	if len(p.asked) != 0 {
		t.Error("the traveller was asked about an order that cannot be")
	}
}

// An answer given to one call does not confirm another, and a client may send nonsense.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	p := newPeer(t, "", behaviour{elicit: confirm, sample: firstFlight})
	send := func(arguments, state string, responses mcp.InputResponseMap) *mcp.CallToolResult {
		res, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "book_trip", Arguments: json.RawMessage(arguments), InputResponses: responses, RequestState: state})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	yes := &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirmBooking": true}}
	wantError(t, send(paris, "made up", mcp.InputResponseMap{tripKey: yes}), "belongs to another call")
	wantError(t, send(paris, "", mcp.InputResponseMap{tripKey: yes}), "belongs to another call")
	c := &call{req: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: "book_trip"}}}
	var err error
	if c.raw, err = schema.Canonical([]byte(paris)); err != nil {
		t.Fatal(err)
	}
	wantError(t, send(strings.Replace(paris, "2025-05-06", "2025-05-16", 1), c.state(), mcp.InputResponseMap{tripKey: yes}), "belongs to another call")
	wantError(t, send(paris, c.state(), mcp.InputResponseMap{"other": yes}), "no answer of the traveller")
	wantError(t, send(paris, c.state(), mcp.InputResponseMap{tripKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirmBooking": true, "roomType": "palace"}}}), "roomType must be one of")
	wantError(t, send(paris, c.state(), mcp.InputResponseMap{tripKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirmBooking": true, "travelInsurance": "yes"}}}), "travelInsurance must be true or false")
	if got := value[booking](t, send(paris, c.state(), mcp.InputResponseMap{tripKey: yes})); got.Status != "booked" {
		t.Errorf("%+v", got)
	}
}
