package servers

import (
	"testing"
)

const weekly = `{"tools":[{"name":"get_weekly_report","title":"Weekly report","description":"获取指定周的团队周报摘要。 Gives the team's report of a week: what was completed, what is at risk.","inputSchema":{"type":"object","properties":{"date":{"type":"string","format":"date","description":"A day of the week"},"detail":{"type":"string","enum":["short","full"]},"limit":{"type":"integer","minimum":1,"maximum":50},"options":{"type":"object","properties":{"raw":{"type":"boolean"}}}},"required":["date"]}},{"name":"delete_report","description":"Deletes a report for good.","inputSchema":{"type":"object","properties":{}},"annotations":{"destructiveHint":true}}]}`

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			name := variant + "-" + tongue
			d := newDesk(t, variant, tongue, map[string]any{
				"weekly-report": entry(t, "--name", "weekly", "--step", `tools/list={"jsonrpc":"2.0","id":${id},"result":`+weekly+`}`,
					"--step", `tool:get_weekly_report=@result {"content":[{"type":"text","text":"{\"week\":\"2025-03-17\",\"completed\":[\"订单模块联调完成\",\"性能测试第一轮完成\"],\"risk_count\":2}"}]}`,
					"--step", `tool:delete_report=@text gone`),
				"filesystem": entry(t, "--tools", "12"),
				"notes":      map[string]any{"command": "npx-not-there", "args": []string{"-y", "notes"}},
			}, true)
			d.started("filesystem")
			d.place.Goto("notes")
			d.place.detail.restart()
			d.until("notes failed", func() bool { return d.place.p.detail.State == "failed" && d.place.p.doing["notes"] == "" })
			d.picture(name + "-failed")
			d.place.detail.choose(tabDoctor)
			d.picture(name + "-doctor")
			d.place.detail.choose(tabTools)
			d.started("weekly-report")
			d.until("there is a bench", func() bool { return d.place.detail.tools.chosen == "get_weekly_report" })
			d.picture(name + "-tools")
			for _, b := range d.place.detail.tools.benches {
				if b.tool == "get_weekly_report" {
					b.mode.choose(1)
					b.raw.SetText(`{"date":"2025-03-17"}`)
					b.start()
					d.until("the call ended", func() bool { return b.stop == nil })
				}
			}
			d.picture(name + "-ran")
			d.place.detail.choose(tabWire)
			d.place.detail.wire.open(1)
			d.picture(name + "-wire")
			d.place.detail.choose(tabLog)
			d.picture(name + "-log")
			d.place.showAdd()
			d.picture(name + "-add")
			m := d.place.newImporter()
			m.text.SetText(`{"mcpServers":{"files":{"command":"npx","args":["-y","@scope/server files","/home/me"],"env":{"API_KEY":"x","LD_PRELOAD":"/tmp/a.so"}}}}`)
			m.parse()
			d.until("it is read", func() bool { return m.read })
			d.picture(name + "-import")
		}
	}
}
