//go:build !linux

package store

import "os"

// openFlags are those of opening a regular file.
const openFlags = os.O_RDONLY
