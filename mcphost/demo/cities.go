package demo

import (
	"slices"
	"strings"
)

// city is a place the demo knows.
type city struct {
	name, chinese, country, airport string
	degrees                         int // around which its temperature lies, in °C
}

var cities = []city{
	{"Amsterdam", "阿姆斯特丹", "Netherlands", "AMS", 11}, {"Athens", "雅典", "Greece", "ATH", 20}, {"Auckland", "奥克兰", "New Zealand", "AKL", 16},
	{"Bangkok", "曼谷", "Thailand", "BKK", 30}, {"Barcelona", "巴塞罗那", "Spain", "BCN", 18}, {"Beijing", "北京", "China", "PEK", 13},
	{"Berlin", "柏林", "Germany", "BER", 10}, {"Boston", "波士顿", "United States", "BOS", 11}, {"Brussels", "布鲁塞尔", "Belgium", "BRU", 11},
	{"Budapest", "布达佩斯", "Hungary", "BUD", 12}, {"Buenos Aires", "布宜诺斯艾利斯", "Argentina", "EZE", 18}, {"Cairo", "开罗", "Egypt", "CAI", 24},
	{"Cape Town", "开普敦", "South Africa", "CPT", 18}, {"Chengdu", "成都", "China", "TFU", 17}, {"Chicago", "芝加哥", "United States", "ORD", 10},
	{"Chongqing", "重庆", "China", "CKG", 19}, {"Copenhagen", "哥本哈根", "Denmark", "CPH", 9}, {"Dalian", "大连", "China", "DLC", 11},
	{"Delhi", "德里", "India", "DEL", 25}, {"Dubai", "迪拜", "United Arab Emirates", "DXB", 29}, {"Dublin", "都柏林", "Ireland", "DUB", 10},
	{"Geneva", "日内瓦", "Switzerland", "GVA", 10}, {"Guangzhou", "广州", "China", "CAN", 23}, {"Hamburg", "汉堡", "Germany", "HAM", 9},
	{"Hangzhou", "杭州", "China", "HGH", 18}, {"Hanoi", "河内", "Vietnam", "HAN", 24}, {"Harbin", "哈尔滨", "China", "HRB", 5},
	{"Helsinki", "赫尔辛基", "Finland", "HEL", 6}, {"Hong Kong", "香港", "China", "HKG", 24}, {"Istanbul", "伊斯坦布尔", "Türkiye", "IST", 15},
	{"Jakarta", "雅加达", "Indonesia", "CGK", 28}, {"Kuala Lumpur", "吉隆坡", "Malaysia", "KUL", 28}, {"Kunming", "昆明", "China", "KMG", 16},
	{"Kyoto", "京都", "Japan", "KIX", 16}, {"Lhasa", "拉萨", "China", "LXA", 8}, {"Lisbon", "里斯本", "Portugal", "LIS", 17},
	{"London", "伦敦", "United Kingdom", "LHR", 11}, {"Los Angeles", "洛杉矶", "United States", "LAX", 19}, {"Macau", "澳门", "China", "MFM", 23},
	{"Madrid", "马德里", "Spain", "MAD", 15}, {"Melbourne", "墨尔本", "Australia", "MEL", 15}, {"Mexico City", "墨西哥城", "Mexico", "MEX", 17},
	{"Milan", "米兰", "Italy", "MXP", 14}, {"Montreal", "蒙特利尔", "Canada", "YUL", 7}, {"Mumbai", "孟买", "India", "BOM", 28},
	{"Munich", "慕尼黑", "Germany", "MUC", 9}, {"Nanjing", "南京", "China", "NKG", 16}, {"New York", "纽约", "United States", "JFK", 13},
	{"Osaka", "大阪", "Japan", "ITM", 17}, {"Oslo", "奥斯陆", "Norway", "OSL", 6}, {"Paris", "巴黎", "France", "CDG", 12},
	{"Park City", "帕克城", "United States", "SLC", 5}, {"Prague", "布拉格", "Czechia", "PRG", 10}, {"Qingdao", "青岛", "China", "TAO", 14},
	{"Reykjavik", "雷克雅未克", "Iceland", "KEF", 5}, {"Rio de Janeiro", "里约热内卢", "Brazil", "GIG", 25}, {"Rome", "罗马", "Italy", "FCO", 16},
	{"San Francisco", "旧金山", "United States", "SFO", 14}, {"Sanya", "三亚", "China", "SYX", 26}, {"Seattle", "西雅图", "United States", "SEA", 12},
	{"Seoul", "首尔", "South Korea", "ICN", 13}, {"Shanghai", "上海", "China", "PVG", 17}, {"Shenzhen", "深圳", "China", "SZX", 23},
	{"Singapore", "新加坡", "Singapore", "SIN", 28}, {"Stockholm", "斯德哥尔摩", "Sweden", "ARN", 7}, {"Suzhou", "苏州", "China", "WUX", 17},
	{"Sydney", "悉尼", "Australia", "SYD", 19}, {"Taipei", "台北", "China", "TPE", 23}, {"Tianjin", "天津", "China", "TSN", 13},
	{"Tokyo", "东京", "Japan", "HND", 16}, {"Toronto", "多伦多", "Canada", "YYZ", 9}, {"Vancouver", "温哥华", "Canada", "YVR", 11},
	{"Vienna", "维也纳", "Austria", "VIE", 11}, {"Warsaw", "华沙", "Poland", "WAW", 9}, {"Washington", "华盛顿", "United States", "IAD", 14},
	{"Wuhan", "武汉", "China", "WUH", 17}, {"Xi'an", "西安", "China", "XIY", 14}, {"Xiamen", "厦门", "China", "XMN", 21},
	{"Zurich", "苏黎世", "Switzerland", "ZRH", 10},
}

// in gives the city's name in the language of the text it was asked with.
func (c city) in(text string) string {
	if chinese(text) {
		return c.chinese
	}
	return c.name
}

// findCity finds a city by its name, Chinese name or airport. argument names it in
// the error, which suggests what may have been meant.
func findCity(argument, text string) (city, error) {
	want := key(text)
	for _, c := range cities {
		if want == key(c.name) || want == c.chinese || want == c.chinese+"市" || want == strings.ToLower(c.airport) {
			return c, nil
		}
	}
	near := nearest(want, text)
	return city{}, refuse("%s: the demo does not know the city %q. Did you mean %s?", argument, clean(text, 40), strings.Join(near, ", "))
}

// key is how names are compared.
func key(text string) string {
	return strings.ToLower(strings.TrimSpace(clean(text, 80)))
}

// nearest gives the three city names closest to what was asked.
func nearest(want, text string) []string {
	type candidate struct {
		name string
		far  int
	}
	var list []candidate
	for _, c := range cities {
		name := c.in(text)
		list = append(list, candidate{name, distance(want, strings.ToLower(name))})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.far - b.far })
	return []string{list[0].name, list[1].name, list[2].name}
}

// distance is the number of characters to insert, delete or replace (Levenshtein).
// Names are at most 80 characters long.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before := row[0]
		row[0] = i + 1
		for j := range y {
			cost := before
			if x[i] != y[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// startingWith gives the names of cities that begin with prefix, in the language of
// the prefix, in alphabetical order.
func startingWith(prefix string) []string {
	want := key(prefix)
	out := []string{}
	for _, c := range cities {
		if name := c.in(prefix); strings.HasPrefix(strings.ToLower(name), want) {
			out = append(out, name)
		}
	}
	return out
}
