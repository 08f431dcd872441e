package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// explainedJSON is the part of --json that the tests read.
type explainedJSON struct {
	Equal   bool
	First   string
	Tensors []struct {
		Name, Missing string
		Difference    struct {
			Equal    bool
			Differ   int
			Largest  struct{ At []int }
			Elements int
		}
	}
	Explain struct {
		Facts        []string
		Explanations []struct {
			Changes         []struct{ Name string }
			Also            [][]string
			Without         []any
			Equal, Rounding bool
		}
	}
}

func testImage(name string) string {
	return filepath.Join("..", "..", "..", "testdata", "images", name)
}

func TestDiffExplainsInWords(t *testing.T) {
	dir := tree(t, map[string][]byte{"preset.json": []byte(`{"torchvision": {"crop_size": 16, "resize_size": 20}}`)})
	file := faultFile + ":tv.webp_lossy_q100.webp.sides_rounded"
	heat := filepath.Join(dir, "heat.png")
	c := call(t, "diff", "--torchvision", filepath.Join(dir, "preset.json"), testImage("webp_lossy_q100.webp"), "--against", file, "--places", "1", "--png", heat)
	require.Equal(t, command.ExitFailed, c.status)
	require.Empty(t, c.stderr)
	require.Equal(t, "A  ../../../testdata/images/webp_lossy_q100.webp: float32 CHW (3, 16, 16)\n"+
		"B  testdata/diff/faults.npz:tv.webp_lossy_q100.webp.sides_rounded: float32 (3, 16, 16)\n\n"+
		"739 of 768 elements differ (96 %), largest difference 2.196 at (y 10, x 0, c 2), mean of all", filepath.ToSlash(c.stdout[:strings.Index(c.stdout, " 0.")]))
	require.Contains(t, c.stdout, "\n  at (y 0, x 0, c 0):  A ")
	require.Contains(t, c.stdout, "\nall values are equal if\n  - sides are rounded half to even (size-half-even; the same here: size-half-up)\n")
	m, err := os.ReadFile(heat)
	require.NoError(t, err)
	p, err := png.Decode(bytes.NewReader(m))
	require.NoError(t, err)
	require.Equal(t, 16, p.Bounds().Dx())
}

// npyOf returns a .npy file of a tensor whose elements count up from a number.
// The element at place is another number unless place is negative.
func npyOf(t *testing.T, d tensor.Desc, from float32, place int, other float32) []byte {
	t.Helper()
	x, err := tensor.New(d)
	require.NoError(t, err)
	v := tensor.View[float32](x)
	for i := range v {
		v[i] = from + float32(i)
	}
	if place >= 0 {
		v[place] = other
	}
	var b bytes.Buffer
	require.NoError(t, tensor.WriteNPY(&b, x))
	return b.Bytes()
}

func TestDiffFiles(t *testing.T) {
	d := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 4, 5)}
	a := npyOf(t, d, 0, -1, 0)
	raw := a[128:]
	img := pngBytes(t, 50, 40, 3)
	dir := tree(t, map[string][]byte{
		"a.npy": a, "same.npy": a, "b.npy": npyOf(t, d, 0, 33, 35.5), "hwc.npy": npyOf(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(4, 5, 3)}, 0, -1, 0),
		"a.raw": raw, "short.raw": raw[:8], "cut.npy": a[:150], "x.txt": []byte("text"), "cat.png": img,
		"s/00-a.npy": a, "s/01-b.npy": a, "s/02-c.npy": a, "s/00-a.png": []byte("a picture"),
		"u/00-a.npy": a, "u/01-b.npy": npyOf(t, d, 0, 0, 7), "u/02-c.npy": npyOf(t, d, 1, 0, 7),
		"v/00-a.npy": a, "v/03-d.npy": a, "empty/": nil,
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, f func(w *bytes.Buffer) error) {
		var b bytes.Buffer
		require.NoError(t, f(&b))
		require.NoError(t, os.WriteFile(at(name), b.Bytes(), 0o666))
	}
	x := readNPY(t, at("a.npy"))
	y := readNPY(t, at("b.npy"))
	write("a.npz", func(w *bytes.Buffer) error {
		return npz.Write(w, []tensor.Named{{Name: "p", T: x}, {Name: "q", T: y}})
	})
	write("b.safetensors", func(w *bytes.Buffer) error {
		return tensor.WriteSafetensors(w, []tensor.Named{{Name: "p", T: x}, {Name: "q", T: x}}, nil)
	})
	write("a.pb", func(w *bytes.Buffer) error { return tensor.WriteTensorProto(w, "in", x) })
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   []string // in what is printed
	}{
		{"equal", []string{"a.npy", "same.npy"}, 0, []string{"equal: float32 (3, 4, 5)"}},
		{"itself", []string{"a.npy", "a.npy"}, 0, nil},
		{"other formats", []string{"a.npy", "a.pb"}, 0, nil},
		{"raw like the other", []string{"a.raw", "a.npy"}, 0, nil},
		{"two raw files", []string{"a.raw", "a.raw"}, 0, []string{"uint8 (240,)"}},
		{"like", []string{"--like", "float32:4,5,3:HWC", "a.raw", "hwc.npy"}, 0, []string{"equal: float32 HWC (4, 5, 3)"}},
		{"one element", []string{"a.npy", "b.npy"}, 1, []string{
			"1 of 60 elements differ (1.7 %), largest difference 2.5 at (y 2, x 3, c 1), mean of all 0.04167", "\n  at (y 2, x 3, c 1):  A 33  B 35.5\n",
		}},
		{"layouts", []string{"a.npy", "hwc.npy"}, 1, []string{"float32 (3, 4, 5) against float32 (4, 5, 3): one is CHW, the other HWC"}},
		{"members", []string{"a.npz:p", "b.safetensors:q"}, 0, nil},
		{"all members", []string{"a.npz", "b.safetensors"}, 1, []string{"p  equal\nq  1 of 60 elements differ", "1 of 2 are equal. The first that differs is q\n"}},
		{"folders", []string{"s", "u"}, 1, []string{
			"00-a  equal\n01-b  1 of 60 elements differ (1.7 %), largest difference 7 at (y 0, x 0, c 0)", "02-c  60 of 60",
			"1 of 3 are equal. The first that differs is 01-b\n  at (y 0, x 0, c 0):  A 0  B 7\n",
		}},
		{"equal folders", []string{"s", "s"}, 0, []string{"equal: all 3"}},
		{"missing steps", []string{"s", "v"}, 1, []string{"01-b  missing in ", "03-d  missing in ", "1 of 4 are equal. The first that differs is 01-b\n"}},
		{"no such file", []string{"a.npy", "none.npy"}, 2, []string{"none.npy: no such file"}},
		{"no such member", []string{"a.npz:z", "a.npy"}, 2, []string{`no tensor "z"; the file has ["p" "q"]`}},
		{"an empty folder", []string{"empty", "s"}, 2, []string{"the folder has no tensor files"}},
		{"truncated", []string{"a.npy", "cut.npy"}, 2, []string{"cut.npy: tensor: npy: malformed"}},
		{"too short", []string{"a.npy", "short.raw"}, 2, []string{"the file has 8 bytes, want 240"}},
		{"not a tensor", []string{"a.npy", "x.txt"}, 2, []string{"unknown extension"}},
		{"one file", []string{"a.npy"}, 2, []string{"want two tensor files"}},
		{"bad like", []string{"--like", "float32", "a.raw", "a.npy"}, 2, []string{"--like", "want a description"}},
		{"bad places", []string{"--places", "-1", "a.npy", "a.npy"}, 2, []string{"--places -1"}},
		{"against without a graph", []string{"--against", "a.npy", "cat.png"}, 2, []string{"need a graph"}},
		{"a graph without a tensor", []string{"--preset", "decode", "cat.png"}, 2, []string{"--against FILE"}},
		{"against a folder", []string{"--preset", "decode", "cat.png", "--against", "s"}, 2, []string{"is a folder, want a file"}},
		{"not an image", []string{"--preset", "decode", "x.txt", "s"}, 2, []string{"x.txt"}},
		{"a folder without steps", []string{"--preset", "decode", "cat.png", "s"}, 2, []string{"no file is named after a step of the graph, such as 00-decode.image.npy"}},
		{"no such column", []string{"--preset", "decode", "cat.png", "--against", "a.npy", "--column", "x"}, 2, []string{`--column "x": want one of image`}},
		{"no heat map", []string{"--png", "heat.png", "a.npy", "hwc.npy"}, 1, nil},
		{"no heat map of two sizes", []string{"--png", "heat.png", "s/00-a.npy", "a.raw", "--like", "uint8:240"}, 2, []string{"want two images of the same size"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(dir)
			got := call(t, append([]string{"diff"}, c.args...)...)
			require.Equal(t, c.status, got.status, got.stdout+got.stderr)
			for _, w := range c.want {
				require.Contains(t, got.stdout+got.stderr, w)
			}
		})
	}
}

// TestDiffSteps compares the files of graph show --steps with themselves, with
// the graph, and with files in which one step differs.
func TestDiffSteps(t *testing.T) {
	dir := tree(t, map[string][]byte{"cat.png": pngBytes(t, 50, 40, 3)})
	t.Chdir(dir)
	require.Zero(t, call(t, "graph", "show", "--preset", "yolo", "--steps", "ours", "cat.png").status)
	require.Zero(t, call(t, "graph", "show", "--preset", "yolo", "--steps", "theirs", "cat.png").status)
	c := call(t, "diff", "ours", "theirs")
	require.Zero(t, c.status, c.stdout)
	c = call(t, "diff", "--preset", "yolo", "cat.png", "ours", "--json")
	require.Zero(t, c.status, c.stdout)
	var r explainedJSON
	require.NoError(t, json.Unmarshal([]byte(c.stdout), &r))
	require.Equal(t, []string{"00-decode.image", "01-letterbox.image", "01-letterbox.scale", "01-letterbox.pad", "02-to_tensor.images"},
		[]string{r.Tensors[0].Name, r.Tensors[1].Name, r.Tensors[2].Name, r.Tensors[3].Name, r.Tensors[4].Name})

	path := filepath.Join("theirs", "01-letterbox.image.npy")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[128+(300*640+7)*3+2]++
	require.NoError(t, os.WriteFile(path, b, 0o666))
	require.NoError(t, os.Remove(filepath.Join("theirs", "00-decode.image.npy")))
	c = call(t, "diff", "--preset", "yolo", "cat.png", "theirs")
	require.Equal(t, command.ExitFailed, c.status)
	require.Contains(t, c.stdout, "3 of 4 are equal. The first that differs is 01-letterbox.image\n  A is uint8 HWC (640, 640, 3)\n  B is uint8 (640, 640, 3)\n  at (y 300, x 7, c 2):")
}

func TestGraphImportDataset(t *testing.T) {
	definition := `{"infer_prep_dataset":1,"top":{"node":"batch","version":1,"params":{"size":4,"size_func":"","drop_remainder":false,"pad":[],"per_batch":"","out":[]},"in":[{"node":"map","version":1,"params":{"in":[],"out":[],"graph":
		{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],"steps":[
			{"op":"decode","version":1,"in":["image"],"out":["image"],"params":{"color":"rgb","alpha":"drop","gray16":"clip","refuse":[],"orientation":"ignore","damage":"pillow","scale":"full"}},
			{"op":"random_resized_crop","version":1,"in":["image"],"out":["image"],"params":{"height":16,"width":16,"scale":[0.08,1],"ratio":[0.75,1.25],"interpolation":"bilinear","backend":"pillow","no_antialias":false}},
			{"op":"random_horizontal_flip","version":1,"in":["image"],"out":["image"],"params":{"probability":0.5}}],"outputs":["image"]}},
		"in":[{"node":"image_folder","version":1,"params":{"dir":"none","extensions":[".jpg"],"class_indexing":{}}}]}]}}`
	dir := tree(t, map[string][]byte{"train.json": []byte(definition), "bad.json": []byte("{")})
	t.Chdir(dir)
	c := call(t, "graph", "import", "--dataset", "train.json", "--replace", "random_resized_crop=squash", "-o", "eval.json")
	require.Zero(t, c.status, c.stderr)
	require.Equal(t, "batch/map/1 (random_resized_crop): replaced by resize\nbatch/map/2 (random_horizontal_flip): left out\n", c.stderr)
	c = call(t, "graph", "infer", "--graph", "eval.json")
	require.Contains(t, c.stdout, "uint8 HWC (16, 16, 3)")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"--dataset", "train.json", "--random", "refuse"}, "random op random_resized_crop"},
		{[]string{"--dataset", "train.json", "--random", "keep"}, "want drop or refuse"},
		{[]string{"--dataset", "train.json", "--replace", "random_crop=center_crop"}, "the definition does not apply such an op to the image"},
		{[]string{"--dataset", "train.json", "--replace", "random_crop"}, "want random_crop=center_crop"},
		{[]string{"--dataset", "train.json", "--dataset-outputs", "label"}, "label"},
		{[]string{"--dataset", "train.json", "--dataset-column", "label"}, `"label"`},
		{[]string{"--dataset", "train.json", "--preset", "clip"}, "want only one graph"},
		{[]string{"--preset", "clip", "--random", "refuse"}, "--random needs --dataset"},
		{[]string{"--dataset", "bad.json"}, "bad.json"},
	} {
		c := call(t, append([]string{"graph", "import"}, x.args...)...)
		require.Equal(t, command.ExitUsage, c.status, x.args)
		require.Contains(t, c.stderr, x.want)
	}
}

// TestDiffExplainsTheExample: diff explains the skewed tensors of
// examples/classifier.
func TestDiffExplainsTheExample(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "examples", "classifier")
	files, err := filepath.Glob(filepath.Join(dir, "skewed", "*.npy"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	want := map[string]string{"bgr": "are BGR, as OpenCV reads them", "opencv": "(opencv-bilinear)\n"}
	for _, f := range files {
		part := strings.Split(filepath.Base(f), ".") // 00.bgr.npy
		c := call(t, "diff", "--torchvision", filepath.Join(dir, "transforms.json"), filepath.Join(dir, "images", part[0]+".jpg"), "--against", f)
		require.Equal(t, command.ExitFailed, c.status, f)
		require.Contains(t, c.stdout, "all values are equal if\n", f)
		require.Contains(t, c.stdout, want[part[1]], f)
		require.Equal(t, 1, strings.Count(c.stdout, "\n  - "), f)
	}
}

func TestDiffInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := Run(ctx, []string{"diff", "--preset", "imagenet", testImage("jpeg_base_420.jpg"), "--against", faultFile + ":tv.jpeg_base_420.jpg.bgr"}, strings.NewReader(""), &out, &errs)
	require.Equal(t, command.ExitInterrupted, status)
	require.Empty(t, out.String())
	require.Contains(t, errs.String(), "interrupted")
}

// TestDiffBackend: the other backend of transformers explains a difference.
func TestDiffBackend(t *testing.T) {
	config, image := filepath.Join("..", "..", "..", "testdata", "configs", "hf", "deit-base-distilled-patch16-224.json"), testImage("jpeg_base_420.jpg")
	for have, other := range map[string]string{"pil": "torchvision", "torchvision": "pil"} {
		dir := t.TempDir()
		r := call(t, "run", "--hf", config, "--backend", other, "-o", dir, image)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		r = call(t, "diff", "--hf", config, "--backend", have, image, "--against", filepath.Join(dir, "jpeg_base_420.jpg.npy"))
		require.Equal(t, command.ExitFailed, r.status, r.stderr)
		require.Contains(t, r.stdout, "the preprocessing runs with the backend "+other+": --backend "+other)
	}
	for _, args := range [][]string{
		{"run", "--preset", "decode", "--backend", "pil", "-o", t.TempDir(), image},
		{"run", "--timm", config, "--backend", "pil", "-o", t.TempDir(), image},
		{"run", "--hf", config, "--backend", "Pil", "-o", t.TempDir(), image},
	} {
		r := call(t, args...)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, "--backend")
	}
}
