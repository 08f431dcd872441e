package cli

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/importer/hf"
)

func TestImporters(t *testing.T) {
	r := call(t, "importers")
	require.Equal(t, command.ExitOK, r.status)
	require.Regexp(t, `(?m)^--hf +audio, pil, samples, torchvision +Hugging Face's preprocessor_config.json`, r.stdout)
	require.Regexp(t, `(?m)^--onnx {10,}an ONNX model`, r.stdout)
	require.Equal(t, command.ExitUsage, call(t, "importers", "hf").status)
}

// TestCoverage checks that the table has every class of hf.Classes, with its
// state.
func TestCoverage(t *testing.T) {
	r := call(t, "importers", "--coverage")
	require.Equal(t, command.ExitOK, r.status)
	require.Regexp(t, `(?m)^ViTImageProcessor +exact +torchvision \d+, pil \d+$`, r.stdout)
	require.Regexp(t, `(?m)^Kosmos2_5ImageProcessor +partial +torchvision 0, pil \d+: torchvision refuses do_normalize`, r.stdout)
	require.Regexp(t, `(?m)^Pix2StructImageProcessor +partial +torchvision \d+, pil \d+: torchvision refuses do_normalize`, r.stdout)

	text := r.stdout

	r = call(t, "importers", "--coverage", "--json")
	require.Equal(t, command.ExitOK, r.status)
	var table graph.CoverageJSON
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &table))
	require.Equal(t, hf.Version, table.Transformers)
	require.Len(t, table.Classes, len(hf.Classes()))
	exact := 0
	for _, c := range table.Classes {
		require.Equal(t, c.State == "exact", c.Reason == "", c.Class)
		if c.State == "exact" {
			exact++
		}
	}
	require.Equal(t, exact, table.Exact)

	require.Regexp(t, `(?m)^VideoMAEVideoProcessor +exact *$`, text)
	require.Regexp(t, `(?m)^Ernie4_5_VLMoeVideoProcessor +partial +draw_on_frames`, text)
	require.Len(t, table.Videos, 34)
	for _, v := range table.Videos {
		require.Equal(t, v.State == "exact", v.Reason == "", v.Class)
		if v.State == "exact" {
			table.VideosExact--
		}
	}
	require.Zero(t, table.VideosExact)

	require.Regexp(t, `(?m)^Gemma3Processor +exact *$`, text)
	require.Regexp(t, `(?m)^CLIPProcessor +none +it puts no tokens`, text)
	require.Regexp(t, `(?m)^Kosmos2Processor +refused +it numbers`, text)
	require.Len(t, table.Processors, 169)
	for _, p := range table.Processors {
		require.Equal(t, p.State == "exact", p.Reason == "", p.Class)
		if p.State == "exact" {
			table.TokensExact--
		}
	}
	require.Zero(t, table.TokensExact)
}

// TestModelFolder imports the folders of models and checks that the file and
// the backend are named.
func TestModelFolder(t *testing.T) {
	const vit = `{"image_processor_type":"ViTImageProcessorFast","size":{"height":8,"width":8}}`
	t.Chdir(tree(t, map[string][]byte{
		"hf/preprocessor_config.json":      []byte(vit),
		"nested/processor_config.json":     []byte(`{"image_processor":` + vit + `}`),
		"nested/preprocessor_config.json":  []byte(`{}`),
		"untyped/preprocessor_config.json": []byte("\ufeff" + `{"size":{"height":8,"width":8}}`),
		"untyped/config.json":              []byte(`{"model_type":"vit"}`),
		"timm/config.json":                 []byte(`{"architecture":"x","pretrained_cfg":{"input_size":[3,8,8],"interpolation":"bicubic"}}`),
		"empty/":                           nil,
		"a.png":                            pngBytes(t, 20, 10, 1),
	}))
	want := call(t, "graph", "import", "--hf", filepath.Join("hf", "preprocessor_config.json"))
	require.Equal(t, command.ExitOK, want.status)
	const backend = "transformers 5.23.0 ViTImageProcessor, backend torchvision (the backend by default; --backend takes audio, pil, samples or torchvision)\n"
	require.Equal(t, "infer-prep: "+filepath.Join("hf", "preprocessor_config.json")+": "+backend, want.stderr)
	for dir, file := range map[string]string{"hf": "preprocessor_config.json", "nested": "processor_config.json", "untyped": "preprocessor_config.json and config.json"} {
		r := call(t, "graph", "import", "--hf", dir)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, want.stdout, r.stdout)
		require.Equal(t, "infer-prep: "+filepath.Join(dir, file)+": "+backend, r.stderr)
	}
	r := call(t, "graph", "import", "--hf", "hf", "--backend", "pil")
	require.Equal(t, "infer-prep: "+filepath.Join("hf", "preprocessor_config.json")+": transformers 5.23.0 ViTImageProcessorPil, backend pil\n", r.stderr)
	r = call(t, "graph", "import", "--timm", "timm")
	require.Equal(t, "infer-prep: "+filepath.Join("timm", "config.json")+": timm 1.0.31 create_transform\n", r.stderr)
	r = call(t, "graph", "import", "--hf", "timm")
	require.Equal(t, "infer-prep: "+filepath.Join("timm", "config.json")+": transformers 5.23.0 TimmWrapperImageProcessor\n", r.stderr)
	r = call(t, "run", "--quiet", "--hf", "hf", "-o", "out", "a.png")
	require.Equal(t, called{command.ExitOK, "", ""}, r)

	for _, c := range []struct{ flag, dir, want string }{
		{"--hf", "empty", "empty: importer: hf: "},
		{"--timm", "empty", "want config.json"},
		{"--keras", "hf", "hf: invalid option: format keras takes a file, not a folder"},
	} {
		r := call(t, "graph", "import", c.flag, c.dir)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, c.want)
	}
}

// TestIgnoreKey ignores unknown keys of a file.
func TestIgnoreKey(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{
		"hf.json":   []byte(`{"image_processor_type":"ViTImageProcessor","size":8,"zz":1,"yy":2}`),
		"timm.json": []byte(`{'input_size': (3, 8, 8), 'interpolation': 'bicubic', 'zz': 1}`),
		"t.txt":     []byte("Compose(\n    ToTensor(zz=1)\n)\n"),
	}))
	r := call(t, "graph", "show", "--hf", "hf.json")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--ignore-key zz imports the file without it")
	r = call(t, "graph", "show", "--hf", "hf.json", "--ignore-key", "zz", "--ignore-key", "yy")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "reference  transformers 5.23.0 ViTImageProcessor, backend torchvision, ignoring yy, zz\n")
	r = call(t, "graph", "import", "--timm", "timm.json", "--ignore-key", "zz")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, `"reference": "timm 1.0.31 create_transform, ignoring zz"`)

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--hf", "hf.json", "--ignore-key", "size"}, `ignore key "size": key that cannot be ignored: the file has none, or the importer knows it`},
		{[]string{"--torchvision", "t.txt", "--ignore-key", "zz"}, "the file is not JSON; remove the keys from it instead"},
		{[]string{"--preset", "clip", "--ignore-key", "zz"}, "--ignore-key applies to an imported file, not to --preset"},
	} {
		r := call(t, append([]string{"graph", "show"}, c.args...)...)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, c.want)
	}
}

// TestPrep opens every kind of preprocessing by --prep, and compares the graph
// with that of the kind's own flag.
func TestPrep(t *testing.T) {
	hf := []byte(`{"image_processor_type":"ViTImageProcessor","size":8}`)
	t.Chdir(tree(t, map[string][]byte{
		"model/preprocessor_config.json": hf, "hf.json": hf,
		"both/preprocessor_config.json": hf, "both/metadata.yaml": []byte("stride: 32\nimgsz: [32, 32]\n"),
		"wrapped/preprocessor_config.json": hf, "wrapped/config.json": []byte(`{"pretrained_cfg":{"input_size":[3,8,8],"interpolation":"bicubic"}}`),
		"t.txt": []byte("Compose(\n    ToTensor()\n)\n"), "x.json": []byte("{}"),
	}))
	require.Equal(t, command.ExitOK, call(t, "graph", "import", "--preset", "clip", "-o", "g.json").status)
	require.Equal(t, command.ExitOK, call(t, "bundle", "create", "--preset", "clip", "-o", "b.bundle").status)
	for _, c := range []struct{ name, flag, value string }{
		{"model", "hf", "hf.json"}, {"wrapped", "timm", "wrapped"}, {"hf.json", "hf", "hf.json"}, {"t.txt", "torchvision", "t.txt"},
		{"preset:clip", "preset", "clip"}, {"g.json", "graph", "g.json"}, {"b.bundle", "bundle", "b.bundle"},
	} {
		got, want := call(t, "graph", "import", "--prep", c.name), call(t, "graph", "import", "--"+c.flag, c.value)
		require.Equal(t, command.ExitOK, got.status, got.stderr)
		require.Equal(t, want.stdout, got.stdout, c.name)
	}
	r := call(t, "graph", "import", "--prep", "hf.json", "--backend", "pil")
	require.Contains(t, r.stdout, "backend pil")
	for _, c := range []struct{ name, want string }{
		{"both", "both: ambiguous format: the folder may be of hf or ultralytics"},
		{"x.json", "x.json: unknown format"},
		{"missing", "missing: no such file or directory"},
		{"clip", "the preset of this name is preset:clip"},
	} {
		r := call(t, "graph", "import", "--prep", c.name)
		require.Equal(t, command.ExitUsage, r.status)
		require.Contains(t, r.stderr, c.want)
	}
}
