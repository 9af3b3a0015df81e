package clean

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestReveal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{`{"path":"C:\\tmp\n","n":1}`, `{"path":"C:\\tmp\n","n":1}`}, // JSON's own escapes stay as they are
		{"report\u202Efdp.exe", `report⟨\u202E⟩fdp.exe`},
		{"rm\u200B -rf", `rm⟨\u200B⟩ -rf`},
		{"a\u2028Allowed: yes", `a⟨\u2028⟩Allowed: yes`},
		{"\u009B2J", `⟨\u009B⟩2J`},
		{"\x1b[0m", `⟨\x1B⟩[0m`},
		{"a\nb\r\tc\x00", `a⟨\n⟩b⟨\r⟩⟨\t⟩c⟨\x00⟩`},
		{"a\xffb", `a⟨\xFF⟩b`},
		{"\xc3é", `⟨\xC3⟩é`},
		{"\xed\xed\xa0\x80", `⟨\xED⟩⟨\uD800⟩`},
		{"\xed\xa0\xbd\xed\xb8\x80", `⟨\uD83D⟩⟨\uDE00⟩`},
		{"⟨5 spaces⟩", `⟨\u27E8⟩5 spaces⟩`},
		{" a ", "⟨1 space⟩a⟨1 space⟩"},
		{"   ", "⟨3 spaces⟩"},
		{"hello" + repeat(" ", 5000) + "SECRET", "hello⟨5,000 spaces⟩SECRET"},
		{"a" + repeat("\u3000", 5000) + "b", `a⟨5,000 × \u3000⟩b`},
		{repeat("\n", 10000), `⟨10,000 × \n⟩`},
		{"a\u00a0b", `a⟨\u00A0⟩b`},
		{"e" + repeat("\u0301", 6), "e" + repeat("\u0301", 4) + repeat(`⟨\u0301⟩`, 2)},
		{"\u0301", `⟨\u0301⟩`},
		{"👨\u200d👩", `👨⟨\u200D⟩👩`},
		{"ok\U000e0041", `ok⟨\U000E0041⟩`},
		{"\u0378", `⟨\u0378⟩`},
		{"管家 ok", "管家 ok"},
		{"ที่", "ที่"},
	} {
		if got := Reveal(c.in); got != c.want {
			t.Errorf("Reveal(%+q) = %+q, want %+q", c.in, got, c.want)
		}
		if back, err := Unreveal(c.want); err != nil || back != c.in {
			t.Errorf("Unreveal(%+q) = %+q, %v, want %+q", c.want, back, err, c.in)
		}
	}
}

func TestUnrevealRefusesWhatRevealNeverWrites(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"a\u202e", "\x1b", "\xff", "⟨", "⟨⟩", "⟨x⟩", `⟨\u202e⟩`, `⟨\u0041⟩`, `⟨\x41⟩`, `⟨\u009b⟩`, `⟨\x0A⟩`, `⟨\U0000202E⟩`, `⟨\u{202E}⟩`, `⟨\UFFFFFFFF⟩`,
		"a⟨3 spaces⟩b", " a", "⟨1 spaces⟩a", "⟨5000 spaces⟩", `⟨2 × \u200B⟩`, `⟨0 × \n⟩`, `⟨-1 spaces⟩`, "⟨999,999,999,999 spaces⟩", `⟨9,000,000,000 × \U000E0041⟩`,
		repeat(`⟨\u200B⟩`, 9),
	} {
		if back, err := Unreveal(s); err == nil {
			t.Errorf("Unreveal(%+q) = %+q without an error", s, back)
		}
	}
}

// TestApprovedTextIsSentText: what is shown of random JSON values can be read
// back to exactly the bytes that are sent.
func TestApprovedTextIsSentText(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	for range 10_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		sent, err := json.Marshal(map[string]any{"text": text.String(), "n": random.Int64()})
		if err != nil {
			t.Fatal(err)
		}
		checkReveal(t, string(sent))
	}
}

func FuzzReveal(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkReveal(t, s)
		if back, err := Unreveal(s); err == nil && Reveal(back) != s {
			t.Fatalf("%+q and %+q are both read as %+q", s, Reveal(back), back)
		}
	})
}
