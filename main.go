// Steward is a host for MCP servers: it asks a model, shows exactly what a tool call
// would send before it is sent, and keeps a record that can be verified.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"steward/app"
	llmdemo "steward/llm/demo"
	mcpdemo "steward/mcphost/demo"
	"steward/ui/headless"
)

// version is set when a release is built (-ldflags "-X main.version=1.2.3").
var version = "0.1.0-dev"

func main() {
	os.Exit(run(os.Args[1:], headless.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func run(args []string, s headless.Streams) int {
	if len(args) == 0 {
		return noWindow(s.Err)
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(s.Err, "steward: the path of this program cannot be found: %v\n", err)
		return 1
	}
	return headless.Run(context.Background(), args, s, headless.Program{
		Version: version,
		Hooks: app.Hooks{
			Version:        version,
			StartDemoModel: startDemoModel,
			DemoServer:     []string{self, "demo-server"},
		},
		DemoServer:     mcpdemo.Stdio,
		DemoServerHTTP: mcpdemo.HTTP,
	})
}

func startDemoModel(ctx context.Context) (app.DemoModel, error) {
	// The model outlives the request that starts it; the App closes it.
	m, err := llmdemo.Serve(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// noWindow says what this build can do instead of opening a window.
func noWindow(w io.Writer) int {
	fmt.Fprint(w, `This build of Steward has no window. Ask in the terminal instead, for example:

  steward ask "What is in the weekly report of 2025-03-17?"

It works at once and offline: without other settings, a demo model and a demo
server of its own are used. steward help shows every command.
`)
	return 2
}
