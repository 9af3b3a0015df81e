package headless

import (
	"strconv"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// A result that is too long for the model and for its record is kept by its conversation, and is shown with the record.
func TestAHugeResultIsShownWholeWithItsRecord(t *testing.T) {
	t.Parallel()
	m, flags := model(t, scriptedmodel.CallTool("huge", `{}`), scriptedmodel.Say("ok"))
	data := t.TempDir()
	steward(t, with(flags, "ask", "go", "--consent", "allow", "--data", data, "--servers", serversFile(t, scripted("--step", "tool:huge=@big 3000000")))...).mustExit(t, 0)
	if n := len(m.Requests()[1].Body); n > 200_000 {
		t.Errorf("the second request has %d bytes", n)
	}
	number := strconv.FormatInt(int64(lastCall(t, data).value["record"].(float64)), 10)
	shown := object(t, steward(t, "journal", "show", number, "--json", "--data", data).mustExit(t, 0).out)
	if got := shown.str("result_text"); got != strings.Repeat("b", 3_000_000) || shown.value["result_cut"] != true {
		t.Errorf("%d bytes are shown", len(got))
	}
	if out := steward(t, "journal", "show", number, "--data", data).mustExit(t, 0).out; !strings.Contains(out, "The whole result, as its chat keeps it (3000000 bytes)\n"+strings.Repeat("b", 3_000_000)+"\n") {
		t.Errorf("%d bytes are printed", len(out))
	}
}
