package assets

import (
	"os/exec"
	"strings"
	"testing"
)

// TestEveryLibraryIsNamedWithItsLicence: the licences of what is linked ask that their texts go with the program.
func TestEveryLibraryIsNamedWithItsLicence(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-e", "-tags", "migrated_fynedo", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "steward")
		list.Env = append(list.Environ(), "GOOS="+system, "CGO_ENABLED=1")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			module := strings.TrimSpace(line)
			if module == "" || seen[module] {
				continue
			}
			seen[module] = true
			if !strings.Contains(Licenses(), "\n"+module+"\n") {
				t.Errorf("%s: %s is part of the program and not in licenses.txt; run assets/licenses.py", system, module)
			}
		}
		if len(seen) < 20 {
			t.Errorf("%s: only %d libraries were found", system, len(seen))
		}
	}
}
