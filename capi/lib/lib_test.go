//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

const (
	root  = "../../"
	large = root + "testdata/images/jpeg_large.jpg"
)

// built is the folder of the library, which the first test builds.
var built struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// whole reports whether make capi-test runs the tests, which then take minutes
// and measure times.
func whole() bool { return os.Getenv("INFER_PREP_CAPI") == "1" }

// translated is the folder of a library that make capi-c-test has built from
// the C of capi/wasm2c. The tests then are of that.
var translated = os.Getenv("INFER_PREP_CAPI_C")

// builds skips a test of what capi/build.sh builds.
func builds(t *testing.T) {
	if translated != "" {
		t.Skip("the test is of capi/build.sh")
	}
}

// library returns a folder with include and lib. It skips the test if there is
// no C compiler, or if make capi-test runs it later.
func library(t *testing.T) string {
	t.Helper()
	if translated != "" {
		return translated
	}
	if runtime.GOOS != "linux" {
		t.Skip("the programs of the test are for Linux")
	}
	if os.Getenv("INFER_PREP_CAPI") == "later" { // by .ci/run
		t.Skip("make capi-test runs the test")
	}
	for _, c := range []string{"gcc", "g++"} {
		if _, err := exec.LookPath(c); err != nil {
			t.Skip("no compiler: ", err)
		}
	}
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "capi"); built.err != nil {
			return
		}
		if out, err := exec.Command("../build.sh", built.dir).CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build.sh: %w: %s", err, out)
		}
	})
	require.NoError(t, built.err)
	return built.dir
}

// compile compiles a file against the shared library and returns the program.
func compile(t *testing.T, compiler, file string, flags ...string) string {
	t.Helper()
	dir := library(t)
	to := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-g", "-I", dir + "/include", file, "-o", to}, flags...)
	args = append(args, "-L", dir+"/lib", "-linfer_prep", "-lpthread", "-Wl,-rpath,"+dir+"/lib")
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return to
}

// check runs a mode of check.c and returns what it prints.
func check(t *testing.T, args ...string) string {
	t.Helper()
	return runProgram(t, compile(t, "gcc", "../testdata/check.c", "-std=c99"), args...)
}

func runProgram(t *testing.T, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, "%s: %s", strings.Join(args, " "), stderr.String())
	return string(out)
}

// declared returns the names of the header's functions, sorted. Each has a
// comment that begins with it.
func declared(t *testing.T) []string {
	header, err := os.ReadFile("../infer_prep.h")
	require.NoError(t, err)
	var l []string
	for _, m := range regexp.MustCompile(`(?m)^IP_API [^(]*?(\w+)\(`).FindAllSubmatch(header, -1) {
		l = append(l, string(m[1]))
		require.Contains(t, string(header), "/* "+l[len(l)-1]+" ", "no comment that begins with the name")
	}
	require.Greater(t, len(l), 15)
	slices.Sort(l)
	return l
}

// TestExports compares the header with the functions that the library exports.
func TestExports(t *testing.T) {
	dir := library(t)
	var got []string
	out, err := exec.Command("nm", "-D", "--defined-only", filepath.Join(dir, "lib/libinfer_prep.so")).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		got = append(got, strings.Fields(line)[2])
	}
	slices.Sort(got)
	require.Equal(t, declared(t), got)
}

// TestNumbers compares the header's numbers with the library's.
func TestNumbers(t *testing.T) {
	header, err := os.ReadFile("../infer_prep.h")
	require.NoError(t, err)
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:#define|\t)\s*IP_(\w+) (?:= )?\(?(-?\d+)\)?,?(?:\s|$)`).FindAllStringSubmatch(string(header), -1) {
		values[m[1]] = m[2]
	}
	want := map[string]int{
		"MAX_RANK": tensor.MaxRank, "UNKNOWN": tensor.Unknown, "NO_LAYOUT": int(tensor.NoLayout), "HWC": int(tensor.HWC), "CHW": int(tensor.CHW),
		"STACK": int(datagraph.BatchStack), "PAD": int(datagraph.BatchPad), "CONCAT": int(datagraph.BatchConcat), "SINGLE": int(datagraph.BatchSingle),
	}
	for d := tensor.Uint8; d <= tensor.Bytes; d++ {
		want[strings.ToUpper(d.String())] = int(d)
	}
	for name, n := range want {
		require.Equal(t, fmt.Sprint(n), values[name], name)
	}
}

func TestAPI(t *testing.T) { check(t, "api", large) }

// TestFork uses the library in a fork: it refuses calls. The one in plain C has
// no threads that the fork would lack: it works.
func TestFork(t *testing.T) {
	if translated != "" {
		check(t, "forks", tiny(t), root+"testdata/images/jpeg_gray.jpg")
		return
	}
	check(t, "fork", large)
}

func TestBatch(t *testing.T) { check(t, "batch", large) }

func TestCycles(t *testing.T) {
	t.Log(check(t, "cycles", "preset:clip", root+"testdata/images/jpeg_gray.jpg", fmt.Sprint(short.Rounds(t, 1000, 100))))
}

// TestGarbage passes random numbers, under the sanitizers too.
func TestGarbage(t *testing.T) {
	n := fmt.Sprint(short.Rounds(t, 100_000, 2000))
	t.Log(check(t, "garbage", root+"testdata/images/jpeg_gray.jpg", n))
	p := compile(t, "gcc", "../testdata/check.c", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	runProgram(t, p, "garbage", root+"testdata/images/jpeg_gray.jpg", "2000")
}

// TestClosing closes graphs that other threads use.
func TestClosing(t *testing.T) { check(t, "closing", tiny(t), root+"testdata/images/jpeg_gray.jpg") }

// TestSanitizers runs the functions under the address and undefined behaviour
// sanitizers, which watch the program and its calls of malloc, not Go's memory.
func TestSanitizers(t *testing.T) {
	p := compile(t, "gcc", "../testdata/check.c", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	runProgram(t, p, "api", large)
	runProgram(t, p, "batch", large)
	videos(t, p)
	if translated == "" {
		runProgram(t, p, "fork", large)
		// The sanitizer keeps freed memory, which results in plain C have.
		runProgram(t, p, "cycles", "preset:clip", root+"testdata/images/jpeg_gray.jpg", "50")
	}
}

func missing(tool string) bool {
	_, err := exec.LookPath(tool)
	return err != nil
}

// TestArm64 runs the library for arm64 in qemu. Its outputs have x86's bytes.
func TestArm64(t *testing.T) {
	builds(t)
	if !whole() {
		t.Skip("make capi-test runs it")
	}
	for _, tool := range []string{"aarch64-linux-gnu-gcc", "qemu-aarch64-static"} {
		if missing(tool) {
			t.Skipf("%s is missing (Debian: gcc-aarch64-linux-gnu, qemu-user-static)", tool)
		}
	}
	dir := t.TempDir()
	c := exec.Command("../build.sh", dir)
	c.Env = append(os.Environ(), "GOARCH=arm64", "CC=aarch64-linux-gnu-gcc")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	p := filepath.Join(dir, "program")
	out, err = exec.Command("aarch64-linux-gnu-gcc", "-std=c99", "-O2", "-I", dir+"/include", "../testdata/check.c", "-o", p, "-L", dir+"/lib", "-linfer_prep", "-lpthread").CombinedOutput()
	require.NoError(t, err, string(out))
	qemu := []string{"-L", "/usr/aarch64-linux-gnu", "-E", "LD_LIBRARY_PATH=" + dir + "/lib", p}
	for _, mode := range []string{"api", "batch", "fork"} {
		runProgram(t, "qemu-aarch64-static", append(qemu, mode, large)...)
	}
	for _, name := range preset.Names() {
		args := []string{"digest", "preset", name, large, root + "testdata/images/png_rgba8.png"}
		require.Equal(t, check(t, args...), runProgram(t, "qemu-aarch64-static", append(qemu, args...)...), name)
	}
}

// TestMusl runs the functions in a static program with musl.
func TestMusl(t *testing.T) {
	builds(t)
	cc := os.Getenv("INFER_PREP_MUSL_CC")
	if cc == "" {
		t.Skip("INFER_PREP_MUSL_CC is not set: want a C compiler for musl, such as a script of zig cc -target x86_64-linux-musl")
	}
	dir := t.TempDir()
	c := exec.Command("../build.sh", "--musl", dir)
	c.Env = append(os.Environ(), "CC="+cc)
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	p := filepath.Join(dir, "program")
	out, err = exec.Command(cc, "-static", "-std=c99", "-O2", "-I", dir+"/include", "../testdata/check.c", dir+"/lib/libinfer_prep.a", "-o", p).CombinedOutput()
	require.NoError(t, err, string(out))
	gray := root + "testdata/images/jpeg_gray.jpg"
	for _, mode := range []string{"api", "batch", "fork"} {
		runProgram(t, p, mode, large)
	}
	t.Log(runProgram(t, p, "threads", tiny(t), gray, "20000"))
	t.Log(runProgram(t, p, "cycles", "preset:clip", gray, "200"))
	for _, name := range preset.Names() {
		args := []string{"digest", "preset", name, large, root + "testdata/images/png_rgba8.png"}
		require.Equal(t, check(t, args...), runProgram(t, p, args...), name)
	}
}

// TestTranslation translates the library to C, whole and small, and compiles
// the files that are not generated with all warnings. Make capi-c-test compiles
// and runs the whole one. The folder has the licence of each Go module.
func TestTranslation(t *testing.T) {
	builds(t)
	if !whole() {
		t.Skip("make capi-test runs it")
	}
	library(t)
	for _, build := range [][]string{nil, {"--small"}} {
		dir := t.TempDir()
		out, err := exec.Command("../wasm2c/build.sh", append(build, dir)...).CombinedOutput()
		require.NoError(t, err, string(out))
		for _, f := range handWritten[:4] {
			for _, flag := range []string{"-O1", "-DIP_BOUNDS_CHECK", "-DIP_NO_THREADS"} {
				out, err := exec.Command("gcc", "-Wall", "-Wextra", "-Werror", "-isystem", dir+"/src", "-I", dir+"/include", flag, "-c", filepath.Join(dir, "src", f), "-o", filepath.Join(dir, "object.o")).CombinedOutput()
				require.NoError(t, err, "%s %s: %s", f, flag, out)
			}
		}
		licences(t, dir+"/licences", build)
	}
}

// licences compares a folder of licences with those of the modules of the
// program that is translated.
func licences(t *testing.T, dir string, build []string) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}"}
	if len(build) > 0 {
		args = append(args, "-tags", "small")
	}
	c := exec.Command("go", append(args, ".")...)
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := c.Output()
	require.NoError(t, err)
	modules := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if path, dir, ok := strings.Cut(line, " "); ok {
			modules[path] = dir
		}
	}
	require.NotEmpty(t, modules)
	own, err := os.ReadFile(dir + "/go/LICENSE")
	require.NoError(t, err)
	require.Contains(t, string(own), "The Go Authors")
	for path, from := range modules {
		l, err := filepath.Glob(from + "/LICENSE*")
		require.NoError(t, err)
		require.NotEmpty(t, l, path)
		want, err := os.ReadFile(l[0])
		require.NoError(t, err)
		have, err := os.ReadFile(filepath.Join(dir, path, filepath.Base(l[0])))
		require.NoError(t, err)
		require.Equal(t, string(want), string(have), path)
	}
}

// TestFusing compiles a product and a sum for a processor that can fuse them,
// as those of arm64 can: with config.h, the compiler does not.
func TestFusing(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || missing("gcc") {
		t.Skip("want GCC for Linux on x86-64")
	}
	const text = "float f(float a, float b, float c) { a = a * b; return a + c; }\n"
	for head, fused := range map[string]bool{"": true, "#include \"../wasm2c/config.h\"\n": false} {
		c := exec.Command("gcc", "-O2", "-mfma", "-I.", "-xc", "-S", "-o", "-", "-")
		c.Stdin = strings.NewReader(head + text)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, fused, strings.Contains(string(out), "vfmadd"), head)
	}
}

// TestSmall runs the small build, whose size is a promise of the README.
func TestSmall(t *testing.T) {
	builds(t)
	library(t)
	dir := t.TempDir()
	out, err := exec.Command("../build.sh", "--small", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := os.Stat(filepath.Join(dir, "lib/libinfer_prep.so.1"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(7_050_000))
	p := compile(t, "gcc", "../testdata/check.c", "-std=c99", "-Wl,-rpath,"+dir+"/lib", "-L", dir+"/lib")
	runProgram(t, p, "small", tiny(t), large, root+"testdata/configs/hf/vit-fast-saved.json")
	runProgram(t, p, "batch", large)
}

// TestSignals loads the library at run time.
func TestSignals(t *testing.T) {
	p := compile(t, "gcc", "../testdata/signals.c", "-std=c99", "-Wl,--as-needed", "-ldl")
	for _, when := range []string{"before", "after"} {
		t.Log(runProgram(t, p, when, filepath.Join(library(t), "lib/libinfer_prep.so"), large))
	}
}

// TestStatic runs the functions in a program with the static library.
func TestStatic(t *testing.T) {
	builds(t)
	dir := library(t)
	p := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("gcc", "-std=c99", "-O1", "-I", dir+"/include", "../testdata/check.c", filepath.Join(dir, "lib/libinfer_prep.a"), "-lpthread", "-o", p).CombinedOutput()
	require.NoError(t, err, string(out))
	runProgram(t, p, "api", large)
	runProgram(t, p, "fork", large)
}

// tiny is a graph with an output of float32 (3, 32, 32).
func tiny(t *testing.T) string { return square(t, 32) }

// square is a graph with an output of float32 (3, side, side).
func square(t *testing.T, side int) string {
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	b, err := g.MarshalJSON()
	require.NoError(t, err)
	b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("224"), fmt.Append(nil, side)), []byte("256"), fmt.Append(nil, side+side/8))
	name := filepath.Join(t.TempDir(), "square.json")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	return name
}

// TestThreads makes 100,000 calls in 8 threads.
func TestThreads(t *testing.T) {
	t.Log(check(t, "threads", tiny(t), root+"testdata/images/jpeg_gray.jpg", fmt.Sprint(short.Rounds(t, 100_000, 4000))))
}

// photo returns a JPEG file of 640x480 pixels.
func photo(t *testing.T) []byte {
	b, err := os.ReadFile(large)
	require.NoError(t, err)
	from, err := jpeg.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	to := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			to.Set(x, y, from.At(x*from.Bounds().Dx()/640, y*from.Bounds().Dy()/480))
		}
	}
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, to, &jpeg.Options{Quality: 85}))
	return out.Bytes()
}

// besideGo returns a program that measures, a JPEG file and its size, and a
// function that returns the least time in nanoseconds of many runs in Go.
func besideGo(t *testing.T) (program, name string, size int, own func(rounds int) float64) {
	data := photo(t)
	name = filepath.Join(t.TempDir(), "photo.jpg")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	program = compile(t, "gcc", "../testdata/check.c", "-std=c99", "-O2")
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	runner, dst := plan.NewRunner(), [][]byte{tensor.Alloc(602112)}
	return program, name, len(data), func(rounds int) float64 {
		least := math.Inf(1)
		for range rounds {
			start := time.Now()
			_, err := runner.RunInto(dst, tensor.FromBytes(data))
			least = min(least, float64(time.Since(start)))
			require.NoError(t, err)
		}
		return least
	}
}

// TestSpeed compares a run of preset imagenet with that of a Go program: it may
// take 3 % longer. Another program may delay both, so it measures until the
// least times agree.
func TestSpeed(t *testing.T) {
	builds(t)
	if !whole() {
		t.Skip("make capi-test measures")
	}
	program, name, size, inGo := besideGo(t)
	const rounds = 300
	own, version, call, run, lent := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for range 20 {
		own = min(own, inGo(rounds))
		var v, c, r, l float64
		_, err := fmt.Sscan(runProgram(t, program, "bench", name, fmt.Sprint(rounds)), &v, &c, &r, &l)
		require.NoError(t, err)
		version, call, run, lent = min(version, v), min(call, c), min(run, r), min(lent, l)
		if max(run, lent) <= 1.03*own && call < 100 {
			break
		}
	}
	t.Logf("ip_version %.1f ns, ip_graph_count %.1f ns; a run of %d bytes of JPEG: ip_run_into %.3f ms, ip_run %.3f ms, Go %.3f ms", version, call, size, run/1e6, lent/1e6, own/1e6)
	require.LessOrEqual(t, max(run, lent), 1.03*own)
	require.Less(t, call, 100.0)
}
