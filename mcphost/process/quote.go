package process

import (
	"path/filepath"
	"strings"
)

// isBatch reports whether Windows runs the file with cmd.exe. It drops dots and spaces
// at the end of a name, so "a.bat. " is one too.
func isBatch(path string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".cmd", ".bat":
		return true
	}
	return false
}

// batchCommandLine builds the command line that runs a batch file with cmd.exe so
// that every argument arrives as it is: spaces, & | < > ^ stand between quotes,
// where cmd.exe gives them no meaning; % is kept from naming a variable; delayed
// expansion (!) and AutoRun commands are off.
func batchCommandLine(path string, args []string) string {
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /s /c "`)
	quoteBatch(&b, path)
	for _, a := range args {
		b.WriteByte(' ')
		quoteBatch(&b, a)
	}
	b.WriteByte('"')
	return b.String()
}

// quoteBatch writes one argument. A quote inside is doubled, which both cmd.exe and
// the C runtime of the program behind the batch file read as one quote; backslashes
// before a quote are doubled for the latter. In "%%cd:~,%" cmd.exe sees an empty
// piece of the variable "cd" after a literal percent sign, so no name that follows
// can be taken for a variable. Line ends cannot be passed and become spaces.
func quoteBatch(b *strings.Builder, s string) {
	b.WriteByte('"')
	backslashes := 0
	for _, r := range s {
		switch r {
		case '\\':
			backslashes++
			b.WriteRune(r)
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes))
			b.WriteString(`""`)
		case '%':
			b.WriteString(`%%cd:~,%`)
		case '\r', '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		backslashes = 0
	}
	b.WriteString(strings.Repeat(`\`, backslashes))
	b.WriteByte('"')
}
