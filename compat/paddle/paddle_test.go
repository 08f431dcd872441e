package paddle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/records/tfrecord"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestMain fails on leaked goroutines, except for the one of js/wasm's runtime.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

// lines is a file with one number per line. x is (number, number + 0.5) and y
// is the number. The line "long" has an x of another size, "!" is an error,
// "panic" panics and "wait" is slow.
type lines struct {
	path string
	rows bool
}

var column = []dataset.Column{
	{Name: "x", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)}},
	{Name: "y", Desc: tensor.Desc{DType: tensor.Int64}},
}

// want is the columns that the tests require.
var want = []dataset.Column{
	{Name: "x", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}},
	{Name: "y", Desc: tensor.Desc{DType: tensor.Int64}},
}

var openFiles, closedFiles atomic.Int64

func init() {
	RegisterFileReader("nums", func(path string, _ []dataset.Column) (dataset.Source, error) { return &lines{path: path}, nil }, "#nums\n")
	RegisterFileReader("numrows", func(path string, _ []dataset.Column) (dataset.Source, error) {
		return &lines{path: path, rows: true}, nil
	}, "#nums rows\n")
	RegisterFileReader("broken", func(path string, _ []dataset.Column) (dataset.Source, error) { return nil, os.ErrPermission })
	RegisterFileReader("none", func(path string, _ []dataset.Column) (dataset.Source, error) { return nil, nil })
}

func (l *lines) Validate() error { return nil }

func (l *lines) Open(context.Context, store.Opener) (dataset.Data, error) {
	if !l.rows {
		if _, err := os.Stat(l.path); err != nil {
			return nil, err
		}
		return lineStream{l}, nil
	}
	b, err := os.ReadFile(l.path)
	if err != nil {
		return nil, err
	}
	d := &lineRows{}
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "#") {
			d.l = append(d.l, strings.TrimSpace(line))
		}
	}
	return d, nil
}

func put(line string, s *dataset.Sample) error {
	x := want[0].Desc
	switch line {
	case "!":
		return errors.New("a bad line")
	case "panic":
		panic("in a file reader")
	case "wait":
		time.Sleep(2 * time.Millisecond)
		line = "-1"
	case "long":
		x.Shape = tensor.Dims(3)
		line = "-2"
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return err
	}
	if err := s.Column("x").Reset(x); err != nil {
		return err
	}
	v := tensor.View[float32](&s.Column("x").Tensor)
	v[0], v[1] = float32(n), float32(n)+0.5
	if err := s.Column("y").Reset(want[1].Desc); err != nil {
		return err
	}
	tensor.View[int64](&s.Column("y").Tensor)[0] = n
	return nil
}

type lineRows struct{ l []string }

func (d *lineRows) Columns() []dataset.Column                                { return column }
func (d *lineRows) Len() int64                                               { return int64(len(d.l)) }
func (d *lineRows) Close() error                                             { return nil }
func (d *lineRows) Read(_ context.Context, i int64, s *dataset.Sample) error { return put(d.l[i], s) }

type lineStream struct{ *lines }

func (d lineStream) Columns() []dataset.Column { return column }
func (d lineStream) Close() error              { return nil }
func (d lineStream) Start(_ context.Context, _ uint64) (dataset.Reader, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	openFiles.Add(1)
	return &lineReader{f, bufio.NewScanner(f)}, nil
}

type lineReader struct {
	f *os.File
	s *bufio.Scanner
}

func (r *lineReader) Next(_ context.Context, s *dataset.Sample) error {
	for r.s.Scan() {
		if !strings.HasPrefix(r.s.Text(), "#") {
			return put(r.s.Text(), s)
		}
	}
	return io.EOF
}

func (r *lineReader) Close() error {
	closedFiles.Add(1)
	return r.f.Close()
}

// write writes files of lines and returns their paths.
func write(t *testing.T, ext string, texts ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("part%d.%s", i, ext)))
		require.NoError(t, os.WriteFile(paths[i], []byte(strings.ReplaceAll(text, " ", "\n")+"\n"), 0o600))
	}
	return paths
}

func start(t *testing.T, r *Reader, o Options) *Run {
	t.Helper()
	run, err := r.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	return run
}

// numbers reads y of up to most samples of the epoch, with or without HasNext.
func numbers(t *testing.T, r *Run, most int, ask bool) (l []int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for range most {
		if ask {
			more, err := r.HasNext(ctx)
			require.NoError(t, err)
			again, err := r.HasNext(ctx)
			require.NoError(t, err)
			require.Equal(t, more, again)
			if !more {
				_, err := r.ReadNext(ctx)
				require.Equal(t, io.EOF, err)
				break
			}
		}
		s, err := r.ReadNext(ctx)
		if err == io.EOF && !ask {
			break
		}
		require.NoError(t, err)
		l = append(l, tensor.View[int64](&s.Column("y").Tensor)...)
	}
	return l
}

// turns returns the documented order: a thread takes the next file when its
// file has ended, and samples come from the threads round-robin.
func turns(files [][]int64, threads int) (l []int64) {
	lanes := slices.Clone(files[:min(threads, len(files))])
	files = files[len(lanes):]
	for left := true; left; {
		left = false
		for i := range lanes {
			for len(lanes[i]) == 0 && len(files) > 0 {
				lanes[i], files = files[0], files[1:]
			}
			if len(lanes[i]) > 0 {
				l, lanes[i], left = append(l, lanes[i][0]), lanes[i][1:], true
			}
		}
	}
	return l
}

// many writes files of different lengths.
func many(t *testing.T, ext string, n int) (paths []string, files [][]int64) {
	t.Helper()
	var texts []string
	for i := range n {
		f, text := []int64{}, []string{"#"}
		for k := range i * 7 % 5 * 3 {
			f = append(f, int64(100*i+k))
			text = append(text, strconv.Itoa(100*i+k))
		}
		files, texts = append(files, f), append(texts, strings.Join(text, " "))
	}
	return write(t, ext, texts...), files
}

// TestOrder checks the documented order for every buffer size, engine and kind
// of file. It includes a second pass, ReInit in the middle and a resumed run.
func TestOrder(t *testing.T) {
	for _, ext := range []string{"nums", "numrows"} {
		paths, files := many(t, ext, 9)
		for _, threads := range []int{1, 2, 3, 8, 20} {
			for _, buffer := range []int{1, 3, 0, maxBuffer} {
				t.Run(fmt.Sprintf("%s, %d threads, %d", ext, threads, buffer), func(t *testing.T) {
					want := turns(files, threads)
					r := OpenFiles(want2(), FilesOptions{Threads: threads, Buffer: buffer}, paths...)
					run := start(t, r, Options{})
					require.Equal(t, want, numbers(t, run, 1000, false))
					require.NoError(t, run.ReInit())
					require.Equal(t, want[:7], numbers(t, run, 7, true))
					_, err := run.HasNext(context.Background()) // reads ahead, which State must not count
					require.NoError(t, err)
					state := run.State()
					require.Equal(t, want[7:9], numbers(t, run, 2, true))
					require.NoError(t, run.ReInit())
					require.Equal(t, want, numbers(t, run, 1000, true))

					again := start(t, r.DoubleBuffer(), Options{State: state, Pipeline: pipeline.Options{Workers: 3}})
					require.Equal(t, want[7:], numbers(t, again, 1000, false), "resumed")

					b, err := dataset.Build(t.Context(), r.Dataset(), dataset.Options{})
					require.NoError(t, err)
					p, err := pullpipe.New(b, nil)
					require.NoError(t, err)
					var got []int64
					for s, err := range p.All(context.Background()) {
						require.NoError(t, err)
						got = append(got, tensor.View[int64](&s.Column("y").Tensor)[0])
					}
					require.Equal(t, want, got, "without goroutines")
					require.NoError(t, p.Close())
					require.NoError(t, b.Close())
				})
			}
		}
	}
	require.Equal(t, openFiles.Load(), closedFiles.Load(), "files that were opened are closed")
}

func want2() []dataset.Column { return slices.Clone(want) }

func TestDecorators(t *testing.T) {
	paths, files := many(t, "nums", 6)
	all := turns(files, 2)
	open := OpenFiles(want, FilesOptions{Threads: 2, Buffer: 4}, paths...)
	for _, c := range []struct {
		name   string
		r      *Reader
		passes int
		batch  int
		mixed  bool
	}{
		{"none", open, 1, 1, false},
		{"batch", open.Batch(4), 1, 4, false},
		{"passes", open.MultiPass(3), 3, 1, false},
		{"batches over passes", open.MultiPass(2).Batch(7), 2, 7, false},
		{"passes of batches", open.Batch(7).MultiPass(2).DoubleBuffer(), 2, 0, false},
		{"all", open.Shuffle(10).DoubleBuffer().MultiPass(2).Batch(5).DoubleBuffer(), 2, 5, true},
		{"mixed batches", open.Batch(4).Shuffle(3).MultiPass(2), 2, 4, true},
		{"mixed samples and batches", open.Shuffle(5).Batch(4).Shuffle(3).DoubleBuffer(), 1, 4, true},
		{"of a dataset", FromDataset(open.Dataset()).Shuffle(3).Batch(2), 1, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Dataset: dataset.Options{Seed: 5}}
			run, twin := start(t, c.r, o), start(t, c.r, o)
			var epochs [][]int64
			for range 2 {
				got := numbers(t, run, 1000, true)
				require.Equal(t, got, numbers(t, twin, 1000, false), "the same seed")
				epochs = append(epochs, got)
				var want []int64
				for range c.passes {
					want = append(want, all...)
				}
				if c.mixed {
					require.NotEqual(t, want, got)
					require.ElementsMatch(t, want, got)
				} else {
					require.Equal(t, want, got)
				}
				require.NoError(t, run.ReInit())
				require.NoError(t, twin.ReInit())
			}
			if c.mixed {
				require.NotEqual(t, epochs[0], epochs[1], "another order in another epoch")
			}
			if c.batch > 1 {
				s, err := run.ReadNext(context.Background())
				require.NoError(t, err)
				require.Equal(t, tensor.Dims(c.batch, 2), s.Column("x").Shape)
			}
		})
	}
}

func TestUpload(t *testing.T) {
	paths, _ := many(t, "nums", 3)
	var n atomic.Int64
	run := start(t, OpenFiles(want, FilesOptions{}, paths...).Batch(4).DoubleBuffer(), Options{Pipeline: pipeline.Options{
		Upload: func(_ context.Context, s *dataset.Sample) error { n.Add(1); return nil },
	}})
	l := numbers(t, run, 1000, false)
	require.Equal(t, int64((len(l)+3)/4), n.Load())
	require.NotEmpty(t, run.Stats())
	require.Equal(t, "x", run.Columns()[0].Name)
}

func TestFormatOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.NUMS": "", "b.nums": "#nums rows\n1\n", "c.txt": "#nums rows\n1\n", "d": "#nums\n1\n", "e.bin": "??", "f": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for name, want := range map[string]string{"a.NUMS": "nums", "b.nums": "nums", "c.txt": "numrows", "d": "nums"} {
		tag, err := FormatOf(t.Context(), store.Local, filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, tag, name)
	}
	for name, tag := range map[string]string{"e.bin": "bin", "f": ""} {
		_, err := FormatOf(t.Context(), store.Local, filepath.Join(dir, name))
		var f *FormatError
		require.ErrorAs(t, err, &f)
		require.Equal(t, FormatError{filepath.Join(dir, name), tag, []string{"broken", "csv", "none", "numrows", "nums", "rec", "recordio", "shards", "tar", "tfrecord", "tfrecords"}}, *f)
	}
	_, err := FormatOf(t.Context(), store.Local, filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, tag := range []string{"", "nums", "Nums", "a.b"} {
		require.Panics(t, func() {
			RegisterFileReader(tag, func(string, []dataset.Column) (dataset.Source, error) { return nil, nil })
		}, tag)
	}
}

func TestStartErrors(t *testing.T) {
	paths := write(t, "nums", "1 2", "3")
	desc := func(d tensor.DType, dims ...int) tensor.Desc {
		return tensor.Desc{DType: d, Shape: tensor.Dims(dims...)}
	}
	x := func(d tensor.Desc, rest ...dataset.Column) []dataset.Column {
		return append([]dataset.Column{{Name: "x", Desc: d}}, rest...)
	}
	for _, c := range []struct {
		name    string
		columns []dataset.Column
		got     ShapeError
		says    string
	}{
		{"dtype", x(desc(tensor.Float64, 2), want[1]), ShapeError{Column: "x", Got: column[0].Desc, Want: desc(tensor.Float64, 2)}, `column "x": got float32 (?,), want float64 (2,)`},
		{"axes", x(desc(tensor.Float32, 2, 1), want[1]), ShapeError{Column: "x", Got: column[0].Desc, Want: desc(tensor.Float32, 2, 1)}, `want float32 (2, 1)`},
		{"too few", want[:1], ShapeError{Column: "y", Got: want[1].Desc}, `column "y": got int64 (), want no such column`},
		{"too many", append(want2(), dataset.Column{Name: "z", Desc: want[1].Desc}), ShapeError{Column: "z", Want: want[1].Desc}, `column "z": missing, want int64 ()`},
		{"other name", append(want2()[:1], dataset.Column{Name: "z", Desc: want[1].Desc}), ShapeError{Column: "z", Want: want[1].Desc}, `column "z": missing`},
	} {
		_, err := OpenFiles(c.columns, FilesOptions{Threads: 2}, paths...).Start(t.Context(), Options{})
		var e *ShapeError
		require.ErrorAs(t, err, &e, c.name)
		c.got.File = paths[0]
		require.Equal(t, c.got, *e, c.name)
		require.ErrorContains(t, err, c.says)
	}
	missing := filepath.Join(t.TempDir(), "missing.nums")
	other := write(t, "other", "1")[0]
	for _, c := range []struct {
		r    *Reader
		is   error
		says string
	}{
		{OpenFiles(want, FilesOptions{}), dataset.ErrParam, "no files"},
		{OpenFiles(nil, FilesOptions{}, paths...), dataset.ErrParam, "no columns"},
		{OpenFiles(want, FilesOptions{Threads: -1}, paths...), dataset.ErrParam, "-1 threads"},
		{OpenFiles(want, FilesOptions{Buffer: maxBuffer + 1}, paths...), dataset.ErrParam, "a buffer of 1025"},
		{OpenFiles(want, FilesOptions{Format: "parquet"}, paths...), nil, `unknown file format "parquet"; known: broken, csv, none, numrows, nums, rec, recordio, shards, tar, tfrecord`},
		{OpenFiles(want, FilesOptions{}, paths[0], other), nil, other + `: unknown file format "other"`},
		{OpenFiles(want, FilesOptions{}, paths[0], missing), os.ErrNotExist, missing},
		{OpenFiles(want, FilesOptions{}, write(t, "broken", "")...), os.ErrPermission, "part0.broken: permission denied"},
		{OpenFiles(want, FilesOptions{}, write(t, "none", "")...), nil, "returned no source"},
		{OpenFiles(want, FilesOptions{}, paths...).Batch(0), dataset.ErrParam, "batches of 0"},
		{OpenFiles(want, FilesOptions{}, paths...).Shuffle(0), dataset.ErrParam, "a buffer of 0"},
		{OpenFiles(want, FilesOptions{}, paths...).MultiPass(0), dataset.ErrParam, "0 passes"},
	} {
		_, err := c.r.Start(t.Context(), Options{})
		require.ErrorContains(t, err, c.says)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
	}
	_, err := OpenFiles(want, FilesOptions{}, paths...).Start(t.Context(), Options{Pipeline: pipeline.Options{Workers: -1}})
	require.ErrorIs(t, err, dataset.ErrParam)
	// An explicit Format overrides the file's extension.
	require.Equal(t, []int64{1}, numbers(t, start(t, OpenFiles(want, FilesOptions{Format: "nums"}, other), Options{}), 10, false))
}

// TestSampleErrors checks that an error names the file and the sample, and that
// the run is over until ReInit. With SkipOnError the sample is skipped.
func TestSampleErrors(t *testing.T) {
	for _, ext := range []string{"nums", "numrows"} {
		for _, c := range []struct{ line, says string }{
			{"!", "a bad line"},
			{"panic", "panic: in a file reader"},
			{"long", `column "x": got float32 (3,), want float32 (2,)`},
		} {
			t.Run(ext+" "+c.line, func(t *testing.T) {
				paths := write(t, ext, "1 2", "3 "+c.line+" 5 6", "7")
				r := OpenFiles(want, FilesOptions{Threads: 2}, paths...)
				for _, ask := range []bool{false, true} {
					run := start(t, r, Options{})
					require.Equal(t, []int64{1, 3, 2}, numbers(t, run, 3, ask))
					var err error
					for range 2 {
						if ask {
							var more bool
							more, err = run.HasNext(context.Background())
							require.False(t, more)
							require.Error(t, err)
						}
						_, err = run.ReadNext(context.Background())
						require.ErrorContains(t, err, c.says)
						var s *dataset.SampleError
						require.ErrorAs(t, err, &s)
						if c.line != "panic" {
							require.ErrorContains(t, err, paths[1])
						}
						if c.line == "long" {
							var e *ShapeError
							require.ErrorAs(t, err, &e)
							require.Equal(t, ShapeError{paths[1], paths[1] + ":1", "x", tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3)}, want[0].Desc}, *e)
						}
					}
					require.NoError(t, run.ReInit())
					require.Equal(t, []int64{1, 3, 2}, numbers(t, run, 3, ask))
				}
				run := start(t, r, Options{Dataset: dataset.Options{OnError: dataset.SkipOnError}})
				require.Equal(t, []int64{1, 3, 2, 5, 7, 6}, numbers(t, run, 100, true))
			})
		}
	}
}

// TestCancel checks that cancelling the context ends a waiting run, and that
// Close works at any point.
func TestCancel(t *testing.T) {
	paths := write(t, "nums", strings.Repeat("wait ", 500)+"1", strings.Repeat("wait ", 500)+"1")
	r := OpenFiles(want, FilesOptions{Threads: 2, Buffer: 1}, paths...).Shuffle(100).Batch(100).DoubleBuffer()
	for _, ask := range []bool{false, true} {
		run := start(t, r, Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		var err error
		if ask {
			_, err = run.HasNext(ctx)
		} else {
			_, err = run.ReadNext(ctx)
		}
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, run.Close())
		_, err = run.ReadNext(context.Background())
		require.Error(t, err)
		require.NoError(t, run.Close())
	}
	idle := start(t, r, Options{}) // never read
	require.NoError(t, idle.Close())
}

// TestWritten writes and reads a definition in its JSON form.
func TestWritten(t *testing.T) {
	paths, files := many(t, "numrows", 4)
	r := OpenFiles(want, FilesOptions{Threads: 2}, paths...).MultiPass(2)
	text, err := json.Marshal(r.Dataset())
	require.NoError(t, err)
	var d dataset.Dataset
	require.NoError(t, json.Unmarshal(text, &d))
	all := turns(files, 2)
	require.Equal(t, append(all, all...), numbers(t, start(t, FromDataset(&d), Options{}), 1000, false))
}

// TestLargeQueue uses queues larger than package pipeline's tuner would choose.
func TestLargeQueue(t *testing.T) {
	paths, files := many(t, "nums", 4)
	run := start(t, OpenFiles(want, FilesOptions{Threads: 2}, paths...).DoubleBuffer(), Options{Pipeline: pipeline.Options{Queue: 3000}})
	require.Equal(t, turns(files, 2), numbers(t, run, 1000, false))
}

// TestFormats reads a file of each format that the package registers.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	w := tfrecord.NewWriter(&b, 0)
	for _, text := range []string{"one", "two"} {
		require.NoError(t, w.Write([]byte(text)))
	}
	require.NoError(t, os.WriteFile(dir+"/a.tfrecord", b.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(dir+"/a.csv", []byte("x,y\n0.5,1\n1.5,2\n"), 0o600))
	b.Reset()
	shard := tar.NewWriter(&b)
	for _, name := range []string{"a.png", "a.cls", "b.jpg", "b.cls"} {
		require.NoError(t, shard.WriteHeader(&tar.Header{Name: name, Size: 1, Mode: 0o600}))
		_, err := shard.Write([]byte("7"))
		require.NoError(t, err)
	}
	require.NoError(t, shard.Close())
	require.NoError(t, os.WriteFile(dir+"/a.tar", b.Bytes(), 0o600))
	file := tensor.Encoded()
	for path, c := range map[string]struct {
		columns []dataset.Column
		rows    int
		first   string
	}{
		dir + "/a.tfrecord": {[]dataset.Column{{Name: "data", Desc: file}}, 2, "[bytes one]"},
		dir + "/a.csv":      {[]dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Float64}}, {Name: "y", Desc: tensor.Desc{DType: tensor.Int32}}}, 2, "[float64 () 0.5 int32 () 1]"},
		"../../testdata/recordio/a.rec": {[]dataset.Column{
			{Name: "image", Desc: file}, {Name: "label", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1)}}, {Name: "id", Desc: tensor.Desc{DType: tensor.Int64}},
		}, 24, "[bytes \x89PNG float32 (1,) 0 int64 () 0]"},
		dir + "/a.tar": {[]dataset.Column{{Name: "image", Desc: file}, {Name: "cls", Desc: tensor.Desc{DType: tensor.Int64}}}, 2, "[bytes 7 int64 () 7]"},
	} {
		r := OpenFiles(c.columns, FilesOptions{Threads: 2}, path, path)
		run := start(t, r, Options{})
		rows, first := 0, ""
		for {
			s, err := run.ReadNext(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err, path)
			if rows++; rows == 1 {
				first = show(s)
			}
		}
		require.Equal(t, 2*c.rows, rows, path)
		require.Equal(t, c.first, first, path)
	}
}

// show returns the descriptions and the beginnings of the values of a sample.
func show(s *dataset.Sample) string {
	var l []string
	for i := range s.Values {
		v := &s.Values[i].Tensor
		text := fmt.Sprintf("%v ", v.Desc)
		switch v.DType {
		case tensor.Float32:
			text += fmt.Sprint(tensor.View[float32](v)[0])
		case tensor.Float64:
			text += fmt.Sprint(tensor.View[float64](v)[0])
		case tensor.Int32:
			text += fmt.Sprint(tensor.View[int32](v)[0])
		case tensor.Int64:
			text += fmt.Sprint(tensor.View[int64](v)[0])
		default:
			text += string(v.Data[:min(4, len(v.Data))])
		}
		l = append(l, text)
	}
	return fmt.Sprint(l)
}

// TestRanks checks that ranks share files with random access, and that streams
// are refused.
func TestRanks(t *testing.T) {
	var got []int64
	paths, files := many(t, "numrows", 5)
	const world = 3
	for rank := range world {
		run := start(t, OpenFiles(want, FilesOptions{Threads: 2}, paths...), Options{Dataset: dataset.Options{Rank: rank, World: world, DropUneven: true}})
		got = append(got, numbers(t, run, 1000, true)...)
	}
	all := slices.Concat(files...)
	slices.Sort(got)
	require.Equal(t, got, slices.Compact(slices.Clone(got)), "duplicates")
	require.Subset(t, all, got)
	require.Greater(t, len(got), len(all)-len(paths)*world, "except for the remainder of each file")
	streams, _ := many(t, "nums", 5)
	_, err := OpenFiles(want, FilesOptions{}, streams...).Start(t.Context(), Options{Dataset: dataset.Options{World: world}})
	require.ErrorIs(t, err, dataset.ErrDefinition)
}

// TestSource runs the contract tests of package dataset.
func TestSource(t *testing.T) {
	for _, ext := range []string{"nums", "numrows"} {
		paths, _ := many(t, ext, 4)
		f := &Files{Paths: paths, Columns: []dataset.OutColumn{{Name: "x", Desc: column[0].Desc}, {Name: "y", Desc: column[1].Desc}}}
		sourcetest.Run(t, f)
	}
}
