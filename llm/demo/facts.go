package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// facts are the values found in a question, by what they mean.
type facts map[string]string

// meanings are the names under which tools ask for a value, best first.
var meanings = map[string][]string{
	"date":        {"date", "departureDate", "departure_date", "departDate", "depart_date", "startDate", "start_date", "outboundDate", "outbound_date", "week", "day", "checkIn", "check_in"},
	"return":      {"returnDate", "return_date", "endDate", "end_date", "inboundDate", "checkOut", "check_out"},
	"city":        {"city", "location", "place"},
	"origin":      {"origin", "from", "departure", "departureCity", "departure_city", "originCity", "fromCity", "from_city", "source"},
	"destination": {"destination", "to", "arrival", "arrivalCity", "arrival_city", "destinationCity", "toCity", "to_city", "city"},
	"passengers":  {"passengers", "travelers", "travellers", "people", "adults", "guests", "traveller", "traveler", "numberOfTravelers"},
	"days":        {"days", "duration", "nights", "durationDays", "duration_days"},
	"budget":      {"budget", "maxPrice", "max_price", "price"},
	"preference":  {"preference", "preferences", "priority", "criteria", "preferred", "sort", "sortBy", "sort_by"},
	"operation":   {"operation", "op", "operator"},
	"a":           {"a", "x", "left", "first", "num1", "number1"},
	"b":           {"b", "y", "right", "second", "num2", "number2"},
	"expression":  {"expression"},
}

// fill writes the arguments for a tool: for each property of its schema the
// fact it means, in the schema's required order first. missing names required
// properties no fact was found for.
func fill(t *tool, f facts) (args string, missing []string) {
	p := t.Function.Parameters
	names := slices.Clone(p.Required)
	var rest []string
	for name := range p.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	var parts []string
	used := map[string]bool{}
	for i, name := range append(names, rest...) {
		meaning := meaningOf(name, f, used)
		value, ok := value(f[meaning], p.Properties[name])
		if meaning == "" || !ok {
			if i < len(p.Required) {
				missing = append(missing, name)
			}
			continue
		}
		used[meaning] = true
		key, err := json.Marshal(name)
		if err != nil {
			continue // a name that is a Go string always has a JSON form
		}
		parts = append(parts, string(key)+":"+value)
	}
	return "{" + strings.Join(parts, ",") + "}", missing
}

// meaningOf finds what a property means: the best fitting name of a fact that
// was found and is not used yet.
func meaningOf(name string, f facts, used map[string]bool) string {
	best, rank := "", len(name)+1000
	for meaning := range f {
		at := slices.IndexFunc(meanings[meaning], func(n string) bool { return strings.EqualFold(n, name) })
		if at < 0 || used[meaning] {
			continue
		}
		if at < rank || at == rank && meaning < best {
			best, rank = meaning, at
		}
	}
	return best
}

// value writes a fact in the type the property wants.
func value(fact string, p property) (string, bool) {
	if fact == "" {
		return "", false
	}
	if len(p.Enum) > 0 {
		for _, e := range p.Enum {
			if s, ok := e.(string); ok && (strings.EqualFold(s, fact) || s == symbols[fact]) {
				fact = s
				return quote(fact), true
			}
		}
		return "", false
	}
	switch p.Type {
	case "number", "integer":
		if _, err := strconv.ParseFloat(fact, 64); err != nil || p.Type == "integer" && strings.Contains(fact, ".") {
			return "", false
		}
		return fact, true
	case "boolean", "object", "array":
		return "", false
	}
	return quote(fact), true
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // cannot happen: a string always has a JSON form
	}
	return strings.TrimSpace(b.String())
}

var isoDate = regexp.MustCompile(`(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})`)

// dates are the days named in a text, in order.
func dates(text string) []time.Time {
	var out []time.Time
	for _, m := range isoDate.FindAllStringSubmatch(text, -1) {
		d, err := time.Parse("2006-1-2", m[1]+"-"+strings.TrimSpace(m[2])+"-"+strings.TrimSpace(m[3]))
		if err == nil {
			out = append(out, d)
		}
	}
	return out
}

// weekFacts finds the week of a report; it is named by its Monday.
func weekFacts(q question) facts {
	d := q.now
	if named := dates(q.text); len(named) > 0 {
		d = named[0]
	} else if q.has("last week", "previous week", "上周", "上个星期", "上星期") {
		d = d.AddDate(0, 0, -7)
	} else if q.has("next week", "下周", "下个星期", "下星期") {
		d = d.AddDate(0, 0, 7)
	}
	monday := d.AddDate(0, 0, -(int(d.Weekday())+6)%7)
	return facts{"date": monday.Format(time.DateOnly)}
}

var (
	sum = regexp.MustCompile(`(-?\d+(?:\.\d+)?)\s*(\+|-|−|\*|×|/|÷|x|plus|minus|times|multiplied by|divided by|over|加上|加|减去|减|乘以|乘|除以|除)\s*(-?\d+(?:\.\d+)?)`)
	// operations are the words of sum.
	operations = map[string]string{
		"+": "add", "plus": "add", "加": "add", "加上": "add",
		"-": "subtract", "−": "subtract", "minus": "subtract", "减": "subtract", "减去": "subtract",
		"*": "multiply", "×": "multiply", "x": "multiply", "times": "multiply", "multiplied by": "multiply", "乘": "multiply", "乘以": "multiply",
		"/": "divide", "÷": "divide", "divided by": "divide", "over": "divide", "除以": "divide", "除": "divide",
	}
	symbols = map[string]string{"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
)

// arithmetic finds a sum of two numbers. A date is none.
func arithmetic(text string) ([]string, bool) {
	m := sum.FindStringSubmatch(isoDate.ReplaceAllString(text, " "))
	return m, m != nil
}

func sumFacts(q question) facts {
	m, ok := arithmetic(q.lower)
	if !ok {
		return facts{}
	}
	op := operations[m[2]]
	return facts{"operation": op, "a": m[1], "b": m[3], "expression": m[1] + " " + symbols[op] + " " + m[3]}
}

// places are cities a person is likely to name, in both languages. Others are
// found by the words around them.
var places = strings.Fields(`Amsterdam Athens Auckland Bangkok Barcelona Beijing Berlin Boston Cairo Chengdu Chicago Chongqing Copenhagen Dubai Dublin
Guangzhou Hangzhou Helsinki Istanbul Jakarta Kyoto Lisbon London Madrid Melbourne Milan Montreal Mumbai Munich Nanjing Osaka Oslo Paris Prague
Qingdao Rome Seattle Seoul Shanghai Shenzhen Singapore Stockholm Sydney Taipei Tokyo Toronto Vancouver Vienna Wuhan Xi'an Zurich
New_York Los_Angeles San_Francisco Hong_Kong Mexico_City Cape_Town Buenos_Aires Rio_de_Janeiro Park_City
阿姆斯特丹 雅典 奥克兰 曼谷 巴塞罗那 北京 柏林 波士顿 开罗 成都 芝加哥 重庆 哥本哈根 迪拜 都柏林 广州 杭州 赫尔辛基 香港 伊斯坦布尔 雅加达 京都 里斯本 伦敦
洛杉矶 马德里 墨尔本 米兰 孟买 慕尼黑 南京 纽约 大阪 奥斯陆 巴黎 布拉格 青岛 罗马 旧金山 三亚 西雅图 首尔 上海 深圳 新加坡 斯德哥尔摩 悉尼 台北 东京
多伦多 温哥华 维也纳 武汉 西安 苏黎世`)

type place struct {
	name string
	at   int
}

// citiesIn finds the known cities in a text, in the order they stand there.
func citiesIn(text string) []place {
	lower := strings.ToLower(text)
	var out []place
	for _, p := range places {
		name := strings.ReplaceAll(p, "_", " ")
		at := strings.Index(lower, strings.ToLower(name))
		if at < 0 || name[0] < 0x80 && !wordAt(lower, at, len(name)) {
			continue
		}
		out = append(out, place{name, at})
	}
	slices.SortFunc(out, func(a, b place) int { return a.at - b.at })
	return out
}

// wordAt tells whether text[at:at+n] is not part of a longer Latin word.
func wordAt(text string, at, n int) bool {
	letter := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= 'a' && text[i] <= 'z' }
	return !letter(at-1) && !letter(at+n)
}

var (
	cityEnglish = regexp.MustCompile(`\b(?:in|for|of|at)\s+((?:[A-Z][\p{L}'’-]*)(?:\s+[A-Z][\p{L}'’-]*)*)`)
	cityChinese = regexp.MustCompile(`([\p{Han}]{2,6}?)(?:市)?(?:的|今天|现在|当前|目前|今日)*(?:天气|气温|温度)`)
	fillers     = regexp.MustCompile(`^(请|帮我|查一下|查查|查询|查|看一下|看看|告诉我|一下|我想知道|想知道)+`)
	fromCity    = regexp.MustCompile(`\bfrom\s+((?:[A-Z][\p{L}'’-]*)(?:\s+[A-Z][\p{L}'’-]*)*)`)
	toCity      = regexp.MustCompile(`\bto\s+((?:[A-Z][\p{L}'’-]*)(?:\s+[A-Z][\p{L}'’-]*)*)`)
)

func cityFacts(q question) facts {
	f := facts{}
	if known := citiesIn(q.text); len(known) > 0 {
		f["city"] = known[0].name
	} else if m := cityEnglish.FindStringSubmatch(q.text); m != nil {
		f["city"] = m[1]
	} else if m := cityChinese.FindStringSubmatch(fillers.ReplaceAllString(q.text, "")); m != nil {
		f["city"] = m[1]
	}
	return f
}

var (
	people = regexp.MustCompile(`(\d+)\s*(?:people|persons?|passengers?|travell?ers?|adults?|guests?|人|位|名)`)
	length = regexp.MustCompile(`(\d+)[\s-]*(?:days?|nights?|天|晚|日游)`)
	budget = regexp.MustCompile(`(?:budget(?: of)?|under|below|at most|预算|不超过)\s*[$€£¥]?\s*(\d+)`)
)

// tripFacts finds the places, days and numbers of a journey.
func tripFacts(q question) facts {
	f := facts{}
	known := citiesIn(q.text)
	if len(known) > 1 {
		first, second := known[0], known[1]
		before := func(p place) string { return strings.TrimRight(strings.ToLower(q.text[:p.at]), " ") }
		if strings.HasSuffix(before(second), "from") || strings.HasSuffix(before(first), " to") && !strings.HasSuffix(before(second), " to") {
			first, second = second, first
		}
		f["origin"], f["destination"] = first.name, second.name
	} else {
		if m := fromCity.FindStringSubmatch(q.text); m != nil {
			f["origin"] = m[1]
		}
		if m := toCity.FindStringSubmatch(q.text); m != nil {
			f["destination"] = m[1]
		}
		if len(known) == 1 && f["origin"] != known[0].name {
			f["destination"] = known[0].name
		}
	}
	days := dates(q.text)
	start := q.now.AddDate(0, 0, 7) // a journey needs a day; a week ahead where none is named
	if len(days) > 0 {
		start = days[0]
	}
	f["date"] = start.Format(time.DateOnly)
	stay := 3
	if m := length.FindStringSubmatch(q.lower); m != nil {
		f["days"] = m[1]
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && n < 366 {
			stay = n
		}
	}
	f["return"] = start.AddDate(0, 0, stay).Format(time.DateOnly)
	if len(days) > 1 {
		f["return"] = days[1].Format(time.DateOnly)
		if n := int(days[1].Sub(days[0]).Hours() / 24); n > 0 && f["days"] == "" {
			f["days"] = strconv.Itoa(n)
		}
	}
	if f["days"] == "" {
		f["days"] = fmt.Sprint(stay)
	}
	f["passengers"] = "1"
	if m := people.FindStringSubmatch(q.lower); m != nil {
		f["passengers"] = m[1]
	}
	if m := budget.FindStringSubmatch(q.lower); m != nil {
		f["budget"] = m[1]
	}
	f["preference"] = q.lang.pick("a good balance of price, travel time and stops", "价格、时长和中转的综合平衡")
	switch {
	case q.has("cheap", "便宜", "lowest price"):
		f["preference"] = q.lang.pick("cheapest", "最便宜")
	case q.has("fast", "快", "shortest"):
		f["preference"] = q.lang.pick("fastest", "最快")
	case q.has("direct", "nonstop", "non-stop", "直飞"):
		f["preference"] = q.lang.pick("no stops", "直飞")
	}
	return f
}
