//go:build !unix || aix || solaris

package mapfile

import "os"

// Map maps nothing on this system.
func Map(*os.File, int64) []byte { return nil }

// Unmap has nothing to let go of.
func Unmap([]byte) error { return nil }
