package schema

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// maxChecked is how many schemas are remembered by [Check], some 100 bytes each.
const maxChecked = 8192

// checked is what Check has found, by the hash of the schema's text. It is no more than a memory: forgetting all of it
// costs time alone.
var checked = struct {
	sync.Mutex
	found map[[sha256.Size]byte]error
}{found: map[[sha256.Size]byte]error{}}

// Check says why a schema cannot be used, with the error that [Compile] would give; nil where it can. What was found
// for a text is remembered: lists of tools are read over and over, and are long, and compiling is most of the work.
func Check(raw json.RawMessage) error {
	key := sha256.Sum256(raw)
	checked.Lock()
	err, known := checked.found[key]
	checked.Unlock()
	if known {
		return err
	}
	_, err = Compile(raw)
	checked.Lock()
	defer checked.Unlock()
	if len(checked.found) >= maxChecked {
		clear(checked.found)
	}
	checked.found[key] = err
	return err
}
