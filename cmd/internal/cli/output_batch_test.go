package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/diff"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/tensor"
)

// imageFolder creates n images of 5 x 4 pixels and broken ones after every
// third image, and changes to their folder.
func imageFolder(t *testing.T, n int) {
	t.Helper()
	files := map[string][]byte{"in/text.txt": []byte("no image")}
	for i := range n {
		img := pngBytes(t, 5, 4, uint8(i))
		files[fmt.Sprintf("in/%03d.png", i)] = img
		if i%3 == 2 {
			files[fmt.Sprintf("in/%03dbroken.png", i)] = img[:40]
		}
	}
	t.Chdir(tree(t, files))
}

// imageLine is a line of --json, or of a list of images.
type imageLine struct {
	Input            string
	Padding, Dropped bool
	Outputs          []job.Output
	Labels           []job.Label
}

// imageLines parses the lines of --json or of a list of images.
func imageLines(t *testing.T, text string) (l []imageLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var x imageLine
		require.NoError(t, json.Unmarshal([]byte(line), &x), line)
		l = append(l, x)
	}
	return l
}

// sameFiles compares two folders.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	files := listFiles(t, a)
	require.Equal(t, files, listFiles(t, b))
	for _, f := range files {
		require.Equal(t, readText(t, filepath.Join(a, f)), strings.ReplaceAll(readText(t, filepath.Join(b, f)), b+"/", a+"/"), f)
	}
}

// TestBatchSize: batches are full except the last, without the images that
// fail, and the same for any number of jobs.
func TestBatchSize(t *testing.T) {
	imageFolder(t, 10)
	for _, jobs := range []string{"1", "3", "16"} {
		r := call(t, "run", "--preset", "decode", "--batch-size", "4", "--json", "-j", jobs, "-o", "out"+jobs, "in")
		require.Equal(t, command.ExitFailed, r.status)
		sameFiles(t, "out1", "out"+jobs)
		var lines []imageLine
		for _, l := range imageLines(t, r.stdout) {
			if l.Outputs != nil {
				lines = append(lines, l)
			}
		}
		require.Len(t, lines, 10)
		for i, l := range lines {
			require.Equal(t, filepath.Join("in", fmt.Sprintf("%03d.png", i)), l.Input)
			row := i % 4
			require.Equal(t, []job.Output{{
				Name: "image", File: filepath.Join("out"+jobs, fmt.Sprintf("batch-%06d.npy", i/4)), Row: &row, DType: tensor.Uint8, Shape: tensor.Dims(4, 5, 3),
			}}, l.Outputs)
		}
	}
	require.Equal(t, []string{
		"batch-000000.jsonl", "batch-000000.npy", "batch-000001.jsonl", "batch-000001.npy", "batch-000002.jsonl", "batch-000002.npy",
	}, listFiles(t, "out1"))
	n := 0
	for i, size := range []int{4, 4, 2} {
		name := filepath.Join("out1", fmt.Sprintf("batch-%06d", i))
		b := readNPY(t, name+".npy")
		require.Equal(t, tensor.Dims(size, 4, 5, 3), b.Shape)
		list := imageLines(t, readText(t, name+".jsonl"))
		require.Len(t, list, size)
		for k := range size {
			require.Equal(t, filepath.Join("in", fmt.Sprintf("%03d.png", n)), list[k].Input)
			require.Equal(t, fmt.Sprintf("batch-%06d.npy", i), list[k].Outputs[0].File, "relative to the list")
			require.Equal(t, k, *list[k].Outputs[0].Row)
			require.Equal(t, byte(n), b.Data[60*k+2], "the pixels' last channel is the image's number")
			n++
		}
	}
}

// TestLastBatch: the last batch is short, padded or left out.
func TestLastBatch(t *testing.T) {
	imageFolder(t, 5)
	run := func(args ...string) called {
		return call(t, append([]string{"run", "--preset", "decode", "--force", "--batch-size", "3", "-o", "out"}, append(args, "in")...)...)
	}
	require.Equal(t, command.ExitFailed, run("--last-batch", "pad").status)
	b := readNPY(t, "out/batch-000001.npy")
	require.Equal(t, tensor.Dims(3, 4, 5, 3), b.Shape)
	require.Equal(t, b.Data[60:120], b.Data[120:180], "the last image again")
	list := imageLines(t, readText(t, "out/batch-000001.jsonl"))
	require.Len(t, list, 3)
	two := 2
	require.Equal(t, imageLine{Padding: true, Outputs: []job.Output{{
		Name: "image", File: "batch-000001.npy", Row: &two, DType: tensor.Uint8, Shape: tensor.Dims(4, 5, 3),
	}}}, list[2])

	r := run("--last-batch", "drop")
	require.Equal(t, []string{"batch-000000.jsonl", "batch-000000.npy"}, listFiles(t, "out"))
	require.Contains(t, r.stderr, "infer-prep: 2 images left out: the last batch is not full\n")
	r = run("--last-batch", "drop", "--json")
	require.Contains(t, r.stdout, `{"input":"in/004.png","dropped":true,"outputs":[]}`)

	require.Equal(t, called{command.ExitOK, "", "infer-prep: 1 image left out: the last batch is not full\n"}, withoutSummary(call(t, "run", "--preset", "decode", "--last-batch", "drop", "--batch-size", "3", "-o", "none", "in/000.png")))
	require.Empty(t, listFiles(t, "none"))
}

// withoutSummary removes the last line of standard error.
func withoutSummary(r called) called {
	var l []string
	for line := range strings.Lines(r.stderr) {
		if !strings.Contains(line, "images/s") && !tensorsLine.MatchString(line) {
			l = append(l, line)
		}
	}
	r.stderr = strings.Join(l, "")
	return r
}

// graphFile writes the graph of preset decode with a batch rule.
func graphFile(t *testing.T, b datagraph.Batching) {
	t.Helper()
	g, err := preset.Graph("decode")
	require.NoError(t, err)
	text, err := json.Marshal(g.SetBatch("image", b))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("graph.json", text, 0o666))
}

// TestBatchRules: batches equal those of Plan.Collate, and the list says where
// an image's rows are.
func TestBatchRules(t *testing.T) {
	for _, c := range []struct {
		rule  datagraph.Batching
		sizes [3][2]int
		rows  [3][2]int // the first row and the number of rows
	}{
		{datagraph.Batching{}, [3][2]int{{5, 4}, {5, 4}, {5, 4}}, [3][2]int{{0, 0}, {1, 0}, {2, 0}}},
		{datagraph.Batching{Rule: datagraph.BatchPad, Value: 9}, [3][2]int{{5, 4}, {7, 3}, {2, 6}}, [3][2]int{{0, 0}, {1, 0}, {2, 0}}},
		{datagraph.Batching{Rule: datagraph.BatchConcat}, [3][2]int{{5, 4}, {5, 3}, {5, 6}}, [3][2]int{{0, 4}, {4, 3}, {7, 6}}},
	} {
		t.Run(c.rule.Rule.String(), func(t *testing.T) {
			files := map[string][]byte{}
			for i, s := range c.sizes {
				files[fmt.Sprintf("in/%d.png", i)] = pngBytes(t, s[0], s[1], uint8(i))
			}
			t.Chdir(tree(t, files))
			graphFile(t, c.rule)
			require.Equal(t, command.ExitOK, call(t, "run", "--graph", "graph.json", "--batch-size", "3", "-o", "out", "in").status)
			require.Equal(t, command.ExitOK, call(t, "run", "--graph", "graph.json", "-o", "each", "in").status)
			text, err := os.ReadFile("graph.json")
			require.NoError(t, err)
			g := &datagraph.Graph{}
			require.NoError(t, json.Unmarshal(text, g))
			plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
			require.NoError(t, err)
			var samples [][]*tensor.Tensor
			for i := range c.sizes {
				samples = append(samples, []*tensor.Tensor{readNPY(t, fmt.Sprintf("each/%d.png.npy", i))})
			}
			want, err := plan.Collate(samples)
			require.NoError(t, err)
			got := readNPY(t, "out/batch-000000.npy")
			require.Equal(t, want[0].Shape, got.Shape)
			require.Equal(t, want[0].Data, got.Data)
			for i, l := range imageLines(t, readText(t, "out/batch-000000.jsonl")) {
				o := l.Outputs[0]
				require.Equal(t, c.rows[i][0], *o.Row)
				require.Equal(t, tensor.Dims(c.sizes[i][1], c.sizes[i][0], 3), o.Shape, "without the padding")
				if c.rule.Rule == datagraph.BatchConcat {
					require.Equal(t, c.rows[i][1], *o.Rows)
				} else {
					require.Nil(t, o.Rows)
				}
			}
		})
	}
}

// TestBatchSizes: an image that does not fit the others of its batch fails, and
// the batch is filled with later ones.
func TestBatchSizes(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "b.png": pngBytes(t, 6, 4, 2), "c.png": pngBytes(t, 5, 4, 3)}))
	r := call(t, "run", "--preset", "decode", "--batch-size", "2", "-o", "out", "a.png", "b.png", "c.png")
	require.Equal(t, command.ExitFailed, r.status)
	require.Equal(t, "infer-prep: b.png: the output image is uint8 HWC (4, 6, 3), in the batch of a.png it is uint8 HWC (4, 5, 3): rule stack needs equal sizes\n", withoutSummary(r).stderr)
	require.Equal(t, tensor.Dims(2, 4, 5, 3), readNPY(t, "out/batch-000000.npy").Shape)
	require.Len(t, imageLines(t, readText(t, "out/batch-000000.jsonl")), 2)
}

// TestBatchTooLarge: a batch is held in memory, below the limit.
func TestBatchTooLarge(t *testing.T) {
	imageFolder(t, 30)
	args := []string{"run", "--preset", "decode", "--limit-bytes", "1k", "-o", "out", "in", "--batch-size"}
	require.Equal(t, "infer-prep: the batch with "+filepath.Join("in", "016.png")+" needs more than 1000 bytes: want a smaller --batch-size or a larger --limit-bytes\n", withoutBroken(call(t, append(args, "30")...)).stderr)
	require.Empty(t, listFiles(t, "out"))
	r := call(t, "run", "--preset", "decode", "--limit-bytes", "1k", "-o", "out", "in/000.png", "--batch-size", "1000000", "--last-batch", "pad")
	require.Contains(t, r.stderr, "the batch with "+filepath.Join("in", "000.png")+" needs more than 1000 bytes")
	r = call(t, append(args, "16")...) // 960 bytes
	require.Contains(t, r.stderr, "40 images, 10 failed")
	require.Len(t, listFiles(t, "out"), 4)
}

// withoutBroken removes the lines about broken images.
func withoutBroken(r called) called {
	l := slices.DeleteFunc(strings.SplitAfter(r.stderr, "\n"), func(s string) bool { return strings.Contains(s, "broken.png") })
	r.stderr = strings.Join(l, "")
	return r
}

// TestBatchFormats: each format holds the batch's tensors, with all outputs.
func TestBatchFormats(t *testing.T) {
	imageFolder(t, 2)
	for format, want := range map[string][]string{
		"npy":         {"batch-000000.images.npy", "batch-000000.jsonl", "batch-000000.pad.npy", "batch-000000.scale.npy"},
		"npz":         {"batch-000000.jsonl", "batch-000000.npz"},
		"safetensors": {"batch-000000.jsonl", "batch-000000.safetensors"},
		"raw":         {"batch-000000.images.raw", "batch-000000.jsonl", "batch-000000.pad.raw", "batch-000000.scale.raw"},
		"pb":          {"batch-000000.images.pb", "batch-000000.jsonl", "batch-000000.pad.pb", "batch-000000.scale.pb"},
		"onnx-test":   {"batch-000000.jsonl", "test_data_set_0/input_0.pb", "test_data_set_0/input_1.pb", "test_data_set_0/input_2.pb", "test_data_sets.txt"},
		"triton":      {"batch-000000.json", "batch-000000.jsonl"},
		"triton-raw":  {"batch-000000.jsonl", "batch-000000/images", "batch-000000/pad", "batch-000000/scale"},
	} {
		out := "out-" + format
		r := call(t, "run", "--preset", "yolo", "--outputs", "all", "--batch-size", "2", "--format", format, "-o", out, "in/000.png", "in/001.png")
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		require.Equal(t, want, listFiles(t, out), format)
	}
	for _, o := range []struct {
		name  string
		shape tensor.Shape
	}{{"images", tensor.Dims(2, 3, 640, 640)}, {"pad", tensor.Dims(2, 4)}, {"scale", tensor.Dims(2, 2)}} {
		want := readNPY(t, "out-npy/batch-000000."+o.name+".npy")
		require.Equal(t, o.shape, want.Shape)
		require.Equal(t, string(want.Data), readText(t, "out-raw/batch-000000."+o.name+".raw"))
		require.Equal(t, string(want.Data), readText(t, "out-triton-raw/batch-000000/"+o.name))
		require.Equal(t, readText(t, "out-pb/batch-000000."+o.name+".pb"), readText(t, fmt.Sprintf("out-onnx-test/test_data_set_0/input_%d.pb", map[string]int{"images": 0, "scale": 1, "pad": 2}[o.name])))
		for _, format := range []string{"npz", "safetensors"} {
			l, err := diff.ReadTensorFile(t.Context(), "out-"+format+"/batch-000000."+format, nil, 1<<30)
			require.NoError(t, err)
			i := slices.IndexFunc(l, func(x tensor.Named) bool { return x.Name == o.name })
			require.Equal(t, want.Data, l[i].T.Data)
		}
	}
	require.Equal(t, "test_data_set_0\tbatch-000000\n", readText(t, "out-onnx-test/test_data_sets.txt"))
}

// TestBatchFlags: flags that have no effect together are refused.
func TestBatchFlags(t *testing.T) {
	t.Chdir(tree(t, map[string][]byte{"a.png": pngBytes(t, 5, 4, 1), "model.onnx": {1}}))
	for _, c := range []struct{ args, want string }{
		{"--batch-size 0", "--batch-size 0: want 1 to 1048576"},
		{"--batch-size 2 --batch", "want only one of --batch and --batch-size"},
		{"--batch-size 2 --format webdataset", "--batch-size does not apply to --format webdataset"},
		{"--last-batch pad", "--last-batch needs --batch-size"},
		{"--batch-size 2 --last-batch padded", `--last-batch "padded": want short, pad or drop`},
		{"--samples-per-file 5", "--samples-per-file applies to shards"},
		{"--bytes-per-file 5 --format npz", "--bytes-per-file applies to shards"},
		{"--samples-per-file 0 --format recordio", "--samples-per-file 0, --bytes-per-file 3000000000: want at least 1"},
		{"--force", "--force applies to batches, shards and numbered folders"},
		{"--json -o -", "-o - and --json both write to standard output"},
		{"--format onnx-test -o -", "-o -: --format onnx-test has files and a folder: want -o DIR"},
		{"--preset yolo --outputs all -o -", "-o -: a file of --format npy holds one output, the graph has images, scale or pad: want --format npz or safetensors"},
		{"--format tfrecord --name a/shape", `the input "a/shape" with --format tfrecord: not a valid name of a feature`},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--preset") {
			args = append(args, "--preset", "decode")
		}
		if !strings.Contains(c.args, "-o") {
			args = append(args, "-o", "out")
		}
		r := call(t, append(append([]string{"run"}, args...), "a.png")...)
		require.Equal(t, command.ExitUsage, r.status, c.args)
		require.Contains(t, r.stderr, c.want)
	}
}

// TestSeries: a folder with batches or shards of an earlier run is refused,
// since the new ones could be fewer; --force removes them.
func TestSeries(t *testing.T) {
	imageFolder(t, 4)
	for _, c := range []struct {
		flags []string
		one   []string // files of the second run
		first string
	}{
		{[]string{"--batch-size", "1"}, []string{"batch-000000.jsonl", "batch-000000.npy"}, "batch-000000.jsonl"},
		{[]string{"--batch-size", "1", "--format", "triton-raw"}, []string{"batch-000000.jsonl", "batch-000000/image"}, "batch-000000"},
		{[]string{"--format", "webdataset", "--samples-per-file", "1"}, []string{"data-00000.tar"}, "data-00000.tar"},
		{[]string{"--format", "recordio", "--samples-per-file", "1"}, []string{"data-00000.idx", "data-00000.rec"}, "data-00000.idx"},
		{[]string{"--format", "tfrecord", "--samples-per-file", "1"}, []string{"data-00000.tfrecord"}, "data-00000.tfrecord"},
	} {
		out := "out" + strings.Join(c.flags, "")
		args := append([]string{"run", "--preset", "decode", "-o", out}, c.flags...)
		require.Equal(t, command.ExitFailed, call(t, append(args, "in")...).status)
		before := listFiles(t, out)
		require.Greater(t, len(before), len(c.one))
		others := []string{"batch-.npy", "batch-1x.npy", "data-00000.txt", "mine.npy"}
		for _, o := range others {
			require.NoError(t, os.WriteFile(filepath.Join(out, o), nil, 0o666))
		}
		r := call(t, append(args, "in/000.png")...)
		require.Equal(t, command.ExitFailed, r.status)
		require.Equal(t, "infer-prep: "+filepath.Join(out, c.first)+" is from an earlier run: want another folder, or --force to remove it and all others like it\n", r.stderr)
		require.Len(t, listFiles(t, out), len(before)+len(others))
		require.Equal(t, command.ExitOK, call(t, append(args, "--force", "in/000.png")...).status)
		require.ElementsMatch(t, append(c.one, others...), listFiles(t, out))
	}
}

// TestBatchInterrupted: an interrupted run leaves only whole batches and
// shards, and tells what is in them.
func TestBatchInterrupted(t *testing.T) {
	files := map[string][]byte{}
	for i := range 200 {
		files[fmt.Sprintf("in/%03d.png", i)] = pngBytes(t, 5, 4, uint8(i))
	}
	t.Chdir(tree(t, files))
	for _, flags := range []string{"--batch-size 7", "--format webdataset --samples-per-file 7", "--format recordio --samples-per-file 7", "--format tfrecord --samples-per-file 7"} {
		for _, jobs := range []string{"1", "4"} {
			ctx, cancel := context.WithCancel(t.Context())
			var n atomic.Int32
			var stdout, stderr bytes.Buffer
			a := &command.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, OnItem: func() {
				if n.Add(1) == 20 {
					cancel()
				}
			}}
			out := "out" + flags + jobs
			status := execute(ctx, a, append([]string{"run", "--preset", "decode", "--json", "-j", jobs, "-o", out, "in"}, strings.Fields(flags)...))
			require.Equal(t, command.ExitInterrupted, status)
			done := strings.Count(stdout.String(), "\n")
			require.Contains(t, []int{14, 21}, done)
			require.True(t, strings.HasPrefix(stderr.String(), fmt.Sprintf("infer-prep: interrupted: %d of 200 files done", done)), stderr.String())
			require.Equal(t, strings.Contains(flags, "batch"), strings.Contains(stderr.String(), "to go on: infer-prep run --skip-existing"))
			l := listFiles(t, out)
			want := done / 7
			if !strings.Contains(flags, "webdataset") && !strings.Contains(flags, "tfrecord") {
				want *= 2 // with a list or an index
			}
			require.Len(t, l, want)
		}
	}
}

// TestBatchGoOn: batches of a run that was interrupted again and again are
// those of an uninterrupted run.
func TestBatchGoOn(t *testing.T) {
	imageFolder(t, 40)
	for _, flags := range []string{"--batch-size 4", "--batch-size 7 --last-batch pad", "--batch-size 7 --last-batch drop", "--batch-size 3 --format tensorrt"} {
		for _, jobs := range []string{"1", "4"} {
			args := append([]string{"run", "-q", "--preset", "decode", "-j", jobs, "in", "-o"}, strings.Fields(flags)...)
			out := func(dir string) []string { return slices.Insert(slices.Clone(args), 8, dir) }
			whole, parts := "whole"+flags+jobs, "parts"+flags+jobs
			require.Equal(t, command.ExitFailed, call(t, out(whole)...).status)
			runs := 0
			for status := command.ExitInterrupted; status == command.ExitInterrupted; runs++ {
				ctx, cancel := context.WithCancel(t.Context())
				var n atomic.Int32
				var stderr bytes.Buffer
				a := &command.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, OnItem: func() {
					if n.Add(1) == 12 {
						cancel()
					}
				}}
				status = execute(ctx, a, append(out(parts), "--skip-existing", "--report", "report.jsonl"))
				if cancel(); status == command.ExitInterrupted {
					require.Contains(t, stderr.String(), "--skip-existing")
					for _, l := range readReport(t, "report.jsonl") {
						_, err := os.Stat(filepath.Join(parts, "batch-000000.jsonl"))
						require.NoError(t, err)
						require.Contains(t, []job.Status{job.Done, job.Failed, job.Skipped, job.Pending, "end"}, l.Status)
					}
					require.Len(t, readReport(t, "report.jsonl"), 55, "images that wait for their batch are pending")
				}
				require.Less(t, runs, 20)
			}
			require.Greater(t, runs, 2)
			sameFiles(t, whole, parts)
		}
	}

	// New images go into the last batch if it is not full.
	first := []string{"run", "-q", "--preset", "decode", "--batch-size", "4", "-o", "more", "--skip-existing"}
	images := func(from, to int) (l []string) {
		for i := from; i < to; i++ {
			l = append(l, filepath.Join("in", fmt.Sprintf("%03d.png", i)))
		}
		return l
	}
	require.Equal(t, command.ExitOK, call(t, append(first, images(0, 6)...)...).status)
	require.Equal(t, command.ExitOK, call(t, append(first, images(0, 9)...)...).status)
	require.Equal(t, command.ExitOK, call(t, append([]string{"run", "-q", "--preset", "decode", "--batch-size", "4", "-o", "once"}, images(0, 9)...)...).status)
	sameFiles(t, "once", "more")

	first[5] = "5"
	r := call(t, append(first, images(0, 9)...)...)
	require.Equal(t, called{command.ExitFailed, "", "infer-prep: " + filepath.Join("more", "batch-000000.jsonl") + " lists 4 images, but --batch-size is 5: want the same number, or --force instead of --skip-existing\n"}, r)
	first[5] = "4"
	require.NoError(t, os.Remove("more/batch-000001.npy"))
	r = call(t, append(first, images(0, 9)...)...)
	require.Contains(t, r.stderr, "batch-000001.jsonl lists a missing file: "+filepath.Join("more", "batch-000001.npy"))
	require.NoError(t, os.WriteFile("more/batch-000000.jsonl", []byte(`{"input":"a","outputs":[{"file":"../once/batch-000000.npy"}]}`), 0o666))
	r = call(t, append(first, images(0, 9)...)...)
	require.Contains(t, r.stderr, `not a list of images: the file "../once/batch-000000.npy" is outside`)
}
