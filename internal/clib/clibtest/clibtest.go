// Package clibtest has what tests of libraries in C share: it compiles them,
// and checks what happens without one.
package clibtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// Build compiles C source files to a library in a temporary folder and returns
// its path, valid until the test ends. flags are the compiler's. It skips the
// test, with the reason, where this program cannot load libraries or no
// compiler is installed. The variable CC names another compiler than cc, gcc or
// clang.
func Build(t *testing.T, flags []string, sources ...string) string {
	t.Helper()
	if !clib.Supported {
		t.Skip(clib.Unsupported("libraries in C"))
	}
	compiler := ""
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if p, err := exec.LookPath(name); err == nil {
			compiler = p
			break
		}
	}
	if compiler == "" {
		t.Skip("no C compiler: want cc, gcc, clang or the variable CC (Debian: apt-get install gcc libc6-dev)")
	}
	extension := map[string]string{"windows": ".dll", "darwin": ".dylib"}[runtime.GOOS]
	if extension == "" {
		extension = ".so"
	}
	dir, err := os.MkdirTemp("", "clibtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // fails on Windows if the library is loaded
	out := filepath.Join(dir, "library"+extension)
	args := append([]string{"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-shared", "-fPIC", "-o", out}, flags...)
	if b, err := exec.Command(compiler, append(args, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, b)
	}
	return out
}

// Needs skips a test where loading the library gave err, and says why. If
// the environment variable names the library, the test fails.
func Needs(t testing.TB, environment string, err error) {
	if err != nil {
		require.Empty(t, os.Getenv(environment), "%v", err)
		t.Skipf("%v", err)
	}
}

// Missing checks the error of a missing library: it says which, how to
// install it, and the name of the environment variable. Where programs cannot
// load libraries, loaded says so.
func Missing(t *testing.T, library, install, environment string, loaded error, open func(path string) error) {
	if !clib.Supported {
		require.ErrorIs(t, loaded, clib.ErrUnsupported)
		return
	}
	for _, path := range []string{"", library + "-none.so"} {
		err := open(path)
		require.ErrorContains(t, err, library+", which decodes")
		require.ErrorContains(t, err, install)
		require.ErrorContains(t, err, environment)
	}
	path := "/none/" + library + ".so"
	require.ErrorContains(t, open(path), path)
}
