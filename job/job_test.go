package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRun: files, a folder and a missing file give results in their order, and
// the summary counts them.
func TestRun(t *testing.T) {
	img := pngBytes(t, 5, 4, 1)
	enterTree(t, map[string][]byte{"a.png": img, "in/b.png": img[:40], "in/c.txt": []byte("x"), "in/d.heic": []byte("\x00\x00\x00\x18ftypheic")})
	var l []Result
	var steps []int
	j := Job{
		Preprocessor: decoder(t, 2, codec.Limits{}), Inputs: Paths("a.png", "none.png", "in"), To: Sink{Dir: "out"}, Report: "report.jsonl",
		OnResult: func(x Result) error { l = append(l, x); return nil },
		Progress: func(done, total int) {
			require.Equal(t, 5, total)
			steps = append(steps, done)
		},
	}
	sum, err := j.Run(t.Context())
	require.ErrorIs(t, err, ErrImages)
	require.ErrorIs(t, err, os.ErrNotExist, "the first failure")
	require.EqualError(t, err, "job: 2 of 3 images failed; the first: none.png: no such file or folder")
	sum.First = nil
	require.Equal(t, Summary{Total: 5, Done: 1, Failed: 2, Skipped: 2}, sum)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, steps)
	var got []string
	for _, x := range l {
		got = append(got, fmt.Sprintf("%s %s %s%s %v", filepath.ToSlash(x.Path), x.Status, x.Kind, x.Why, x.Suspect))
	}
	require.Equal(t, []string{
		"a.png done  false", "none.png failed missing false", "in/b.png failed image false", "in/c.txt skipped not an image false",
		"in/d.heic skipped unsupported: HEIF true",
	}, got)
	require.Equal(t, []string{"a.png.npy"}, listFiles(t, "out"))
	require.Equal(t, filepath.Join("out", "a.png.npy"), l[0].Outputs[0].File)

	// The report names what is left to do.
	again, report, err := ReadList(t.Context(), "report.jsonl", false, nil)
	require.NoError(t, err)
	require.True(t, report)
	require.Equal(t, []Input{{Path: "none.png"}, {Path: filepath.Join("in", "b.png"), Name: "b.png"}}, again)

	j.Inputs, j.Progress = Paths("none.png"), nil
	sum, err = j.Run(t.Context())
	require.ErrorIs(t, err, ErrNoImages)
	require.Equal(t, 1, sum.Failed)
}

// TestResume: a run that was interrupted again and again makes the files of an
// uninterrupted one, and each image once.
func TestResume(t *testing.T) {
	enterImages(t, 60)
	p := decoder(t, 3, codec.Limits{})
	for _, c := range []struct {
		to       Sink
		existing Existing
	}{{Sink{}, ByName}, {Sink{}, ByContent}, {Sink{BatchSize: 7}, ByName}, {Sink{BatchSize: 7, LastBatch: LastPad}, ByName}} {
		name := fmt.Sprint(c.existing, c.to.BatchSize, c.to.LastBatch)
		whole := Job{Preprocessor: p, Inputs: Paths("in"), To: c.to}
		whole.To.Dir = "whole" + name
		_, err := whole.Run(t.Context())
		require.NoError(t, err)
		parts := whole
		parts.To.Dir, parts.Existing = "parts"+name, c.existing
		done, runs := 0, 0
		for ; ; runs++ {
			require.Less(t, runs, 20)
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			parts.OnResult = func(x Result) error {
				if x.Status == Done {
					n++
				}
				if n == 15 {
					cancel()
				}
				return nil
			}
			sum, err := parts.Run(ctx)
			cancel()
			done += sum.Done
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
		}
		require.GreaterOrEqual(t, runs, 1)
		require.Equal(t, 60, done)
		names := listFiles(t, whole.To.Dir)
		require.Equal(t, names, slices.DeleteFunc(listFiles(t, parts.To.Dir), func(s string) bool { return s == manifestName }))
		for _, f := range names {
			if filepath.Ext(f) == ".npy" {
				a, err := os.ReadFile(filepath.Join(whole.To.Dir, f))
				require.NoError(t, err)
				b, err := os.ReadFile(filepath.Join(parts.To.Dir, f))
				require.NoError(t, err)
				require.Equal(t, a, b, f)
			}
		}
	}

	// Another key makes all images anew.
	j := Job{Preprocessor: p, Inputs: Paths("in"), To: Sink{Dir: "keyed"}, Existing: ByContent, Key: "1"}
	for _, c := range []struct {
		key  string
		done int
	}{{"1", 60}, {"1", 0}, {"2", 60}} {
		j.Key = c.key
		sum, err := j.Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.done, sum.Done)
		require.Equal(t, 60-c.done, sum.Present)
	}
}

// TestStream: inputs come from memory and files as they are wanted, and without
// a folder the results have the tensors.
func TestStream(t *testing.T) {
	enterTree(t, map[string][]byte{"d/file.png": pngBytes(t, 5, 4, 9)})
	boom := errors.New("boom")
	images := func(context.Context) iter.Seq[Input] {
		return slices.Values([]Input{
			{Path: "first", Name: "a", Data: pngBytes(t, 5, 4, 7)}, {Path: filepath.Join("d", "file.png")}, {Path: "bad", Err: boom}, {Path: "large", Name: "b", Data: make([]byte, 2000)},
		})
	}
	var l []Result
	j := Job{Preprocessor: decoder(t, 2, codec.Limits{Bytes: 1500}), Stream: images, OnResult: func(x Result) error { l = append(l, x); return nil }}
	sum, err := j.Run(t.Context())
	require.ErrorIs(t, err, boom)
	require.Equal(t, -1, sum.Total)
	require.Len(t, l, 4)
	require.Equal(t, tensor.Dims(4, 5, 3), l[0].Tensors[0].Shape)
	require.Equal(t, byte(7), l[0].Tensors[0].Data[2])
	require.Equal(t, byte(9), l[1].Tensors[0].Data[2])
	require.Equal(t, KindLimit, l[3].Kind)

	j.To, j.OnResult = Sink{Dir: "out"}, nil
	_, err = j.Run(t.Context())
	require.ErrorIs(t, err, ErrImages)
	require.Equal(t, []string{"a.npy", "d/file.png.npy"}, listFiles(t, "out"))
}

// TestCompute: a function of the caller runs instead of the graph, and its
// outputs are written.
func TestCompute(t *testing.T) {
	enterImages(t, 20)
	p := decoder(t, 3, codec.Limits{})
	var calls atomic.Int32
	score := datagraph.Column{Name: "score:0", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}}
	var labels []string
	j := Job{
		Preprocessor: p, Inputs: Paths("in"), To: Sink{Dir: "out", Format: "npz", Labels: &Labels{Names: []string{"even", "odd"}, Top: 1}}, Columns: []datagraph.Column{score},
		Compute: func(ctx context.Context, image *tensor.Tensor, use func([]*tensor.Tensor) error) error {
			calls.Add(1)
			return p.Pool().Do(ctx, func(r *datagraph.Runner) error {
				out, err := r.Run(image)
				if err != nil {
					return err
				}
				x := scoresOf(t, []int{2}, 0, 0)
				tensor.View[float32](x)[out[0].Data[2]%2] = 1
				return use([]*tensor.Tensor{x})
			})
		},
		OnResult: func(x Result) error { labels = append(labels, x.Labels[0].Label); return nil },
	}
	_, err := j.Run(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 20, calls.Load())
	require.Len(t, listFiles(t, "out"), 20)
	require.Equal(t, []string{"even", "odd", "even"}, labels[:3])
}

// TestWriter: a stream has the bytes of the files, one after another.
func TestWriter(t *testing.T) {
	enterImages(t, 9)
	p := decoder(t, 3, codec.Limits{})
	files := Job{Preprocessor: p, Inputs: Paths("in"), To: Sink{Dir: "out"}}
	_, err := files.Run(t.Context())
	require.NoError(t, err)
	var want, got bytes.Buffer
	for _, f := range listFiles(t, "out") {
		b, err := os.ReadFile(filepath.Join("out", f))
		require.NoError(t, err)
		want.Write(b)
	}
	stream := Job{Preprocessor: p, Inputs: Paths("in"), To: Sink{Writer: &got}}
	_, err = stream.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, want.Bytes(), got.Bytes())

	stream.To.Format = "npz"
	_, err = stream.Run(t.Context())
	require.EqualError(t, err, "Sink.Writer: the writer holds the file of one image with Sink.Format=npz: want Sink.Format=npy or raw, Sink.BatchSize, or Sink.Dir")
}

// TestOptions: an invalid field is named before anything is written, with the
// caller's name for it.
func TestOptions(t *testing.T) {
	enterImages(t, 1)
	g, err := inferprep.Source{Name: "preset:yolo"}.Graph(t.Context())
	require.NoError(t, err)
	p, err := inferprep.New(g, inferprep.Options{})
	require.NoError(t, err)
	out := Sink{Dir: "out"}
	with := func(change func(s *Sink)) Sink { s := out; change(&s); return s }
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{}, "Preprocessor is nil"},
		{Job{Preprocessor: p}, "no output: want Sink.Dir, Sink.Writer or OnResult"},
		{Job{Preprocessor: p, To: out, Columns: []datagraph.Column{{Name: "x"}}}, "Columns needs Compute"},
		{Job{Preprocessor: p, To: out, Existing: "always"}, `Existing "always": want name or content`},
		{Job{Preprocessor: p, To: Sink{Writer: &bytes.Buffer{}}, Existing: ByName}, "Existing needs Sink.Dir"},
		{Job{Preprocessor: p, To: with(func(s *Sink) { s.Format = "nyp" })}, `Sink.Format=nyp: want npy, npz, raw, pb, safetensors, onnx-test, triton, triton-raw, input-list, tensorrt, webdataset, recordio or tfrecord; did you mean "npy"?`},
		{Job{Preprocessor: p, To: with(func(s *Sink) { s.Format, s.BatchSize = "webdataset", 2 })}, "Sink.BatchSize does not apply to Sink.Format=webdataset: a sample is one image, and the reader forms batches"},
		{Job{Preprocessor: p, To: with(func(s *Sink) { s.BatchSize = -1 })}, "Sink.BatchSize -1: want 1 to 1048576"},
		{Job{Preprocessor: p, To: with(func(s *Sink) { s.LastBatch = "long" })}, `Sink.LastBatch "long": want short, pad or drop`},
		{Job{Preprocessor: p, To: with(func(s *Sink) { s.Rename = map[string]string{"image": "x"} })}, "Sink.Rename: the files of Sink.Format=npy contain no names: want Sink.Format=npz, pb, safetensors, onnx-test, triton, triton-raw, input-list, tensorrt, webdataset, recordio or tfrecord"},
		{Job{Preprocessor: p, To: Sink{Writer: &bytes.Buffer{}, SideOutputs: true}}, "Sink.Writer: a file of Sink.Format=npy holds one output, the graph has images, scale or pad: want Sink.Format=npz or safetensors"},
	} {
		c.job.Inputs = Paths("in")
		_, err := c.job.Run(t.Context())
		require.EqualError(t, err, c.want)
		require.ErrorIs(t, err, ErrOption)
		require.NoDirExists(t, "out")
	}
	var e *FieldError
	_, err = (&Job{Preprocessor: p, To: with(func(s *Sink) { s.Format, s.BatchSize = "webdataset", 2 })}).Run(t.Context())
	require.ErrorAs(t, err, &e)
	require.Equal(t, "<Sink.BatchSize> does not apply to <Sink.Format=webdataset>: a sample is one image, and the reader forms batches", e.Text(func(f Field) string { return "<" + string(f) + ">" }))
}
