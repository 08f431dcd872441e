//go:build !(linux || darwin || freebsd || netbsd || dragonfly)

package dataset

import (
	"encoding/binary"
)

// Systems on which one process at a time uses a file, and reads what it wants.

// sharedFiles says that several processes may use a file.
const sharedFiles = false

func littleWord(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
