package demo

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// calculation is the result of calculator_arithmetic.
type calculation struct {
	Operation string      `json:"operation"`
	A         json.Number `json:"a"`
	B         json.Number `json:"b"`
	Result    json.Number `json:"result"`
	Exact     bool        `json:"exact"`
}

// quotientDigits is to how many digits after the point, and after its leading zeros, a
// quotient is rounded that has no end.
const quotientDigits = 34

func addCalculator(s *server) error {
	return addTool(s, &mcp.Tool{
		Name:        "calculator_arithmetic",
		Title:       "Calculator",
		Description: "Adds, subtracts, multiplies or divides two decimal numbers exactly. A quotient without end is rounded to 34 digits.",
		Annotations: hints("Calculator", true, true, false),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"operation":{"type":"string","enum":["add","subtract","multiply","divide"]},` +
			`"a":{"type":"number","description":"The first number"},"b":{"type":"number","description":"The second number"}},"required":["operation","a","b"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"operation":{"type":"string"},"a":{"type":"number"},"b":{"type":"number"},"result":{"type":"number"},` +
			`"exact":{"type":"boolean","description":"Whether the result was not rounded"}},"required":["operation","a","b","result","exact"]}`),
	}, func(_ context.Context, _ *call, in struct {
		Operation string      `json:"operation"`
		A         json.Number `json:"a"`
		B         json.Number `json:"b"`
	}) (*mcp.CallToolResult, error) {
		result, exact, err := calculate(in.Operation, in.A, in.B)
		if err != nil {
			return nil, err
		}
		return structured(calculation{in.Operation, in.A, in.B, result, exact})
	})
}

// calculate gives the result as a decimal number, and whether it is exact.
func calculate(operation string, a, b json.Number) (json.Number, bool, error) {
	x, err := fraction("a", a)
	if err != nil {
		return "", false, err
	}
	y, err := fraction("b", b)
	if err != nil {
		return "", false, err
	}
	r := new(big.Rat)
	switch operation {
	case "add":
		r.Add(x, y)
	case "subtract":
		r.Sub(x, y)
	case "multiply":
		r.Mul(x, y)
	case "divide":
		if y.Sign() == 0 {
			return "", false, refuse("b must not be 0: a number cannot be divided by zero.")
		}
		r.Quo(x, y)
	default:
		return "", false, refuse("operation must be add, subtract, multiply or divide, not %q.", clean(operation, 40))
	}
	digits, exact := r.FloatPrec()
	if !exact {
		// Zeros before the first digit do not count.
		digits = quotientDigits + max(0, len(r.Denom().String())-len(r.Num().String()))
	}
	text := r.FloatString(digits)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		text = "0"
	}
	return json.Number(text), exact, nil
}

// fraction reads a number of ordinary size exactly.
func fraction(argument string, n json.Number) (*big.Rat, error) {
	text := string(n)
	exponent := 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[i+1:]); err != nil {
			exponent = 1 << 20
		}
	}
	r, ok := new(big.Rat), len(text) <= 200 && exponent >= -300 && exponent <= 300
	if ok {
		_, ok = r.SetString(text)
	}
	if !ok {
		return nil, refuse("%s must be a number of at most 200 digits with an exponent between -300 and 300.", argument)
	}
	return r, nil
}
