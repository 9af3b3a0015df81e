//go:build unix

package headless

import (
	"os"
	"syscall"
)

var (
	hardSignals           = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	endSignals            = append([]os.Signal{syscall.SIGPIPE}, hardSignals...)
	pipeSignal  os.Signal = syscall.SIGPIPE
)
