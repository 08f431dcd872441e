//go:build !unix || aix || solaris

package mapfile

import "os"

// Map returns nil: this system has no support.
func Map(*os.File, int64) []byte { return nil }

// Unmap does nothing.
func Unmap([]byte) error { return nil }
