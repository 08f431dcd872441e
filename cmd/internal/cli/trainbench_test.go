package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/bench"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/imagefolder"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/dataset/save"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/pipeline"
)

// trainIn calls train-bench. A positive width simulates a terminal.
func trainIn(t *testing.T, ctx context.Context, width int, delay func(), args ...string) called {
	t.Helper()
	var out, errs bytes.Buffer
	a := &command.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Width: width, OnItem: delay}
	status := execute(ctx, a, append([]string{"train-bench"}, args...))
	return called{status, out.String(), errs.String()}
}

// trainTree creates a folder of two classes with seven images, one of seven
// images, one with a broken image, and definitions.
func trainTree(t *testing.T) string {
	files := map[string][]byte{"no/x.txt": []byte("no image"), "not.json": []byte("{"), "empty/": nil, "flat/x.txt": []byte("no image")}
	for i := range 7 {
		b := pngBytes(t, 50, 40, uint8(i))
		files[fmt.Sprintf("classes/%d/%d.png", i%2, i)] = b
		files[fmt.Sprintf("flat/%d.png", i)] = b
		if i == 3 {
			b = b[:len(b)/2]
		}
		files[fmt.Sprintf("broken/%d.png", i)] = b
	}
	dir := tree(t, files)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	t.Chdir(dir)
	b, err := json.Marshal(dataset.From(imagefolder.New("classes")).Shuffle().Map(g).Batch(2))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("train.json", b, 0o666))
	require.NoError(t, os.WriteFile("missing.json", bytes.ReplaceAll(b, []byte("classes"), []byte("nowhere")), 0o666))
	return dir
}

type trained struct {
	ImagesPerS  float64              `json:"images_per_s"`
	Images      int                  `json:"images"`
	Batches     int                  `json:"batches"`
	Epochs      int                  `json:"epochs"`
	Seconds     float64              `json:"seconds"`
	FirstBatchS float64              `json:"first_batch_s"`
	Bad         int                  `json:"bad"`
	Engine      string               `json:"engine"`
	Interrupted bool                 `json:"interrupted"`
	Stages      []bench.StageFigures `json:"stages"`
	Tuned       json.RawMessage      `json:"tuned"`
	Caches      []struct {
		Path    string
		Hits    int
		Misses  int
		Samples int
		Bytes   int64
	}
}

func TestTrainBench(t *testing.T) {
	trainTree(t)
	for _, c := range []struct {
		name                    string
		args                    []string
		images, batches, epochs int
		stages                  []string
		bad, status             int
		stderr                  string
	}{
		{"classes", []string{"--folder", "classes", "--preset", "imagenet", "--batch", "3"}, 7, 3, 1,
			[]string{"batch/map/image_folder", "batch/map", "sending"}, 0, 0, ""},
		{"images alone", []string{"--folder", "flat", "--preset", "imagenet", "--batch", "3", "--shuffle", "--epochs", "2", "--workers", "3"}, 14, 6, 2,
			[]string{"batch/map/shuffle/folder", "batch/map", "sending"}, 0, 0, ""},
		{"no batches", []string{"--folder", "flat", "--preset", "decode", "--batch", "0", "--prefetch", "0"}, 7, 7, 1,
			[]string{"map/folder", "map"}, 0, 0, ""},
		{"a definition", []string{"--seed", "3", "--bytes", "1M", "--autotune", "train.json"}, 7, 4, 1,
			[]string{"batch/map/shuffle/image_folder", "batch/map", "sending"}, 0, 0, ""},
		{"train", []string{"--folder", "classes", "--train", "--shuffle"}, 7, 1, 1,
			[]string{"batch/map/shuffle/image_folder", "batch/map", "sending"}, 0, 0, ""},
		{"pull", []string{"--engine", "pull", "train.json"}, 7, 4, 1, nil, 0, 0, ""},
		{"a bad sample", []string{"--folder", "broken", "--preset", "imagenet", "--on-error", "skip", "--batch", "2"}, 6, 3, 1,
			[]string{"batch/map/folder", "batch/map", "sending"}, 1, command.ExitFailed, "infer-prep: 3.png: batch/map: png: "},
		{"a replaced sample", []string{"--folder", "broken", "--preset", "imagenet", "--on-error", "replace", "--batch", "2"}, 7, 4, 1,
			[]string{"batch/map/folder", "batch/map", "sending"}, 1, command.ExitFailed, ".png\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trainIn(t, t.Context(), 0, nil, append([]string{"--json"}, c.args...)...)
			require.Equal(t, c.status, r.status, r.stderr)
			if c.stderr == "" {
				require.Empty(t, r.stderr)
			} else {
				require.Contains(t, r.stderr, c.stderr)
				require.Equal(t, 1, strings.Count(r.stderr, "\n"))
			}
			require.Equal(t, 1, strings.Count(r.stdout, "\n"))
			var got trained
			d := json.NewDecoder(strings.NewReader(r.stdout))
			require.NoError(t, d.Decode(&got))
			require.Equal(t, [4]int{c.images, c.batches, c.epochs, c.bad}, [4]int{got.Images, got.Batches, got.Epochs, got.Bad})
			require.InEpsilon(t, float64(got.Images)/got.Seconds, got.ImagesPerS, 1e-3)
			require.Positive(t, got.FirstBatchS)
			require.LessOrEqual(t, got.FirstBatchS, got.Seconds)
			require.False(t, got.Interrupted)
			require.Contains(t, string(got.Tuned), "[", "a list, never null")
			require.Len(t, got.Stages, len(c.stages))
			for i, s := range got.Stages {
				require.Equal(t, c.stages[i], s.Path)
				require.Positive(t, s.Workers)
				require.Positive(t, s.Queue)
				want := 7 * c.epochs
				if s.Path == sending {
					want = c.batches
				}
				require.EqualValues(t, want, s.In, s.Path)
				require.EqualValues(t, want, s.Out, s.Path)
			}
		})
	}
}

const sending = "sending"

// TestTrainBenchCaches: a bound that holds a part of the samples keeps a part,
// and the table shows it.
func TestTrainBenchCaches(t *testing.T) {
	trainTree(t)
	for size, samples := range map[string]int{"1M": 7, "60k": 3, "10": 0} {
		r := trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--train", "--epochs", "3", "--json", "--cache", size)
		require.Equal(t, command.ExitOK, r.status, r.stderr)
		var got trained
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
		if samples == 0 {
			require.Empty(t, got.Caches)
			continue
		}
		require.Len(t, got.Caches, 1)
		c := got.Caches[0]
		require.Equal(t, []int{2 * c.Samples, 21}, []int{c.Hits, c.Hits + c.Misses})
		require.GreaterOrEqual(t, c.Samples, samples)
	}
	r := trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--train", "--epochs", "3", "--cache", "1M")
	require.Regexp(t, `(?m)^cache +hits +misses +hit % +samples +MB\nbatch/map/folder\+cache +14 +7 +66.7 +7 +`, r.stdout)
	r = trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--train", "--cache", "0")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "--cache 0: want at least 1")
}

func TestTrainBenchTable(t *testing.T) {
	trainTree(t)
	r := trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--preset", "imagenet", "--seconds", "0.2")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Empty(t, r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	require.Len(t, lines, 7)
	require.Regexp(t, `^stage +workers +ready +in +out +busy % +waited % +MB +errors$`, lines[0])
	require.Regexp(t, `^batch/map/folder +\d+ +\d+/\d+ +\d+ +\d+ +\d+ +\d+ +[\d.]+ +0( +<- bottleneck)?$`, lines[1])
	require.Regexp(t, `^engine +images +batches +epochs +bad +seconds +first batch s +images/s +CPU ms/image +peak MB$`, lines[5])
	require.Regexp(t, `^parallel +\d+ +\d+ +\d+ +0 +\d+\.\d+ `, lines[6])
	require.LessOrEqual(t, strings.Count(r.stdout, "bottleneck"), 1)
}

// TestTrainBenchLive: the table on a terminal is redrawn in place, fits the
// terminal, and is cleared at the end.
func TestTrainBenchLive(t *testing.T) {
	trainTree(t)
	const width = 60
	r := trainIn(t, t.Context(), width, func() { time.Sleep(20 * time.Millisecond) },
		"--folder", "broken", "--preset", "imagenet", "--seconds", "1.3", "--on-error", "skip", "--batch", "2")
	require.Equal(t, command.ExitFailed, r.status, r.stderr)
	require.Contains(t, r.stderr, "infer-prep: 3.png: batch/map: png: ")
	require.GreaterOrEqual(t, strings.Count(r.stderr, "images/s"), 1)
	drawn := 0
	for _, l := range strings.Split(r.stderr, "\n") {
		l = l[strings.LastIndex(l, "J")+1:]
		if strings.HasPrefix(l, "infer-prep: ") {
			continue
		}
		require.Less(t, len([]rune(l)), width)
		if strings.HasPrefix(l, "stage") {
			drawn++
		}
	}
	require.Equal(t, drawn, strings.Count(r.stderr, "\x1b[5A\x1b[J"), "each is cleared")
	require.NotContains(t, r.stdout, "\x1b")
}

func TestTrainBenchTrace(t *testing.T) {
	trainTree(t)
	for _, status := range []int{command.ExitOK, command.ExitFailed} { // also of a run that fails
		folder := map[int]string{command.ExitOK: "flat", command.ExitFailed: "broken"}[status]
		r := trainIn(t, t.Context(), 0, nil, "--folder", folder, "--preset", "imagenet", "--trace", "trace.json")
		require.Equal(t, status, r.status, r.stderr)
		b, err := os.ReadFile("trace.json")
		require.NoError(t, err)
		var events []map[string]any
		require.NoError(t, json.Unmarshal(b, &events))
		require.Greater(t, len(events), 4)
		require.NoError(t, os.Remove("trace.json"))
	}
	r := trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--preset", "imagenet", "--trace", "no/such/trace.json")
	require.Equal(t, command.ExitFailed, r.status)
	require.Contains(t, r.stderr, "no/such/trace.json")
}

func TestTrainBenchErrors(t *testing.T) {
	trainTree(t)
	folder := []string{"--folder", "flat", "--preset", "imagenet"}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, command.ExitUsage, "no dataset: want a definition or --folder DIR"},
		{[]string{"train.json", "train.json"}, command.ExitUsage, "got 2 definitions, want one"},
		{append([]string{"train.json"}, folder...), command.ExitUsage, "a definition and --folder: want only one of them"},
		{[]string{"train.json", "--shuffle"}, command.ExitUsage, "--shuffle needs --folder: a definition already contains it"},
		{[]string{"train.json", "--preset", "clip"}, command.ExitUsage, "--preset needs --folder"},
		{[]string{"flat"}, command.ExitUsage, "flat: is a folder, want a definition; for a folder of images use --folder"},
		{[]string{"--folder", "flat"}, command.ExitUsage, "no graph: want --prep, --preset, --graph"},
		{append(folder, "--train"), command.ExitUsage, "--train and --preset: want only one of them"},
		{[]string{"train.json", "--train"}, command.ExitUsage, "--train needs --folder"},
		{append(folder, "--engine", "push"), command.ExitUsage, `--engine "push": want parallel or pull`},
		{append(folder, "--engine", "pull", "--workers", "2"), command.ExitUsage, "--workers needs --engine parallel"},
		{append(folder, "--engine", "pull", "--trace", "x"), command.ExitUsage, "--trace needs --engine parallel"},
		{append(folder, "--on-error", "ignore"), command.ExitUsage, `--on-error "ignore": want fail, replace or skip`},
		{append(folder, "--batch", "-1"), command.ExitUsage, "--batch -1: want at least 0"},
		{append(folder, "--batch", "99999999"), command.ExitUsage, "batches of 99999999"},
		{append(folder, "--workers", "0"), command.ExitUsage, "--workers 0: want at least 1"},
		{append(folder, "--workers", "1000000"), command.ExitUsage, "Workers is 1000000, want 1 to 4096"},
		{append(folder, "--prefetch", "-1"), command.ExitUsage, "--prefetch -1: want at least 0"},
		{append(folder, "--bytes", "0"), command.ExitUsage, "--bytes 0: want at least 1"},
		{append(folder, "--bytes", "many"), command.ExitUsage, "400M or 2Gi"},
		{append(folder, "--epochs", "0"), command.ExitUsage, "--epochs 0: want at least 1"},
		{append(folder, "--seconds", "0"), command.ExitUsage, "--seconds 0: want more than 0 and at most 1000000"},
		{append(folder, "--seconds", "NaN"), command.ExitUsage, "--seconds NaN: want more than 0 and at most 1000000"},
		{append(folder, "--queue", "0"), command.ExitUsage, `--queue "0": want [STAGE=]N, with N of 1 or more`},
		{append(folder, "--queue", "batch/map=x"), command.ExitUsage, `--queue "batch/map=x": want [STAGE=]N`},
		{append(folder, "--queue", "batch/mapp=3"), command.ExitUsage, `no stage "batch/mapp": want one of batch/map, batch/map/folder; did you mean "batch/map"?`},
		{append(folder, "--queue", "70000"), command.ExitUsage, "Queue is 70000, want 0 to 65536"},
		{append(folder, "--engine", "pull", "--queue", "3"), command.ExitUsage, "--queue needs --engine parallel"},
		{append(folder, "--engine", "pull", "--autotune-file", "x"), command.ExitUsage, "--autotune-file needs --engine parallel"},
		{append(folder, "--autotune-file", "nothing.json"), command.ExitUsage, "--autotune-file nothing.json: no such file or directory"},
		{append(folder, "--autotune-file", "not.json"), command.ExitUsage, "--autotune-file not.json: "},
		{append(folder, "--autotune-file", "train.json"), command.ExitUsage, "--autotune-file train.json: pipeline: unusable tuning: "},
		{append(folder, "--autotune-file", "-"), command.ExitUsage, `--autotune-file "-": want a file`},
		{append(folder, "--device", "npu"), command.ExitUsage, `--device npu: device: unknown device "npu"; did you mean "cpu"?`},
		{append(folder, "--least", "best"), command.ExitUsage, `--least "best": want exact, within1 or approximate`},
		{[]string{"not.json"}, command.ExitUsage, "not.json: dataset: invalid definition"},
		{[]string{"nothing.json"}, command.ExitUsage, "nothing.json: no such file or directory"},
		{[]string{"missing.json"}, command.ExitFailed, "nowhere: no such file or directory"},
		{[]string{"--folder", "nowhere", "--preset", "imagenet"}, command.ExitFailed, "nowhere: no such file or directory"},
		{[]string{"--folder", "empty", "--preset", "imagenet"}, command.ExitFailed, "no images found"},
		{[]string{"--folder", "no", "--preset", "imagenet"}, command.ExitFailed, "no images found, 1 file skipped"},
		{[]string{"--folder", "broken", "--preset", "imagenet"}, command.ExitFailed, "3.png: batch/map: png: "},
	} {
		r := trainIn(t, t.Context(), 0, nil, c.args...)
		require.Equal(t, c.status, r.status, "%q: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want, "%q", c.args)
		require.Empty(t, r.stdout, "%q", c.args)
		if c.status == command.ExitUsage {
			require.Contains(t, r.stderr, "usage: infer-prep train-bench", "%q", c.args)
		}
	}
}

// TestTrainBenchTuned writes the choices of --autotune, and reads them.
func TestTrainBenchTuned(t *testing.T) {
	trainTree(t)
	tuned := []string{"--json", "--autotune", "--autotune-file", "tuned.json"}
	r := trainIn(t, t.Context(), 0, nil, append(tuned, "--queue", "batch/map=19", "train.json")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	b, err := os.ReadFile("tuned.json")
	require.NoError(t, err)
	var saved pipeline.Tuning
	require.NoError(t, json.Unmarshal(b, &saved))
	require.Len(t, saved.Stages, 2)
	require.Equal(t, "batch/map", saved.Stages[1].Path)
	require.Equal(t, 19, saved.Stages[1].Queue)

	// Without --autotune, the run uses the file unchanged and does not write.
	saved.Stages[1].Workers, saved.Stages[1].Queue = 5, 23
	b, err = json.Marshal(saved)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("tuned.json", b, 0o666))
	r = trainIn(t, t.Context(), 0, nil, "--json", "--autotune-file", "tuned.json", "--seed", "7", "train.json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	var got trained
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
	require.Equal(t, []int{5, 23}, []int{got.Stages[1].Workers, got.Stages[1].Queue})
	after, err := os.ReadFile("tuned.json")
	require.NoError(t, err)
	require.Equal(t, string(b), string(after))

	// Another definition is an error; another machine is a note.
	r = trainIn(t, t.Context(), 0, nil, append(tuned, "--folder", "flat", "--preset", "imagenet")...)
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "it was made for another definition or device")
	saved.Cores += 3
	b, err = json.Marshal(saved)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("tuned.json", b, 0o666))
	r = trainIn(t, t.Context(), 0, nil, append(tuned, "train.json")...)
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, "the tuning is not used: it was made on ")
	b, err = os.ReadFile("tuned.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &saved))
	require.Equal(t, runtime.GOMAXPROCS(0), saved.Cores)
}

// TestTrainBenchDevice runs the end of a map on ONNX Runtime.
func TestTrainBenchDevice(t *testing.T) {
	trainTree(t)
	r := trainIn(t, t.Context(), 0, nil, "--device", "help")
	require.Equal(t, command.ExitOK, r.status)
	require.Regexp(t, `(?m)^cpu +the reference`, r.stdout)
	r = trainIn(t, t.Context(), 0, nil, "--device", "cpu", "--json", "train.json")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.NotContains(t, r.stdout, `"maps"`)

	needORT(t)
	r = trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--train", "--device", "ort:cpu")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Equal(t, "batch/map: on ort:cpu: to_tensor, normalize; on cpu: decode, random_resized_crop, random_horizontal_flip\n", r.stderr)
	r = trainIn(t, t.Context(), 0, nil, "--json", "train.json", "--device", "ort:cpu")
	require.Equal(t, command.ExitOK, r.status, r.stderr)
	require.Contains(t, r.stdout, `"maps":[{"path":"batch/map","steps":[{"step":0,"op":"decode","where":"cpu","class":"exact"`)
	r = trainIn(t, t.Context(), 0, nil, "--folder", "flat", "--preset", "decode", "--batch", "0", "--device", "ort:cpu")
	require.Equal(t, command.ExitUsage, r.status)
	require.Contains(t, r.stderr, "device ort:cpu runs no step of any map")
}

func TestTrainBenchInterrupted(t *testing.T) {
	trainTree(t)
	for _, args := range [][]string{{"--engine", "parallel"}, {"--engine", "pull"}} {
		for _, at := range []int32{0, 1, 5} {
			ctx, cancel := context.WithCancel(t.Context())
			if at == 0 {
				cancel()
			}
			var n atomic.Int32
			r := trainIn(t, ctx, 0, func() {
				if n.Add(1) == at {
					cancel()
				}
			}, append([]string{"--json", "--epochs", "1000", "train.json"}, args...)...)
			cancel()
			require.Equal(t, command.ExitInterrupted, r.status, r.stderr)
			if at == 0 { // before the dataset was opened
				require.Equal(t, called{command.ExitInterrupted, "", "infer-prep: interrupted: nothing was done\n"}, r)
				continue
			}
			require.Equal(t, "infer-prep: interrupted\n", r.stderr)
			var got trained
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &got))
			require.True(t, got.Interrupted)
			require.EqualValues(t, at, got.Batches)
		}
	}
}

// TestTrainBenchSaves runs a definition with the node save: the records have
// the images of the folder.
func TestTrainBenchSaves(t *testing.T) {
	trainTree(t)
	d := dataset.Of(save.New("imagerecord", "out.rec"), dataset.From(imagefolder.New("classes")).Shuffle())
	b, err := json.Marshal(d)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("save.json", b, 0o666))
	r := trainIn(t, t.Context(), 0, nil, "--json", "--epochs", "2", "save.json")
	require.Equal(t, 0, r.status, r.stderr)
	source := imagerecord.New("out.rec")
	built, err := dataset.Build(t.Context(), dataset.From(source), dataset.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 7, built.Len())
	require.NoError(t, built.Close())
}
