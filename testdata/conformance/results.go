package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// row is one scenario and what its checks came to.
type row struct {
	scenario                  string
	required                  bool
	success, failure, warning int
	problems                  []string
}

func (r row) holds() bool { return r.success > 0 && r.failure == 0 && r.warning == 0 }

func (r row) verdict() string {
	if r.holds() {
		return "ok"
	}
	return "NOT OK"
}

func (r row) standing() string {
	if r.required {
		return "required"
	}
	return "extra"
}

// count counts the required scenarios, and those of them that hold.
func count(rows []row) (held, required int) {
	for _, r := range rows {
		if !r.required {
			continue
		}
		required++
		if r.holds() {
			held++
		}
	}
	return held, required
}

// check is one entry of a scenario's checks.json. INFO and SKIPPED count for nothing.
type check struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	Status       string `json:"status"`
	ErrorMessage string `json:"errorMessage"`
}

// started is what the suite appends to the name of a scenario's folder: when it began.
var started = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$`)

// readResults reads the checks.json of every scenario below a folder.
func readResults(folder string) ([]row, error) {
	var rows []row
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "checks.json" {
			return err
		}
		name, err := filepath.Rel(folder, filepath.Dir(path))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r, err := judge(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.scenario = started.ReplaceAllString(filepath.ToSlash(name), "")
		if said := stderr(filepath.Dir(path)); !r.holds() && said != "" {
			r.problems = append(r.problems, "stderr: "+said)
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// judge counts the checks of one scenario.
func judge(text []byte) (row, error) {
	var checks []check
	if err := json.Unmarshal(text, &checks); err != nil {
		return row{}, err
	}
	var r row
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			r.success++
		case "FAILURE":
			r.failure++
		case "WARNING":
			r.warning++
		}
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			r.problems = append(r.problems, fmt.Sprintf("%s %s: %s %s", c.Status, c.Name, c.Description, c.ErrorMessage))
		}
	}
	return r, nil
}

// stderr is the last thing that the host of a scenario said.
func stderr(folder string) string {
	text, err := os.ReadFile(filepath.Join(folder, "stderr.txt"))
	if err != nil {
		return "" // it is there to help, and it may not have been written
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// clientScenarios reads the list "client" of one of the suite's files of requirements, which is flat.
func clientScenarios(yaml string) []string {
	var out []string
	inside := false
	for line := range strings.Lines(yaml) {
		line = strings.TrimRight(line, "\r\n")
		item, isItem := strings.CutPrefix(line, "  - ")
		switch {
		case line == "client:":
			inside = true
		case inside && isItem:
			out = append(out, strings.TrimSpace(item))
		case line != "" && line[0] != ' ' && line[0] != '#':
			inside = false
		}
	}
	return out
}
