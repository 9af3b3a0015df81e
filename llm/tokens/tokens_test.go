package tokens_test

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"steward/llm/tokens"
)

// The texts and figures are those by which OpenAI's cookbook ("How to count tokens with
// tiktoken") compares counting with the usage that its endpoint reported for gpt-4o.
func TestEstimateAgainstReportedUsage(t *testing.T) {
	t.Parallel()
	jargon := []string{
		"You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
		"example_user", "New synergies will help drive top-line growth.",
		"example_assistant", "Things working well together will increase revenue.",
		"example_user", "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
		"example_assistant", "Let's talk later when we're less busy about how to do better.",
		"This late pivot means we don't have time to boil the ocean for the client deliverable.",
	}
	const (
		schema = `{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},"unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},"required":["location"]}`
		system = "You are a helpful assistant that can answer to questions about the weather."
		asked  = "What's the weather like in San Francisco?"
	)
	sum := func(texts ...string) (n int) {
		for _, s := range texts {
			n += tokens.Count(s)
		}
		return n
	}
	for name, c := range map[string]struct{ estimate, reported int }{
		"messages": {sum(jargon...) + 6*tokens.PerMessage, 124},
		"a tool":   {sum(system, asked) + 2*tokens.PerMessage + tokens.Tool("get_current_weather", "Get the current weather in a given location", schema), 101},
	} {
		if off := math.Abs(float64(c.estimate-c.reported)) / float64(c.reported); off > 0.25 {
			t.Errorf("%s: estimated %d tokens, reported were %d: %.0f %% off", name, c.estimate, c.reported, off*100)
		}
	}
}

func TestCountIsExactForTheVocabulary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                   0,
		"hello world":        2,
		"tiktoken is great!": 6,
	} {
		if got := tokens.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

// Of a long text only samples are counted; that must come near what its parts give.
func TestLongTextsAreSampled(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"prose": "The quick brown fox jumps over the lazy dog, and nobody minds. ",
		"json":  `{"name":"record","value":12345,"tags":["a","b"]},` + "\n",
		"han":   "测试环境部署延期，接口联调阻塞。",
		"cut":   strings.Repeat("é", 3000) + strings.Repeat("𝄞", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part := strings.Repeat(piece, 1+(48<<10)/len(piece)) // below what is counted whole
			n := 20
			whole, sampled := float64(tokens.Count(part)*n), float64(tokens.Count(strings.Repeat(part, n)))
			if off := math.Abs(sampled-whole) / whole; off > 0.1 {
				t.Errorf("%.0f tokens by samples, %.0f by parts: %.0f %% off", sampled, whole, off*100)
			}
		})
	}
}

func TestCountFromManyGoroutines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("the same text ", 50)
	want := tokens.Count(text)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if got := tokens.Count(text); got != want {
					t.Errorf("%d, then %d", want, got)
				}
			}
		})
	}
	all.Wait()
	if !tokens.Loaded() {
		t.Error("somebody counted, and the vocabulary is not said to be loaded")
	}
}

func TestFactorLearnsWhatIsReported(t *testing.T) {
	t.Parallel()
	var f tokens.Factor
	if got := f.Apply(1000); got != 1000 {
		t.Errorf("a factor that has learned nothing makes 1000 into %d", got)
	}
	for range 12 {
		f = f.Learn(1000, 1300)
	}
	if got := f.Apply(1000); got < 1280 || got > 1300 {
		t.Errorf("after twelve reports of 1.3 times the estimate, 1000 becomes %d", got)
	}
	before := f
	for _, odd := range [][2]int{{1000, 0}, {1000, -4}, {0, 1000}, {50, 90}, {1000, 90_000}, {1000, 3}} {
		if f = f.Learn(odd[0], odd[1]); f != before {
			t.Errorf("%v, which cannot be or is too short, changed the factor to %v", odd, f)
		}
	}
	for range 12 {
		f = f.Learn(1000, 800)
	}
	if got := f.Apply(1000); got > 810 {
		t.Errorf("the factor still makes %d of 1000 after twelve reports of 0.8 times the estimate", got)
	}
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat(`The quick brown fox {"a": 12345} 你好，世界。 `, 1000)
	b.SetBytes(int64(len(text)))
	for i := 0; b.Loop(); i++ {
		tokens.Count(strconv.Itoa(i) + text) // the same text again would be remembered
	}
}

func TestRough(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "word": 1, "hello world!": 3, "你好世界": 4, "привет": 3} {
		if got := tokens.Rough(s); got != want {
			t.Errorf("%q: %d", s, got)
		}
	}
}
