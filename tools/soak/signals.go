//go:build !js

package main

import (
	"os"
	"syscall"
)

// ending lists the signals that end soak cleanly.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
