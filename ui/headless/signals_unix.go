//go:build unix

package headless

import (
	"os"
	"syscall"
)

var (
	endSignals           = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}
	pipeSignal os.Signal = syscall.SIGPIPE
)
