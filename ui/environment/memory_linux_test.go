package environment

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Only what is the file's own, unchanged and read-only is given back: code and constants, but not what the loader has
// filled in, and nothing of other files.
func TestWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	part := func(addresses, rights, anonymous, file string) string {
		return addresses + " " + rights + " 00001000 08:01 77   " + file + "\nSize:      4 kB\nAnonymous:  " + anonymous + " kB\nVmFlags: rd mr\n"
	}
	smaps := part("00400000-00500000", "r-xp", "0", "/opt/a b/steward") + part("00500000-00600000", "r--p", "0", "/opt/a b/steward") +
		part("00600000-00601000", "r--p", "4", "/opt/a b/steward") + part("00601000-00700000", "rw-p", "0", "/opt/a b/steward") +
		part("7f0000000000-7f0000001000", "r-xp", "0", "/lib/libc.so.6") + part("7f0000002000-7f0000003000", "r--p", "0", "/opt/a b/steward")
	want := []span{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if got := unchanged(strings.NewReader(smaps), "/opt/a b/steward"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := unchanged(strings.NewReader(smaps), "/opt/other"); got != nil {
		t.Errorf("%x of a file that is not mapped", got)
	}
}

func TestAProgramLivesOnWithoutItsCodeInMemory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer maps.Close()
	if len(unchanged(maps, self)) == 0 {
		t.Error("nothing of this program can be given back")
	}
	forMemory()
	if len(strings.Repeat("x", 1<<16)) != 1<<16 {
		t.Error("it does not calculate any more")
	}
}
