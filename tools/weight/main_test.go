package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"text", "#!/bin/sh\necho\n", ""},
		{"empty", "", ""},
		{"mz", "MZ is no program of two letters", ""},
		{"elf", "\x7fELF\x02\x01", "an executable: ELF"},
		{"exe", "MZ" + string(make([]byte, 200)), "an executable: PE"},
		{"wasm", "\x00asm\x01\x00\x00\x00", "an executable: WebAssembly"},
		{"most", string(make([]byte, largest)), ""},
		{"more", string(make([]byte, largest+1)), "1048577 bytes, want at most 1048576, or a reason in tools/weight"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		require.NoError(t, os.WriteFile(file, []byte(c.content), 0o644))
		why, err := check(file)
		require.NoError(t, err)
		require.Equal(t, c.want, why, c.name)
	}
	why, err := check(filepath.Join(t.TempDir(), "deleted"))
	require.NoError(t, err)
	require.Empty(t, why)
}
