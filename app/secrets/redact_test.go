package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestSecretNeverPrints(t *testing.T) {
	t.Parallel()
	const value = "SENTINEL-1"
	s := NewSecret(value)
	holder := struct {
		Key  Secret
		List []Secret
		Map  map[Secret]*Secret
		own  Secret // fmt does not ask the methods of what it holds
	}{s, []Secret{s}, map[Secret]*Secret{s: &s}, s}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		fmt.Fprintf(&out, verb+verb+verb+"\n", s, &s, holder)
	}
	data, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	slog.New(slog.NewTextHandler(&out, nil)).Info("start", "key", s, "all", holder)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("start", "key", s, "all", holder)
	fmt.Fprint(&out, fmt.Errorf("failed: %w %v", fmt.Errorf("%v", s), holder))
	for _, leak := range []string{value, hex.EncodeToString([]byte(value)), fmt.Sprint([]byte(value))} {
		if strings.Contains(strings.ToLower(out.String()), strings.ToLower(leak)) {
			t.Errorf("the value prints in\n%s", out.String())
		}
	}
	if !strings.Contains(out.String(), hidden) || s.Reveal() != value {
		t.Errorf("the placeholder or the value is missing")
	}
}

// TestRedactAgain learns values that are the words of what Redact writes.
func TestRedactAgain(t *testing.T) {
	t.Parallel()
	var r Redactor
	for label, value := range map[string]string{"token": "token", "mine": "secret", "db": "password", "two words": "a b c d", "ref": "${lookalike}"} {
		r.Learn(label, value)
	}
	for in, want := range map[string]string{
		"the token":               "the [secret:token]",
		"a secret, a password":    "a [secret:mine], a [secret:db]",
		"a b c dtoken":            "[secret:two words][secret:token]", // a whole word only once the other is gone
		"x ${lookalike} y":        "x [secret:ref] y",
		"[secret:a stranger says": "[[secret:mine]:a stranger says",
		"[secret:password1]":      "[[secret:mine]:[secret:db]1]", // a label nothing has
		"?code=abc token":         "?code=[secret:code] [secret:token]",
	} {
		got := r.Redact(in)
		if got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
		if again := r.Redact(got); again != got {
			t.Errorf("Redact(%q) = %q the second time", got, again)
		}
	}
}

// TestKnownValues puts each value in every form between other text.
func TestKnownValues(t *testing.T) {
	t.Parallel()
	values := []string{"SENTINEL-4711", `p"a\ss/w<o>r&d`, "пароль-秘密-🔑", "line one of it\nline two, longer\n", "a b+c%d=e&f", "abcdef", strings.Repeat("x1", 3000)}
	var r Redactor
	for i, v := range values {
		r.Learn(fmt.Sprintf("n%d", i), v)
	}
	twice := func(v any) string {
		inner, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		outer, err := json.Marshal(string(inner))
		if err != nil {
			t.Fatal(err)
		}
		return string(outer)
	}
	for i, v := range values {
		once, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		forms := map[string]string{
			"raw": v, "JSON": string(once), "JSON in JSON": twice(v), "query": url.QueryEscape(v), "path": url.PathEscape(v),
			"query in lower case": lowerPercent(url.QueryEscape(v)), "hex": hex.EncodeToString([]byte(v)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(v))),
		}
		for before := range 3 {
			for after := range 3 {
				text := strings.Repeat("u", before) + v + strings.Repeat("w", after)
				forms[fmt.Sprintf("base64 %d %d", before, after)] = base64.StdEncoding.EncodeToString([]byte(text))
				forms[fmt.Sprintf("base64url %d %d", before, after)] = base64.RawURLEncoding.EncodeToString([]byte(text))
			}
		}
		for name, form := range forms {
			got := r.Redact("before " + form + " after")
			want := fmt.Sprintf("[secret:n%d]", i)
			if !strings.Contains(got, want) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("value %d as %s: %.200q", i, name, got)
			}
			if strings.Contains(got, v) {
				t.Errorf("value %d as %s is still there: %.200q", i, name, got)
			}
			if again := r.Redact(got); again != got {
				t.Errorf("value %d as %s: redacted again gives %.200q", i, name, again)
			}
		}
	}
}

func TestKnownValuesAtTheEdges(t *testing.T) {
	t.Parallel()
	var r Redactor
	r.Learn("short", "ab12")
	r.Learn("tiny", "abc")
	r.Learn(`od"d]\label`+"\n\u202e", "value-of-odd-label")
	r.Learn("key", "-----BEGIN KEY\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----")
	r.Learn("long", "abcdefgh-ijklmnop")
	r.Learn("prefix", "abcdefgh")
	for in, want := range map[string]string{
		"ab12":                             "[secret:short]",
		"x=ab12.":                          "x=[secret:short].",
		"cab12 ab123":                      "cab12 ab123", // a short value is found as a whole word only
		"abc":                              "abc",
		"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC": "[secret:key]", // one line of it
		"abcdefgh-ijklmnop abcdefgh-":      "[secret:long] [secret:prefix]-",
	} {
		if got := r.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
	got := r.Redact("value-of-odd-label")
	if strings.ContainsAny(got, "\"\\\n\u202e") || strings.Count(got, "]") != 1 {
		t.Errorf("the label leaves something odd in %q", got)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	var r Redactor
	jwtText := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pemText := "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBg==\n-----END RSA PRIVATE KEY-----"
	for in, want := range map[string]string{
		"use sk-abcdefghijklmnop1234 now":                                         "use [secret:key] now",
		"ghp_0123456789abcdefghijABCDEFGHIJ":                                      "[secret:token]",
		"AKIAIOSFODNN7EXAMPLE":                                                    "[secret:key]",
		"xoxb-123456789012-abc":                                                   "[secret:token]",
		"task-abcdefghijklmnopqrst":                                               "task-abcdefghijklmnopqrst",
		"desk-sk-shortname":                                                       "desk-sk-shortname",
		"a " + jwtText + " b":                                                     "a [secret:jwt] b",
		pemText + "\nrest!":                                                       "[secret:private-key]\nrest!",
		strings.ReplaceAll(pemText, "\n", `\n`) + `"}`:                            `[secret:private-key]"}`,
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIB":                                   "[secret:private-key]",
		"-----BEGIN CERTIFICATE-----\nMIIEvQIB":                                   "-----BEGIN CERTIFICATE-----\nMIIEvQIB",
		"Authorization: Bearer abc.def-123":                                       "Authorization: Bearer [secret:authorization]",
		"authorization: s3cr3tvalue\nNext: x":                                     "authorization: [secret:authorization]\nNext: x",
		"Authorization: Basic dXNlcjpwYXNz":                                       "Authorization: Basic [secret:authorization]",
		"header BEARER 0123456789abcdef.":                                         "header BEARER [secret:bearer]",
		`asking for: Bearer resource_metadata="https://h.example/m", scope="a b"`: `asking for: Bearer resource_metadata="https://h.example/m", scope="a b"`,
		"Bearer error_description=insufficient_scope":                             "Bearer error_description=insufficient_scope",
		`{"a":"Bearer cmVzb3VyY2VfbQ=="}`:                                         `{"a":"Bearer [secret:bearer]"}`,
		"Bearer sesame=0123456789":                                                "Bearer [secret:bearer]",
		"the bearer certificate, basic training":                                  "the bearer certificate, basic training",
		"https://user:pw@host/x":                                                  "https://[secret:userinfo]@host/x",
		"https://host/x@y":                                                        "https://host/x@y",
		"https://h/cb?code=abc123&state=xyz&page=2":                               "https://h/cb?code=[secret:code]&state=[secret:state]&page=2",
		"https://h/?a=1&access_token=zzz#f":                                       "https://h/?a=1&access_token=[secret:access_token]#f",
		`{"password":"hunter2","user":"bob"}`:                                     `{"password":"[secret:password]","user":"bob"}`,
		`{"password": "a\"b", "n": 1}`:                                            `{"password": "[secret:password]", "n": 1}`,
		`"{\"api_key\":\"a\\\"b\",\"n\":1}"`:                                      `"{\"api_key\":\"[secret:api_key]\",\"n\":1}"`,
		`{"my_token":"v"}`:                                                        `{"my_token":"[secret:token]"}`,
		`{"token":""}`:                                                            `{"token":""}`,
		`{"token":"${secret:k}"}`:                                                 `{"token":"${secret:k}"}`,
		`{"max_tokens":5,"tokens":"x","nextToken":"abc"}`:                         `{"max_tokens":5,"tokens":"x","nextToken":"abc"}`,
		"GITHUB_TOKEN=abcdef123 next":                                             "GITHUB_TOKEN=[secret:token] next",
		"prog --api-key=abcdef123 x":                                              "prog --api-key=[secret:api-key] x",
		"PASSWORD='quoted one'":                                                   "PASSWORD='[secret:password]'",
		"A token is the smallest unit. Password: required. Keys.":                 "A token is the smallest unit. Password: required. Keys.",
		"secretary, tokenizer=fast1234, passwordless":                             "secretary, tokenizer=fast1234, passwordless",
		"":  "",
		"s": "s",
	} {
		got := r.Redact(in)
		if got != want {
			t.Errorf("Redact(%q)\n = %q\nwant %q", in, got, want)
		}
		if again := r.Redact(got); again != got {
			t.Errorf("redacting %q again gives %q", got, again)
		}
	}
}

func TestLooksSecret(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"sk-abcdefghijklmnop1234": true, "Bearer abcdefgh12345678": true, "${secret:x}": false, "/home/me/.config": false, "info": false, "https://host/mcp": false,
		"postgres://u:p@h/db": true, "": false,
	} {
		if got := LooksSecret(value); got != want {
			t.Errorf("LooksSecret(%q) = %v", value, got)
		}
	}
	for name, want := range map[string]bool{"GITHUB_TOKEN": true, "X-Api-Key": true, "--password": true, "MAX_TOKENS": false, "KEYBOARD": false, "PATH": false} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%q) = %v", name, got)
		}
	}
}

// TestRedactUnderWay: learning and redacting at the same time, and every
// result with only whole replacements.
func TestRedactUnderWay(t *testing.T) {
	t.Parallel()
	var r Redactor
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 50 {
				value := fmt.Sprintf("worker-%d-value-%d", worker, i)
				r.Learn("w", value)
				if got := r.Redact("<" + value + ">"); got != "<[secret:w]>" {
					t.Errorf("after learning %q: %q", value, got)
				}
			}
		})
	}
	group.Wait()
}

func FuzzRedact(f *testing.F) {
	f.Add("password=\"abc\" Bearer abcdefgh1 https://u:p@h/?code=1&token=2", "SENTINEL-1")
	f.Fuzz(func(t *testing.T, text, value string) {
		var r Redactor
		r.Learn("v", value)
		got := r.Redact(text + value + text)
		// Brackets could make the value anew from a replacement and what follows.
		if len(value) >= minFree && !strings.ContainsAny(value, "[]") && !strings.Contains("secret:v", value) && strings.Contains(got, value) {
			t.Fatalf("%q stays in %q", value, got)
		}
		if !strings.ContainsAny(text+value, "[]") && r.Redact(got) != got {
			t.Fatalf("%q is redacted again to %q", got, r.Redact(got))
		}
	})
}

var redacted string

// BenchmarkRedact: 1 MB and 20 known values; the baseline only looks whether
// one of the same forms is in the text at all.
func BenchmarkRedact(b *testing.B) {
	var r Redactor
	var forms []string
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		value := fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
		r.Learn(fmt.Sprint(i), value)
		forms = append(forms, encodings(value)...)
	}
	const line = `{"level":"info","msg":"read the file","path":"/srv/data/report.txt","tokens":812,"text":"本周完成了八项任务"} GET https://host/x?page=2` + "\n"
	text := strings.Repeat(line, 1<<20/len(line))
	b.Run("Redact", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			redacted = r.Redact(text)
		}
	})
	b.Run("baseline-Contains", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for _, f := range forms {
				if strings.Contains(text, f) {
					b.Fatal("found")
				}
			}
		}
	})
}

// BenchmarkRedactHostile: texts that would take minutes if any rule read on
// from each of its anchors to the end; the baseline is a harmless text.
func BenchmarkRedactHostile(b *testing.B) {
	var r Redactor
	r.Learn("a", "aaaaaaaa")
	for _, piece := range []string{"baseline ", "eyJ-", "eyJ", "sk-", "authorization: ${", "Authorization: Bearer [secret:x] ", "token=${", "?token=[secret:", "://a:", "a://",
		"\\\"token\\\":\\\"[secret:x", "-----BEGIN PRIVATE KEY-----!", "-----BEGIN ", "bearer ", "basic ", "token\\", "aaaaaaa", "password=\"", "-eyJaaaaaaaaaa.", "password'", "?code="} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(piece, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				redacted = r.Redact(text)
			}
		})
	}
}
