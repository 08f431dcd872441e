package store

import (
	"os"
	"syscall"
)

// openFlags are those of opening a regular file. A named pipe that takes its
// place after the look at its type does not block.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
