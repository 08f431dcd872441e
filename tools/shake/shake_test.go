package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgram reduces the small browser build and builds it.
func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: the test builds where there is one")
	}
	dir := t.TempDir()
	require.NoError(t, run("../../wasm", options{
		out: dir, drop: []string{"MarshalJSON", "UnmarshalJSON", "OpList.String"}, random: []string{"datagraph.Runner.runDrawn"},
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
	require.NotContains(t, texts["transforms/adjust_hue.go"], "Info()")
	require.False(t, strings.Contains(texts["transforms/msgp_gen.go"], "*AdjustHue)"))
	require.True(t, strings.Contains(texts["transforms/msgp_gen.go"], "*Resize)"))
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
