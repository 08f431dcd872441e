// Package cpp has only tests: the programs of this folder, built with CMake, do
// what they say.
package cpp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/tensor"
)

const root = "../../"

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, "%s %v: %s%s", name, args, out, stderr.String())
	return strings.TrimSpace(string(out))
}

// engines returns the names of the runtimes to build for and CMake's arguments
// for them. OpenVINO's wheel has its headers and CMake's files. ONNX Runtime's
// has none: INFER_PREP_ORT_INCLUDE is the folder of its headers, INFER_PREP_ORT
// that of its library.
func engines(t *testing.T) (names, args []string) {
	python := run(t, root+"parity/venv.sh", root+"conformance/engines/requirements-openvino.txt")
	cmake := run(t, python, "-c", "import openvino.utils; print(openvino.utils.get_cmake_path())")
	names, args = []string{"openvino"}, []string{"-DOpenVINO_DIR=" + cmake}
	include, lib := os.Getenv("INFER_PREP_ORT_INCLUDE"), os.Getenv("INFER_PREP_ORT")
	if include == "" || lib == "" {
		t.Log("left out: ONNX Runtime; INFER_PREP_ORT_INCLUDE or INFER_PREP_ORT is not set")
		return names, args
	}
	files, err := filepath.Glob(filepath.Join(lib, "libonnxruntime.so.*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	// The wheel's file has a longer name than that by which programs load it.
	to := filepath.Join(t.TempDir(), "libonnxruntime.so.1")
	require.NoError(t, os.Symlink(files[0], to))
	return append(names, "onnxruntime"), append(args, "-DORT_INCLUDE="+include, "-DORT_LIBRARY="+to)
}

// TestPrograms builds the programs against a library in a folder that was
// moved, and runs them.
func TestPrograms(t *testing.T) {
	if os.Getenv("INFER_PREP_CAPI") != "1" {
		t.Skip("make capi-test runs it")
	}
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Skip("cmake is missing (Debian: cmake)")
	}
	dir := t.TempDir()
	run(t, root+"capi/build.sh", filepath.Join(dir, "made"))
	lib, bin := filepath.Join(dir, "moved here"), filepath.Join(dir, "bin")
	require.NoError(t, os.Rename(filepath.Join(dir, "made"), lib))
	names, args := engines(t)
	run(t, "cmake", append(args, "-S", ".", "-B", bin, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_PREFIX_PATH="+lib, "-DENGINES="+strings.Join(names, ";"),
		"-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")...)
	run(t, "cmake", "--build", bin)

	t.Run("chunks", func(t *testing.T) { chunks(t, filepath.Join(bin, "chunks")) })
	for _, n := range names {
		t.Run(n, func(t *testing.T) { classify(t, filepath.Join(bin, "classify-"+n)) })
	}
}

// classify compares the scores of the classifier's images with those that
// PyTorch computed in training.
func classify(t *testing.T, program string) {
	const from = root + "examples/classifier/"
	b, err := os.ReadFile(from + "expected.json")
	require.NoError(t, err)
	var want map[string]struct {
		Logits []float64 `json:"logits"`
	}
	require.NoError(t, json.Unmarshal(b, &want))
	require.Len(t, want, 12)
	args := []string{from + "model.onnx", from + "transforms.json"}
	var names []string
	for n := range want {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		args = append(args, from+"images/"+n)
	}
	lines := strings.Split(run(t, program, args...), "\n")
	require.Len(t, lines, len(names))
	for i, n := range names {
		fields := strings.Fields(lines[i])
		require.Len(t, fields, len(want[n].Logits))
		for k, f := range fields {
			var score float64
			_, err := fmt.Sscan(f, &score)
			require.NoError(t, err)
			// Six digits are printed, and the runtime adds in another order.
			require.InDelta(t, want[n].Logits[k], score, 1e-3, n)
		}
	}
}

// chunks compares the chunks of a prompt with two images with Go's tensors, and
// those with the references'.
func chunks(t *testing.T, program string) {
	const model, photo, turned = root + "examples/vlm/model", root + "testdata/images/jpeg_large.jpg", root + "testdata/images/jpeg_exif_mm_6.jpg"
	b, err := os.ReadFile(root + "examples/vlm/expected.json")
	require.NoError(t, err)
	var want struct {
		Image struct {
			SHA256 string `json:"sha256"`
			Text   string `json:"text"`
		} `json:"image"`
	}
	require.NoError(t, json.Unmarshal(b, &want))
	prep, err := inferprep.Open(model)
	require.NoError(t, err)
	image := func(name string) string {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		out, err := prep.Run(context.Background(), tensor.FromBytes(b))
		require.NoError(t, err)
		x, grid := out["pixel_values"], out["image_grid_thw"]
		if sum := sha256.Sum256(x.Data); name == photo {
			require.Equal(t, want.Image.SHA256, hex.EncodeToString(sum[:]))
		}
		n := x.Shape.At(0) / 4 // patches of a token
		hash := func(x *tensor.Tensor) uint64 {
			h := fnv.New64a()
			_, _ = h.Write(x.Data)
			return h.Sum64()
		}
		return fmt.Sprintf("image %d tokens, %d bytes of text\n  pixel_values %d 1176 %016x\n  image_grid_thw 3 %016x\n",
			n, n*len("<|image_pad|>"), x.Shape.At(0), hash(x), hash(grid))
	}
	require.Contains(t, image(photo), fmt.Sprintf(" %d bytes of text", len(want.Image.Text)))
	require.Equal(t, strings.TrimSpace("text What is \n"+image(photo)+"text  and \n"+image(turned)+"text ?"),
		run(t, program, model, "What is <__media__> and <__media__>?", photo, turned))

	for _, args := range [][]string{{model, "<__media__>"}, {model, "none", photo}, {model, "<__media__>", "nonexistent"}} {
		out, err := exec.Command(program, args...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "chunks: ")
	}
}
