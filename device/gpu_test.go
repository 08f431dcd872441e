package device_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script runs a script of gpu/ that finds no GPU but that of smi, a command in
// place of nvidia-smi.
func script(t *testing.T, name, smi string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("bash is not there, which runs gpu/*.sh: %v", err)
	}
	c := exec.Command("bash", filepath.Join("gpu", name))
	c.Env = append(os.Environ(), "NVIDIA_SMI="+smi, "GPU_ROOT="+t.TempDir(), "GPU_PRETEND=")
	out, err := c.CombinedOutput()
	return string(out), err
}

// command writes a program that prints text and ends with a status.
func command(t *testing.T, text, status string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '"+text+"'\nexit "+status+"\n"), 0o777))
	return path
}

// TestWithoutGPU checks that make gpu-test and make gpu-bench claim nothing
// without a GPU: they name what they looked for, and succeed.
func TestWithoutGPU(t *testing.T) {
	for _, name := range []string{"test.sh", "bench.sh"} {
		for smi, want := range map[string]string{
			"no-such-command-nvidia-smi":                            "the command nvidia-smi is missing",
			command(t, "No devices were found", "6"):                "nvidia-smi -L lists none (No devices were found)",
			command(t, "NVIDIA-SMI has failed to communicate", "9"): "nvidia-smi -L lists none (NVIDIA-SMI has failed to communicate)",
		} {
			out, err := script(t, name, smi)
			require.NoError(t, err, out)
			target := "gpu-" + strings.TrimSuffix(name, ".sh")
			require.Equal(t, target+": no NVIDIA GPU: "+want+"; /dev/nvidia0 is missing; /proc/driver/nvidia/version is missing.\n"+
				target+": nothing was run, and nothing is claimed.\n", out)
		}
	}
}

func TestFindsGPU(t *testing.T) {
	out, err := script(t, "find.sh", command(t, "GPU 0: NVIDIA H100 (UUID: GPU-1)", "0"))
	require.NoError(t, err, out)
	require.Equal(t, "GPU 0: NVIDIA H100 (UUID: GPU-1), driver GPU 0: NVIDIA H100 (UUID: GPU-1)\n", out)
}
