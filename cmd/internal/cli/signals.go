//go:build !js

package cli

import (
	"os"
	"syscall"
)

// ending lists the signals that end a run cleanly, ignored those without
// effect. SIGPIPE is ignored so that a closed pipe becomes a write error, and
// the program removes its temporary files.
var (
	ending  = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	ignored = []os.Signal{syscall.SIGPIPE}
)
