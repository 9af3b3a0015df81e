package config

import (
	"fmt"
	"strings"
	"testing"
)

// A size is read in any usual writing, and written back as it is read.
func TestSizeOfMessages(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]struct {
		size int
		said string
	}{
		"1048576":     {1 << 20, ""},
		`"65536"`:     {64 << 10, ""},
		`"64KiB"`:     {64 << 10, ""},
		`"1.5 mib"`:   {3 << 19, ""},
		`"100 MB"`:    {100_000_000, ""},
		`"1G"`:        {1 << 30, ""},
		`64`:          {0, "64KiB to 1GiB"},
		`"2GiB"`:      {0, "64KiB to 1GiB"},
		`-1`:          {0, "64KiB to 1GiB"},
		`"much"`:      {-1, "must be a size"},
		`"NaN"`:       {-1, "must be a size"},
		`true`:        {-1, "must be a size"},
		`{"mib":128}`: {-1, "must be a size"},
	} {
		servers, problems, err := ParseServers("f", fmt.Appendf(nil, `{"mcpServers":{"s":{"command":"x","maxMessage":%s}}}`, written))
		if err != nil {
			t.Fatal(err)
		}
		if usable := len(servers) == 1; usable != (want.size >= 0) || usable && servers[0].MaxMessage != want.size {
			t.Errorf("%s: %+v", written, servers)
		}
		if said := fmt.Sprint(problems); (want.said == "") != (len(problems) == 0) || !strings.Contains(said, want.said) {
			t.Errorf("%s: %s", written, said)
		}
		if want.size > 0 && int(parseSize(sizeText(want.size))) != want.size {
			t.Errorf("%d is written as %s", want.size, sizeText(want.size))
		}
	}
}
