//go:build linux || darwin || freebsd || netbsd || dragonfly

package pack

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records/webdataset"
)

const (
	shardsChildDir   = "INFER_PREP_TEST_SHARDS"
	shardsChildNames = "INFER_PREP_TEST_SHARDS_NAME"
	shardsChildItems = 300
)

func shardsChildOptions(name string) Shards {
	return Shards{
		Count: 7, Shuffle: true, Seed: 5, OnError: SkipOnError, Workers: 2, Name: name, Index: strings.HasSuffix(name, ".tar"),
		Groups: []Group{{0, 2}, {2, 3}},
	}
}

// TestShardsChild is the process that TestShardsKilled starts.
func TestShardsChild(t *testing.T) {
	dir := os.Getenv(shardsChildDir)
	if dir == "" {
		return // only TestShardsKilled runs it
	}
	s := numbered(shardsChildItems)
	read := s.read
	s.read = func(ctx context.Context, i int) (*webdataset.Sample, error) {
		time.Sleep(50 * time.Microsecond)
		return read(ctx, i)
	}
	_, err := packShards(t.Context(), s, dir, shardsChildOptions(os.Getenv(shardsChildNames)))
	require.NoError(t, err)
}

// TestShardsKilled kills processes at random, one after another. The shards
// must be those of an undisturbed process.
func TestShardsKilled(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	child := func(dir, name string) *exec.Cmd {
		args := []string{exe, "-test.run=^TestShardsChild$"}
		if e := os.Getenv("EMULATOR"); e != "" { // the emulator that runs this program, see testdata/cross.sh
			args = append([]string{e}, args...)
		}
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Env = append(os.Environ(), shardsChildDir+"="+dir, shardsChildNames+"="+name)
		return c
	}
	const most = 20
	kills, whole := 0, 0
	for k, name := range []string{"data-%05d.tar", "data-%05d.tar.zst"} {
		want := t.TempDir()
		_, err := packShards(t.Context(), numbered(shardsChildItems), want, shardsChildOptions(name))
		require.NoError(t, err)
		files := shardFiles(t, want)

		dir := filepath.Join(t.TempDir(), "out")
		start := time.Now()
		require.NoError(t, child(dir, name).Run())
		long := time.Since(start)
		require.Equal(t, files, shardFiles(t, dir))

		// As many as the time allows, at least one.
		end := time.Now().Add(3 * time.Second)
		for begun := false; kills < most*(k+1)/2 && (!begun || time.Now().Before(end)); {
			dir := filepath.Join(t.TempDir(), "out")
			require.NoError(t, os.Mkdir(dir, 0o777))
			for done := false; !done; {
				c := child(dir, name)
				var out bytes.Buffer
				c.Stdout, c.Stderr = &out, &out
				require.NoError(t, c.Start())
				kill := kills < most*(k+1)/2
				if kill {
					time.Sleep(rand.N(long))
					require.NoError(t, c.Process.Kill())
					kills++
				}
				err := c.Wait()
				require.NotContains(t, out.String(), "--- FAIL")
				require.True(t, err == nil || kill, "%v: %s", err, &out)
				// The process may have been killed after the pack was finished.
				_, noJournal := os.Stat(filepath.Join(dir, name+".pack"))
				if done = err == nil || noJournal != nil && len(shardFiles(t, dir)) == len(files); done {
					whole++
				}
				for f, sum := range shardFiles(t, dir) {
					base := filepath.Base(f)
					if !strings.HasPrefix(base, ".") && base != name+".pack" {
						require.Equal(t, files[f], sum, "%s after %d kills", f, kills)
					}
				}
			}
			begun = true
			require.Equal(t, files, shardFiles(t, dir))
		}
	}
	t.Logf("%d kills, %d packs", kills, whole)
}
