package demo

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// weather is the result of weather_current and a forecast.
type weather struct {
	City        string `json:"city"`
	Country     string `json:"country"`
	Date        string `json:"date,omitempty"`
	Condition   string `json:"condition"`
	Temperature int    `json:"temperature_c"`
	Humidity    int    `json:"humidity_percent"`
	Wind        int    `json:"wind_kmh"`
	Note        string `json:"note"`
}

var conditions = [][2]string{{"sunny", "晴"}, {"partly cloudy", "多云"}, {"cloudy", "阴"}, {"light rain", "小雨"}, {"rain", "中雨"}, {"windy", "大风"}, {"fog", "雾"}}

func addWeather(s *server) error {
	return addTool(s, &mcp.Tool{
		Name:        "weather_current",
		Title:       "Current weather",
		Description: "Gives the (invented) current weather of a city.",
		Annotations: hints("Current weather", true, true, false),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"English or Chinese name of the city, for example Paris or 北京","minLength":1,"maxLength":80}},"required":["city"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"country":{"type":"string"},"condition":{"type":"string"},"temperature_c":{"type":"integer"},` +
			`"humidity_percent":{"type":"integer"},"wind_kmh":{"type":"integer"},"note":{"type":"string"}},"required":["city","condition","temperature_c"]}`),
	}, func(_ context.Context, _ *call, in struct {
		City string `json:"city"`
	}) (*mcp.CallToolResult, error) {
		c, err := findCity("city", in.City)
		if err != nil {
			return nil, err
		}
		return structured(c.weather(in.City, time.Time{}))
	})
}

// weather makes up the weather of a day, or of no particular one. asked decides the
// language.
func (c city) weather(asked string, d time.Time) weather {
	w := weather{City: c.in(asked), Country: c.country, Note: "invented by the demo server"}
	season := 0.0
	date := ""
	if !d.IsZero() {
		date = d.Format(time.DateOnly)
		// Colder in January than in July, by up to nine degrees.
		season = -9 * math.Cos(2*math.Pi*float64(d.YearDay()-15)/365)
	}
	dice := roll("weather", c.name, date)
	w.Date = date
	condition := conditions[dice.next(0, len(conditions)-1)]
	w.Condition = condition[0]
	if chinese(asked) {
		w.Condition, w.Note = condition[1], "由演示服务器虚构"
	}
	w.Temperature = c.degrees + int(math.Round(season)) + dice.next(-4, 4)
	w.Humidity = dice.next(35, 90)
	w.Wind = dice.next(3, 40)
	return w
}
