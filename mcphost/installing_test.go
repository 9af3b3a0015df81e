package mcphost

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimitOfAStart checks when a start ends: a program that is found to be installing when
// its limit has passed gets the longer one, once.
func TestLimitOfAStart(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			begun, asked := time.Now(), 0
			ctx, limit, cancel := extended(t.Context(), 30*time.Second, 180*time.Second, func() bool { asked++; return busy })
			defer cancel()
			want := 30 * time.Second
			if busy {
				want = 180 * time.Second
			}
			<-ctx.Done()
			if took := time.Since(begun); took != want || limit() != want || asked != 1 || !errors.Is(context.Cause(ctx), errStartLimit) {
				t.Errorf("busy %v: it ended after %s for %v, with the limit %s", busy, took, context.Cause(ctx), limit())
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, limit, cancel := extended(t.Context(), time.Second, time.Minute, func() bool { t.Error("asked"); return true })
		cancel()
		if <-ctx.Done(); limit() != time.Second {
			t.Errorf("the limit became %s", limit())
		}
	})
}

// TestWhoMayDownload checks which commands get the time that a download takes.
func TestWhoMayDownload(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"npx -y x": true, "/usr/bin/npx x": true, `C:\nodejs\npx.cmd x`: true, "uvx x": true, "uv run x": true, "uv --version": false,
		"npm exec x": true, "npm start": false, "docker run x": true, "node x.js": false, "python3 -m x": false, "go run ./x": true,
		"sh -c 'cd /x && exec npx -y server'": true, "/bin/bash -lc 'exec uvx server'": true, "cmd /c npx -y server": true, "env A=b npx server": true,
		"sh -c 'echo npx-not'": false, "sh -c 'exec node x.js'": false, "wsl bash -c 'npx server'": true, "server npx": false,
	} {
		name, rest, _ := strings.Cut(command, " ")
		if got := runner(name, strings.Fields(rest)); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	for line, want := range map[string]bool{
		"npm http fetch GET 200 https://x/y 31ms": true, "npm warn deprecated x": true, "Downloading numpy (20.1MiB)": true, "Installed 34 packages in 12ms": true,
		"Resolved 3 packages in 1s": true, "latest: Pulling from x/y": true, "   Compiling serde v1": true,
		"no such db": false, "listening on stdio": false, "": false, "npm ERR! 404": false, "Error: cannot find module": false,
	} {
		if installs.MatchString(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
