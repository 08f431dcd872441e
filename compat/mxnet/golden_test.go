package mxnet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestMain fails on leaked goroutines, except for the one of js/wasm's runtime.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent"))
}

// golden is the output of MXNet; testdata/gen/mxnet/mxnet_iters.py generates
// it.
type golden struct {
	NDArray []struct {
		N, Batch   int
		Mode, Name string
		Steps      []string
		Out        []json.RawMessage
	}
	Names []struct {
		Name string
		Desc []goldenDesc
	}
	CSV []struct {
		N, Batch   int
		RoundBatch bool `json:"round_batch"`
		Steps      []string
		Desc       []goldenDesc
		Out        []json.RawMessage
	}
	CSVText []struct {
		Name, Text string
		Values     [][]float32
	} `json:"csv_text"`
	MNISTParams [][2]*string `json:"mnist_params"`
	MNIST       []struct {
		N, H, W int
		Params  map[string]any
		Desc    []goldenDesc
		Labels  [][]float32
		Data    string
	}
	Resize []struct {
		N, Batch, Size int
		Mode           string
		Internal       bool
		Out            [][][2]any
	}
	LibSVMParams [][2]*string `json:"libsvm_params"`
	LibSVM       []struct {
		Name, Text string
		Labels     *string
		N          int
		Params     map[string]any
		Desc       []goldenDesc
		Out        []struct {
			Data  goldenCSR
			Label json.RawMessage
			Dense []float32
			Pad   int
			Index []int64
		}
	} `json:"libsvm"`
}

type goldenCSR struct {
	Data            []float32
	Indices, Indptr []int64
}

type goldenBatch struct {
	Rows   []int64
	Labels []float32
	Pad    int
	Index  []int64
}

// goldenDesc is [name, shape, dtype, layout].
type goldenDesc [4]any

func (d goldenDesc) String() string {
	var dims []string
	for _, n := range d[1].([]any) {
		dims = append(dims, fmt.Sprint(n))
	}
	end := ")"
	if len(dims) == 1 {
		end = ",)"
	}
	return fmt.Sprintf("DataDesc[%v,(%s%s,%v,%v]", d[0], strings.Join(dims, ", "), end, d[2], d[3])
}

func describeAll(it DataIter) (l []string) {
	for _, d := range it.ProvideData() {
		l = append(l, d.String())
	}
	for _, d := range it.ProvideLabel() {
		l = append(l, d.String())
	}
	return l
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	b, err := os.ReadFile("testdata/iters.json")
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(b, &g))
	require.Len(t, g.NDArray, 80)
	return &g
}

// floats returns a tensor of n rows; every number of a row is the row's index.
func floats(t *testing.T, n int, from float32, rest ...int) *tensor.Tensor {
	t.Helper()
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(append([]int{n}, rest...)...)})
	require.NoError(t, err)
	v := tensor.View[float32](x)
	for i := range v {
		v[i] = from + float32(i/(len(v)/n))
	}
	return x
}

// batchOf converts a batch to the golden form: the first number of each row is
// the row's index.
func batchOf(t *testing.T, b *DataBatch) goldenBatch {
	t.Helper()
	g := goldenBatch{Pad: b.Pad, Index: append([]int64{}, b.Index...), Rows: []int64{}, Labels: []float32{}}
	n := b.Data[0].Shape.At(0)
	v := tensor.View[float32](b.Data[0])
	for i := range n {
		g.Rows = append(g.Rows, int64(v[i*len(v)/n]))
	}
	for _, l := range b.Label {
		g.Labels = append(g.Labels, tensor.View[float32](l)...)
	}
	return g
}

// epoch reads up to most batches of the epoch.
func epoch(t *testing.T, it DataIter, most int) []goldenBatch {
	t.Helper()
	l := []goldenBatch{}
	for len(l) < most {
		b, err := it.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		l = append(l, batchOf(t, b))
	}
	return l
}

func run(t *testing.T, it DataIter, steps []string) (out [][]goldenBatch) {
	t.Helper()
	for _, s := range steps {
		got := []goldenBatch{}
		switch s {
		case "epoch":
			got = epoch(t, it, 1000)
		case "next":
			got = epoch(t, it, 1)
		case "reset":
			require.NoError(t, it.Reset())
		case "hard_reset":
			require.NoError(t, it.(*NDArrayIter).HardReset())
		}
		out = append(out, got)
	}
	return out
}

// rollOver returns the rows of each step's batches under roll_over: all rows in
// order. Each epoch takes as many as fill whole batches.
func rollOver(n, size int, steps []string) (out [][]goldenBatch) {
	var carry []int64
	at := 0
	ended := false
	for _, s := range steps {
		got := []goldenBatch{}
		switch s {
		case "reset", "hard_reset":
			at, ended = 0, false
			if s == "hard_reset" {
				carry = nil
			}
		default:
			for !ended && (s == "epoch" || len(got) == 0) {
				rows, from := append([]int64{}, carry...), at
				for ; len(rows) < size && from < n; from++ {
					rows = append(rows, int64(from))
				}
				if len(rows) < size {
					carry, ended = rows, true
					break
				}
				carry, at = nil, from
				b := goldenBatch{Rows: rows, Index: rows}
				for _, r := range rows {
					b.Labels = append(b.Labels, float32(100+r))
				}
				got = append(got, b)
			}
		}
		out = append(out, got)
	}
	return out
}

func TestNDArrayIterAsMXNet(t *testing.T) {
	same, other := 0, 0
	for _, c := range readGolden(t).NDArray {
		t.Run(fmt.Sprintf("%s/%s/%d by %d", c.Mode, c.Name, c.N, c.Batch), func(t *testing.T) {
			o := DefaultNDArrayOptions()
			o.BatchSize, o.LastBatch = c.Batch, c.Mode
			it, err := NewNDArrayIter([]tensor.Named{{T: floats(t, c.N, 0, 2)}}, []tensor.Named{{T: floats(t, c.N, 100)}}, o)
			require.NoError(t, err)
			got := run(t, it, c.Steps)
			require.NoError(t, it.Close())
			if c.Mode == "roll_over" {
				require.Equal(t, rollOver(c.N, c.Batch, c.Steps), got)
				// MXNet drops rows carried over if Next is called again at the
				// end, or Reset twice.
				if (c.Name == "read on at the end" || c.Name == "reset twice") && c.N%c.Batch != 0 {
					other++
					return
				}
			}
			for i, raw := range c.Out {
				if string(raw) == `"error"` { // MXNet cannot complete so few rows carried over
					other++
					return
				}
				want := []goldenBatch{}
				require.NoError(t, json.Unmarshal(raw, &want))
				for j := range want {
					require.Nil(t, want[j].Index, "MXNet has none")
					want[j].Index = want[j].Rows
					if c.Mode == "roll_over" {
						want[j].Pad = 0 // MXNet counts the rows carried over, which are not padding
					}
				}
				require.Equal(t, want, got[i], "step %d, %s", i, c.Steps[i])
			}
			same++
		})
	}
	require.Equal(t, [2]int{68, 12}, [2]int{same, other}, "cases as MXNet has them, and those in which it loses rows or fails")
}

func TestNDArrayIterNames(t *testing.T) {
	a, b := floats(t, 4, 0, 3), floats(t, 4, 0, 2, 2)
	inputs := map[string][2][]tensor.Named{
		"one":  {{{T: a}}, nil},
		"list": {{{T: a}, {T: b}}, {{T: a}}},
		"dict": {{{Name: "z", T: a}, {Name: "b", T: b}}, {{Name: "y", T: a}, {Name: "x", T: b}}},
	}
	for _, c := range readGolden(t).Names {
		o := DefaultNDArrayOptions()
		o.BatchSize = 2
		it, err := NewNDArrayIter(inputs[c.Name][0], inputs[c.Name][1], o)
		require.NoError(t, err, c.Name)
		var want []string
		for _, d := range c.Desc {
			want = append(want, d.String())
		}
		require.Equal(t, want, describeAll(it), c.Name)
		require.NoError(t, it.Close())
	}
}

func TestCSVIterAsMXNet(t *testing.T) {
	for _, c := range readGolden(t).CSV {
		for _, ctx := range []string{"cpu", "gpu"} {
			t.Run(fmt.Sprintf("%d by %d, %v, %s", c.N, c.Batch, c.RoundBatch, ctx), func(t *testing.T) {
				var data, labels strings.Builder
				for i := range c.N {
					fmt.Fprintf(&data, "%d,%v\n", i, float64(i)+0.5)
					fmt.Fprintf(&labels, "%d\n", 100+i)
				}
				it, err := csvOf(t, data.String(), map[string]string{
					"label_csv": labels.String(), "batch_size": fmt.Sprint(c.Batch), "round_batch": fmt.Sprint(c.RoundBatch), "ctx": ctx,
				})
				require.NoError(t, err)
				defer func() { require.NoError(t, it.Close()) }()
				require.Equal(t, []string{c.Desc[0].String(), c.Desc[1].String()}, describeAll(it))
				got := run(t, it, c.Steps)
				var first []goldenBatch
				require.NoError(t, json.Unmarshal(c.Out[0], &first))
				for i := range first {
					w := &first[i]
					require.Equal(t, c.Batch, len(w.Index))
					if !c.RoundBatch { // MXNet leaves stale memory in the other rows, we write zeros
						for j := c.Batch - w.Pad; j < c.Batch; j++ {
							w.Rows, w.Labels, w.Index[j] = append(w.Rows, 0), append(w.Labels, 0), -1
						}
					}
				}
				for i, s := range c.Steps {
					if s == "epoch" {
						// Here every epoch equals the first one. With
						// round_batch, MXNet's start after the rows that filled
						// the last batch.
						require.Equal(t, first, got[i], "step %d", i)
					}
				}
			})
		}
	}
}

// csvOf returns a CSVIter of 2 numbers a row. label_csv is the labels' text.
func csvOf(t *testing.T, text string, kwargs map[string]string) (*CSVIter, error) {
	t.Helper()
	dir := t.TempDir()
	args := map[string]string{"data_csv": filepath.Join(dir, "data.csv"), "data_shape": "(2,)"}
	require.NoError(t, os.WriteFile(args["data_csv"], []byte(text), 0o600))
	for k, v := range kwargs {
		if k == "label_csv" {
			path := filepath.Join(dir, "label.csv")
			require.NoError(t, os.WriteFile(path, []byte(v), 0o600))
			v = path
		}
		args[k] = v
	}
	p, err := ParseCSVParams(args)
	if err != nil {
		return nil, err
	}
	return NewCSVIter(t.Context(), p)
}

func TestCSVText(t *testing.T) {
	for _, c := range readGolden(t).CSVText {
		it, err := csvOf(t, c.Text, map[string]string{"batch_size": "2"})
		require.NoError(t, err, c.Name)
		b, err := it.Next(context.Background())
		require.NoError(t, err, c.Name)
		require.Equal(t, append(c.Values[0], c.Values[1]...), tensor.View[float32](b.Data[0]), c.Name)
		require.NoError(t, it.Close())
	}
}
