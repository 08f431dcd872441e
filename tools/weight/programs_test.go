package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmallPrograms compares the sizes of programs that link little of this
// module with their limits: a registration, a table or an import that every
// program would keep makes them larger.
func TestSmallPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the sizes are those of cross builds, on any machine: TestSmallPrograms runs without -short")
	}
	flags := "GOFLAGS=-buildvcs=false"
	for _, f := range strings.Fields(os.Getenv("GOFLAGS")) {
		if strings.HasPrefix(f, "-toolexec=") { // that of .ci/run
			flags += " " + f
		}
	}
	for _, c := range []struct {
		program, arch string
		limit         int64
	}{
		{"eager", "amd64", 3_100_000},
		{"eager", "arm64", 3_000_000},
		{"datagraph", "amd64", 2_700_000},
		{"datagraph", "arm64", 2_650_000},
	} {
		t.Run(c.program+" "+c.arch, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), c.program)
			cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./"+c.program)
			cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+c.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOEXPERIMENT=", flags)
			b, err := cmd.CombinedOutput()
			require.NoError(t, err, string(b))
			i, err := os.Stat(out)
			require.NoError(t, err)
			t.Logf("%d bytes, limit %d", i.Size(), c.limit)
			require.LessOrEqual(t, i.Size(), c.limit)
		})
	}
}
