package sentence_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"steward/ui/language"
	"steward/ui/sentence"
)

func TestMain(m *testing.M) {
	if err := language.Load("en"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// said are the files whose sentences come to a person's eyes in the window, and the functions of which they do; none is
// all of them.
var said = map[string][]string{
	"../../app/consent/present.go":       nil,
	"../../app/consent/sampletools.go":   {"blockWords"},
	"../../app/consent/samplepresent.go": {"settings", "present"},
	"../../app/consent/askcall.go":       nil,
	"../../app/consent/waiting.go":       {"refuseGone"},
	"../../app/consent/elicit.go":        {"present"},
	"../../app/consent/signin.go":        {"present", "check", "stay", "unasked"},
	"../../app/signin.go":                {"signInHint"},
	"../../app/signinkept.go":            {"Save"},
	"../../app/chat/turn.go":             {"protected", "warn", "stopped", "ask"},
	"../../app/chat/round.go":            {"round", "prepare", "refuse"},
	"../../app/chat/limit.go":            {"atLimit"},
	"../../app/chat/repeat.go":           {"tellRepeats"},
	"../../app/chat/offers.go":           {"tellChanges", "notOffered", "whyGone"},
	"../../app/consent/current.go":       {"WhyNotOffered", "usable", "whyNotCurrent", "whyBlocked"},
	"../../app/consent/rounds.go":        {"GoOn", "overWithTurn"},
	"../../app/chat/engine.go":           {"check"},
	"../../app/chat/parameters.go":       {"set"},
	"../../app/chatsettings.go":          {"Check"},
	"../../app/modellists.go":            {"SetFavourite"},
	"../../app/endpointway.go":           {"route", "connect", "header", "hideHeaders", "check"},
	"../../llm/network.go":               {"explain", "usable"},
	"../../app/chat/attach.go":           {"Warning", "ReadFile", "fromBytes", "reviewed"},
	"../../app/chat/viewer.go":           {"on"},
	"../../app/app.go":                   {"tellRecovery", "warn"},
	"../../llm/ending.go":                {"missing", "brokenOff", "noAnswer", "finish"},
	"../../llm/errors.go":                {"badHint", "networkError", "brokenBy"},
	"../../llm/stream.go":                {"read"},
	"../../app/opener/opener.go":         {"Check", "refusedText", "asciiHost", "nameWarning"},
	"../../app/doctor.go": {"diagnose", "configCheck", "startedChecks", "found", "answers", "effective", "startChecks", "toolsCheck",
		"offersSentence", "undeclaredCheck", "reviewCheck"},
	"../../app/config/check.go":                    {"checkName", "checkTransport", "checkCommand", "checkEnv", "checkHeaders", "checkURL", "checkPlaceholders"},
	"../../app/config/entry.go":                    {"problem", "server", "field", "unknown", "text", "texts", "table", "value", "flag", "duration"},
	"../../app/config/oauth.go":                    {"oauth", "port", "checkOAuth"},
	"../../app/config/size.go":                     {"size"},
	"../../app/config/network.go":                  {"checkNetwork"},
	"../../mcphost/internal/wire/message.go":       {"judge"},
	"../../mcphost/send/result.go":                 {"readResult", "readOther", "readIsError", "violations", "readError"},
	"../../mcphost/send/tool.go":                   {"result", "silent", "exhausted"},
	"../../app/network.go":                         {"KeepProxyPassword"},
	"../../app/observe.go":                         {"observe"},
	"../../app/servers.go":                         {"slowSentence"},
	"../../mcphost/faults.go":                      {"noiseSentence", "exitSentence", "exitHint", "silence", "refusal", "listFailure"},
	"../../mcphost/examine.go":                     {"ListError"},
	"../../mcphost/start.go":                       {"program", "startError"},
	"../../mcphost/internal/session/session.go":    {"Error"},
	"../../mcphost/internal/remote/unreachable.go": {"unreachable", "untrusted", "unproxied"},
	"../../mcphost/internal/remote/network.go":     {"CheckProxy"},
	"../../mcphost/process/look.go":                {"Error", "Hint", "Look", "runnable"},
	"../../mcphost/process/fault.go":               {"Error", "startError", "noProgram"},
	"../../mcphost/schema/explain.go":              {"collect", "sentence", "sizeSentence", "rangeSentence"},
	"../../mcphost/schema/answer.go":               {"check", "checkScalar", "checkText", "checkFormat", "checkNumber", "checkItems", "Parse", "parseBoolean", "parseNumber"},
	"../../mcphost/schema/form.go":                 {"sameTitles", "form"},
	"../../mcphost/schema/field.go":                {"fieldDefault"},
	"../../mcphost/connection.go":                  {"crashed"},
	"../../mcphost/internal/oauth/account.go":      {"endless", "wanted"},
	"../../mcphost/internal/oauth/address.go":      {"check", "Error"},
	"../../mcphost/internal/oauth/authorize.go":    {"explain", "open", "visit", "readAnswer"},
	"../../mcphost/internal/oauth/discover.go":     {"resource", "unread", "readResource", "mismatch", "named", "read"},
	"../../mcphost/internal/oauth/keep.go":         {"replace"},
	"../../mcphost/internal/oauth/register.go":     {"register", "ask", "method"},
	"../../mcphost/internal/oauth/store.go":        {"load"},
}

var verb = regexp.MustCompile(`%[+#0-9.]*[a-zA-Z]`)

// unsaid are texts in those functions that are no sentences for the window: errors of the program itself, and headings
// that it words on its own.
var unsaid = []string{
	"a call can be allowed or denied, not %q", "a call can be allowed once, in its conversation or always, not %q",
	"Whether this tool was used before cannot be told: ", // words follow
	" (and %d more warnings or errors)",                  // behind a server's own words
	"%s on %s", "%d of %d", "%s asks for the model", "%s asks you", "Sign in to %s", "The model’s answer would go to %s", "the form's schema must be an object of fields, not %s",
	`the form's "properties" must be an object`, "the form has more than %d fields",
	"a number in a form that programs read differently", // of a host that is then said to be invalid
	"The model wants to go on", "a turn can be let go on or stopped, not %q",
}

// pieces are texts that are parts of sentences; whole are the sentences that they make.
var pieces = []string{
	"true or false", "a list of texts", "an object of texts", "The server answered, but not with a result: ", "isError was written as ", "; it was taken as true.", "; it was taken as false.",
	"The task was finished, and what the server gave as its result holds neither content nor structured content: ", " It had not been sent.",
	"Sign-in needed: ",
	"Not executed: ", "the limit of %s for one turn was reached; send another message to go on",
	", not ", ": it ", "must have at least %s, has %d", "must have at most %s, has %d", "%s or more", "%s or less", "more than %s", "less than %s",
	"for example 2.5", "for example 20", "with a point, ", "a secret that Steward knows", "The server claims that it ", "; nobody has checked that.",
	"may delete or overwrite", "only adds and never deletes or overwrites", "has no further effect when repeated",
	"reaches systems outside of it, such as the internet", "reaches nothing outside of it",
	"The %s’s name holds characters that are easily overlooked: %s.", "The %s’s name mixes Latin letters with letters of another alphabet that look the same.",
	"%w: it has been answered already", "%w: nobody answered in time, and nothing was done", "%w: what was shown is no longer current, and nothing was done",
	"%w: it was stopped, and nothing was done", "%w: nothing with this id is in the waiting list", "The message holds characters that are easily overlooked: ",
}

var whole = []string{
	"http://x sent an event that is not JSON (at byte 3: a value was expected). What came before it was kept. Try again, or use another endpoint.",
	"http://x sent an event that is not complete JSON (it ends too early). What came before it was kept. Try again, or use another endpoint.",
	"http://x sent a line longer than 16 MB. What came before it was kept. Try again, or use another endpoint.",
	"http://x sent an event longer than 16 MB. What came before it was kept. Try again, or use another endpoint.",
	"http://x sent an answer longer than 16 MB. What came before it was kept. Try again, or use another endpoint.",
	"The answer reached its length limit before the arguments of this call came. Nothing was run. Send the whole call again with one complete JSON object.",
	"The answer reached its length limit and the arguments of this call were cut. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments were cut: they are not complete JSON. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are longer than 7 bytes. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are not valid UTF-8. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are not valid Unicode text. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are not valid JSON: at byte 2: a colon was expected. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are a number, not a JSON object. Nothing was run. Send the whole call again with one complete JSON object.",
	"The arguments are not usable: a text holds half of a Unicode surrogate pair. Nothing was run. Send the whole call again with one complete JSON object.",
	"The pieces of several tool calls were mixed and cannot be told apart. Nothing was run. Send the whole call again with one complete JSON object.",
	"It could not read a tool call or a result in the conversation: begin a new one, or go back before it.",
	"The server answered, but not with a result: null.", "isError was written as 1; it was taken as true.", "isError was written as 0; it was taken as false.",
	"The task was finished, and what the server gave as its result holds neither content nor structured content: {}.",
	"The server refused the call and most likely did not run it: no.", "The call got no answer that counts: no.", "The connection was lost before the answer came: no.",
	`"a" must be a list of texts, but is true or false`,
	"the limit of 1 round for one turn was reached; send another message to go on", "the limit of 25 rounds for one turn was reached; send another message to go on",
	"the server https://x/mcp wants a sign-in: the authorization server https://y gave no token (status 400, invalid_grant).",
	"the server https://x/mcp wants a sign-in (401 Unauthorized): signing in was refused.",
	"the server https://x/mcp wants a sign-in: signing in was refused.", "the sign-in could not be deleted: no",
	"the server https://x/mcp wants a sign-in, which would travel unprotected over plain http.",
	"A call of x was not executed: there is no tool named x. Use one of the tools that are offered, by its exact name.",
	"A call of x was not executed: x is no longer offered, because the server s is not running.",
	"must have at least 1 character, has 0", "must have at most 3 items, has 5", "must have at least 2 entries, has 1", "must have at most 1 property, has 2",
	"must be 3 or more, not 2", "must be less than 3, not 3", "This must be a whole number, not 2.5.", "Enter a number, for example 2.5.",
	`"x" is not a whole number; write it in digits, for example 20.`, `"2,5" is not a number; write it in digits, with a point, for example 2.5.`,
	"is not an allowed property name: it must match the pattern ^a", "has a wrong entry 2: it must be a text, not 5",
	"“k” holds characters that are easily overlooked: a secret that Steward knows ×1.", "The server claims that it may delete or overwrite; nobody has checked that.",
	"The server claims that it reaches nothing outside of it; nobody has checked that.", "The tool’s name holds characters that are easily overlooked: tab ×1.",
	"The server’s name mixes Latin letters with letters of another alphabet that look the same.", "The message holds characters that are easily overlooked: tab ×1.",
	"The server s asks the model without a review, because you trust it for up to 2 requests and 9 tokens an hour (record 4).",
	"The server s was refused twice and is not asked about again in this turn; its further questions are declined.",
	"Record 3 (x on s), which had gone on at its server while Steward was closed, has ended: ok.",
	"A request to the model for the server s failed: no", "The address could not be opened: no",
	"the server https://x/mcp failed (503 Service Unavailable)", "the server https://x/mcp failed (503 Service Unavailable): down",
	"Try again later, or ask whoever runs it. It asks to wait for 1m30s.", "Wait a while and try again. It asks to wait for 5s.",
	"the server https://x/mcp sends requests on to https://y/mcp, where this program does not follow", "the server https://x/mcp gave no answer: its answer is empty",
	"at https://x/mcp there is no MCP server (404 Not Found)", "at https://x/mcp there is no MCP server (404 Not Found): no",
	"the file of further certificates /a.pem holds no certificate",
	"Sign-in needed: The server a.example wants a sign-in, which did not come about: signing in was refused.",
	"The authorization server https://a.example does not let programs register by themselves.",
	"The authorization server https://a.example refused to register this program: it answered 400.",
	"this no longer waits for an answer: it has been answered already", "this can no longer be allowed: the server s is not running",
}

func TestWholeSentencesHaveWords(t *testing.T) {
	t.Parallel()
	for _, s := range whole {
		if !sentence.Known(s) {
			t.Errorf("%q has no words", s)
		}
	}
}

// Every sentence that the core can write for a card has words in both languages.
func TestEverySentenceOfTheCoreHasWords(t *testing.T) {
	t.Parallel()
	count := 0
	for name, functions := range said {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || functions != nil && !slices.Contains(functions, f.Name.Name) {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil || strings.Count(text, " ") < 2 || slices.Contains(unsaid, text) || slices.Contains(pieces, text) {
					return true
				}
				count++
				if s := verb.ReplaceAllString(text, "7"); !sentence.Known(s) {
					t.Errorf("%s, %s: %q has no words", name, f.Name.Name, s)
				}
				return true
			})
		}
	}
	if count < 60 {
		t.Errorf("only %d sentences were found", count)
	}
}

func TestWorded(t *testing.T) {
	if err := language.Load("zh-Hans"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
	}()
	for s, want := range map[string]string{
		"must be a string or null, not an integer":                                                                             "必须是字符串或空值，不能是整数",
		"“a” is long: 3 characters.” is long: 7 characters.":                                                                   "“a” is long: 3 characters.”很长：7 个字符。",
		"“k” holds characters that are easily overlooked: zero width ×2, tab ×1.":                                              "",
		"This must have at least 3 characters, has 1.":                                                                         "这一项至少要有 3 个字符，现有 1。",
		"the arguments are not valid JSON at line 1, column 2: the text ends where a name in quotes should be":                 "参数不是有效的 JSON，第 1 行第 2 列：文字在这里结束，本应是带引号的名称",
		"this can no longer be allowed: the server s is not running":                                                           "现在不能再允许：服务器 s 没有运行",
		"the arguments do not fit the tool's input schema (/n: must be an integer, not a string; /b: is required but missing)": "参数不符合工具的输入模式（/n: 必须是整数，不能是字符串; /b: 必填，但缺失）",
		"Something else.": "Something else.",
		"The connection to http://127.0.0.1:9 broke before an answer came (it was reset). Try again.":                                                                 "与 http://127.0.0.1:9 的连接在回答到来之前断开了（连接被重置）。请再试一次。",
		"A call of f was not executed: The arguments were cut: they are not complete JSON. Nothing was run. Send the whole call again with one complete JSON object.": "对 f 的调用没有执行：参数被截断：不是完整的 JSON。没有执行任何操作，已请模型把整个调用重新发来。",
		"The program \"x\" cannot be run: /a/x is not marked executable; PATH searched: /a:/b.":                                                                       "无法运行程序 \"x\"：/a/x 没有可执行权限; 查找过的 PATH：/a:/b。",
		"The program ended before it was ready, with exit status 3.\nThe last that it wrote on standard error:\nThe end.":                                             "程序还没就绪就结束了，退出码 3。\n它最后写到标准错误的内容：\nThe end.",
		"The server https://x/mcp wants a sign-in: signing in was refused.":                                                                                           "服务器 https://x/mcp 要求登录：登录被拒绝。",
		"The program broke the connection off before it was ready: it closed its standard output.":                                                                    "程序还没就绪就断开了连接：关闭了标准输出。",
		`server "a: b": line 3: "x" is ignored: nothing runs here without your yes. Give a standing yes in the approval itself.`:                                      `服务器 "a: b"：第 3 行：已忽略 "x"：没有你的同意，这里什么都不会运行。要长期允许，请在批准时选择。`,
		`line 12: "args" must be a list of texts, but is text. Write one element per argument: "args": ["…", "…"]; it is never split at spaces.`:                      `第 12 行："args" 必须是一个文字列表，但这里是文字。请每个参数写一个元素："args": ["…", "…"]；不会按空格拆开。`,
		"line 1: something else: no": "第 1 行：something else: no",
		"The connection was lost before the answer came: the server's program ended (exit status 7); its last words: no: cheese.": "答复到来之前连接断开了：服务器程序结束了（exit status 7），最后写的是：no: cheese。",
	} {
		got := sentence.Lines(s)
		if want != "" && got != want {
			t.Errorf("%q reads %q, want %q", s, got, want)
		}
		if want == "" && (!strings.Contains(got, "零宽字符 ×2") || !strings.Contains(got, "制表符 ×1")) {
			t.Errorf("%q reads %q", s, got)
		}
	}
}

// What an endpoint has shown by a refusal is told in words of both languages, and so is the advice behind a refusal that
// is about tools.
func TestWhatEndpointsShowHasWords(t *testing.T) {
	source, err := os.ReadFile("../../llm/adapt.go")
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`"((?:The endpoint|The model) [^"]+\.)"`).FindAllSubmatch(source, -1)
	if len(told) < 20 {
		t.Fatalf("only %d sentences were found", len(told))
	}
	for _, m := range told {
		if !sentence.Known(string(m[1])) {
			t.Errorf("%q has no words", m[1])
		}
	}
	const answered = "https://x answered 400 Bad Request: Invalid schema. Really. "
	for advice, words := range map[string]string{
		"It refuses the tool a b of the server s. Disable this tool, or leave it out with --without 's/a b', and send again.": "It refuses the tool a b of the server s.",
		"Offer fewer tools, or leave some out with --without SERVER/TOOL.":                                                    "Choose fewer tools for this chat.",
		"It is cold.": "It is cold.",
	} {
		if got := sentence.Worded(answered + advice); got != answered+words {
			t.Errorf("%q", got)
		}
	}
}
