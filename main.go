// Steward is a host for MCP servers: it asks a model, shows exactly what a tool call
// would send before it is sent, and keeps a record that can be verified.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"steward/app"
	llmdemo "steward/llm/demo"
	mcpdemo "steward/mcphost/demo"
	"steward/ui/environment"
	"steward/ui/headless"
	"steward/ui/shell"
)

// version is set when a release is built (-ldflags "-X main.version=1.2.3").
var version = "0.1.0-dev"

// demoPrompt is what the terminal asks where there is no display to open the window on.
const demoPrompt = "Check the weekly report for 2025-03-17"

// commandGC is the garbage collector's percentage for a command in the terminal: its memory is small, and most of it
// was there before it began, so collecting more often costs nothing that can be measured, and a tenth of the peak.
const commandGC = 40

func main() {
	environment.Restore()
	os.Exit(run(os.Args[1:], headless.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func run(args []string, s headless.Streams) int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(s.Err, "steward: the path of this program cannot be found: %v\n", err)
		return 1
	}
	program := headless.Program{
		Version: version,
		Hooks: app.Hooks{
			Version:        version,
			StartDemoModel: startDemoModel,
			DemoServer:     []string{self, "demo-server"},
		},
		DemoServer:     mcpdemo.Stdio,
		DemoServerHTTP: mcpdemo.HTTP,
	}
	options, asked, err := headless.Window(args, program.Hooks)
	if err != nil {
		return headless.Complain(s.Err, err)
	}
	if asked {
		if err = shell.Run(options, s.Err, func(err error) { os.Exit(windowCode(err)) }); !errors.Is(err, shell.ErrNoDisplay) {
			return windowCode(err)
		}
		fmt.Fprintf(s.Err, "steward: %v; one question is asked here instead.\n", err)
		args = append([]string{"ask"}, append(args, demoPrompt)...)
	}
	debug.SetGCPercent(commandGC)
	environment.ForCommand()
	runtime.UnlockOSThread() // the toolkit ties the first goroutine to the main thread, which only the window needs
	return headless.Run(context.Background(), args, s, program)
}

// windowCode is the exit status after the window; what went wrong has been shown.
func windowCode(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func startDemoModel(ctx context.Context) (app.DemoModel, error) {
	// The model outlives the request that starts it; the App closes it.
	m, err := llmdemo.Serve(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	return m, nil
}
