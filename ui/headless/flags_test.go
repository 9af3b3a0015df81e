package headless

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlagsStandBeforeOrAfterTheOtherWords(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"ask", "--data", "d", "--root", "a", "--root=b", "--events", "--tool-timeout", "5", "--max-rounds", "3", "hello"},
		{"ask", "hello", "--data", "d", "--root", "a", "--root", "b", "--events", "--tool-timeout=5s", "--max-rounds", "3"},
		{"--data", "d", "ask", "--root", "a", "hello", "-root", "b", "-events", "--tool-timeout", "5s", "--max-rounds=3"},
	} {
		c, err := parse(args)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if c.name != "ask" || !slices.Equal(c.args, []string{"hello"}) || c.data != "d" || !slices.Equal(c.roots, []string{"a", "b"}) ||
			!c.events || c.toolTimeout != 5*time.Second || c.maxRounds != 3 {
			t.Errorf("%v gave %+v", args, c)
		}
	}
}

func TestWordsThatLookLikeFlags(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"ask", "--events", "--", "--what does this flag do?"})
	if err != nil || !slices.Equal(c.args, []string{"--what does this flag do?"}) || !c.events {
		t.Errorf("after --: %+v, %v", c, err)
	}
	if c, err = parse([]string{"ask", "-", "--events"}); err != nil || !slices.Equal(c.args, []string{"-"}) || !c.events {
		t.Errorf("a single hyphen: %+v, %v", c, err)
	}
}

func TestWrongUsageIsASentence(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args string
		says string
	}{
		{"", "no command given"},
		{"frobnicate", `no command "frobnicate"`},
		{"ask", "the prompt is missing"},
		{"ask one two", "put the prompt in quotes"},
		{"ask hi --nonsense", "ask has no flag --nonsense"},
		{"--nonsense ask hi", "there is no flag --nonsense"},
		{"ask hi --data", "--data needs a value"},
		{"ask hi --events=maybe", "--events takes no value"},
		{"ask hi --max-rounds many", "--max-rounds is \"many\", but a whole number is needed"},
		{"servers list --secret x", "--secret needs"},
		{"servers review s --revoke-grants", "servers trust SERVER"},
		{"journal list --acknowledge", "journal verify"},
		{"journal verify --acknowledge --export f", "one at a time"},
		{"ask hi --consent maybe", "must be one of ask, allow, deny"},
		{"ask hi --elicit allow", "must be one of ask, defaults, decline, cancel"},
		{"ask hi --sampling defaults", "must be one of ask, allow, deny"},
		{"ask hi --tool-timeout 0s", "must be longer than nothing"},
		{"ask hi --tool-timeout soon", "--tool-timeout is \"soon\", but a time is needed, such as 90s"},
		{"ask hi --max-rounds 0", "at least 1"},
		{"ask hi --base-url http://127.0.0.1:1/v1", "needs --model"},
		{"ask hi --json", "--events prints JSON lines"},
		{"ask hi --data=", "--data is empty"},
		{"call", "the server and the tool are missing"},
		{"call server", "the tool is missing"},
		{"servers", "needs one of list, review, trust"},
		{"servers drop", "needs one of list, review, trust"},
		{"servers review", "the server's name is missing"},
		{"servers list x", "one word too many"},
		{"journal", "needs one of list, show, verify, export"},
		{"journal show", "the record's number is missing"},
		{"journal export --format xml", "must be one of jsonl, csv, html"},
		{"journal list --limit 0", "at least 1"},
		{"journal list --kind nonsense", "must be one of call, elicitation,"},
		{"journal export --outcome nonsense", "must be one of ok, tool_error,"},
		{"tools --kind call", "kind"},
		{"call s t --attach f", "does nothing with --attach"},
		{"journal verify --search x", "does nothing with --search"},
		{"journal show 1 --limit 2", "does nothing with --limit"},
		{"journal list --format csv", "that is for journal export"},
		{"journal list --events", "does nothing with --events"},
		{"servers review s --json", "does nothing with --json"},
		{"version --events", "does nothing with --events"},
		{"doctor a b", "one word too many"},
		{"version now", "one word too many"},
	} {
		_, err := parse(strings.Fields(tc.args))
		var usage *usageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: %v is no usage error", tc.args, err)
			continue
		}
		if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%q: %q does not say %q", tc.args, err, tc.says)
		}
	}
}

func TestTimesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"2026-11-30", "2026-11-30T14:00:00Z", "2026-11-30 14:00", "2h"} {
		if v, err := parseTime("since", s); err != nil || v.IsZero() {
			t.Errorf("%q: %v, %v", s, v, err)
		}
	}
	if _, err := parseTime("since", "yesterday"); err == nil {
		t.Error("nonsense was accepted as a time")
	}
}

// What describes a run may be given to every command.
func TestFlagsOfARunAreTakenEverywhere(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"ask hi", "call s t", "tools", "prompts", "resources", "servers list", "servers review s", "journal list", "journal verify", "doctor"} {
		args := command + " --data d --servers f --base-url http://127.0.0.1:1/v1 --model m --api-key-env K --consent deny --elicit decline --sampling deny --root r --tool-timeout 2s --max-rounds 3"
		if _, err := parse(strings.Fields(args)); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}
