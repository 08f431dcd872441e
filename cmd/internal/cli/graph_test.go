package cli

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestGraphImport writes graphs and reads them back, in both forms.
func TestGraphImport(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 31, 17, 9)}), "a.png")
	for _, name := range preset.Names() {
		want, err := preset.Graph(name)
		require.NoError(t, err)
		text := call(t, "graph", "import", "--preset", name)
		require.Equal(t, command.ExitOK, text.status, text.stderr)
		var g datagraph.Graph
		require.NoError(t, json.Unmarshal([]byte(text.stdout), &g))
		require.Equal(t, want, &g)

		dir := t.TempDir()
		file, bin := filepath.Join(dir, "g.json"), filepath.Join(dir, "g.msgp")
		require.Equal(t, command.ExitOK, call(t, "graph", "import", "--preset", name, "-o", file).status)
		require.Equal(t, command.ExitOK, call(t, "graph", "import", "--preset", name, "--msgp", "-o", bin).status)
		require.Equal(t, []string{"g.json", "g.msgp"}, listFiles(t, dir))
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text.stdout, string(b))

		require.Equal(t, command.ExitOK, call(t, "run", "--preset", name, "-o", filepath.Join(dir, "0"), img).status)
		require.Equal(t, command.ExitOK, call(t, "run", "--graph", file, "-o", filepath.Join(dir, "1"), img).status)
		require.Equal(t, command.ExitOK, call(t, "run", "--graph", bin, "-o", filepath.Join(dir, "2"), img).status)
		require.Contains(t, callIn(t, "{", "graph", "show", "--graph", "-").stderr, "infer-prep: standard input: ")
		require.Contains(t, call(t, "graph", "show", "--preset", name, "--svg", "-").stdout, "<svg ")
		require.Equal(t, command.ExitOK, callIn(t, text.stdout, "run", "--graph", "-", "-o", filepath.Join(dir, "3"), img).status)
		first := readNPY(t, filepath.Join(dir, "0", "a.png.npy"))
		for _, d := range []string{"1", "2", "3"} {
			require.Equal(t, first, readNPY(t, filepath.Join(dir, d, "a.png.npy")))
		}
	}
	r := call(t, "graph", "import", "--preset", "clip", "-o", filepath.Join(t.TempDir(), "no", "such", "folder.json"))
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "folder.json: no such file")
}

// TestGraphImportReadable: the JSON has one step below the other, and lists on
// a single line.
func TestGraphImportReadable(t *testing.T) {
	r := call(t, "graph", "import", "--preset", "imagenet", "--exif", "--dtype", "float16", "--layout", "HWC")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	for _, line := range []string{
		`  "infer_prep_graph": 1,`,
		`      "in": ["image"],`,
		`        "mean": [0.485, 0.456, 0.406],`,
		`        "orientation": "apply",`,
		`        "dtype": "float16",`,
		`  "outputs": ["image"]`,
	} {
		require.Contains(t, strings.Split(r.stdout, "\n"), line)
	}
	require.Less(t, strings.Index(r.stdout, `"chw2hwc"`), strings.Index(r.stdout, `"to_type"`))
}

func TestGraphShow(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 9)}), "a.png")
	r := call(t, "graph", "show", "--preset", "clip")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `(?m)^1 +resize +image +uint8 HWC \(\?, \?, 3\) +uint8 HWC \(\?, \?, 3\) +fit=shortest edge=224 interpolation=bicubic$`, r.stdout)
	require.Regexp(t, `(?m)^output +pixel_values: float32 CHW \(3, 224, 224\)$`, r.stdout)
	require.Contains(t, r.stdout, "transformers 5.23.0")

	r = call(t, "graph", "show", "--preset", "clip", img)
	require.Regexp(t, `(?m)^1 +resize +image +uint8 HWC \(200, 300, 3\) +uint8 HWC \(224, 336, 3\) `, r.stdout)
	r = call(t, "graph", "show", "--preset", "clip", "--all")
	require.Contains(t, r.stdout, "backend=pillow")

	r = call(t, "graph", "show", "--preset", "yolo")
	require.Regexp(t, `(?m)^1 +letterbox +image -> image, scale, pad +uint8 HWC \(\?, \?, 3\) +uint8 HWC \(640, 640, 3\) +height=640`, r.stdout)
	require.Regexp(t, `(?m)^side +pad: int32 \(4,\)$`, r.stdout)

	detr := "../../../testdata/configs/hf/detr-resnet-50.json"
	require.Regexp(t, `(?m)^batch +pixel_values: pad with 0\nbatch +pixel_mask: pad with 0$`, call(t, "graph", "show", "--hf", detr).stdout)
	require.Contains(t, call(t, "graph", "show", "--json", "--hf", detr).stdout, `"rule": "pad"`)

	r = call(t, "graph", "show", "--preset", "yolo", "--json", img)
	var shown struct {
		Image string
		Steps []struct {
			Op     string
			Params map[string]any
			Out    []struct {
				Column string
				Shape  []int
			}
		}
		SideOutputs []string `json:"side_outputs"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &shown))
	require.Equal(t, "letterbox", shown.Steps[1].Op)
	require.Equal(t, 640.0, shown.Steps[1].Params["height"])
	require.Equal(t, []int{200, 300, 3}, shown.Steps[0].Out[0].Shape)
	require.Equal(t, []string{"scale", "pad"}, shown.SideOutputs)

	for _, args := range [][]string{{"graph", "show"}, {"graph", "infer"}, {"graph", "plan"}} {
		r = call(t, append(args, "--preset", "clip", filepath.Join(t.TempDir(), "none.png"))...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Regexp(t, `^infer-prep: .*none.png: no such file or directory\n$`, r.stderr)
		r = call(t, append(args, "--preset", "clip", t.TempDir())...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "is a folder: want a regular file")
		r = call(t, append(args, "--preset", "clip", "graph_test.go")...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Contains(t, r.stderr, "unknown format")
	}
}

func TestGraphShowSteps(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 9)}), "a.png")
	dir := filepath.Join(t.TempDir(), "steps")
	r := call(t, "graph", "show", "--preset", "yolo", "--steps", dir, img)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, []string{
		"00-decode.image.npy", "00-decode.image.png", "01-letterbox.image.npy", "01-letterbox.image.png",
		"01-letterbox.pad.npy", "01-letterbox.scale.npy", "02-to_tensor.images.npy", "02-to_tensor.images.png",
	}, listFiles(t, dir))
	requireDecoded(t, filepath.Join(dir, "00-decode.image.npy"), 300, 200, 9)
	for _, name := range []string{"01-letterbox.image.png", "02-to_tensor.images.png"} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		m, err := png.Decode(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Equal(t, 640, m.Bounds().Dx())
		if strings.HasPrefix(name, "01") {
			require.Equal(t, color.RGBA{114, 114, 114, 255}, color.RGBAModel.Convert(m.At(0, 0)))
		}
	}
}

func TestGraphPlan(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 9)}), "a.png")
	r := call(t, "graph", "plan", "--preset", "decode", img)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `(?m)^0 +decode +image +uint8 HWC \(200, 300, 3\) +180,000 +0$`, r.stdout)
	require.Contains(t, r.stdout, "arena: 180,000 bytes; without sharing 180,000")
	require.Equal(t, r, call(t, "graph", "plan", "--preset", "decode", img))

	r = call(t, "graph", "plan", "--preset", "decode")
	require.Contains(t, r.stdout, "arena: 0 bytes and the unknown sizes (name an image to see them)")

	r = call(t, "graph", "plan", "--preset", "imagenet", "--json", img)
	var plan struct {
		ArenaBytes int64 `json:"arena_bytes"`
		Unshared   int64 `json:"unshared_bytes"`
		Unknown    bool  `json:"sizes_unknown"`
		Buffers    []struct {
			Bytes   int64
			Tensors []string
		}
		Steps []struct {
			Out []struct{ Buffer *int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &plan))
	require.False(t, plan.Unknown)
	require.Less(t, plan.ArenaBytes, plan.Unshared)
	require.Contains(t, plan.Buffers[0].Tensors, "0-decode.image")
	require.Equal(t, 0, *plan.Steps[0].Out[0].Buffer)

	r = call(t, "graph", "plan", "--preset", "decode", img, img)
	require.Equal(t, command.ExitUsage, r.status)
}

// TestGraphPlanPasses checks the optimized steps with all passes, with some
// disabled and with all disabled.
func TestGraphPlanPasses(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 9)}), "a.png")
	const tensorBytes, imageBytes = 3 * 224 * 224 * 4, 300 * 200 * 3
	r := call(t, "graph", "plan", "--preset", "imagenet", img)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Regexp(t, `(?m)^0 +0-4 +decode\+resize\+center_crop\+to_tensor\+normalize +[\d,]+ +602,112 +[\d,]+ +fold-geometry, pointwise-table, region-decode, row-step$`, r.stdout)
	require.Contains(t, r.stdout, "arena: 602,112 bytes, without passes 1,204,224\n")
	require.Regexp(t, `(?m)^touched: [\d,]+ bytes, without passes [\d,]+$`, r.stdout)

	type plan struct {
		Touched int64 `json:"touched_bytes"`
		Fused   struct {
			Off      []string
			Declined bool
			Arena    int64 `json:"arena_bytes"`
			Touched  int64 `json:"touched_bytes"`
			Steps    []struct {
				First, Steps int
				Op           string
				Passes       []string
				WrittenBytes int64 `json:"written_bytes"`
				WindowBytes  int64 `json:"window_bytes"`
			}
		}
	}
	read := func(args ...string) (p plan) {
		r := call(t, append([]string{"graph", "plan", "--json"}, args...)...)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &p))
		return p
	}
	p := read("--preset", "imagenet", img)
	require.Len(t, p.Fused.Steps, 1)
	require.Equal(t, 5, p.Fused.Steps[0].Steps)
	require.Equal(t, int64(tensorBytes), p.Fused.Arena)
	require.Less(t, p.Fused.Touched, p.Touched)
	require.Positive(t, p.Fused.Steps[0].WindowBytes)

	p = read("--preset", "imagenet", "--off", "row-step", "--off", "region-decode", img)
	require.Equal(t, []string{"row-step", "region-decode"}, p.Fused.Off)
	require.Len(t, p.Fused.Steps, 3)
	require.Equal(t, int64(imageBytes), p.Fused.Steps[0].WrittenBytes)
	require.Empty(t, p.Fused.Steps[0].Passes)
	require.Equal(t, 1, p.Fused.Steps[1].First)
	require.Equal(t, "resize+center_crop", p.Fused.Steps[1].Op)

	all := []string{"--preset", "clip", img}
	for _, q := range datagraph.Passes() {
		all = append(all, "--off", q.String())
	}
	p = read(all...)
	require.Len(t, p.Fused.Steps, 6)
	require.Equal(t, p.Touched, p.Fused.Touched)

	// The passes decline a crop outside the image.
	g, err := json.Marshal(datagraph.New(transforms.NewDecode(), transforms.NewCrop(5000, 0, 2, 2)))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "g.json")
	require.NoError(t, os.WriteFile(file, g, 0o666))
	p = read("--graph", file, img)
	require.True(t, p.Fused.Declined)
	require.Len(t, p.Fused.Steps, 2)
	require.Contains(t, call(t, "graph", "plan", "--graph", file, img).stdout, "these sizes cannot be fused")

	r = call(t, "graph", "plan", "--preset", "clip", "--off", "x")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, `--off "x": want fold-geometry, pointwise-table, region-decode, row-step or place-blocks`)
	for _, q := range datagraph.Passes() {
		require.Contains(t, call(t, "graph", "plan", "--help").stdout, q.Doc())
	}
}

func TestGraphInfer(t *testing.T) {
	img := filepath.Join(tree(t, map[string][]byte{"a.png": pngBytes(t, 300, 200, 9)}), "a.png")
	r := call(t, "graph", "infer", "--preset", "decode")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "input   image  bytes\noutput  image  uint8 HWC (?, ?, 3)\n", r.stdout)
	r = call(t, "graph", "infer", "--preset", "decode", img)
	require.Equal(t, "input   image  bytes\noutput  image  uint8 HWC (200, 300, 3)\n", r.stdout)
	r = call(t, "graph", "infer", "--preset", "yolo", "--json")
	require.Contains(t, r.stdout, `"column": "pad"`)

	// Only the header is read: an image whose pixels are missing has a shape.
	cut := filepath.Join(t.TempDir(), "cut.png")
	require.NoError(t, os.WriteFile(cut, pngBytes(t, 300, 200, 9)[:60], 0o666))
	require.Equal(t, r.status, call(t, "graph", "infer", "--preset", "decode", cut).status)
	r = call(t, "graph", "show", "--preset", "decode", "--steps", t.TempDir(), cut)
	require.Equal(t, command.ExitFailed, r.status)
}

// TestSVG draws graphs of several shapes and checks that boxes do not overlap
// and that all text is inside the drawing.
func TestSVG(t *testing.T) {
	graphs := map[string]*datagraph.Graph{}
	for _, name := range preset.Names() {
		g, err := preset.Graph(name)
		require.NoError(t, err)
		graphs[name] = g
	}
	// Two branches: one column is read twice, and kept for a later output.
	graphs["branches"] = datagraph.New(transforms.NewDecode()).
		Then(transforms.NewHorizontalFlip(), []string{"image"}, []string{"flipped"}).
		Then(transforms.NewHWC2CHW(), []string{"image"}, []string{"image"}).
		Then(transforms.NewToTensor(), []string{"flipped"}, []string{"other"})
	graphs["branches"].Outputs = []string{"image", "other", "flipped"}
	graphs["branches"].Reference = "<&>"
	for name, g := range graphs {
		t.Run(name, func(t *testing.T) {
			r, err := graph.InferGraph(nil, &source.GraphFlags{Limits: codec.DefaultLimits()}, g, "")
			require.NoError(t, err)
			checkSVG(t, graph.DrawSVG(r, true))
			checkSVG(t, graph.DrawSVG(r, false))
		})
	}
	file := filepath.Join(t.TempDir(), "g.svg")
	r := call(t, "graph", "show", "--preset", "clip", "--svg", file)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(b), "center_crop")
}

func checkSVG(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	attr := func(e xml.StartElement, name string) float64 {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				var f float64
				_, err := fmt.Sscanf(a.Value, "%f", &f)
				require.NoError(t, err, "%s of %s", name, e.Name.Local)
				return f
			}
		}
		return 0
	}
	width, height, bottom := 0.0, 0.0, 0.0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "svg":
			width, height = attr(e, "width"), attr(e, "height")
		case "rect":
			if y := attr(e, "y"); y > 0 {
				require.Greater(t, y, bottom)
				bottom = y + attr(e, "height")
				require.LessOrEqual(t, attr(e, "x")+attr(e, "width"), width)
			}
		case "text":
			require.Less(t, attr(e, "x"), width)
			require.Less(t, attr(e, "y"), height)
		}
	}
	require.Positive(t, bottom)
	require.Less(t, bottom, height)
}

// TestRandomGraphs: graph plan, graph make and run say what a random op is to
// them, and an error about a nested op names its real version.
func TestRandomGraphs(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 30, 20, 1)}))
	succeed(t, "graph", "make", "decode", "random_apply", "to_tensor", "-o", "random.json")
	require.Contains(t, succeed(t, "graph", "plan", "--graph", "random.json"),
		"random: 1-random_apply; a run replaces them by the ops that they draw; name an image to see what they draw and what then fuses\n")
	for ops, want := range map[string]string{
		"random_resized_crop height=8 width=8 random_horizontal_flip to_tensor normalize": `(?m)^0 +0-4 +decode\+resized_crop[a-z_+]*to_tensor\+normalize .*region-decode`,
		"random_apply probability=1 ops=invert,posterize to_tensor":                       `(?m)^0 +0-2 +decode\+invert\+posterize\+to_tensor .* pointwise-table`,
		"random_apply probability=0 ops=invert to_tensor":                                 `(?m)^0 +0-2 +decode\+to_tensor `,
	} {
		succeed(t, append([]string{"graph", "make", "-o", "drawn.json", "decode"}, strings.Fields(ops)...)...)
		plan := succeed(t, "graph", "plan", "--graph", "drawn.json", "a.png")
		require.Regexp(t, want, plan)
		require.Contains(t, plan, "; the steps above are those of the draw of seed 0, epoch 0, ordinal 0; other draws may fuse otherwise\n")
	}
	require.Contains(t, succeed(t, "graph", "plan", "--json", "--graph", "random.json"), `"1-random_apply"`)
	require.NotContains(t, succeed(t, "graph", "plan", "--preset", "imagenet"), "random")
	r := call(t, "run", "--graph", "random.json", "-o", "out", "a.png")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stderr, "infer-prep: the graph is random (1-random_apply): every image gets the same draws; a dataset draws for each sample\n")
	whole := succeed(t, "graph", "make", "decode", "random_apply", `ops=[{"op":"posterize","version":1,"params":{"bits":4}}]`)
	for _, ops := range []string{`[{"op":"posterize"}]`, `[{"op":"posterize","version":1}]`, `[{"op":"posterize","params":{}}]`, "posterize"} {
		require.Equal(t, whole, succeed(t, "graph", "make", "decode", "random_apply", "ops="+ops), "what is left out has the usual values")
	}
	for ops, input := range map[string]string{
		"decode_sound mix_mono":          `"name": "sound", "dtype": "bytes"`,
		"spectrogram":                    `"name": "sound", "dtype": "float32"`,
		"pad_end shape=8000 spectrogram": `"name": "sound", "dtype": "float32"`,
		"decode_sound mix_mono pad_end shape=100 to_type dtype=float64": `"op": "pad_end", "version": 1, "in": ["sound"], "out": ["sound"]`,
	} {
		got := succeed(t, append([]string{"graph", "make"}, strings.Fields(ops)...)...)
		require.Contains(t, strings.Join(strings.Fields(got), " "), input, ops)
	}
	require.NoError(t, os.WriteFile("pixels.json", []byte(succeed(t, "graph", "make", "resize", "height=4", "width=4")), 0o666))
	require.Contains(t, succeed(t, "graph", "show", "--graph", "pixels.json"), "uint8 HWC (?, ?, 3)  uint8 HWC (4, 4, 3)")
	nested := succeed(t, "graph", "make", "decode", "random_apply", `ops=[{"op":"random_choice","params":{"ops":[{"op":"invert"},{"op":"posterize","params":{"bits":2}}]}}]`)
	require.NoError(t, os.WriteFile("nested.json", []byte(nested), 0o666))
	succeed(t, "graph", "show", "--graph", "nested.json")
	require.Contains(t, nested, `"bits": 2`)
	for ops, want := range map[string]string{
		`[{"op":"invert","version":7}]`:         `unknown op "invert" version 7: this build has version 1`,
		`[{"op":"posterize","params":{"b":1}}]`: `unknown parameter "b"`,
		"inverse":                               `unknown op "inverse"; did you mean "invert"?`,
		`[{"op":"inverse"}]`:                    `"inverse"`,
	} {
		r := call(t, "graph", "make", "decode", "random_apply", "ops="+ops)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, want)
	}
	succeed(t, "graph", "make", "decode", "random_apply", "probability=0.2", `ops=[{"op":"invert","version":1,"params":{}}]`)
}
