package headless

import (
	"strings"
	"testing"
)

// A page in the browser is waited for until the person says that it is done or the server does; then the server is asked
// again.
func TestAPageInTheBrowserIsWaitedFor(t *testing.T) {
	t.Parallel()
	const refusal = `tool:pay={"jsonrpc":"2.0","id":${id},"error":{"code":-32042,"message":"pay first","data":{"elicitations":[{"mode":"url","ID"url":"https://example.com/pay","message":"Pay for it"}]}}}`
	for name, id := range map[string]string{"without an id": "", "of which the server tells": `"elicitationId":"p1",`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := []string{"--step", strings.Replace(refusal, `"ID"`, id+`"`, 1)}
			if id != "" {
				steps = append(steps, "--step", "tool:pay=@sleep 1s", "--step", `tool:pay=@notify notifications/elicitation/complete {"elicitationId":"p1"}`)
			}
			d := talk(t, prepared(t, "call", "s", "pay", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, scripted(steps...))))
			d.waitFor("It wants you to open this address")
			d.waitFor(question)
			d.answer("c")
			d.waitFor("waits until you are done in the browser")
			d.waitFor(question)
			if id == "" {
				d.answer("y")
			}
			d.waitFor("It wants you to open this address") // the server was asked again
			d.waitFor(question)
			d.answer("n")
			d.end(1)
		})
	}
}
