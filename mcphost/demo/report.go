package demo

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// report is the result of get_weekly_report.
type report struct {
	Week      string   `json:"week"`
	Completed int      `json:"completed"`
	RiskCount int      `json:"risk_count"`
	Risks     []string `json:"risks"`
}

var reportRisks = []string{
	"A supplier is late with parts / 供应商交货延迟",
	"Two people are on leave next week / 下周两人休假",
	"The test environment fails now and then / 测试环境不稳定",
	"The budget for licences is nearly used up / 许可证预算将用尽",
	"A requirement is still open / 有一项需求尚未确定",
	"A security update waits for a restart / 安全更新等待重启",
}

func addReport(s *server) error {
	return addTool(s, &mcp.Tool{
		Name:        "get_weekly_report",
		Title:       "Weekly report",
		Description: "Gives the (invented) report of one week: how many tasks were completed, and the open risks. The week is named by its Monday.",
		Annotations: hints("Weekly report", true, true, false),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"date":{"type":"string","description":"The Monday of the week, as YYYY-MM-DD, for example 2025-03-17","minLength":1,"maxLength":40}},"required":["date"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"week":{"type":"string","description":"First and last day of the week"},"completed":{"type":"integer","description":"Number of completed tasks"},` +
			`"risk_count":{"type":"integer"},"risks":{"type":"array","items":{"type":"string"}}},"required":["week","completed","risk_count","risks"]}`),
	}, func(_ context.Context, _ *call, in struct {
		Date string `json:"date"`
	}) (*mcp.CallToolResult, error) {
		d, err := day("date", in.Date)
		if err != nil {
			return nil, err
		}
		if m := monday(d); !m.Equal(d) {
			return nil, refuse("date must be a Monday: %s is a %s; the Monday of that week is %s", in.Date, d.Weekday(), m.Format(time.DateOnly))
		}
		return structured(weekly(d))
	})
}

// weekly makes up the report of the week that begins with d.
func weekly(d time.Time) report {
	dice := roll("report", d.Format(time.DateOnly))
	r := report{Week: d.Format(time.DateOnly) + " to " + d.AddDate(0, 0, 6).Format(time.DateOnly), Completed: dice.next(8, 31), Risks: []string{}}
	first := dice.next(0, len(reportRisks)-1)
	for i := range dice.next(0, 3) {
		r.Risks = append(r.Risks, reportRisks[(first+i)%len(reportRisks)])
	}
	r.RiskCount = len(r.Risks)
	return r
}
