//go:build !(linux || darwin || freebsd || netbsd || dragonfly)

package filecache

import "encoding/binary"

// shared reports whether several processes may use a file. Here one process at
// a time uses a file, and reads it without a mapping.
const shared = false

func loadWord(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
