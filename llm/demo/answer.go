package demo

import (
	"regexp"
	"strings"
	"time"
	"unicode"
)

// speech picks the language of an answer.
type speech bool // true: Chinese

func (s speech) pick(english, chinese string) string {
	if s {
		return chinese
	}
	return english
}

func languageOf(text string) speech {
	return speech(strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }))
}

// answer decides what to say to a request.
func answer(req *request, now time.Time) reply {
	last := len(req.Messages) - 1
	asked := ""
	for i := last; i >= 0 && asked == ""; i-- {
		if req.Messages[i].Role == "user" {
			asked = strings.TrimSpace(string(req.Messages[i].Content))
		}
	}
	lang := languageOf(asked)
	if req.Messages[last].Role == "tool" {
		return report(req.Messages, lang)
	}
	q := question{text: asked, lower: strings.ToLower(asked), lang: lang, now: now}
	if len(req.Tools) == 0 || req.ToolChoice == "none" {
		if r, ok := chooseFlight(q); ok {
			return r
		}
	}
	for _, in := range intents() {
		if !in.wants(q) {
			continue
		}
		return call(req, q, in)
	}
	return talk(q)
}

// question is what the person asked.
type question struct {
	text, lower string
	lang        speech
	now         time.Time
}

func (q question) has(words ...string) bool {
	for _, w := range words {
		if strings.Contains(q.lower, w) {
			return true
		}
	}
	return false
}

// intent is one thing the demo model can do with a tool.
type intent struct {
	tool  string // last part of the tool's name
	wants func(question) bool
	facts func(question) facts
}

var flightWords = []string{"flight", "fly ", "航班", "机票", "飞"}

func intents() []intent {
	return []intent{
		// Planning begins with the weather, whatever else the plan speaks of.
		{tool: "weather_current", wants: func(q question) bool {
			return q.has("plan a vacation", "plan a trip", "plan my", "vacation plan", "规划一次", "旅行计划", "度假计划") && len(cityFacts(q)) > 0
		}, facts: cityFacts},
		{tool: "get_weekly_report", wants: func(q question) bool {
			return q.has("weekly report", "week report", "report for the week", "report for this week", "report of the week", "周报", "每周报告")
		}, facts: weekFacts},
		{tool: "calculator_arithmetic", wants: func(q question) bool { _, ok := arithmetic(q.lower); return ok }, facts: sumFacts},
		{tool: "find_best_flight", wants: func(q question) bool {
			return q.has(flightWords...) && q.has("best", "cheapest", "fastest", "recommend", "最好", "最佳", "最合适", "最便宜", "最快", "推荐")
		}, facts: tripFacts},
		{tool: "book_trip", wants: func(q question) bool {
			return q.has("book", "预订", "预定", "订一", "帮我订") && (q.has("trip", "travel", "vacation", "holiday", "journey", "行程", "旅行", "旅游", "假期", "旅程", "之旅") || !q.has(flightWords...))
		}, facts: tripFacts},
		{tool: "search_flights", wants: func(q question) bool { return q.has(flightWords...) }, facts: tripFacts},
		{tool: "weather_current", wants: func(q question) bool { return q.has("weather", "temperature", "天气", "气温", "温度") }, facts: cityFacts},
	}
}

var hashed = regexp.MustCompile(`__h[0-9a-f]{6,}$`)

// baseName is the tool's own name in the name it is offered under: what stands
// behind the last "__", without a hash.
func baseName(offered string) string {
	name := hashed.ReplaceAllString(offered, "")
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return name[i+2:]
	}
	return name
}

func findTool(tools []tool, name string) *tool {
	for i := range tools {
		if n := tools[i].Function.Name; n == name || baseName(n) == name {
			return &tools[i]
		}
	}
	return nil
}

// call makes the tool call an intent wants, or says why it cannot.
func call(req *request, q question, in intent) reply {
	t := findTool(req.Tools, in.tool)
	if t == nil || req.ToolChoice == "none" {
		return say(q.lang.pick(
			"I am Steward's demo model. For this I would use the tool %s, but it is not offered to me. Is the demo server connected, and its tool allowed?",
			"我是管家的演示模型。回答这个问题需要工具 %s，但目前没有提供给我。请检查演示服务器是否已连接、该工具是否已启用。"), in.tool)
	}
	args, missing := fill(t, in.facts(q))
	if len(missing) > 0 {
		return say(q.lang.pick(
			"I can use the tool %s for this, but I still need: %s. Please say it in one sentence, for example “%s”.",
			"我可以用工具 %s 来完成，但还缺少：%s。请用一句话告诉我，例如“%s”。"),
			in.tool, strings.Join(missing, ", "), example(in.tool, q.lang))
	}
	return reply{tool: t.Function.Name, args: args, finish: "tool_calls"}
}

func example(tool string, lang speech) string {
	switch tool {
	case "weather_current":
		return lang.pick("What is the weather in Paris?", "北京天气怎么样？")
	case "find_best_flight":
		return lang.pick("Find the best flight from London to Paris on 2026-05-04", "找一个 2026-05-04 从上海到东京最合适的航班")
	case "book_trip":
		return lang.pick("Book a trip from London to Paris from 2026-05-04 to 2026-05-08", "预订 2026-05-04 到 2026-05-08 从上海到东京的行程")
	}
	return lang.pick("Search flights from London to Paris on 2026-05-04", "查一下 2026-05-04 从上海到东京的航班")
}

// talk answers what needs no tool.
func talk(q question) reply {
	help := q.lang.pick(
		"I am Steward's demo model: a few fixed rules, no intelligence, nothing leaves this computer. With the demo server I can:\n"+
			"- read a weekly report: “Check the weekly report for 2025-03-17”\n"+
			"- tell the weather: “What is the weather in Paris?”\n"+
			"- calculate: “What is 12.5 * 8?”\n"+
			"- search flights: “Search flights from London to Paris on 2026-05-04”\n"+
			"- find the best one: “Find the best flight from London to Paris on 2026-05-04”\n"+
			"- book a trip: “Book a trip from London to Paris from 2026-05-04 to 2026-05-08”\n\n"+
			"For everything else, connect a real model: in the window with Connect a model, in the terminal with --base-url and --model.",
		"我是管家的演示模型：只有几条固定规则，没有智能，数据不会离开这台电脑。配合演示服务器，我可以：\n"+
			"- 查周报：“查一下本周周报”\n"+
			"- 查天气：“北京天气怎么样？”\n"+
			"- 计算：“12.5 乘以 8 等于多少？”\n"+
			"- 查航班：“查一下 2026-05-04 从上海到东京的航班”\n"+
			"- 找最合适的航班：“找一个 2026-05-04 从上海到东京最合适的航班”\n"+
			"- 预订行程：“预订 2026-05-04 到 2026-05-08 从上海到东京的行程”\n\n"+
			"其他问题请连接真正的模型：在窗口中点“连接模型”，在终端中用 --base-url 和 --model。")
	switch {
	case greeting.MatchString(q.lower):
		return say("%s", q.lang.pick("Hello! ", "你好！")+help)
	case q.text == "" || q.has("help", "what can you do", "帮助", "你能做什么", "你会什么", "你是谁", "who are you"):
		return say("%s", help)
	}
	return say("%s", q.lang.pick("I do not understand this. ", "我不明白这个问题。")+help)
}

var greeting = regexp.MustCompile(`^(hi|hello|hey|good (morning|afternoon|evening)|你好|您好|嗨|早上好|下午好|晚上好)([\s!,.。！，]|$)`)
