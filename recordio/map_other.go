//go:build !unix || aix || solaris

package recordio

import "os"

func mapFile(*os.File, int64) []byte { return nil }

func unmapFile([]byte) error { return nil }
