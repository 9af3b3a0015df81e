package mcphost

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"steward/mcphost/internal/patience"
)

// startContext bounds a start: by the configuration's limit, or by the default. A program
// of which nobody could tell that it downloads what it runs, and that says so on standard
// error when the default has passed, is given as long as a package runner. limit returns
// the limit that holds.
func (c *Connection) startContext(ctx context.Context) (_ context.Context, limit func() time.Duration, cancel context.CancelFunc) {
	first := c.cfg.startTimeout()
	if c.cfg.StartTimeout > 0 || c.cfg.transport() != TransportStdio || first >= RunnerStartTimeout {
		ctx, cancel = patience.WithTimeoutCause(ctx, first, errStartLimit)
		return ctx, func() time.Duration { return first }, cancel
	}
	return extended(ctx, first, RunnerStartTimeout, func() bool {
		if !c.installing() {
			return false
		}
		c.note("state", "", "it seems to be installing what it runs, so it is given more time")
		return true
	})
}

// extended returns a context that ends with errStartLimit after first, or after longest
// where busy reports true when first has passed. Its goroutine ends with the context.
func extended(ctx context.Context, first, longest time.Duration, busy func() bool) (context.Context, func() time.Duration, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	var holds atomic.Int64
	holds.Store(int64(first))
	go func() {
		timer := time.NewTimer(first)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if busy() {
			holds.Store(int64(longest))
			timer.Reset(longest - first)
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		}
		end(errStartLimit)
	}()
	return ctx, func() time.Duration { return time.Duration(holds.Load()) }, func() { end(nil) }
}

// installs is what package runners and installers write while they work.
var installs = regexp.MustCompile(`(?i)\bnpm (http|warn|notice|info|verb)\b|\b(download|install|fetch|unpack|extract|compil|build)(ing|ed)\b|\b(resolved|prepared) \d+ packages?\b|\bpulling (from|fs layer)\b|\bpull complete\b`)

// installing reports whether the program that is being started seems to be downloading or
// building what it runs.
func (c *Connection) installing() bool {
	_, stderr := c.shown()
	return stderr != nil && installs.MatchString(lastLines(stderr(), 20))
}

// shells run a command line that stands among their arguments.
var shells = []string{"sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh", "env", "wsl", "nice", "sudo"}

// Downloads reports whether a command is a package runner, or runs one, which downloads what
// it runs the first time.
func Downloads(command string, args []string) bool { return runner(command, args) }

// runsRunner reports whether the command is a shell, or the like, that is to run a package
// runner, as in sh -c "npx -y server".
func runsRunner(command string, args []string) bool {
	if !slices.Contains(shells, programName(command)) {
		return false
	}
	words := strings.FieldsFunc(strings.Join(args, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`", r) })
	for i, word := range words {
		if !slices.Contains(shells, programName(word)) && runner(word, words[i+1:]) {
			return true
		}
	}
	return false
}

// programName is the name of a program without its folder and Windows' endings.
func programName(command string) string {
	name := strings.ToLower(filepath.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
