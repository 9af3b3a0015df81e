//go:build !unix

package headless

import (
	"os"
	"syscall"
)

var (
	hardSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	endSignals  = hardSignals
	pipeSignal  os.Signal
)
