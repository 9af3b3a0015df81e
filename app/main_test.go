package app

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	mcpdemo "steward/mcphost/demo"
	"steward/testdata/scriptedserver"
)

// asServer makes the test binary, started again with this variable, a server: the
// scripted one, or the demo where the value says so.
const asServer = "STEWARD_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
		goleak.VerifyTestMain(m)
	case "demo":
		if err := mcpdemo.Stdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(scriptedserver.Main(os.Args[1:]))
	}
}
