package save_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/fakeimage"
	"github.com/infer-prep/infer-prep/dataset/imagerecord"
	"github.com/infer-prep/infer-prep/dataset/inmemory"
	"github.com/infer-prep/infer-prep/dataset/kaldi"
	"github.com/infer-prep/infer-prep/dataset/mindrecord"
	"github.com/infer-prep/infer-prep/dataset/save"
	"github.com/infer-prep/infer-prep/dataset/tfrecord"
	"github.com/infer-prep/infer-prep/dataset/webdataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	_ "github.com/infer-prep/infer-prep/records/all"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const rows = 9

// column returns a column of the test's data and its values: bytes, or numbers
// of a type and shape. A first size of Unknown differs between rows.
func column(t *testing.T, name string, d tensor.Desc) (dataset.Column, []*tensor.Tensor) {
	t.Helper()
	var l []*tensor.Tensor
	for i := range rows {
		if d.DType == tensor.Bytes {
			l = append(l, tensor.FromBytes(fmt.Appendf(nil, "\xff\xd8\xff%s of row %d", name, i)))
			continue
		}
		x := d
		if x.Shape.Rank() > 0 && x.Shape.At(0) == tensor.Unknown {
			x.Shape = x.Shape.With(0, 2+i%3)
		}
		v, err := tensor.New(x)
		require.NoError(t, err)
		for j := range int(v.Len()) {
			switch n := 10*i + j; d.DType {
			case tensor.Int32:
				tensor.View[int32](v)[j] = int32(n)
			case tensor.Int64:
				tensor.View[int64](v)[j] = int64(n)
			case tensor.Float32:
				tensor.View[float32](v)[j] = float32(n)
			case tensor.Float64:
				tensor.View[float64](v)[j] = float64(n)
			}
		}
		l = append(l, v)
	}
	return dataset.Column{Name: name, Desc: d}, l
}

// data returns a dataset with columns, shuffled.
func data(t *testing.T, names []string, descs ...tensor.Desc) *dataset.Dataset {
	t.Helper()
	var columns []dataset.Column
	samples := make([][]*tensor.Tensor, rows)
	for i, name := range names {
		c, l := column(t, name, descs[i])
		columns = append(columns, c)
		for k := range l {
			samples[k] = append(samples[k], l[k])
		}
	}
	return dataset.From(inmemory.NewSamples(columns, samples...)).Shuffle()
}

type runner interface {
	Next(context.Context) (*dataset.Sample, error)
	NextEpoch() error
	State() *dataset.State
	Close() error
}

var names = []string{"pull", "1 workers", "2 workers", "8 workers"}

// engines starts both engines.
func engines(t *testing.T, b *dataset.Built, s *dataset.State) map[string]runner {
	t.Helper()
	p, err := pullpipe.New(b, s)
	require.NoError(t, err)
	m := map[string]runner{"pull": p}
	for _, w := range []int{1, 2, 8} {
		p, err := pipeline.New(b, pipeline.Options{Workers: w}, s)
		require.NoError(t, err)
		m[fmt.Sprint(w, " workers")] = p
	}
	return m
}

func build(t *testing.T, d *dataset.Dataset, o dataset.Options) *dataset.Built {
	t.Helper()
	b, err := dataset.Build(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// read returns up to most samples of an epoch as text, without layouts.
func read(t *testing.T, p runner, most int) []string {
	t.Helper()
	l := []string{}
	for len(l) < most {
		s, err := p.Next(t.Context())
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		text := ""
		for i := range s.Values {
			text += fmt.Sprintf("%v %v %x; ", s.Values[i].DType, s.Values[i].Shape, s.Values[i].Data)
		}
		l = append(l, text)
	}
	return l
}

// files returns the contents of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	l, err := os.ReadDir(dir)
	require.NoError(t, err)
	m := map[string]string{}
	for _, e := range l {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(b)
	}
	return m
}

func desc(d tensor.DType, dims ...int) tensor.Desc {
	return tensor.Desc{DType: d, Shape: tensor.Dims(dims...)}
}

// TestRoundTrip saves columns in each format, on each engine, and reads them
// with the format's source: the samples are equal, and the files are those of
// every engine. A folder has no file before the epoch ends.
func TestRoundTrip(t *testing.T) {
	u := tensor.Unknown
	image := tensor.Encoded()
	web := func(name string, fields [][]string, types ...string) func(string) dataset.Source {
		return func(dir string) dataset.Source {
			return &webdataset.WebDataset{Shards: []string{filepath.Join(dir, name)}, ColumnNames: []string{"a", "b", "c"}, Fields: fields, ColumnTypes: types}
		}
	}
	for _, c := range []struct {
		format, path string
		count        int
		names        []string
		descs        []tensor.Desc
		source       func(dir string) dataset.Source
		project      []string
		files        int
	}{
		{"imagerecord", "a.rec", 0, []string{"image", "label"}, []tensor.Desc{image, desc(tensor.Float32, 3)}, func(dir string) dataset.Source {
			s := imagerecord.New(dir)
			s.LabelWidth = 3
			return s
		}, []string{"image", "label"}, 1},
		{"webdataset", "a.tar", 0, []string{"jpg", "cls", "box"}, []tensor.Desc{image, desc(tensor.Int64), desc(tensor.Float32, u, 4)},
			web("a.tar", [][]string{{"jpg"}, {"cls"}, {"box.npy"}}, "bytes", "int", "npy:float32:2"), nil, 1},
		{"webdataset", "a-%03d.tar", 4, []string{"image", "label", "f"}, []tensor.Desc{image, desc(tensor.Int64), desc(tensor.Float64, 2)},
			web("a-*.tar", [][]string{{"image"}, {"label.cls"}, {"f.npy"}}, "bytes", "int", "npy:float64:1"), nil, 3},
		{"mindrecord", "a.mindrecord", 0, []string{"a", "b", "c"}, []tensor.Desc{image, desc(tensor.Int32), desc(tensor.Float32, u, 2)},
			func(dir string) dataset.Source { return mindrecord.New(filepath.Join(dir, "a.mindrecord")) }, nil, 2},
		{"tfrecord", "a.tfrecord", 0, []string{"data"}, []tensor.Desc{image}, func(dir string) dataset.Source { return tfrecord.New(dir) }, nil, 1},
		{"kaldi", "a.ark", 0, []string{"data"}, []tensor.Desc{desc(tensor.Float32, u, 5)},
			func(dir string) dataset.Source { return kaldi.New(filepath.Join(dir, "a.ark")) }, []string{"data"}, 1},
	} {
		var first map[string]string
		for _, engine := range names {
			what := fmt.Sprintf("%s in %s: %s", c.format, c.path, engine)
			dir := t.TempDir()
			node := save.New(c.format, filepath.Join(dir, c.path))
			node.Count = c.count
			b, err := dataset.Build(t.Context(), dataset.Of(node, data(t, c.names, c.descs...)), dataset.Options{Seed: 4})
			require.NoError(t, err, what)
			require.Empty(t, files(t, dir), "%s: Build leaves no file", what)
			require.EqualValues(t, rows, b.Len())
			p := engines(t, b, nil)[engine]
			want := read(t, p, rows)
			require.Len(t, want, rows)
			require.Empty(t, read(t, p, 1))
			got := files(t, dir)
			require.Len(t, got, c.files, what)
			if first == nil {
				first = got
			}
			require.Equal(t, first, got, what)
			// The next epoch saves nothing.
			require.NoError(t, p.NextEpoch())
			require.NotEqual(t, want, read(t, p, rows), what)
			require.NoError(t, p.Close())
			require.NoError(t, b.Close())
			require.Equal(t, got, files(t, dir), what)

			d := dataset.From(c.source(dir))
			if c.project != nil {
				d = d.Project(c.project...)
			}
			q, err := pullpipe.New(build(t, d, dataset.Options{}), nil)
			require.NoError(t, err)
			require.Equal(t, want, read(t, q, most), what)
			require.NoError(t, q.Close())
		}
	}
}

const most = 1000

// TestCut checks runs that end within epoch 0: they leave no file, and their
// states are refused. Later epochs resume anywhere.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	node := save.New("webdataset", filepath.Join(dir, "a-%03d.tar"))
	node.Count = 2
	b := build(t, dataset.Of(node, data(t, []string{"jpg", "cls"}, tensor.Encoded(), desc(tensor.Int64))), dataset.Options{})
	for _, name := range names {
		for k := range rows {
			p, err := pullpipe.New(b, nil)
			require.NoError(t, err)
			var r runner = p
			if name != "pull" {
				// Without prefetching, so that the epoch does not end ahead.
				if r, err = pipeline.New(b, pipeline.Options{Workers: 2, Prefetch: -1}, nil); err != nil {
					t.Fatal(err)
				}
			}
			require.Len(t, read(t, r, k), k)
			state := r.State()
			require.NoError(t, r.Close())
			require.Empty(t, files(t, dir), "%s: after %d", name, k)
			q, err := pullpipe.New(b, state)
			if k == 0 {
				require.NoError(t, err)
				require.NoError(t, q.Close())
				continue
			}
			require.ErrorIs(t, err, dataset.ErrState)
			require.ErrorContains(t, err, fmt.Sprintf("save has saved %d samples of epoch 0, which were discarded: start the epoch anew", k))
			_, err = pipeline.New(b, pipeline.Options{}, state)
			require.ErrorIs(t, err, dataset.ErrState)
		}
	}
	for name, p := range engines(t, b, nil) {
		require.NoError(t, p.NextEpoch())
		want := read(t, p, rows)
		require.NoError(t, p.Close())
		for k := range rows + 1 {
			p := engines(t, b, nil)[name]
			require.NoError(t, p.NextEpoch())
			require.Equal(t, want[:k], read(t, p, k))
			state := p.State()
			require.NoError(t, p.Close())
			q := engines(t, b, state)[name]
			require.Equal(t, want[k:], read(t, q, most), "%s: resumed after %d", name, k)
			require.NoError(t, q.Close())
		}
		require.Empty(t, files(t, dir))
	}
	// A Take above ends before the epoch does.
	b = build(t, dataset.Of(node, data(t, []string{"cls"}, desc(tensor.Int64))).Take(rows-1), dataset.Options{})
	for _, p := range engines(t, b, nil) {
		require.Len(t, read(t, p, most), rows-1)
		require.NoError(t, p.Close())
		require.Empty(t, files(t, dir))
	}
}

// last returns the error that ends a run.
func last(t *testing.T, p runner) (err error) {
	t.Helper()
	for err == nil {
		_, err = p.Next(t.Context())
	}
	return err
}

// failing is a store whose files fail when they are closed, after good ones.
type failing struct {
	store.Opener
	good *int
}

func (f failing) Create(ctx context.Context, name string) (store.NewFile, error) {
	n, err := f.Opener.Create(ctx, name)
	return failingFile{n, f.good}, err
}

type failingFile struct {
	store.NewFile
	good *int
}

func (f failingFile) Close() error {
	if *f.good--; *f.good < 0 {
		return errors.Join(errFull, f.Abort())
	}
	return f.NewFile.Close()
}

var errFull = errors.New("the disk is full")

// TestErrors checks samples and files that cannot be written, and that bad
// samples are left out.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	// The sizes are unknown to Build, and the second axis differs.
	wide := dataset.From(inmemory.NewSamples([]dataset.Column{{Name: "x", Desc: desc(tensor.Float32, 2, tensor.Unknown)}}, func() (l [][]*tensor.Tensor) {
		for i := range rows {
			x, err := tensor.New(desc(tensor.Float32, 2, 1+i/5))
			require.NoError(t, err)
			l = append(l, []*tensor.Tensor{x})
		}
		return l
	}()...))
	b := build(t, dataset.Of(save.New("mindrecord", filepath.Join(dir, "a")), wide), dataset.Options{OnError: dataset.SkipOnError})
	for name, p := range engines(t, b, nil) {
		err := last(t, p)
		var e *dataset.SampleError
		require.ErrorAs(t, err, &e, name)
		require.EqualValues(t, 5, e.Ordinal)
		require.ErrorContains(t, err, "dataset: save: sample ", name)
		require.NoError(t, p.Close())
		require.Empty(t, files(t, dir), name)
	}

	node := save.New("webdataset", filepath.Join(dir, "a-%d.tar"))
	node.Count = 3
	for _, name := range names {
		good := 1
		b := build(t, dataset.Of(node, data(t, []string{"cls"}, desc(tensor.Int64))), dataset.Options{Store: failing{store.Local, &good}})
		p := engines(t, b, nil)[name]
		err := last(t, p)
		require.ErrorIs(t, err, errFull, name)
		var e *dataset.NodeError
		require.ErrorAs(t, err, &e, name)
		require.NoError(t, p.Close())
		require.Len(t, files(t, dir), 1, "the shard before; no other")
		require.NoError(t, os.Remove(filepath.Join(dir, "a-0.tar")))
	}

	// MindRecord in a store other than the local disk: the data file, then the
	// index, without which no reader takes it.
	for good := range 3 {
		wrote := good
		b := build(t, dataset.Of(save.New("mindrecord", filepath.Join(dir, "m")), data(t, []string{"x"}, desc(tensor.Int64))), dataset.Options{Store: failing{store.Local, &wrote}})
		p := engines(t, b, nil)[names[0]]
		err := last(t, p)
		require.NoError(t, p.Close())
		var want []string
		want = append(want, []string{"m", "m.db"}[:good]...)
		require.Equal(t, want, slices.Sorted(maps.Keys(files(t, dir))))
		if good == 2 {
			require.ErrorIs(t, err, io.EOF)
			_, err = dataset.Build(t.Context(), dataset.From(mindrecord.New(filepath.Join(dir, "m"))), dataset.Options{})
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, errFull)
		}
		for _, name := range want {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
	}

	bad := func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if n := tensor.View[int64](src[0])[0]; n == 30 || n == 70 {
			return errFull
		}
		dst[0].Share(src[0])
		return nil
	}
	cls := dataset.Column{Name: "cls", Desc: desc(tensor.Int64)}
	d := dataset.Of(save.New("webdataset", filepath.Join(dir, "b.tar")), data(t, []string{"cls"}, cls.Desc).MapFunc(bad, []string{"cls"}, cls))
	b = build(t, d, dataset.Options{OnError: dataset.SkipOnError})
	source := webdataset.New(filepath.Join(dir, "b.tar"))
	source.ColumnNames, source.Fields, source.ColumnTypes = []string{"a"}, [][]string{{"cls"}}, []string{"int"}
	for name, p := range engines(t, b, nil) {
		want := read(t, p, most)
		require.Len(t, want, rows-2, name)
		require.NoError(t, p.Close())
		q, err := pullpipe.New(build(t, dataset.From(source), dataset.Options{}), nil)
		require.NoError(t, err)
		require.Equal(t, want, read(t, q, most), name)
		require.NoError(t, q.Close())
		require.NoError(t, os.Remove(filepath.Join(dir, "b.tar")))
	}
}

// TestRefused checks definitions that Build refuses, and the written form.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	number := func() *dataset.Dataset { return data(t, []string{"x"}, desc(tensor.Int64, 2)) }
	to := func(format string, d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(save.New(format, filepath.Join(dir, "a.tar")), d)
	}
	two := save.New("imagerecord", filepath.Join(dir, "a.rec"))
	two.Count = 5
	for want, d := range map[string]*dataset.Dataset{
		`dataset: save: invalid definition: recordio: record "0": field "x": `: to("recordio", number()),
		`invalid definition: imagerecord: record "0": no label`:                dataset.Of(save.New("imagerecord", "a.rec"), number()),
		`invalid definition: mindrecord: record "0": `:                         to("mindrecord", data(t, []string{"a b"}, desc(tensor.Int64))),
		`invalid definition: webdataset: record "0": field "x": `:              to("webdataset", data(t, []string{"x"}, desc(tensor.BFloat16))),
		`unknown record format "webdatasets"; did you mean "webdataset"?`:      to("webdatasets", number()),
		"invalid parameter: save: no path":                                     dataset.Of(save.New("recordio", ""), number()),
		"invalid definition: imagerecord: ":                                    dataset.Of(two, number()),
		"invalid parameter: save: count -1, want 0 or more":                    dataset.Of(&save.Save{Format: "tfrecord", Path: "a", Count: -1}, number()),
		"2 inputs, want 1": dataset.Of(save.New("tfrecord", "a"), number(), number()),
		"random access, which shuffle/save does not have": to("webdataset", number()).Shuffle(),
	} {
		_, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.ErrorContains(t, err, want)
		var e *dataset.NodeError
		require.ErrorAs(t, err, &e)
	}
	_, err := dataset.Build(t.Context(), to("webdataset", number()), dataset.Options{World: 2})
	require.ErrorContains(t, err, "several ranks would save parts of the samples")
	require.Empty(t, files(t, dir))

	text, err := json.Marshal(save.New("webdataset", "a-%05d.tar"))
	require.NoError(t, err)
	require.JSONEq(t, `{"format":"webdataset","path":"a-%05d.tar","count":0}`, string(text))
	d := dataset.Of(save.New("webdataset", "a.tar"), dataset.From(fakeimage.New()))
	text, err = json.Marshal(d)
	require.NoError(t, err)
	back := &dataset.Dataset{}
	require.NoError(t, json.Unmarshal(text, back))
	require.Equal(t, d, back)
}
