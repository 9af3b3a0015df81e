package demo

import (
	"context"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is how many values a completion may have (MCP server/utilities/completion).
const maxCompletions = 100

// complete answers completion/complete for the arguments of prompts and templates.
func (s *server) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	p := req.Params
	if len([]rune(p.Argument.Value)) > maxPromptArgument {
		return nil, invalid(refuse("The text to complete is too long: at most %d characters are read.", maxPromptArgument))
	}
	target := p.Ref.Name
	if p.Ref.Type == "ref/resource" {
		target = p.Ref.URI
	}
	var values []string
	switch target + " " + p.Argument.Name {
	case "plan-vacation destination", forecastTemplate + " city", activitiesTemplate + " city":
		values = startingWith(p.Argument.Value)
	case activitiesTemplate + " category":
		values = categoriesFor(p)
	case "plan-vacation duration":
		values = beginning(p.Argument.Value, "2 days", "3 days", "5 days", "7 days", "10 days", "14 days")
	case "plan-vacation budget":
		values = beginning(p.Argument.Value, "500 USD", "1000 USD", "2000 USD", "5000 USD")
	case "plan-vacation interests":
		for _, k := range categories {
			values = append(values, beginning(p.Argument.Value, k.name)...)
		}
	case "weekly-report date", forecastTemplate + " date":
		values = s.dates(target == forecastTemplate, p.Argument.Value)
	default:
		if !known(p.Ref) {
			return nil, invalid(refuse("The demo has no prompt or resource template %q.", clean(target, 100)))
		}
		return nil, invalid(refuse("%s has no argument %q.", target, clean(p.Argument.Name, 40)))
	}
	total := len(values)
	if total > maxCompletions {
		values = values[:maxCompletions]
	}
	if values == nil {
		values = []string{}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: total, HasMore: total > len(values)}}, nil
}

func known(ref *mcp.CompleteReference) bool {
	if ref.Type == "ref/resource" {
		return ref.URI == forecastTemplate || ref.URI == activitiesTemplate
	}
	return ref.Name == "plan-vacation" || ref.Name == "weekly-report"
}

// categoriesFor gives the categories of the city chosen before, or all.
func categoriesFor(p *mcp.CompleteParams) []string {
	var offered []string
	for _, k := range categories {
		offered = append(offered, k.name)
	}
	if p.Context != nil {
		if c, err := findCity("city", p.Context.Arguments["city"]); err == nil {
			offered = c.offered()
		}
	}
	return beginning(p.Argument.Value, offered...)
}

// beginning gives those values that begin with prefix, whatever the letter case.
func beginning(prefix string, values ...string) []string {
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, key(prefix)) || strings.HasPrefix(strings.ToLower(v), key(prefix)) {
			out = append(out, v)
		}
	}
	return out
}

// dates suggests the next seven days, or the last four Mondays.
func (s *server) dates(days bool, prefix string) []string {
	var values []string
	today := s.now()
	if days {
		for i := range 7 {
			values = append(values, today.AddDate(0, 0, i).Format(time.DateOnly))
		}
	} else {
		for i := range 4 {
			values = append(values, monday(today).AddDate(0, 0, -7*i).Format(time.DateOnly))
		}
	}
	return beginning(prefix, values...)
}
