package headless

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// A secret that Steward knows is neither on the screen nor on the disk, whoever writes it:
// the model in pieces, in its thoughts or in arguments, or the person. What is sent is
// what was written.
func TestAKnownSecretStaysOffScreenAndDisk(t *testing.T) {
	t.Parallel()
	const key = "Qm7-endpoint-key-31337"
	seen := filepath.Join(t.TempDir(), "seen")
	servers := serversFile(t, scripted("--record", seen))
	for _, form := range []string{"--events", ""} {
		m, flags := model(t,
			sm.Reply(sm.Reasoning("They gave me Qm7-end"), sm.Reasoning("point-key-31337, hm."), sm.Text("Bearer Qm7-"), sm.Text("endpoint-key-3133"), sm.Text("7 is yours. "),
				sm.CallDelta(0, "c", "s__echo", `{"text":"`+key+`"}`), sm.Finish("tool_calls"), sm.Done()),
			sm.Say("It is "+key))
		data := t.TempDir()
		args := with(flags, "ask", "Is "+key+" good?", "--api-key-env", "THE_KEY", "--consent", "allow", "--data", data, "--servers", servers)
		if form != "" {
			args = append(args, form)
		}
		cmd := prepared(t, args...)
		cmd.Env = append(cmd.Env, "THE_KEY="+key)
		r := finish(t, cmd).mustExit(t, 0)
		if all := r.out + r.errOut; strings.Contains(all, key) || strings.Contains(all, "31337") || !strings.Contains(r.out, "[secret:endpoint key] is yours.") && form == "" {
			t.Errorf("on the screen:\n%s\n%s", r.out, r.errOut)
		}
		if body := string(m.Requests()[0].Body); !strings.Contains(body, "Is "+key+" good?") {
			t.Errorf("the prompt was sent changed: %s", body)
		}
		err := filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if bytes.Contains(raw, []byte("31337")) {
				t.Errorf("the key stands in %s", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sent, err := os.ReadFile(seen)
		if err != nil || !bytes.Contains(sent, []byte(key)) {
			t.Errorf("the server did not get the arguments as the model wrote them (%v): %s", err, sent)
		}
	}
}
