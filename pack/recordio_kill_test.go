//go:build unix

package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/recordio/imagerecord"
)

const killItems = 80

// killed returns the pack that the test kills.
func killed(root, dir string) *RecordIO {
	var items []imagerecord.Item
	for i := range killItems {
		items = append(items, imagerecord.Item{Index: uint64(i), Labels: []float32{float32(i)}, Path: fmt.Sprintf("%d.png", i)})
	}
	return small(root, items, dir)
}

// TestKilledProcess is the process that TestKilled starts. On its own it does
// nothing.
func TestKilledProcess(t *testing.T) {
	at := os.Getenv("PACK_KILL_AT")
	if at == "" {
		return
	}
	n, err := strconv.Atoi(at)
	require.NoError(t, err)
	p := killed(os.Getenv("PACK_KILL_ROOT"), os.Getenv("PACK_KILL_DIR"))
	point := func() {
		if n--; n == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	p.Progress = func(int, int) { point() }
	p.test = func(string) error { point(); return nil }
	_, err = p.Run(t.Context())
	require.NoError(t, err)
}

// TestKilled kills packs 50 times at random, or 8 times under -short, and runs
// them again until they end. The files must be those of an undisturbed
// pack. Two thirds of the kills happen at a chosen point, the others at a
// chosen time.
func TestKilled(t *testing.T) {
	kills := short.Rounds(t, 50, 8)
	args := []string{os.Args[0], "-test.run=^TestKilledProcess$"}
	if e := os.Getenv("EMULATOR"); e != "" { // the emulator that runs this program, see testdata/cross.sh
		args = append([]string{e}, args...)
	} else if err := exec.Command(args[0], "-test.run=^$").Run(); err != nil {
		t.Skipf("%s does not run from here (%v); if it is emulated, EMULATOR names the emulator", args[0], err)
	}
	root, _ := photos(t, killItems)
	dir := t.TempDir()
	start := time.Now()
	_, err := killed(root, dir).Run(t.Context())
	require.NoError(t, err)
	took := time.Since(start)
	want := contents(t, dir)

	r := rand.New(rand.NewPCG(50, 50))
	packs, runs := 0, 0
	for n := 0; n < kills; packs++ {
		dir := filepath.Join(t.TempDir(), "new")
		for {
			at, after := 1+r.IntN(60), time.Duration(0)
			if r.IntN(3) == 0 {
				at, after = 1<<30, 20*time.Millisecond+time.Duration(r.Int64N(int64(took)))
			}
			var out bytes.Buffer
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(os.Environ(), fmt.Sprint("PACK_KILL_AT=", at), "PACK_KILL_ROOT="+root, "PACK_KILL_DIR="+dir)
			cmd.Stdout, cmd.Stderr = &out, &out
			require.NoError(t, cmd.Start())
			if after > 0 {
				time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			}
			err := cmd.Wait()
			runs++
			if err == nil {
				break
			}
			require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%v: %s", err, out.String())
			n++
			if l, err := os.ReadDir(dir); err == nil && len(l) == len(want) && !exists(filepath.Join(dir, "p.rec.pack")) {
				break // killed after it had finished
			}
		}
		same(t, want, contents(t, dir), "pack %d, %d kills", packs, n)
	}
	t.Logf("%d packs in %d runs", packs, runs)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
