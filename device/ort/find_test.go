//go:build linux && (amd64 || arm64) && !noclib

package ort

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/device"
)

// TestFindLibrary: the library is found in the Python environment in use, by
// whatever tells which one that is.
func TestFindLibrary(t *testing.T) {
	const site = "lib/python3.11/site-packages"
	for _, c := range []struct{ name, variable, packages string }{
		{"a virtual environment", "VIRTUAL_ENV", site},
		{"a conda environment", "CONDA_PREFIX", site},
		{"python3 in PATH", "PATH", site},
		{"the system's python3", "PATH", "lib/python3/dist-packages"},
		{"the folder of conda's libraries", "CONDA_PREFIX", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := t.TempDir()
			dir := filepath.Join(env, c.packages, "onnxruntime", "capi")
			if c.packages == "" {
				dir = filepath.Join(env, "lib")
			}
			bin := filepath.Join(env, "bin")
			for _, d := range []string{dir, bin} {
				require.NoError(t, os.MkdirAll(d, 0o700))
			}
			require.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), nil, 0o700))
			lib := filepath.Join(dir, "libonnxruntime.so.1.31.1")
			require.NoError(t, os.WriteFile(lib, nil, 0o600))
			for _, v := range []string{Environment, "VIRTUAL_ENV", "CONDA_PREFIX", "PATH"} {
				t.Setenv(v, "")
			}
			if t.Setenv(c.variable, env); c.variable == "PATH" {
				t.Setenv("PATH", bin)
			}
			found, err := findLibrary("")
			require.NoError(t, err)
			require.Equal(t, lib, found)
		})
	}
}

// TestMissingLibrary: the error says where to put the library.
func TestMissingLibrary(t *testing.T) {
	for _, v := range []string{Environment, "VIRTUAL_ENV", "CONDA_PREFIX", "PATH"} {
		t.Setenv(v, "")
	}
	if lib, err := findLibrary(""); err == nil && filepath.Base(lib) != lib {
		t.Skipf("this system has %s", lib)
	}
	_, err := device.Open("ort:cpu")
	if err == nil {
		t.Skip("the system's loader finds the library")
	}
	require.ErrorIs(t, err, device.ErrUnavailable)
	require.ErrorContains(t, err, "pip install onnxruntime")
	require.ErrorContains(t, err, "lib=PATH or the environment variable INFER_PREP_ORT")
}
