package main

import (
	"io"
	"math/rand/v2"
	"os"
)

// overwrite writes n random bytes over the middle of a file. It keeps the
// file's size.
func overwrite(name string, n int, seed int64) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	n = min(n, int(size))
	return writeNoise(f, (size-int64(n))/2, n, seed)
}

// writeNoise writes n random bytes at an offset.
func writeNoise(f *os.File, at int64, n int, seed int64) error {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	_, err := f.WriteAt(b, at)
	return err
}
