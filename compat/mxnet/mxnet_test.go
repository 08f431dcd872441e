package mxnet

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func ndIter(t *testing.T, n int, change func(*NDArrayOptions)) *NDArrayIter {
	t.Helper()
	o := DefaultNDArrayOptions()
	change(&o)
	it, err := NewNDArrayIter([]tensor.Named{{T: floats(t, n, 0, 2)}}, []tensor.Named{{T: floats(t, n, 100)}}, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, it.Close()) })
	return it
}

func TestShuffle(t *testing.T) {
	const n, size = 23, 5
	for _, mode := range []string{"pad", "discard", "roll_over"} {
		t.Run(mode, func(t *testing.T) {
			set := func(o *NDArrayOptions) {
				o.BatchSize, o.LastBatch, o.Shuffle, o.Seed = size, mode, true, 7
			}
			it, again := ndIter(t, n, set), ndIter(t, n, set)
			var orders [][]int64
			given := map[int64]int{}
			for e := range 5 {
				if e > 0 {
					require.NoError(t, it.Reset())
					require.NoError(t, again.Reset())
				}
				got := epoch(t, it, 100)
				require.Equal(t, got, epoch(t, again, 100), "the same seed")
				var order []int64
				for i, b := range got {
					require.Equal(t, b.Rows, b.Index)
					for j, r := range b.Rows {
						require.Equal(t, float32(100+r), b.Labels[j])
					}
					real := b.Rows[:size-b.Pad]
					if i < len(got)-1 {
						require.Zero(t, b.Pad)
					}
					for j, r := range b.Rows[size-b.Pad:] {
						require.Equal(t, order[j], r, "filled from the epoch's beginning")
					}
					order = append(order, real...)
					for _, r := range real {
						given[r]++
					}
				}
				orders = append(orders, order)
				if mode == "pad" {
					require.Equal(t, int64(n*(n-1)/2), sum(order), "an epoch has every row once")
				}
			}
			require.NotEqual(t, orders[0], orders[1])
			if mode == "roll_over" { // 115 rows of 5 epochs are 23 batches
				require.Len(t, slices.Concat(orders...), 5*n)
				for r := range int64(n) {
					require.Equal(t, 5, given[r], "row %d", r)
				}
			}
		})
	}
}

func sum(l []int64) (s int64) {
	for _, x := range l {
		s += x
	}
	return s
}

// TestLayout puts the batch's axis at each position N, in all modes. The
// batches must equal those of the same rows with the batch's axis first.
func TestLayout(t *testing.T) {
	const n, size, h, w = 7, 3, 2, 4
	x, err := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(h, n, w)})
	require.NoError(t, err)
	for i, v := 0, tensor.View[int32](x); i < len(v); i++ {
		v[i] = int32(i)
	}
	part, err := x.Slice(2, 1, 3) // a view with strides
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		x    *tensor.Tensor
	}{{"dense", x}, {"view", part}} {
		o := DefaultNDArrayOptions()
		o.BatchSize, o.Layout = size, "TNC"
		it, err := NewNDArrayIter([]tensor.Named{{T: c.x}}, nil, o)
		require.NoError(t, err)
		width := c.x.Shape.At(2)
		require.Equal(t, tensor.Dims(h, size, width), it.ProvideData()[0].Shape)
		require.Equal(t, 1, it.ProvideData()[0].BatchAxis())
		require.Empty(t, it.ProvideLabel())
		for {
			b, err := it.Next(context.Background())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			got := tensor.View[int32](b.Data[0])
			dense := tensor.View[int32](c.x.Clone())
			for k, r := range b.Index {
				for i := range h {
					for j := range width {
						require.Equal(t, dense[(i*n+int(r))*width+j], got[(i*size+k)*width+j], "%s: row %d at (%d, %d)", c.name, r, i, j)
					}
				}
			}
		}
		require.NoError(t, it.Close())
	}
}

func TestNDArrayErrors(t *testing.T) {
	a := floats(t, 4, 0, 2)
	empty, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(0, 2)})
	require.NoError(t, err)
	for _, c := range []struct {
		data, label []tensor.Named
		change      func(*NDArrayOptions)
		param, says string
	}{
		{[]tensor.Named{{T: a}}, nil, func(o *NDArrayOptions) { o.BatchSize = 0 }, "batch_size", "batch_size = 0, want 1 to"},
		{[]tensor.Named{{T: a}}, nil, func(o *NDArrayOptions) { o.LastBatch = "rollover" }, "last_batch_handle", "pad, discard or roll_over"},
		{[]tensor.Named{{T: a}}, nil, func(o *NDArrayOptions) { o.Layout = "CHW" }, "layout", "an N"},
		{[]tensor.Named{{T: a}}, nil, func(o *NDArrayOptions) { o.Layout = "ABCN" }, "data", "axis 3"},
		{nil, nil, nil, "data", "data is missing"},
		{[]tensor.Named{{T: nil}}, nil, nil, "data", "an array"},
		{[]tensor.Named{{T: tensor.FromBytes([]byte("x"))}}, nil, nil, "data", "an array"},
		{[]tensor.Named{{T: empty}}, nil, nil, "data", "it has 0"},
		{[]tensor.Named{{T: a}}, []tensor.Named{{T: floats(t, 5, 0)}}, nil, "label", `label = "softmax_label", want at least one row and as many as the first input, 4; it has 5`},
		{[]tensor.Named{{Name: "x", T: a}}, []tensor.Named{{Name: "x", T: a}}, nil, "label", "a distinct name"},
	} {
		o := DefaultNDArrayOptions()
		if c.change != nil {
			c.change(&o)
		}
		_, err := NewNDArrayIter(c.data, c.label, o)
		var p *ParamError
		require.ErrorAs(t, err, &p, c.says)
		require.ErrorIs(t, err, ErrParam)
		require.Equal(t, c.param, p.Name)
		require.ErrorContains(t, err, c.says)
	}
}

func TestCSVParams(t *testing.T) {
	good := map[string]string{"data_csv": "x", "data_shape": "(3, 2)", "batch_size": "2"}
	p, err := ParseCSVParams(good)
	require.NoError(t, err)
	want := DefaultCSVParams()
	want.DataCSV, want.DataShape, want.BatchSize = "x", tensor.Dims(3, 2), 2
	require.Equal(t, want, p)
	for _, c := range []struct{ name, value, says string }{
		{"batchsize", "2", `unknown parameter "batchsize"; did you mean "batch_size"?`},
		{"roundbatch", "2", `did you mean "round_batch"?`},
		{"lable_csv", "2", `did you mean "label_csv"?`},
		{"DATA_SHAPES", "2", `did you mean "data_shape"?`},
		{"preprocess_threads", "2", `unknown parameter "preprocess_threads"`},
		{"data_csv", "", "data_csv is missing"},
		{"data_shape", "(3,x)", `data_shape = "(3,x)", want the sizes`},
		{"data_shape", "(3,0)", "data_shape"},
		{"data_shape", "(99999,99999)", "data_shape = (99999, 99999)"},
		{"data_shape", "(1,1,1,1,1,1,1,1)", "data_shape"},
		{"label_shape", "", "label_shape"},
		{"batch_size", "-1", "batch_size = -1"},
		{"batch_size", "many", `batch_size = "many"`},
		{"batch_size", "0", "batch_size is missing"},
		{"round_batch", "maybe", "want True or False"},
		{"prefetch_buffer", "-2", "prefetch_buffer = -2"},
		{"ctx", "tpu", `ctx = "tpu", want cpu or gpu`},
		{"dtype", "float16", "dtype = float16, want None, float32, int32 or int64"},
		{"dtype", "real", `dtype = "real"`},
	} {
		args := map[string]string{c.name: c.value}
		for k, v := range good {
			if _, ok := args[k]; !ok {
				args[k] = v
			}
		}
		_, err := ParseCSVParams(args)
		var p *ParamError
		require.ErrorAs(t, err, &p, "%s=%s", c.name, c.value)
		require.Equal(t, c.name, p.Name)
		require.ErrorContains(t, err, c.says)
	}
	for _, c := range []struct {
		text string
		want tensor.Shape
	}{{"3", tensor.Dims(3)}, {"(3,)", tensor.Dims(3)}, {"( 3 , 4 )", tensor.Dims(3, 4)}, {"[3,4]", tensor.Dims(3, 4)}} {
		s, err := parseShape(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, s, c.text)
	}
}

func TestCSVErrors(t *testing.T) {
	for _, ctx := range []string{"cpu", "gpu"} {
		for _, c := range []struct{ text, says string }{
			{"1,2\n3,4,5\n", "data.csv:2: invalid data: 3 numbers in the line, want 2"},
			{"1,2\n\n\r\n\n3\n", "data.csv:5: invalid data: 1 numbers"},
			{"\xef\xbb\xbf1,2\n3,x\n", `data.csv:2: invalid data: number 2: "x", want a valid float32: invalid syntax`},
			{"1,2\n3,0x1p2\n", `"0x1p2", want a valid float32`},
			{"1,2\n3,\n", `number 2: "", want a valid float32`},
			{"1,2\n\"3\",4\n", `number 1`},
			{"1,2\n3,1e99\n", `"1e99", want a valid float32: value out of range`},
		} {
			it, err := csvOf(t, c.text, map[string]string{"batch_size": "2", "ctx": ctx})
			require.NoError(t, err)
			_, err = it.Next(context.Background())
			require.ErrorIs(t, err, dataset.ErrData)
			require.ErrorContains(t, err, c.says)
			_, err = it.Next(context.Background())
			require.Error(t, err, "it stays so until Reset")
			require.NoError(t, it.Close())
			require.NoError(t, it.Close())
			_, err = it.Next(context.Background())
			require.ErrorIs(t, err, dataset.ErrClosed)
			require.ErrorIs(t, it.Reset(), dataset.ErrClosed)
		}
	}
	_, err := csvOf(t, "1,2\n3,4\n", map[string]string{"batch_size": "2", "label_csv": "1\n"})
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "1 rows of labels")
	p := DefaultCSVParams()
	p.DataCSV, p.DataShape, p.BatchSize = filepath.Join(t.TempDir(), "none.csv"), tensor.Dims(1), 1
	_, err = NewCSVIter(t.Context(), p)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCSVDTypesAndFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.csv": "5,6\n", "a.csv": "1,2\n\n3,-9007199254740993", "c.csv": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "aa"), 0o700))
	it, err := csvOf(t, "", map[string]string{"data_csv": dir, "batch_size": "3", "dtype": "int64", "data_shape": "(2,1)", "label_shape": "(2,)"})
	require.NoError(t, err)
	b, err := it.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, -9007199254740993, 5, 6}, tensor.View[int64](b.Data[0]))
	require.Equal(t, make([]int64, 6), tensor.View[int64](b.Label[0]))
	require.Equal(t, []string{"DataDesc[data,(3, 2, 1),int64,NCHW]", "DataDesc[softmax_label,(3, 2),int64,NCHW]"}, describeAll(it))
	require.NoError(t, it.Close())

	it, err = csvOf(t, "", map[string]string{"batch_size": "3"}) // no rows
	require.NoError(t, err)
	require.Empty(t, epoch(t, it, 10))
	require.NoError(t, it.Close())
}

// TestManyRows checks the order of rows from both engines, with reading ahead.
func TestManyRows(t *testing.T) {
	const size = 7
	n := short.Rounds(t, 3000, 600)
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,0\n", i)
	}
	for _, prefetch := range []string{"0", "1", "4", "1024"} {
		it, err := csvOf(t, text.String(), map[string]string{"batch_size": fmt.Sprint(size), "prefetch_buffer": prefetch})
		require.NoError(t, err)
		for e := range 3 {
			most := 1000
			if e == 1 {
				most = 5 // Reset in the middle
			}
			var rows []int64
			for _, b := range epoch(t, it, most) {
				require.Equal(t, b.Rows, b.Index)
				rows = append(rows, b.Rows[:size-b.Pad]...)
			}
			for i, r := range rows {
				require.Equal(t, int64(i), r, "epoch %d", e)
			}
			if e != 1 {
				require.Len(t, rows, n)
			}
			require.NoError(t, it.Reset())
		}
		require.NoError(t, it.Close())
	}
}

func TestCancel(t *testing.T) {
	it := ndIter(t, 10, func(o *NDArrayOptions) { o.BatchSize = 4 })
	ctx, cancel := context.WithCancel(context.Background())
	b, err := it.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2, 3}, b.Index)
	cancel()
	_, err = it.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	b, err = it.Next(context.Background())
	require.NoError(t, err)
	require.Equal(t, []int64{4, 5, 6, 7}, b.Index, "it goes on where it stood")

	c, err := csvOf(t, strings.Repeat("1,2\n", 100), map[string]string{"batch_size": "4"})
	require.NoError(t, err)
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, c.Reset())
	require.Len(t, epoch(t, c, 100), 25)
	require.NoError(t, c.Close())
}

// numbers is a source of rows x (two float32), label and number.
type numbers struct{ n int64 }

var numberColumns = []dataset.Column{
	{Name: "x", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}},
	{Name: "y", Desc: tensor.Desc{DType: tensor.Float32}},
	{Name: "number", Desc: rowDesc},
}

func (n *numbers) Validate() error                                          { return nil }
func (n *numbers) Open(context.Context, store.Opener) (dataset.Data, error) { return n, nil }
func (n *numbers) Columns() []dataset.Column                                { return numberColumns }
func (n *numbers) Len() int64                                               { return n.n }
func (n *numbers) Close() error                                             { return nil }
func (n *numbers) Read(_ context.Context, i int64, s *dataset.Sample) error {
	for j := range 2 {
		if err := s.Values[j].Reset(numberColumns[j].Desc); err != nil {
			return err
		}
		for k, v := 0, tensor.View[float32](&s.Values[j].Tensor); k < len(v); k++ {
			v[k] = float32(int(i) + 100*j)
		}
	}
	return setRow(&s.Values[2], i)
}

func engines(t *testing.T, b *dataset.Built) map[string]Runner {
	t.Helper()
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	q, err := pipeline.New(b, pipeline.Options{Workers: 3}, nil)
	require.NoError(t, err)
	return map[string]Runner{"pullpipe": p, "pipeline": q}
}

func TestFromDataset(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.From(&numbers{10}).Shuffle().Batch(4), dataset.Options{Seed: 3})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var want [][]goldenBatch
	for _, pad := range []bool{false, true} {
		for name, r := range engines(t, b) {
			it, err := FromDataset(b, r, FromOptions{Data: []string{"x"}, Label: []string{"y"}, BatchSize: 4, Index: "number", Pad: pad})
			require.NoError(t, err)
			require.Equal(t, []string{"DataDesc[x,(4, 2),float32,NCHW]", "DataDesc[y,(4,),float32,NCHW]"}, describeAll(it))
			var got [][]goldenBatch
			for range 2 {
				got = append(got, epoch(t, it, 100))
				_, err := it.Next(context.Background())
				require.Equal(t, io.EOF, err)
				require.NoError(t, it.Reset())
			}
			for _, e := range got {
				require.Len(t, e, 3)
				for _, x := range e {
					require.Equal(t, x.Rows, x.Index)
				}
				if pad {
					require.Equal(t, 2, e[2].Pad)
					require.Equal(t, e[2].Rows[:2], e[2].Rows[2:])
					e[2] = goldenBatch{Rows: e[2].Rows[:2], Labels: e[2].Labels[:2], Index: e[2].Index[:2]}
				}
			}
			if want == nil {
				want = got
				require.NotEqual(t, want[0], want[1])
			}
			require.Equal(t, want, got, name)
			require.NoError(t, it.Close())
			_, err = it.Next(context.Background())
			require.ErrorIs(t, err, dataset.ErrClosed)
			require.ErrorIs(t, it.Reset(), dataset.ErrClosed)
		}
	}
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		o    FromOptions
		says string
	}{
		{FromOptions{Data: []string{"z"}, BatchSize: 4}, `Data = "z", want a column of the dataset; known: number, x, y`},
		{FromOptions{Data: []string{"x"}, Label: []string{"numbers"}, BatchSize: 4}, `Label = "numbers"`},
		{FromOptions{Data: []string{"x"}}, "BatchSize = 0"},
		{FromOptions{BatchSize: 4}, "Data is missing"},
		{FromOptions{Data: []string{"x"}, BatchSize: 4, Index: "x"}, `Index = "x"`},
		{FromOptions{Data: []string{"x"}, BatchSize: 4, Layout: "TNC"}, `Layout = "TNC"`},
	} {
		_, err := FromDataset(b, p, c.o)
		require.ErrorIs(t, err, ErrParam)
		require.ErrorContains(t, err, c.says)
	}
	it, err := FromDataset(b, p, FromOptions{Data: []string{"x"}, BatchSize: 3})
	require.NoError(t, err)
	_, err = it.Next(context.Background())
	var d *DescError
	require.ErrorAs(t, err, &d)
	require.Equal(t, `mxnet: batch 0: "x" is float32 (4, 2), want float32 (3, 2)`, d.Error())
	require.NoError(t, it.Close())
}

// custom is an iterator of a program's own: epoch e has batches of 3 rows,
// numbered from 100e. bad may damage batch 1.
type custom struct {
	n     int
	bad   func(b *DataBatch) error
	epoch int
	at    int
	batch DataBatch
	x     tensor.Tensor
}

func (c *custom) ProvideData() []DataDesc {
	return []DataDesc{{Name: "x", Shape: tensor.Dims(3), DType: tensor.Float32, Layout: "N"}}
}
func (c *custom) ProvideLabel() []DataDesc { return nil }
func (c *custom) Reset() error             { c.epoch, c.at = c.epoch+1, 0; return nil }
func (c *custom) Close() error             { return nil }
func (c *custom) Next(ctx context.Context) (*DataBatch, error) {
	if c.at*3 >= c.n {
		return nil, io.EOF
	}
	if err := c.x.Reset(c.ProvideData()[0].desc()); err != nil {
		return nil, err
	}
	for i := range 3 {
		tensor.View[float32](&c.x)[i] = float32(100*c.epoch + c.at*3 + i)
	}
	c.at++
	c.batch = DataBatch{Data: []*tensor.Tensor{&c.x}, Pad: max(0, c.at*3-c.n)}
	if c.at == 2 && c.bad != nil {
		return &c.batch, c.bad(&c.batch)
	}
	return &c.batch, nil
}

// rows returns up to most rows of a run's epoch.
func rows(t *testing.T, r Runner, most int) (l []float32) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for len(l) < most {
		s, err := r.Next(ctx)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		l = append(l, tensor.View[float32](&s.Values[0].Tensor)...)
	}
	return l
}

func TestToDataset(t *testing.T) {
	for _, name := range []string{"pullpipe", "pipeline"} {
		b, err := dataset.Build(t.Context(), dataset.From(ToDataset(&custom{n: 7}, ToOptions{})).Unbatch(), dataset.Options{})
		require.NoError(t, err)
		require.Equal(t, []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Float32}}}, b.Columns())
		r := engines(t, b)[name]
		require.Equal(t, []float32{0, 1, 2, 3, 4, 5, 6}, rows(t, r, 100), "without padding")
		require.NoError(t, r.NextEpoch())
		require.Equal(t, []float32{100, 101, 102, 103}, rows(t, r, 4))
		if name == "pullpipe" {
			busy, err := pullpipe.New(b, nil)
			require.NoError(t, err)
			_, err = busy.Next(context.Background())
			require.ErrorIs(t, err, ErrBusy)
			require.NoError(t, busy.Close())
		}
		state := r.(interface{ State() *dataset.State }).State()
		require.NoError(t, r.Close())

		back, err := pullpipe.New(b, state)
		require.NoError(t, err)
		_, err = back.Next(context.Background())
		require.ErrorIs(t, err, ErrRewind)
		require.NoError(t, back.Close())
		require.NoError(t, b.Close())

		// Resume with a new iterator.
		b, err = dataset.Build(t.Context(), dataset.From(ToDataset(&custom{n: 7}, ToOptions{})).Unbatch(), dataset.Options{})
		require.NoError(t, err)
		again, err := pullpipe.New(b, state)
		require.NoError(t, err)
		require.Equal(t, []float32{104, 105, 106}, rows(t, again, 100))
		require.NoError(t, again.NextEpoch())
		require.NoError(t, again.NextEpoch())
		require.Equal(t, []float32{300, 301, 302, 303, 304, 305, 306}, rows(t, again, 100))
		require.NoError(t, again.Close())
		require.NoError(t, b.Close())
	}

	// An NDArrayIter with padding, whose epochs are all the same.
	it := ndIter(t, 5, func(o *NDArrayOptions) { o.BatchSize = 3 })
	b, err := dataset.Build(t.Context(), dataset.From(ToDataset(it, ToOptions{Same: true, KeepPad: true})), dataset.Options{})
	require.NoError(t, err)
	for range 2 {
		p, err := pullpipe.New(b, nil)
		require.NoError(t, err)
		require.Equal(t, []float32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0}, rows(t, p, 100))
		require.NoError(t, p.Close())
	}
	require.NoError(t, b.Close())
}

// TestRollOverResumed checks that rows carried over from earlier epochs
// reappear after resuming.
func TestRollOverResumed(t *testing.T) {
	build := func() *dataset.Built {
		it := ndIter(t, 10, func(o *NDArrayOptions) { o.BatchSize, o.LastBatch, o.Shuffle = 4, "roll_over", true })
		b, err := dataset.Build(t.Context(), dataset.From(ToDataset(it, ToOptions{})).Unbatch(), dataset.Options{})
		require.NoError(t, err)
		return b
	}
	b := build()
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	rows(t, p, 100)
	require.NoError(t, p.NextEpoch())
	rows(t, p, 2)
	state := p.State()
	want := rows(t, p, 100)
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
	b = build()
	p, err = pullpipe.New(b, state)
	require.NoError(t, err)
	require.Equal(t, want, rows(t, p, 100))
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
}

func TestToDatasetErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  func(b *DataBatch) error
		says string
	}{
		{"error", func(*DataBatch) error { return os.ErrPermission }, "permission denied"},
		{"end of a file", func(*DataBatch) error { return fmt.Errorf("x.rec: %w", io.EOF) }, "unexpected EOF"},
		{"panic", func(*DataBatch) error { panic("oh") }, "panic: oh"},
		{"shape", func(b *DataBatch) error {
			b.Data[0].Shape = tensor.Dims(3, 1)
			return nil
		}, `batch 1: "x" is float32 (3, 1), want float32 (?,)`},
		{"nil", func(b *DataBatch) error { b.Data[0] = nil; return nil }, `batch 1: "x"`},
		{"too few", func(b *DataBatch) error { b.Data = nil; return nil }, "batch 1: 0 data and 0 labels"},
		{"pad", func(b *DataBatch) error { b.Pad = 4; return nil }, "batch 1: pad 4, want 0 to 3"},
		{"its own description", func(b *DataBatch) error {
			b.ProvideData = []DataDesc{{Name: "x", Shape: tensor.Dims(3), DType: tensor.Int32}}
			return nil
		}, "want int32 (?,)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := dataset.Build(t.Context(), dataset.From(ToDataset(&custom{n: 9, bad: c.bad}, ToOptions{})), dataset.Options{})
			require.NoError(t, err)
			for _, r := range engines(t, b) {
				_, err = r.Next(context.Background())
				if err == nil {
					_, err = r.Next(context.Background())
				}
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, `sample "batch 1"`)
				require.NoError(t, r.Close())
				break // the iterator is past the epoch
			}
			require.NoError(t, b.Close())

			// Skipped: the run continues, or the epoch is over.
			b, err = dataset.Build(t.Context(), dataset.From(ToDataset(&custom{n: 9, bad: c.bad}, ToOptions{})), dataset.Options{OnError: dataset.SkipOnError})
			require.NoError(t, err)
			p, err := pullpipe.New(b, nil)
			require.NoError(t, err)
			got := rows(t, p, 100)
			require.Contains(t, [][]float32{{0, 1, 2}, {0, 1, 2, 6, 7, 8}}, got)
			require.NoError(t, p.Close())
			require.NoError(t, b.Close())
		})
	}
	_, err := dataset.Build(t.Context(), dataset.From(ToDataset(nil, ToOptions{})), dataset.Options{})
	require.ErrorIs(t, err, dataset.ErrParam)
}

// blocked waits forever.
type blocked struct{ custom }

func (b *blocked) Next(ctx context.Context) (*DataBatch, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestBlocked checks that closing the pipeline ends an iterator that waits.
func TestBlocked(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.From(ToDataset(&blocked{}, ToOptions{})), dataset.Options{})
	require.NoError(t, err)
	p, err := pipeline.New(b, pipeline.Options{}, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = p.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, p.Close())
	require.NoError(t, b.Close())
}

// TestAllocations checks that batches reuse their memory, except for the key of
// each row.
func TestAllocations(t *testing.T) {
	csv, err := csvOf(t, strings.Repeat("1,2\n", 1000), map[string]string{"batch_size": "10", "ctx": "cpu"})
	require.NoError(t, err)
	defer func() { require.NoError(t, csv.Close()) }()
	for _, c := range []struct {
		it   DataIter
		want float64
	}{{ndIter(t, 1000, func(o *NDArrayOptions) { o.BatchSize = 10 }), 20}, {csv, 30}} {
		if c.it == csv && runtime.GOOS == "js" {
			t.Log("js: reading a file allocates: CSVIter is left out")
			continue
		}
		ctx := context.Background()
		_, err := c.it.Next(ctx)
		require.NoError(t, err)
		per := testing.AllocsPerRun(50, func() {
			if _, err := c.it.Next(ctx); err != nil {
				t.Fatal(err)
			}
		})
		require.LessOrEqual(t, per, c.want, "%T, 10 rows", c.it)
	}
}

// TestSources runs the contract tests on the iterators' sources.
func TestSources(t *testing.T) {
	csv, err := csvOf(t, "1,2\n\n3,4\n", map[string]string{"batch_size": "2"})
	require.NoError(t, err)
	sourcetest.Run(t, &source{keptOpen{csv.src}})
	require.NoError(t, csv.Close())
	sourcetest.Run(t, &source{ndIter(t, 5, func(o *NDArrayOptions) { o.Layout = "N" }).src})
}

// All iterators are DataIters.
var _ = []DataIter{
	(*NDArrayIter)(nil), (*CSVIter)(nil), (*LibSVMIter)(nil), (*MNISTIter)(nil), (*ResizeIter)(nil),
	(*ImageIter)(nil), (*ImageDetIter)(nil), (*ImageRecordIter)(nil), (*ImageDetRecordIter)(nil),
}
