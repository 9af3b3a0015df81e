package assets

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Of two texts with one key, one would be lost without anybody noticing.
func TestNoTextStandsTwice(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("translations/*/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	seen := map[string]string{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		d := json.NewDecoder(f)
		for n := 0; ; n++ {
			token, err := d.Token()
			if err != nil {
				break // the end; whether it is JSON others test
			}
			key, ok := token.(string)
			if !ok || n%2 == 0 { // {, then key and text in turn
				continue
			}
			id := filepath.Dir(file) + " " + key
			if before, twice := seen[id]; twice {
				t.Errorf("%s stands in %s and in %s", key, before, file)
			}
			seen[id] = file
		}
	}
	if len(seen) < 1000 {
		t.Errorf("only %d texts were seen", len(seen))
	}
}
