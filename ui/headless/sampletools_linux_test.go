package headless

import (
	"fmt"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// toolLoop makes a tool whose server lets the model use a tool of its own: asked first, then told the result.
func toolLoop(name string) []string {
	const tools = `"tools":[{"name":"weather","description":"Tells the weather.","inputSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}}],"maxTokens":50`
	step := func(s string) []string { return []string{"--step", "tool:" + name + "=" + s} }
	var out []string
	for _, s := range []string{
		`@ask sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"weather?"}}],` + tools + `}`,
		`@notify notifications/message {"level":"info","data":${answer}}`,
		`@ask sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"weather?"}},{"role":"assistant","content":{"type":"tool_use","id":"c1","name":"weather","input":{"z":"Bern","a":12345678901234567890}}},{"role":"user","content":{"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"sunny"}]}}],` + tools + `,"toolChoice":{"mode":"none"}}`,
		"@text ${answer}",
	} {
		out = append(out, step(s)...)
	}
	return out
}

// A server's tools reach the model with its request, the model's calls of them go back to the server, and the record
// says both.
func TestAServerRunsAToolLoopOnTheModel(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	m, flags := model(t,
		scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: "weather", ID: "c1", Arguments: []byte(`{"z":"Bern","a":12345678901234567890}`)}}},
		scriptedmodel.Say("It is sunny."))
	args := with(flags, "call", "s", "loop", "--consent", "allow", "--sampling", "allow", "--events", "--data", data, "--servers", serversFile(t, scripted(toolLoop("loop")...)))
	all := lines(t, steward(t, args...).mustExit(t, 0).out)
	if got := only(all, "sampling"); len(got) != 2 || got[0].str("action") != "sent" || got[1].str("action") != "sent" {
		t.Fatalf("sampling:\n%s", texts(all))
	}
	if r := one(t, all, "result"); !strings.Contains(r.text, "It is sunny.") || !strings.Contains(r.text, "endTurn") {
		t.Errorf("the server got %s", r.text)
	}
	reqs := m.Requests()
	if len(reqs) != 2 {
		t.Fatalf("%d requests to the model", len(reqs))
	}
	first, second := string(reqs[0].Body), string(reqs[1].Body)
	for _, want := range []string{`"tools":[{"type":"function"`, `Tells the weather.`, `"z":{"type":"string"},"a":{"type":"integer"}`} {
		if !strings.Contains(first, want) {
			t.Errorf("the model was not offered %s: %s", want, first)
		}
	}
	for _, want := range []string{`"tool_choice":"none"`, `"role":"tool","tool_call_id":"c1","content":"sunny"`, `12345678901234567890`} {
		if !strings.Contains(second, want) {
			t.Errorf("the model was not told %s: %s", want, second)
		}
	}
	found := array(t, steward(t, "journal", "list", "--json", "--kind", "sampling", "--data", data).mustExit(t, 0).out)
	show := steward(t, "journal", "show", fmt.Sprint(found[1].value["record"]), "--json", "--data", data).mustExit(t, 0).out
	for _, want := range []string{"weather", "Tells the weather.", `"calls":[{"id":"c1","name":"weather","input":{"z":"Bern","a":12345678901234567890}}]`, `"stopReason":"toolUse"`} {
		if !strings.Contains(show, want) {
			t.Errorf("the record lacks %s: %s", want, show)
		}
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}

// The person sees the tools before the model does, and the model's calls before the server does.
func TestToolsInARequestToTheModelAreShown(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: "weather", Arguments: []byte(`{"z":"Bern"}`)}}})
	d := talk(t, prepared(t, with(flags, "call", "s", "loop", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, scripted(toolLoop("loop")...)))...))
	card := d.waitFor(question)
	for _, want := range []string{"weather", "Tells the weather.", `"type":"integer"`, "without asking you"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q: %s", want, card)
		}
	}
	d.answer("y")
	d.waitFor(`weather {"z":"Bern"}`)
	d.waitFor(question)
	d.answer("n")
	d.waitFor("call of the tool weather") // the second request, with what became of the first
	d.waitFor(question)
	d.answer("n")
	d.end(0)
}

// A call of a tool that was not offered fails the request; the server gets an error and no invented call.
func TestAModelThatInventsATool(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: "delete_everything", Arguments: []byte(`{}`)}}}, scriptedmodel.Say("sorry"))
	args := with(flags, "call", "s", "loop", "--consent", "allow", "--sampling", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted(toolLoop("loop")...)))
	all := lines(t, steward(t, args...).mustExit(t, 0).out)
	if got := only(all, "sampling"); len(got) != 2 || got[0].str("action") != "failed" {
		t.Errorf("sampling:\n%s", texts(all))
	}
}
