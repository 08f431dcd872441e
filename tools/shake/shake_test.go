package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// write writes a list of ops.
func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "ops.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// TestProgram reduces the program of wasm to two ops and builds it.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: the test builds where there is one")
	}
	dir := t.TempDir()
	require.NoError(t, run("../../wasm", write(t, "# two\ndecode\n\nresize # scales\n"), options{
		out: dir, drop: []string{"MarshalJSON", "UnmarshalJSON", "OpList.String"}, random: []string{"datagraph.Runner.runDrawn"},
		copies: []string{"compress/flate", "compress/zlib", "github.com/tinylib/msgp/msgp:tinygo"},
	}))
	b, err := os.ReadFile(filepath.Join(dir, "overlay.json"))
	require.NoError(t, err)
	var overlay struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(b, &overlay))
	texts := map[string]string{}
	for at, to := range overlay.Replace {
		if to == "" {
			continue
		}
		src, err := os.ReadFile(to)
		require.NoError(t, err)
		texts[filepath.Base(filepath.Dir(at))+"/"+filepath.Base(at)] = string(src)
	}
	require.NotContains(t, texts["transforms/rotate90.go"], "Register(")
	require.NotContains(t, texts["transforms/msgp_gen.go"], "*Rotate90)")
	require.Contains(t, texts["transforms/msgp_gen.go"], "*Resize)")
	require.Contains(t, texts["msgpread/tuple.go"], "internal/shaken/github.com/tinylib/msgp/msgp")
	require.Contains(t, texts["datagraph/random.go"], `panic("shake: only random ops need runDrawn")`)

	c := exec.Command("go", "list", "-deps", "-overlay", filepath.Join(dir, "overlay.json"), "../../wasm")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	c.Stderr = os.Stderr
	out, err := c.Output()
	require.NoError(t, err)
	deps := "\n" + string(out)
	require.Contains(t, deps, "/transforms\n")
	for _, p := range []string{"fmt", "os", "encoding/json", "archive/zip", "compress/flate", "github.com/tinylib/msgp/msgp"} {
		require.NotContains(t, deps, "\n"+p+"\n")
	}
	c = exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", dir, "../../wasm")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err = c.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestLists gives lists of ops that are refused.
func TestLists(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "no ops",
		"# none\n":         "no ops",
		"resize decode\n":  "ops.txt:1: 2 words, want one op",
		"resize\n\nresize": `ops.txt:3: op "resize" is listed twice`,
	} {
		_, err := readOps(write(t, text))
		require.ErrorContains(t, err, want)
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: the rest lists packages")
	}
	err := run("../../wasm", write(t, "resise"), options{out: t.TempDir()})
	require.ErrorContains(t, err, `unknown op "resise"`)

}
