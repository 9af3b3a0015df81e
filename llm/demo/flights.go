package demo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// offer is one flight in a list a server asks the model to choose from.
type offer struct {
	id             string
	price, minutes float64
	stops          float64
}

var (
	flightID  = regexp.MustCompile(`\b[A-Z]{2}\s?\d{2,4}\b`)
	minutes   = regexp.MustCompile(`(\d+)\s*(?:minutes|min\b|分钟)`)
	hours     = regexp.MustCompile(`(\d+)\s*(?:hours?|h\b|小时)\s*(\d+)?`)
	stopCount = regexp.MustCompile(`(\d+)\s*(?:stops?|次中转|次经停)|stops?"?\s*[:=]\s*(\d+)`)
	money     = regexp.MustCompile(`(\d+(?:\.\d+)?)\s*(?:USD|EUR|GBP|CNY|RMB|dollars?|euros?|元)|[$€£¥]\s*(\d+(?:\.\d+)?)|price"?\s*[:=]\s*"?(\d+(?:\.\d+)?)`)
)

// offers reads a list of flights, one a line.
func offers(text string) []offer {
	var out []offer
	for _, line := range strings.Split(text, "\n") {
		id := flightID.FindString(line)
		cost, ok := firstNumber(money, line)
		if id == "" || !ok {
			continue
		}
		o := offer{id: id, price: cost}
		if m, ok := firstNumber(minutes, line); ok {
			o.minutes = m
		}
		if m := hours.FindStringSubmatch(line); m != nil && o.minutes == 0 {
			h, _ := strconv.ParseFloat(m[1], 64) // digits, by the pattern
			extra, _ := strconv.ParseFloat("0"+m[2], 64)
			o.minutes = h*60 + extra
		}
		o.stops, _ = firstNumber(stopCount, line)
		out = append(out, o)
	}
	return out
}

func firstNumber(re *regexp.Regexp, s string) (float64, bool) {
	m := re.FindStringSubmatch(s)
	for i := 1; i < len(m); i++ {
		if m[i] != "" {
			n, err := strconv.ParseFloat(m[i], 64)
			return n, err == nil
		}
	}
	return 0, false
}

// chooseFlight answers a request to choose from a list of flights.
func chooseFlight(q question) (reply, bool) {
	list := offers(q.text)
	if len(list) == 0 {
		return reply{}, false
	}
	// Only what is asked counts, not the words of the list.
	wish := q
	var rest []string
	for _, line := range strings.Split(q.lower, "\n") {
		if flightID.FindString(strings.ToUpper(line)) == "" {
			rest = append(rest, line)
		}
	}
	wish.lower = strings.Join(rest, "\n")
	cost := func(o offer) float64 { return o.price + o.minutes/2 + 60*o.stops }
	why := q.lang.pick("it weighs price, travel time and stops best", "综合价格、时长和中转最合适")
	switch {
	case wish.has("cheap", "lowest price", "便宜", "省钱"):
		cost = func(o offer) float64 { return o.price }
		why = q.lang.pick("it is the cheapest", "价格最低")
	case wish.has("fast", "quick", "shortest", "最快", "时间短"):
		cost = func(o offer) float64 { return o.minutes }
		why = q.lang.pick("it takes the least time", "用时最短")
	case wish.has("no stop", "nonstop", "non-stop", "direct", "直飞", "不中转"):
		cost = func(o offer) float64 { return 1e6*o.stops + o.price }
		why = q.lang.pick("it has the fewest stops", "中转最少")
	}
	best := list[0]
	for _, o := range list[1:] {
		if cost(o) < cost(best) {
			best = o
		}
	}
	return say("%s", fmt.Sprintf(q.lang.pick("%s: %s among %d flights (chosen by Steward's demo model).", "%s：在 %[3]d 个航班中%[2]s(由管家的演示模型选择)。"), best.id, why, len(list))), true
}
