//go:build linux || darwin || freebsd || netbsd || dragonfly

package dataset_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestFileCacheOfSeveralProcesses checks that processes share a file, and write
// each sample once.
func TestFileCacheOfSeveralProcesses(test *testing.T) {
	dir := test.TempDir()
	r := &reads{make(chan int64, 1000)}
	alone := filepath.Join(dir, "alone")
	want := epochs(test, decoded(childRows, r).FileCache(alone, 1<<24), dataset.Options{}, 1, 0)
	file := filepath.Join(dir, "cache")
	var wait []func() error
	for range 4 {
		c := child(test, file, 500)
		require.NoError(test, c.Start())
		wait = append(wait, c.Wait)
	}
	for _, w := range wait {
		require.NoError(test, w())
	}
	r.count()
	require.Equal(test, want, epochs(test, decoded(childRows, r).FileCache(file, 1<<24), dataset.Options{}, 1, 0))
	require.Zero(test, r.count())
	a, err := os.Stat(alone)
	require.NoError(test, err)
	b, err := os.Stat(file)
	require.NoError(test, err)
	require.Equal(test, a.Size(), b.Size())
}

// TestFileCacheOfKilledProcesses kills processes at any time. Another process
// still gets correct samples.
func TestFileCacheOfKilledProcesses(test *testing.T) {
	file := filepath.Join(test.TempDir(), "cache")
	want := epochs(test, decoded(childRows, nil), dataset.Options{}, 1, 0)
	d := decoded(childRows, nil).FileCache(file, 1<<24)
	for i := range short.Rounds(test, 12, 3) {
		if i%4 == 0 {
			require.NoError(test, os.RemoveAll(file))
		}
		c := child(test, file, 300)
		require.NoError(test, c.Start())
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		if i%2 == 0 {
			require.NoError(test, c.Process.Kill())
		}
		b, err := dataset.Build(test.Context(), d.Take(childRows/3*int64(i%4)), dataset.Options{})
		require.NoError(test, err)
		p := pull(test, b, nil)
		require.Equal(test, want[0][:childRows/3*(i%4)], look(test, p, 1000))
		_ = c.Process.Kill() // fails if the process has ended
		_ = c.Wait()
		require.NoError(test, p.Close())
		require.NoError(test, b.Close())
	}
	require.Equal(test, want, epochs(test, d, dataset.Options{}, 1, 2))
}
