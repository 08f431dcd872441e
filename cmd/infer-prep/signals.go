//go:build !js

package main

import (
	"os"
	"syscall"
)

// ending are the signals that end a run tidily; ignored are those that do
// nothing: a reader that goes away is an error of the write, so that temporary
// files are removed.
var (
	ending  = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	ignored = []os.Signal{syscall.SIGPIPE}
)
