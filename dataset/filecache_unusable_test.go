//go:build linux

package dataset_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/filelock"
)

// childFull is set in the child process that runs out of room.
const childFull = "INFER_PREP_TEST_CACHE_FULL"

// limitFiles bounds the size of the files that this process writes, as a full
// disk would.
func limitFiles(test *testing.T, bytes uint64) {
	var old syscall.Rlimit
	require.NoError(test, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	signal.Ignore(syscall.SIGXFSZ)
	require.NoError(test, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: old.Max}))
	test.Cleanup(func() {
		require.NoError(test, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		signal.Reset(syscall.SIGXFSZ)
	})
}

// TestFileCacheThatCannotBeUsed checks that a run goes on without its cache,
// with the right samples, and says so once.
func TestFileCacheThatCannotBeUsed(test *testing.T) {
	want := epochs(test, decoded(10, nil), dataset.Options{}, 2, 0)
	full := os.Getenv(childFull) != ""
	if !full { // "go test" writes a log, which a limit would break
		c := child(test, "", 0)
		c.Args[len(c.Args)-1] = "-test.run=^" + test.Name() + "$"
		c.Env = append(os.Environ(), childFull+"=1")
		out, err := c.CombinedOutput()
		require.NoError(test, err, "%s", out)
	}
	for name, c := range map[string]struct {
		make func(test *testing.T, file string) string
		want string
	}{
		"no room for the header": {func(test *testing.T, file string) string {
			limitFiles(test, 50)
			return file
		}, "not used: "},
		"no room for samples": {func(test *testing.T, file string) string {
			limitFiles(test, 1000)
			return file
		}, "no longer written: "},
		"read-only folder": {func(test *testing.T, file string) string {
			require.NoError(test, os.Chmod(filepath.Dir(file), 0o555))
			if os.Geteuid() == 0 { // whom only the kernel's folders refuse
				return "/sys/infer-prep-cache"
			}
			return file
		}, "not used: "},
		"read-only file": {func(test *testing.T, file string) string {
			require.NoError(test, os.WriteFile(file, nil, 0o444))
			if os.Geteuid() == 0 {
				return "/sys/kernel/notes"
			}
			return file
		}, "not used: "},
		"locked": {func(test *testing.T, file string) string {
			f, err := os.Create(file)
			require.NoError(test, err)
			test.Cleanup(func() { require.NoError(test, f.Close()) })
			require.NoError(test, filelock.Lock(f))
			return file
		}, "not used: in use by another process"},
	} {
		if full != strings.HasPrefix(name, "no room") {
			continue
		}
		for workers := range 2 {
			test.Run(name, func(test *testing.T) {
				file := c.make(test, filepath.Join(test.TempDir(), "cache"))
				if f, err := os.OpenFile(file, os.O_RDWR, 0); err == nil && file[:5] == "/sys/" {
					require.NoError(test, f.Close())
					test.Skip("the kernel lets root write there")
				}
				var warnings []error
				o := dataset.Options{OnWarning: func(err error) { warnings = append(warnings, err) }}
				start := time.Now()
				got := epochs(test, decoded(10, nil).FileCache(file, 1<<24), o, 2, 3*workers)
				require.Equal(test, want, got)
				require.Less(test, time.Since(start), 20*time.Second)
				require.Len(test, warnings, 1)
				var node *dataset.NodeError
				require.ErrorAs(test, warnings[0], &node)
				require.Equal(test, "file_cache", node.Path)
				require.ErrorContains(test, warnings[0], "cache "+file+": "+c.want)
				_, err := os.Stat(file + ".new")
				require.ErrorIs(test, err, os.ErrNotExist)
			})
		}
	}
}
