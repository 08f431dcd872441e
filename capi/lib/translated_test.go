//go:build cgo

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/importer/preset"
)

// handWritten are the files of the library in plain C that are not generated.
var handWritten = []string{"host.c", "shim.c", "wasi.c", "memory.c", "wasm-rt-impl.c"}

// link compiles the hand-written files and check.c, links them with the
// compiled rest of the library in plain C, and returns the program.
func link(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	if translated == "" {
		t.Skip("make capi-c-test runs it")
	}
	to := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-g", "-I", translated + "/include", "-I", translated + "/src", "../testdata/check.c"}, flags...)
	for _, f := range handWritten {
		args = append(args, filepath.Join(translated, "src", f))
	}
	objects, err := filepath.Glob(translated + "/build/ip_*.o")
	require.NoError(t, err)
	require.NotEmpty(t, objects)
	out, err := exec.Command(compiler, append(append(args, objects...), "-lm", "-lpthread", "-o", to)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return to
}

// TestTranslatedSanitizers runs the hand-written C under the address and
// undefined behaviour sanitizers.
func TestTranslatedSanitizers(t *testing.T) {
	p := link(t, "gcc", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	gray := root + "testdata/images/jpeg_gray.jpg"
	runProgram(t, p, "api", large)
	runProgram(t, p, "batch", large)
	runProgram(t, p, "garbage", gray, "2000")
	runProgram(t, p, "forks", tiny(t), gray)
	runProgram(t, p, "closing", tiny(t), gray)
	videos(t, p)
}

// videos runs the modes of check.c of videos.
func videos(t *testing.T, program string) {
	t.Helper()
	runProgram(t, program, append([]string{"videoerrors"}, smallFrames(3)...)...)
	runProgram(t, program, append([]string{"videothreads", videoConfig(t, "VideoMAEVideoProcessor")}, smallFrames(3)...)...)
	for _, class := range []string{"VideoMAEVideoProcessor", "Qwen3VLVideoProcessor", "PeVideoVideoProcessor"} {
		runProgram(t, program, append([]string{"video", videoConfig(t, class), "24"}, smallFrames(12)...)...)
	}
}

// TestTranslatedExhausted ends instances for lack of memory.
func TestTranslatedExhausted(t *testing.T) {
	for _, flags := range [][]string{{"-O1"}, {"-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"}} {
		p := link(t, "gcc", flags...)
		runProgram(t, p, "exhausted", square(t, 4000), square(t, 40000), tiny(t), root+"testdata/images/jpeg_gray.jpg")
	}
}

// TestTranslatedRaces runs the hand-written C under the thread sanitizer.
func TestTranslatedRaces(t *testing.T) {
	p := link(t, "gcc", "-O1", "-fsanitize=thread")
	gray := root + "testdata/images/jpeg_gray.jpg"
	runProgram(t, p, "batch", large)
	runProgram(t, p, "closing", tiny(t), gray)
	videos(t, p)
}

// TestTranslatedMusl runs a static program with musl.
func TestTranslatedMusl(t *testing.T) {
	if missing("musl-gcc") {
		t.Skip("musl-gcc is missing (Debian: musl-tools)")
	}
	p := link(t, "musl-gcc", "-O1", "-static")
	gray := root + "testdata/images/jpeg_gray.jpg"
	for _, mode := range []string{"api", "batch"} {
		runProgram(t, p, mode, large)
	}
	runProgram(t, p, "forks", tiny(t), gray)
	videos(t, p)
	for _, name := range preset.Names() {
		args := []string{"digest", "preset", name, large, root + "testdata/images/png_rgba8.png"}
		require.Equal(t, check(t, args...), runProgram(t, p, args...), name)
	}
}

// TestTranslatedReadme runs the package's README, whose library is built.
func TestTranslatedReadme(t *testing.T) {
	if translated == "" {
		t.Skip("make capi-c-test runs it")
	}
	blocks := blocksOf(t, translated+"/README.md")
	require.LessOrEqual(t, strings.Count(blocks["c"][0], "\n"), 15)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prep.c"), []byte(blocks["c"][0]), 0o600))
	for _, name := range []string{"include", "lib"} {
		require.NoError(t, os.Symlink(filepath.Join(translated, name), filepath.Join(dir, name)))
	}
	photo, err := filepath.Abs(large)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(photo, filepath.Join(dir, "photo.jpg")))
	make, rest, _ := strings.Cut(blocks["sh"][0], "\n")
	require.Contains(t, make, "make -j2")
	c := exec.Command("bash", "-euc", rest)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "-1.05617 -0.884922 -0.6623\n", string(out))
}

// TestTranslatedSpeed measures a run and the first run of a process beside Go.
func TestTranslatedSpeed(t *testing.T) {
	if translated == "" {
		t.Skip("make capi-c-test measures")
	}
	program, name, size, inGo := besideGo(t)
	own := inGo(300)
	var version, call, run, lent float64
	_, err := fmt.Sscan(runProgram(t, program, "bench", name, "100"), &version, &call, &run, &lent)
	require.NoError(t, err)
	first := math.Inf(1)
	for range 20 {
		start := time.Now()
		runProgram(t, program, "digest", "preset", "imagenet", name)
		first = min(first, float64(time.Since(start)))
	}
	t.Logf("ip_graph_count %.1f ns; a run of %d bytes of JPEG: ip_run_into %.2f ms, ip_run %.2f ms, Go %.2f ms: %.1f times; a process that runs thrice %.1f ms", call, size, run/1e6, lent/1e6, own/1e6, run/own, first/1e6)
	require.Less(t, run, 10*own)
	require.Less(t, call, 200.0)
}
