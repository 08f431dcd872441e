package cli

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// TestModelFormats checks the files of each format for two images, a file that
// is not an image, and a truncated image.
func TestModelFormats(t *testing.T) {
	img := pngBytes(t, 5, 4, 7)
	for _, c := range []struct {
		name  string
		args  []string
		files []string          // below out
		lists map[string]string // their text
	}{
		{
			name: "onnx-test", args: []string{"--preset", "yolo", "--batch", "--name", "data_0"},
			files: []string{"test_data_set_0/input_0.pb", "test_data_set_2/input_0.pb", "test_data_sets.txt"},
			lists: map[string]string{"test_data_sets.txt": "test_data_set_0\ta.png\ntest_data_set_2\ts/c.png\n"},
		},
		{
			name: "onnx-test", args: []string{"--preset", "yolo", "--outputs", "all", "--name", "pad=p", "--name", "images=x"},
			files: []string{
				"test_data_set_0/input_0.pb", "test_data_set_0/input_1.pb", "test_data_set_0/input_2.pb",
				"test_data_set_2/input_0.pb", "test_data_set_2/input_1.pb", "test_data_set_2/input_2.pb", "test_data_sets.txt",
			},
		},
		{name: "triton", args: []string{"--preset", "decode"}, files: []string{"a.png.json", "s/c.png.json"}},
		{
			name: "triton-raw", args: []string{"--preset", "yolo", "--outputs", "all", "--name", "images=INPUT__0"},
			files: []string{"a.png/INPUT__0", "a.png/pad", "a.png/scale", "s/c.png/INPUT__0", "s/c.png/pad", "s/c.png/scale"},
		},
		{
			name: "input-list", args: []string{"--preset", "imagenet"}, files: []string{"a.png.raw", "input_list.txt", "s/c.png.raw"},
			lists: map[string]string{"input_list.txt": "out/a.png.raw\nout/s/c.png.raw\n"},
		},
		{
			name: "input-list", args: []string{"--preset", "imagenet", "--name", "image:0"}, files: []string{"a.png.raw", "input_list.txt", "s/c.png.raw"},
			lists: map[string]string{"input_list.txt": "image:0:=out/a.png.raw\nimage:0:=out/s/c.png.raw\n"},
		},
		{
			name: "input-list", args: []string{"--preset", "yolo", "--outputs", "all"},
			files: []string{
				"a.png.images.raw", "a.png.pad.raw", "a.png.scale.raw", "input_list.txt", "s/c.png.images.raw", "s/c.png.pad.raw", "s/c.png.scale.raw",
			},
			lists: map[string]string{"input_list.txt": "images:=out/a.png.images.raw scale:=out/a.png.scale.raw pad:=out/a.png.pad.raw\n" +
				"images:=out/s/c.png.images.raw scale:=out/s/c.png.scale.raw pad:=out/s/c.png.pad.raw\n"},
		},
		{
			name: "tensorrt", args: []string{"--preset", "imagenet", "--name", "image=input:0"}, files: []string{"a.png.raw", "load_inputs.txt", "s/c.png.raw"},
			lists: map[string]string{"load_inputs.txt": "'input:0':out/a.png.raw\n'input:0':out/s/c.png.raw\n"},
		},
		{
			name: "tensorrt", args: []string{"--preset", "yolo", "--outputs", "all"},
			lists: map[string]string{"load_inputs.txt": "images:out/a.png.images.raw,scale:out/a.png.scale.raw,pad:out/a.png.pad.raw\n" +
				"images:out/s/c.png.images.raw,scale:out/s/c.png.scale.raw,pad:out/s/c.png.pad.raw\n"},
		},
	} {
		t.Run(c.name+" "+strings.Join(c.args, " "), func(t *testing.T) {
			t.Chdir(tree(t, map[string][]byte{"in/a.png": img, "in/b.png": img[:40], "in/b.txt": []byte("text"), "in/s/c.png": img}))
			got := call(t, append([]string{"run", "--format", c.name, "-o", "out", "-q", "in"}, c.args...)...)
			require.Equal(t, command.ExitFailed, got.status, got.stderr)
			require.Contains(t, got.stderr, filepath.Join("in", "b.png")+": ")
			if c.files != nil {
				require.Equal(t, c.files, listFiles(t, "out"))
			}
			for name, text := range c.lists {
				require.Equal(t, text, strings.ReplaceAll(readText(t, filepath.Join("out", name)), `\`, "/"))
			}
		})
	}
}

func TestModelFormatContents(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 7)}))
	require.Zero(t, call(t, "run", "--preset", "imagenet", "-o", "plain", "a.png").status)
	plain := readNPY(t, "plain/a.png.npy")

	require.Zero(t, call(t, "run", "--preset", "imagenet", "--batch", "--format", "onnx-test", "--name", "data_0", "-o", "onnx", "a.png").status)
	name, x, err := tensor.ReadTensorProto(strings.NewReader(readText(t, "onnx/test_data_set_0/input_0.pb")), 1<<26)
	require.NoError(t, err)
	require.Equal(t, "data_0", name)
	require.Equal(t, "float32 (1, 3, 224, 224)", x.Desc.String())
	require.Equal(t, plain.Data, x.Data)

	c := call(t, "run", "--preset", "imagenet", "--batch", "--format", "triton", "--name", `in"put`, "-o", "triton", "--json", "a.png")
	require.Zero(t, c.status, c.stderr)
	require.Contains(t, c.stdout, `"name":"image","input":"in\"put"`)
	var r struct {
		Inputs []struct {
			Name     string
			Shape    []int
			Datatype string
			Data     []float64 // which most readers make of numbers first
		}
	}
	require.NoError(t, json.Unmarshal([]byte(readText(t, "triton/a.png.json")), &r))
	require.Len(t, r.Inputs, 1)
	require.Equal(t, `in"put`, r.Inputs[0].Name)
	require.Equal(t, []int{1, 3, 224, 224}, r.Inputs[0].Shape)
	require.Equal(t, "FP32", r.Inputs[0].Datatype)
	want := tensor.View[float32](plain)
	require.Len(t, r.Inputs[0].Data, len(want))
	for i, v := range r.Inputs[0].Data {
		if math.Float32bits(want[i]) != math.Float32bits(float32(v)) {
			t.Fatalf("element %d: got %v, want %v", i, v, want[i])
		}
	}

	require.Zero(t, call(t, "run", "--preset", "imagenet", "--format", "input-list", "-o", "qnn", "a.png").status)
	require.Zero(t, call(t, "run", "--preset", "imagenet", "--layout", "HWC", "-o", "hwc", "a.png").status)
	require.Equal(t, readNPY(t, "hwc/a.png.npy").Data, []byte(readText(t, "qnn/a.png.raw")))
	require.Zero(t, call(t, "run", "--preset", "decode", "--format", "input-list", "-o", "qnn8", "--dtype", "uint8", "a.png").status)
	require.Len(t, readText(t, "qnn8/a.png.raw"), 5*4*3)
	require.Zero(t, call(t, "run", "--preset", "decode", "--format", "input-list", "-o", "qnn8", "a.png").status)
	require.Len(t, readText(t, "qnn8/a.png.raw"), 5*4*3*4)
	require.Zero(t, call(t, "run", "--preset", "imagenet", "--format", "triton-raw", "-o", "traw", "a.png").status)
	require.Equal(t, plain.Data, []byte(readText(t, "traw/a.png/image")))
	require.Zero(t, call(t, "run", "--preset", "imagenet", "--format", "npz", "--name", "x", "-o", "npz", "a.png").status)
	b := readText(t, "npz/a.png.npz")
	l, err := npz.Read(strings.NewReader(b), int64(len(b)), 1<<26)
	require.NoError(t, err)
	require.Equal(t, "x", l[0].Name)
}

func TestModelFormatErrors(t *testing.T) {
	img := pngBytes(t, 5, 4, 7)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"a name without names", []string{"--preset", "decode", "--name", "x", "a.png"}, 2, "contain no names: want --format npz, pb, safetensors, onnx-test"},
		{"an unknown output", []string{"--preset", "decode", "--format", "pb", "--name", "x=y", "a.png"}, 2, "want OUTPUT=INPUT, where OUTPUT is image"},
		{"several outputs", []string{"--preset", "yolo", "--outputs", "all", "--format", "triton", "--name", "y", "a.png"}, 2, "where OUTPUT is images, scale or pad"},
		{"no input", []string{"--preset", "decode", "--format", "pb", "--name", "image=", "a.png"}, 2, "the name is empty"},
		{"twice", []string{"--preset", "decode", "--format", "pb", "--name", "x", "--name", "image=y", "a.png"}, 2, "the output is named twice"},
		{"one name", []string{"--preset", "yolo", "--outputs", "all", "--format", "pb", "--name", "images=pad", "a.png"}, 2, `the outputs images and pad are both named "pad"`},
		{"a path", []string{"--preset", "decode", "--format", "triton-raw", "--name", "../x", "a.png"}, 2, `"../x" contains a special character`},
		{"white space in a name", []string{"--preset", "decode", "--format", "input-list", "--name", "a b", "a.png"}, 2, "contains white space"},
		{"half a number", []string{"--preset", "imagenet", "--dtype", "float16", "--format", "triton", "a.png"}, 2, "which --format triton cannot hold"},
		{"CHW", []string{"--preset", "imagenet", "--layout", "CHW", "--format", "input-list", "a.png"}, 2, "--format input-list needs HWC"},
		{"white space in a file", []string{"--preset", "decode", "--format", "input-list", "a b.png"}, 1, `contains white space`},
		{"a comma in a file", []string{"--preset", "decode", "--format", "tensorrt", "a,b.png"}, 1, "contains a comma, a quote or a control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(tree(t, map[string][]byte{"a.png": img, "a b.png": img, "a,b.png": img}))
			got := call(t, append([]string{"run", "-o", "out", "-q"}, c.args...)...)
			require.Equal(t, c.status, got.status, got.stderr)
			require.Contains(t, got.stderr, c.want)
			require.Empty(t, listFiles(t, "out"))
		})
	}
}

// TestInterruptedList: an interrupted run writes no list and keeps the older
// one.
func TestInterruptedList(t *testing.T) {
	files := map[string][]byte{"out/input_list.txt": []byte("older\n")}
	for n := range 40 { // more than are under way at once
		files["in/"+string(rune('a'+n%26))+string(rune('a'+n/26))+".png"] = pngBytes(t, 5, 4, 7)
	}
	t.Chdir(tree(t, files))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &command.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, OnItem: cancel}
	require.Equal(t, command.ExitInterrupted, execute(ctx, a, []string{"run", "--preset", "decode", "--format", "input-list", "-o", "out", "-j", "1", "in"}))
	require.Equal(t, "older\n", readText(t, "out/input_list.txt"))
	require.NotContains(t, strings.Join(listFiles(t, "out"), " "), newfile.Prefix)
}
