//go:build !unix

package headless

import (
	"os"
	"syscall"
)

var (
	endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	pipeSignal os.Signal
)
