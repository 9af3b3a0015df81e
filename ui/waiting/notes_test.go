package waiting

import (
	"context"
	"strings"
	"testing"

	"steward/app"
	"steward/app/consent"
	"steward/ui/language"
	"steward/ui/sentence"
)

// The sentences that the core really writes are known in both languages.
func TestTheCoresSentencesAreWorded(t *testing.T) {
	r := newRig(t, app.Options{Policy: app.Policy{Elicit: consent.Decline}, Roots: []string{t.TempDir()}}, "--step",
		`tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"odd","title":"Odd","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}},`+
			`{"name":"even","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}},{"name":"pay","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}}]}}`)
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
	}()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	tools := []string{"odd", "even", "pay"}
	for _, tool := range tools {
		r.call(ctx, tool, `{"p":"/etc/passwd","z":"a\u200bb","key":"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD","a":1,"a":2,"o":{"x":1,"x":2},"l":"`+strings.Repeat("a", 1300)+`"}`)
	}
	r.until("all wait", func() bool { return len(r.app.Waiting().List()) == len(tools) })
	var all []string
	for _, item := range r.app.Waiting().List() {
		all = append(append(all, item.Presentation.Claims...), item.Presentation.Warnings...)
	}
	if len(all) < 20 {
		t.Errorf("only %d sentences: %q", len(all), all)
	}
	for _, s := range all {
		if got := sentence.Worded(s); got != s {
			t.Errorf("%q reads %q in English", s, got)
		}
	}
	if err := language.Load("zh-Hans"); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if got := sentence.Worded(s); got == s || !strings.ContainsFunc(got, func(r rune) bool { return r >= 0x4e00 && r < 0xa000 }) {
			t.Errorf("%q is not known: %q", s, got)
		}
	}
	stop()
	for range tools {
		_ = r.ended() // stopped: not what is looked at here
	}
}

func TestCopiedTextIsFound(t *testing.T) {
	sources := []source{{"report", `{"risks":["测试环境部署延期","接口联调阻塞"],"owner":"Margaret Hamilton"}`}, {"mail", "hello"}}
	for text, want := range map[string]string{
		"2 risks this week: 测试环境部署延期, 接口联调阻塞.": "测试环境部署延期|接口联调阻塞",
		"Dear Margaret Hamilton,": "Margaret Hamilton",
		"Dear Margaret,":          "",
		"测试环境":                    "",
		strings.Repeat(" ", 40):   "",
		"\xff\xfe":                "",
		"":                        "",
	} {
		var got []string
		for _, s := range copied(text, sources) {
			if s.server != "report" {
				t.Errorf("%q came from %s", text, s.server)
			}
			got = append(got, text[s.from:s.to])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("in %q: %q, want %q", text, got, want)
		}
	}
}

func TestCopiedTextStandsOut(t *testing.T) {
	r := newRig(t, app.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.call(ctx, "echo", `{"to":"lead","body":"Risks: 测试环境部署延期."}`)
	item := r.item(consent.KindCall)
	c := r.seen(item)
	tall := c.HeightFor(700)
	calls(c).mark(copies(item, []source{{"weekly-report", "一：测试环境部署延期"}}))
	if got := shownText(c); !strings.Contains(got, "Highlighted text came from weekly-report and would leave for mail.") || c.HeightFor(700) <= tall {
		t.Errorf("the card says %q", got)
	}
	runs := spanned(item.Presentation.Rows[1].Text, calls(c).copies[1])
	if len(runs) != 3 || runs[1].Text != "测试环境部署延期" || runs[1].Ground == "" || runs[0].Ground != "" {
		t.Errorf("runs %+v", runs)
	}
	stop()
	_ = r.ended() // stopped: not what is looked at here
}
