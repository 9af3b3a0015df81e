package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxPromptArgument is how long an argument of a prompt may be, in characters.
const maxPromptArgument = 300

func (s *server) addPrompts() {
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "plan-vacation", Title: "Plan a vacation", Description: "Plans a vacation step by step with the demo's tools.",
		Arguments: []*mcp.PromptArgument{
			{Name: "destination", Title: "Destination", Description: "City to travel to", Required: true},
			{Name: "duration", Title: "Duration", Description: "How long, for example: 5 days"},
			{Name: "budget", Title: "Budget", Description: "How much, for example: 2000 USD"},
			{Name: "interests", Title: "Interests", Description: "For example: museums, food, hiking"},
		},
	}, planVacation)
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "weekly-report", Title: "Weekly report", Description: "Asks for the report of a week and what follows from it.",
		Arguments: []*mcp.PromptArgument{{Name: "date", Title: "Monday", Description: "The Monday of the week, as YYYY-MM-DD; this week's without it"}},
	}, s.weeklyReport)
}

// invalid is an error for arguments of prompts, completions and resources, which have
// no results with isError (JSON-RPC -32602).
func invalid(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
}

// promptArguments cleans the arguments and refuses what is too long or unknown.
func promptArguments(req *mcp.GetPromptRequest, known ...string) (map[string]string, error) {
	out := map[string]string{}
	for key, value := range req.Params.Arguments {
		found := false
		for _, k := range known {
			found = found || k == key
		}
		if !found {
			return nil, refuse("The prompt %s has no argument %q; it has %s.", req.Params.Name, clean(key, 40), strings.Join(known, ", "))
		}
		if len([]rune(value)) > maxPromptArgument {
			return nil, refuse("The argument %s is too long: at most %d characters are read.", key, maxPromptArgument)
		}
		if value = clean(value, maxPromptArgument); value != "" {
			out[key] = value
		}
	}
	return out, nil
}

func planVacation(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args, err := promptArguments(req, "destination", "duration", "budget", "interests")
	if err != nil {
		return nil, invalid(err)
	}
	destination := args["destination"]
	if destination == "" {
		return nil, invalid(refuse("The prompt plan-vacation needs the argument destination, a city."))
	}
	var b strings.Builder
	if chinese(destination) {
		fmt.Fprintf(&b, "请为我规划一次去%s的旅行。", destination)
		writeIf(&b, "时间：%s。", args["duration"])
		writeIf(&b, "预算：%s。", args["budget"])
		writeIf(&b, "兴趣：%s。", args["interests"])
		b.WriteString("请先查看天气（weather_current），再查航班（search_flights），列出每天的安排；预订（book_trip）前请先问我。")
	} else {
		fmt.Fprintf(&b, "Please plan a vacation in %s for me.", destination)
		writeIf(&b, " Duration: %s.", args["duration"])
		writeIf(&b, " Budget: %s.", args["budget"])
		writeIf(&b, " Interests: %s.", args["interests"])
		b.WriteString(" Look at the weather first (weather_current), then for flights (search_flights), and list what to do each day. Ask me before you book anything (book_trip).")
	}
	return &mcp.GetPromptResult{
		Description: "Plan a vacation in " + destination,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: b.String()}}},
	}, nil
}

func writeIf(b *strings.Builder, format, text string) {
	if text != "" {
		fmt.Fprintf(b, format, text)
	}
}

func (s *server) weeklyReport(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args, err := promptArguments(req, "date")
	if err != nil {
		return nil, invalid(err)
	}
	d := s.now()
	if text := args["date"]; text != "" {
		if d, err = day("date", text); err != nil {
			return nil, invalid(err)
		}
	}
	first := monday(d).Format(time.DateOnly)
	text := fmt.Sprintf("Get the weekly report of %s (get_weekly_report), sum it up in three sentences, and say for each risk what to do about it.", first)
	return &mcp.GetPromptResult{
		Description: "Weekly report of " + first,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}
