// Command minimalserver is the smallest MCP server found in the wild: it speaks
// 2024-11-05 alone, greets on standard output, and answers every method it does not
// know, and every notification, with an error whose id is null.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

const tools = `{"tools":[{"name":"get_weekly_report","description":"获取指定日期所在周的周报","inputSchema":{"type":"object","properties":{"date":{"type":"string","description":"日期,格式 YYYY-MM-DD"}},"required":["date"]}}]}`

func main() {
	fmt.Println("周报服务已启动 weekly-report server running on stdio")
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			handle(line)
		}
		if err != nil {
			return
		}
	}
}

func handle(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string                `json:"name"`
			Arguments struct{ Date string } `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		refuse(-32700, "Parse error")
		return
	}
	switch {
	case m.Method == "initialize":
		answer(m.ID, `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"weekly-report","version":"0.1.0"}}`)
	case m.Method == "tools/list":
		answer(m.ID, tools)
	case m.Method == "tools/call" && m.Params.Name == "get_weekly_report":
		answer(m.ID, report(m.Params.Arguments.Date))
	default:
		refuse(-32601, "Method not found: "+m.Method)
	}
}

// report returns the result for a day: a text that is itself JSON, in Chinese.
func report(date string) string {
	text, err := json.Marshal(map[string]any{
		"日期": date, "团队": "平台组", "摘要": "本周完成登录改造,修复 3 个线上问题。",
		"条目": []map[string]any{{"标题": "登录改造", "负责人": "李雷", "进度": 100}, {"标题": "日志检索", "负责人": "韩梅梅", "进度": 60}},
	})
	if err != nil {
		panic(err) // a map of strings and numbers can always be marshalled
	}
	result, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": string(text)}}})
	if err != nil {
		panic(err)
	}
	return string(result)
}

func answer(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func refuse(code int, text string) {
	message, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	fmt.Printf(`{"jsonrpc":"2.0","error":{"code":%d,"message":%s},"id":null}`+"\n", code, message)
}
