package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// report answers from the results of the last calls, and from nothing else.
func report(messages []message, lang speech) reply {
	start := len(messages)
	for start > 0 && messages[start-1].Role == "tool" {
		start--
	}
	names := map[string]string{}
	if start > 0 {
		for _, c := range messages[start-1].ToolCalls {
			names[c.ID] = baseName(c.Function.Name)
		}
	}
	var parts []string
	for _, m := range messages[start:] {
		name := names[m.ToolCallID]
		if name == "" {
			name = "?"
		}
		parts = append(parts, one(name, strings.TrimSpace(string(m.Content)), lang))
	}
	return say("%s", strings.Join(parts, "\n\n"))
}

var (
	notRun  = regexp.MustCompile(`(?i)^\W*(not executed|denied|declined|rejected|the person (did not allow|denied|declined)|the user (denied|declined|rejected)|withdrawn|expired)`)
	unknown = regexp.MustCompile(`(?i)no answer came|timed? ?out|not known|may or may not`)
	failed  = regexp.MustCompile(`(?i)^\W*(the tool reported an error|the server answered with an error|error|failed|failure)`)
)

// one words one result.
func one(name, text string, lang speech) string {
	value, found := jsonIn(text)
	switch {
	case notRun.MatchString(text):
		return fmt.Sprintf(lang.pick("The call of %s was not executed, so I have no result. What I was told: %s", "对 %s 的调用没有执行，所以没有结果。收到的说明：%s"), name, short(text))
	case failed.MatchString(text):
		return fmt.Sprintf(lang.pick("The call of %s failed. What I was told: %s", "对 %s 的调用失败了。收到的说明：%s"), name, short(text))
	case !found && unknown.MatchString(text):
		return fmt.Sprintf(lang.pick("I do not know what came of the call of %s. What I was told: %s", "无法确定对 %s 的调用结果如何。收到的说明：%s"), name, short(text))
	case text == "" || text == "(no output)":
		return fmt.Sprintf(lang.pick("%s answered without any output.", "%s 没有返回任何内容。"), name)
	case !found:
		return fmt.Sprintf(lang.pick("%s answered: %s", "%s 返回：%s"), name, short(text))
	}
	if words := sentences[name]; words != nil {
		if s := words(value, lang); s != "" {
			return s
		}
	}
	return fmt.Sprintf(lang.pick("%s answered:\n%s", "%s 返回：\n%s"), name, list(value))
}

func short(s string) string {
	if r := []rune(s); len(r) > 1500 {
		return string(r[:1500]) + "…"
	}
	return s
}

// object is a JSON object with its numbers as written.
type object map[string]any

// jsonIn finds the first JSON object in a text.
func jsonIn(text string) (object, bool) {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text[i:]))
		d.UseNumber()
		var o object
		if d.Decode(&o) == nil {
			return o, true
		}
	}
	return nil, false
}

// text is a value in words, "" if there is none.
func (o object) text(names ...string) string {
	for _, n := range names {
		if v, ok := o[n]; ok && v != nil {
			return words(v)
		}
	}
	return ""
}

func (o object) object(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

func (o object) list(name string) []any {
	l, _ := o[name].([]any)
	return l
}

func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, words(e))
		}
		return strings.Join(all, "; ")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "" // cannot happen: it came out of JSON
	}
	return strings.TrimSpace(b.String())
}

// list writes the members of an object, one a line.
func list(o object) string {
	names := make([]string, 0, len(o))
	for n := range o {
		names = append(names, n)
	}
	slices.Sort(names)
	var lines []string
	for _, n := range names {
		lines = append(lines, "- "+n+": "+short(words(o[n])))
	}
	return strings.Join(lines, "\n")
}

// sentences word the results of the tools the demo model knows; "" means that
// the result has another form.
var sentences = map[string]func(object, speech) string{
	"get_weekly_report":     weekWords,
	"weather_current":       weatherWords,
	"calculator_arithmetic": sumWords,
	"search_flights":        flightsWords,
	"find_best_flight":      bestWords,
	"book_trip":             tripWords,
}

func weekWords(o object, lang speech) string {
	week, done, risks := o.text("week"), o.text("completed"), o.text("risk_count")
	if week == "" || done == "" {
		return ""
	}
	s := fmt.Sprintf(lang.pick("Weekly report %s: tasks completed: %s, risks: %s.", "%s 周报：完成 %s 项任务，%s 个风险。"), week, done, risks)
	if risks == "" {
		s = fmt.Sprintf(lang.pick("Weekly report %s: tasks completed: %s.", "%s 周报：完成 %s 项任务。"), week, done)
	}
	for _, r := range o.list("risks") {
		s += "\n- " + words(r)
	}
	return s
}

func weatherWords(o object, lang speech) string {
	city, condition, degrees := o.text("city"), o.text("condition"), o.text("temperature_c", "temperature")
	if city == "" || degrees == "" {
		return ""
	}
	s := fmt.Sprintf(lang.pick("%s: %s, %s °C", "%s：%s，%s °C"), city, condition, degrees)
	if h := o.text("humidity_percent"); h != "" {
		s += fmt.Sprintf(lang.pick(", humidity %s %%", "，湿度 %s%%"), h)
	}
	if w := o.text("wind_kmh"); w != "" {
		s += fmt.Sprintf(lang.pick(", wind %s km/h", "，风速 %s 公里/小时"), w)
	}
	s += lang.pick(".", "。")
	if n := o.text("note"); n != "" {
		s += " (" + n + ")"
	}
	return s
}

func sumWords(o object, lang speech) string {
	r := o.text("result")
	if r == "" {
		return ""
	}
	if op := symbols[o.text("operation")]; op != "" && o.text("a") != "" {
		return fmt.Sprintf("%s %s %s = %s", o.text("a"), op, o.text("b"), r)
	}
	return fmt.Sprintf(lang.pick("The result is %s.", "结果是 %s。"), r)
}

func flightLine(f object, lang speech) string {
	return fmt.Sprintf(lang.pick("%s: %s to %s, %s min, stops: %s, %s %s", "%s：%s 至 %s，%s 分钟，中转 %s 次，%s %s"),
		f.text("flight"), f.text("departure"), f.text("arrival"), f.text("duration_minutes"), f.text("stops"), f.text("price"), f.text("currency"))
}

func flightsWords(o object, lang speech) string {
	all := o.list("flights")
	if o.text("from") == "" || o["flights"] == nil {
		return ""
	}
	s := fmt.Sprintf(lang.pick("Flights from %[2]s to %[3]s on %[4]s: %[1]d", "共 %d 个航班，%s 到 %s，%s："), len(all), o.text("from"), o.text("to"), o.text("date"))
	for _, f := range all {
		m, ok := f.(map[string]any)
		if !ok {
			return ""
		}
		s += "\n- " + flightLine(m, lang)
	}
	return s
}

func bestWords(o object, lang speech) string {
	f := o.object("flight")
	if f.text("flight") == "" {
		return ""
	}
	s := lang.pick("The best flight is ", "最合适的航班是 ") + flightLine(f, lang) + lang.pick(".", "。")
	if r := o.text("reason"); r != "" {
		s += "\n" + lang.pick("Reason: ", "理由：") + r
	}
	return s
}

func tripWords(o object, lang speech) string {
	switch status := o.text("status"); status {
	case "booked":
		t := o.object("trip")
		return fmt.Sprintf(lang.pick("Booked: %s, %s to %s, %s %s in all, booking number %s.", "已预订：%s，%s 至 %s，共 %s %s，预订号 %s。"),
			t.text("destination"), t.text("start_date"), t.text("end_date"), t.text("total"), t.text("currency"), t.text("booking"))
	case "not_confirmed", "declined", "cancelled":
		return lang.pick("Nothing was booked. ", "没有预订。") + o.text("message")
	}
	return ""
}
