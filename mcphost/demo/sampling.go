package demo

//lint:file-ignore SA1019 Sampling is deprecated since MCP 2026-07-28 but stays in use for at least a year, and a host has to be tried with it.

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const chooseKey = "choice" // names the question in a multi-round-trip result

// instead is what a model can do without sampling.
const instead = "Call search_flights with the same from, to and date, and choose from its result."

// bestFlight is the tool find_best_flight.
func bestFlight(ctx context.Context, c *call, in struct {
	route
	Preference string `json:"preference"`
}) (*mcp.CallToolResult, error) {
	if caps := c.req.ClientCapabilities(); caps == nil || caps.Sampling == nil {
		return nil, refuse("This client offers no model to choose with (sampling). %s", instead)
	}
	if c.modern() && c.req.Params.InputResponses == nil {
		found, err := c.search(ctx, in.route)
		if err != nil {
			return nil, err
		}
		return c.ask(chooseKey, question(found, in.Preference)), nil
	}
	found, answer, err := c.choice(ctx, in.route, in.Preference)
	if err != nil {
		return nil, err
	}
	chosen := -1
	for i, f := range found.Flights {
		if strings.Contains(answer, f.Flight) && (chosen < 0 || strings.Index(answer, f.Flight) < strings.Index(answer, found.Flights[chosen].Flight)) {
			chosen = i
		}
	}
	if chosen < 0 {
		return nil, refuse("The client's model named none of the flights; it wrote: %q. %s", clean(answer, 200), instead)
	}
	return structured(struct {
		Flight     flight `json:"flight"`
		Reason     string `json:"reason"`
		Considered int    `json:"considered"`
	}{found.Flights[chosen], clean(answer, 500), len(found.Flights)})
}

// choice gets the model's answer: out of the second round of the call, or by a request
// of our own where the protocol has those.
func (c *call) choice(ctx context.Context, r route, preference string) (search, string, error) {
	if c.modern() {
		if err := c.sameCall(); err != nil {
			return search{}, "", err
		}
		res, ok := c.req.Params.InputResponses[chooseKey].(*mcp.CreateMessageWithToolsResult)
		if !ok || res == nil {
			return search{}, "", refuse("The client sent no answer of its model. %s", instead)
		}
		found, err := r.find() // the first round took its time already
		return found, textOf(res.Content), err
	}
	found, err := c.search(ctx, r)
	if err != nil {
		return search{}, "", err
	}
	res, err := c.req.Session.CreateMessage(ctx, question(found, preference))
	if err != nil {
		return search{}, "", refuse("The client did not let its model answer (%s). %s", clean(err.Error(), 200), instead)
	}
	return found, textOf([]mcp.Content{res.Content}), nil
}

// question is what the client's model is asked.
func question(found search, preference string) *mcp.CreateMessageParams {
	var b strings.Builder
	fmt.Fprintf(&b, "Flights from %s to %s on %s:\n", found.From, found.To, found.Date)
	for _, f := range found.Flights {
		fmt.Fprintf(&b, "- %s: %s to %s, %d minutes, %d stops, %d %s\n", f.Flight, f.Departure, f.Arrival, f.Minutes, f.Stops, f.Price, f.Currency)
	}
	fmt.Fprintf(&b, "\nThe traveller wants: %s\n\nName the flight that suits best, and say why in one sentence.", clean(preference, 300))
	return &mcp.CreateMessageParams{
		SystemPrompt:     "You choose flights. Answer with one flight number of the list and one sentence.",
		Messages:         []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: b.String()}}},
		MaxTokens:        200,
		ModelPreferences: &mcp.ModelPreferences{SpeedPriority: 0.7, IntelligencePriority: 0.4},
	}
}

func textOf(content []mcp.Content) string {
	var parts []string
	for _, c := range content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return clean(strings.Join(parts, " "), 2000)
}

// modern says whether the call speaks 2026-07-28 or later, where a server asks by its
// result instead of by requests.
func (c *call) modern() bool { return c.req.ProtocolVersion() >= "2026-07-28" }

// ask makes the result of a first round. The request state ties the answer to these
// arguments.
func (c *call) ask(key string, request mcp.InputRequest) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: request}, RequestState: c.state()}
}

func (c *call) state() string {
	return fmt.Sprintf("%016x", roll("state", c.req.Params.Name, string(c.raw)).state)
}

// sameCall refuses an answer that was given to another call.
func (c *call) sameCall() error {
	if c.req.Params.RequestState != c.state() {
		return refuse("The answer belongs to another call: its request state does not fit these arguments. Call again from the start.")
	}
	return nil
}
