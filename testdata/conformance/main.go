// Command conformance runs the protocol's own conformance suite for clients (npm, @modelcontextprotocol/conformance)
// against mcphost, and counts for itself: a scenario holds if at least one of its checks succeeded and none failed or
// warned. The suite's own summary is not enough, because it counts a scenario without any check as passed. So the
// same is done with a host that does nothing, and it must come to 0.
//
//	go run ./testdata/conformance            # from the top of the project; make conformance does it
//	go run ./testdata/conformance -results D # keeps what the suite wrote
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// limit is for everything together; it takes some seconds.
const limit = 5 * time.Minute

const npm = "testdata/npm/node_modules"

// A set of scenarios, and how many of them the locked version of the suite requires.
type set struct {
	name     string
	flags    []string
	required int
}

var sets = []set{
	{"2026-07-28", []string{"--requirements", "2026-07-28"}, 32},
	{"2025-11-25", []string{"--requirements", "2025-11-25"}, 18},
	{"backcompat", []string{"--suite", "backcompat"}, 2},
}

func main() {
	results := flag.String("results", "", "the `folder` to keep what the suite writes in; empty keeps nothing")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := run(ctx, *results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, results string) (err error) {
	work, err := os.MkdirTemp("", "steward-conformance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if results == "" {
		results = work
	}
	host, idle := filepath.Join(work, "host"), filepath.Join(work, "idle")
	for program, from := range map[string]string{host: "./testdata/conformance/host", idle: "./testdata/conformance/idle"} {
		build := exec.CommandContext(ctx, "go", "build", "-o", program, from)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not build: %w\n%s", from, err, out)
		}
	}
	s, err := findSuite()
	if err != nil {
		return err
	}
	var all []error
	for _, set := range sets {
		rows, err := s.run(ctx, set, host, filepath.Join(results, set.name))
		if err != nil {
			return err
		}
		all = append(all, report(set, rows))
	}
	all = append(all, control(ctx, s, idle, filepath.Join(results, "control")))
	return errors.Join(all...)
}

// report prints the table of a set and its count.
func report(s set, rows []row) error {
	fmt.Printf("\n%-44s %-8s %7s %7s %8s\n", s.name, "", "success", "failure", "warning")
	for _, r := range rows {
		fmt.Printf("%-44s %-8s %7d %7d %8d  %s\n", r.scenario, r.standing(), r.success, r.failure, r.warning, r.verdict())
		for _, p := range r.problems {
			if r.required { // what is extra are extensions that this host does not have, and says so by that one line
				fmt.Printf("    %s\n", p)
			}
		}
	}
	held, required := count(rows)
	fmt.Printf("%s: %d/%d\n", s.name, held, required)
	switch {
	case required != s.required:
		return fmt.Errorf("%s: the suite requires %d scenarios, where it should be %d", s.name, required, s.required)
	case held != required:
		return fmt.Errorf("%s: %d of %d required scenarios do not hold", s.name, required-held, required)
	}
	return nil
}

// control counts a host that does nothing.
func control(ctx context.Context, s suite, idle, results string) error {
	held, required := 0, 0
	for _, set := range sets {
		rows, err := s.run(ctx, set, idle, filepath.Join(results, set.name))
		if err != nil {
			return err
		}
		h, r := count(rows)
		held, required = held+h, required+r
	}
	fmt.Printf("\na host that does nothing: %d/%d\n", held, required)
	if held != 0 {
		return fmt.Errorf("%d scenarios hold for a host that does nothing, so the count is worth nothing", held)
	}
	return nil
}

// suite is the suite and the Node.js it runs on, as testdata/npm locks them.
type suite struct{ node, script, requirements, preload string }

func findSuite() (suite, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	s := suite{
		node:         filepath.Join(npm, "node-"+runtime.GOOS+"-"+arch, "bin/node"),
		script:       filepath.Join(npm, "@modelcontextprotocol/conformance/dist/index.js"),
		requirements: filepath.Join(npm, "@modelcontextprotocol/conformance/requirements"),
	}
	for _, file := range []string{s.node, s.script} {
		if _, err := os.Stat(file); err != nil {
			return suite{}, fmt.Errorf("the suite is not installed; make servers installs it, and this runs at the top of the project: %w", err)
		}
	}
	var err error
	s.preload, err = filepath.Abs("testdata/npm/loopback.mjs")
	return s, err
}

// run runs the scenarios of a set, side by side as the suite does it, and reads what they came to.
func (s suite) run(ctx context.Context, set set, command, results string) ([]row, error) {
	args := append([]string{"--import", s.preload, s.script, "client", "--command", command, "-o", results}, set.flags...)
	cmd := exec.CommandContext(ctx, s.node, args...)
	// Its output and its exit status follow its own way of counting. Where nothing ran at all they are shown.
	out, failed := cmd.CombinedOutput()
	rows, err := readResults(results)
	if err == nil && len(rows) == 0 {
		err = errors.New("no scenario has run")
	}
	if ctx.Err() != nil {
		err = errors.New("the suite did not end in time")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w (%v)\n%s", set.name, err, failed, out)
	}
	return s.require(set, rows)
}

// require marks the scenarios that the suite requires, and adds those that left no result.
func (s suite) require(set set, rows []row) ([]row, error) {
	required := make([]string, 0, set.required)
	if set.flags[0] == "--requirements" {
		list, err := os.ReadFile(filepath.Join(s.requirements, set.name+".yaml"))
		if err != nil {
			return nil, err
		}
		required = clientScenarios(string(list))
	} else {
		for _, r := range rows {
			required = append(required, r.scenario)
		}
	}
	for _, name := range required {
		i := slices.IndexFunc(rows, func(r row) bool { return r.scenario == name })
		if i < 0 {
			rows = append(rows, row{scenario: name, problems: []string{"it left no result"}})
			i = len(rows) - 1
		}
		rows[i].required = true
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.required != b.required {
			if a.required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.scenario, b.scenario)
	})
	return rows, nil
}
