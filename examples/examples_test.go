// Package examples has one test: the short programs do what they say.
package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

const root = ".."

// build builds a program of examples and checks that its main function has at
// most 15 lines.
func build(t *testing.T, name string) string {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, filepath.Join(name, "main.go"), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			require.Equal(t, "main", fn.Name.Name, "all of the program is in main")
			require.LessOrEqual(t, set.Position(fn.Body.Rbrace).Line-set.Position(fn.Body.Lbrace).Line-1, 15)
		}
	}
	program := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./"+name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// run runs a program in the root of the repository and returns what it printed.
func run(t *testing.T, program string, args ...string) string {
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = root
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

const photo = "testdata/images/jpeg_large.jpg"

// ofPhoto is what image prints of photo.
const ofPhoto = "image float32 CHW (3, 224, 224) [-1.0561693 -0.88492167 -0.6622999]\n"

func TestImage(t *testing.T) {
	program := build(t, "image")
	require.Equal(t, ofPhoto, run(t, program, "preset:imagenet", photo))
	for _, args := range [][]string{nil, {"preset:imagenet"}, {"preset:imagenet", "none.jpg"}, {"preset:imagnet", photo}, {"preset:imagenet", "README.md"}} {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir = root
		out, err := c.CombinedOutput()
		require.Equal(t, 1, c.ProcessState.ExitCode(), "%v: %v: %s", args, err, out)
		require.NotContains(t, string(out), "goroutine")
	}
}

// TestVisionLanguage: the inputs of Qwen2-VL are those that its processor of
// transformers makes.
func TestVisionLanguage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("vlm", "expected.json"))
	require.NoError(t, err)
	var want map[string]struct {
		Shape, Grid  []int
		SHA256, Text string
	}
	require.NoError(t, json.Unmarshal(b, &want))
	for kind, args := range map[string][]string{
		"image": {"vlm", "examples/vlm/model", photo}, "video": {"video", "examples/vlm/model", "examples/video/frames"},
	} {
		w := want[kind]
		line := fmt.Sprintf("(%d, %d) %s %v\n%s\n", w.Shape[0], w.Shape[1], w.SHA256, w.Grid, w.Text)
		require.Equal(t, line, run(t, build(t, args[0]), args[1:]...))
	}
}

func TestServer(t *testing.T) {
	program := build(t, "server")
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	ctx, stop := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, program, "preset:imagenet", "image", addr)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		stop()
		_ = c.Wait() // it is killed
	})
	post := func(body []byte) (status int, answer []byte) {
		var r *http.Response
		require.Eventually(t, func() bool {
			r, err = http.Post("http://"+addr+"/tensor", "", bytes.NewReader(body))
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		defer r.Body.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(r.Body)
		require.NoError(t, err)
		return r.StatusCode, b.Bytes()
	}
	image, err := os.ReadFile(filepath.Join(root, photo))
	require.NoError(t, err)
	status, answer := post(image)
	require.Equal(t, 200, status, "%.200s", answer)
	x, err := tensor.ReadNPY(bytes.NewReader(answer), 1<<20)
	require.NoError(t, err)
	require.Equal(t, []float32{-1.0561693, -0.88492167, -0.6622999}, tensor.View[float32](x)[:3])
	for _, body := range [][]byte{nil, image[:1000], make([]byte, 16<<20+1)} {
		status, _ = post(body)
		require.Equal(t, 400, status)
	}
}

func TestTrain(t *testing.T) {
	require.Equal(t, `float32 (2, 3, 224, 224) int32 (2,)
float32 (2, 3, 224, 224) int32 (2,)
float32 (1, 3, 224, 224) int32 (1,)
`, run(t, build(t, "train"), "testdata/datasets/imagefolder/flat"))
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	out := run(t, build(t, "pack"), "testdata/datasets/imagefolder/flat", dir)
	want := ""
	for _, s := range []string{"data-00000.tar 2\n", "data-00001.tar 2\n", "data-00002.tar 1\n"} {
		want += dir + string(filepath.Separator) + s
	}
	require.Equal(t, want, out)
}

func TestBundle(t *testing.T) {
	bundle := filepath.Join(t.TempDir(), "model.bundle")
	require.Empty(t, run(t, build(t, "bundle"), "preset:imagenet", "examples/classifier/model.onnx", bundle))
	require.Equal(t, ofPhoto, run(t, build(t, "image"), bundle, photo))
}

// TestFolder: the second run has nothing to do, but for an image whose tensor
// was removed.
func TestFolder(t *testing.T) {
	program := build(t, "folder")
	dir := t.TempDir()
	args := []string{"preset:imagenet", "examples/classifier/images", dir}
	require.Equal(t, "12 done, 0 done before\n", run(t, program, args...))
	require.NoError(t, os.Remove(filepath.Join(dir, "03.jpg.npy")))
	require.Equal(t, "1 done, 11 done before\n", run(t, program, args...))
	for _, args := range [][]string{nil, {"preset:imagenet"}, {"preset:imagenet", "none.jpg", dir}, {"preset:imagenet", photo}} {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir = root
		out, err := c.CombinedOutput()
		require.Equal(t, 1, c.ProcessState.ExitCode(), "%v: %v: %s", args, err, out)
		require.NotContains(t, string(out), "goroutine")
	}
}
