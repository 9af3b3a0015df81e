package consent

import "testing"

func TestEscapedCharactersAreReadable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"plain \n \"q\""`:               `"plain \n \"q\""`,
		`"\u90e8\u7f72 \u00e9"`:          `"部署 é"`,
		`"\ud83d\ude80!"`:                `"🚀!"`,
		`"\u0022 \u005c \u000a"`:         `"\u0022 \u005c \u000a"`, // they would end the string, or break the line
		`"\u202e\u200b"`:                 `"\u202e\u200b"`,         // nobody would see them
		`"\\u90e8"`:                      `"\\u90e8"`,              // a backslash, then u90e8
		`"\\\u90e8"`:                     `"\\部"`,
		`"\ud83d x \ude80 \u12 \uzzzz \`: `"\ud83d x \ude80 \u12 \uzzzz \`,
	} {
		if got := readable(in); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}
