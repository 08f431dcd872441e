package dataset_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// vectors is a source whose row i has Lengths[i] elements of value i.
type vectors struct{ Lengths []int }

func (v *vectors) Validate() error                                          { return nil }
func (v *vectors) Open(context.Context, store.Opener) (dataset.Data, error) { return v, nil }
func (v *vectors) Close() error                                             { return nil }
func (v *vectors) Len() int64                                               { return int64(len(v.Lengths)) }

func (v *vectors) Columns() []dataset.Column {
	return []dataset.Column{{Name: "v", Desc: tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}}}
}

func (v *vectors) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := s.Column("v").Reset(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(v.Lengths[i])}); err != nil {
		return err
	}
	for j := range tensor.View[int32](&s.Column("v").Tensor) {
		tensor.View[int32](&s.Column("v").Tensor)[j] = int32(i)
	}
	return nil
}

// nested returns a tensor as nested lists.
func nested(t *tensor.Tensor) any {
	l := tensor.View[int32](t)
	if t.Shape.Rank() == 1 {
		return append([]int32{}, l...)
	}
	rows := make([][]int32, t.Shape.At(0))
	n := t.Shape.At(1)
	for i := range rows {
		rows[i] = append([]int32{}, l[i*n:(i+1)*n]...)
	}
	return rows
}

// all returns the first column of the samples of an epoch, as JSON.
func all(t *testing.T, d *dataset.Dataset) string {
	t.Helper()
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	return allOf(t, p, b)[0]
}

// TestAsMindSpore compares batches, buckets, shards and splits with those of
// MindSpore 2.10.0 (testdata/gen/datasets/dataset_ops.py).
func TestAsMindSpore(t *testing.T) {
	text, err := os.ReadFile("../testdata/datasets/ops.json")
	require.NoError(t, err)
	var c struct {
		Lengths []int
		Bucket  []struct {
			Boundaries, Sizes []int
			Drop              bool
			ToBoundary        bool `json:"to_boundary"`
			Batches           json.RawMessage
		}
		Padded []struct {
			Size    int
			Shape   []int
			Drop    bool
			Batches json.RawMessage
		}
		Batch []struct {
			Size    int
			Drop    bool
			Batches json.RawMessage
		}
		Distributed []struct {
			N, Shards, Offset int64
			Rows              []json.RawMessage
		}
		Split []struct {
			N     int64
			Sizes []float64
			Parts []json.RawMessage
		}
		Sizes []struct {
			N, Factor int64
			Drop      bool
			Epochs    []json.RawMessage
		}
		PerBatch []struct {
			Name    string
			Batches []map[string]json.RawMessage
		} `json:"per_batch"`
	}
	require.NoError(t, json.Unmarshal(text, &c))
	require.NotEmpty(t, c.Bucket)
	require.NotEmpty(t, c.Split)
	require.NotEmpty(t, c.Sizes)
	require.NotEmpty(t, c.PerBatch)
	v := func() *dataset.Dataset { return dataset.From(&vectors{c.Lengths}) }
	one := func(n int64) *dataset.Dataset { // single numbers, in vectors of one
		l := make([]int, n)
		for i := range l {
			l[i] = 1
		}
		return dataset.From(&vectors{l})
	}
	for _, k := range c.Bucket {
		d := dataset.Of(&dataset.BucketBatch{
			Column: "v", Boundaries: k.Boundaries, Sizes: k.Sizes, DropRemainder: k.Drop, PadToBoundary: k.ToBoundary,
			Pad: []dataset.PadColumn{{Column: "v", Shape: []int{-1}, Value: -1}},
		}, v())
		require.JSONEq(t, string(k.Batches), all(t, d), "buckets %v of %v", k.Boundaries, k.Sizes)
	}
	for _, k := range c.Padded {
		d := dataset.Of(&dataset.Batch{Size: k.Size, DropRemainder: k.Drop, Pad: []dataset.PadColumn{{Column: "v", Shape: k.Shape, Value: 7}}}, v())
		require.JSONEq(t, string(k.Batches), all(t, d), "padded %v", k)
	}
	for _, k := range c.Batch {
		d := dataset.Of(&dataset.Batch{Size: k.Size, DropRemainder: k.Drop}, one(10))
		require.JSONEq(t, string(k.Batches), all(t, d), "batches of %d", k.Size)
	}
	for _, k := range c.Distributed {
		for shard, rows := range k.Rows {
			d := one(k.N).Sample(&dataset.DistributedSampler{Shards: k.Shards, Shard: int64(shard), Offset: k.Offset})
			require.JSONEq(t, string(rows), all(t, d), "%d rows, shard %d of %d, offset %d", k.N, shard, k.Shards, k.Offset)
		}
	}
	for _, k := range c.Split {
		for i, rows := range k.Parts {
			d := dataset.Of(&dataset.Split{Sizes: k.Sizes, Part: i, Ordered: true}, one(k.N))
			require.JSONEq(t, string(rows), all(t, d), "part %d of %v of %d", i, k.Sizes, k.N)
		}
	}
	for _, k := range c.Sizes {
		d := one(k.N).BatchSizes(func(c *dataset.Call, batch int64) (int, error) {
			return int(batch*k.Factor+int64(c.Epoch))%5 + 1, nil
		})
		d.Node.(*dataset.Batch).DropRemainder = k.Drop
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		require.Equal(t, dataset.Unknown, b.Len())
		p := pull(t, b, nil)
		for epoch, want := range k.Epochs {
			require.JSONEq(t, string(want), allOf(t, p, b)[0], "sizes of %d, epoch %d", k.N, epoch)
			require.NoError(t, p.NextEpoch())
		}
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
	for _, k := range c.PerBatch {
		f := perBatch[k.Name]
		d := dataset.NewZip(one(7), dataset.From(&vectors{make([]int, 77)}).Skip(70).MapFunc(func(c *dataset.Call, dst []*dataset.Value, _ []*tensor.Tensor) error {
			return setOne(dst[0], int32(70+c.Ordinal))
		}, []string{"v"}, oneColumn("w"))).BatchFunc(3, f.f, f.out...)
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		p := pull(t, b, nil)
		got := allOf(t, p, b)
		for i, col := range b.Columns() {
			want := []json.RawMessage{}
			for _, batch := range k.Batches {
				require.Len(t, batch, len(b.Columns()))
				want = append(want, batch[col.Name])
			}
			text, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(text), got[i], "%s: column %s", k.Name, col.Name)
		}
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
}

func oneColumn(name string) dataset.Column {
	return dataset.Column{Name: name, Desc: tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}}
}

// setOne makes v a vector of one or more numbers.
func setOne(v *dataset.Value, l ...int32) error {
	if err := v.Reset(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(l))}); err != nil {
		return err
	}
	copy(tensor.View[int32](&v.Tensor), l)
	return nil
}

func first(v *dataset.Value) int32 { return tensor.View[int32](&v.Tensor)[0] }

// perBatch has the functions of testdata/gen/datasets/dataset_ops.py.
var perBatch = map[string]struct {
	out []dataset.Column
	f   dataset.BatchFunc
}{
	"rename": {[]dataset.Column{oneColumn("x"), oneColumn("w")}, func(_ *dataset.Call, l []*dataset.Sample) error {
		for _, s := range l {
			if err := setOne(&s.Values[0], 2*first(&s.Values[0])); err != nil {
				return err
			}
		}
		return nil
	}},
	"add": {[]dataset.Column{oneColumn("v"), oneColumn("w"), oneColumn("n")}, func(c *dataset.Call, l []*dataset.Sample) error {
		for _, s := range l {
			s.Resize(3)
			if err := setOne(&s.Values[2], int32(c.Ordinal/3), int32(len(l))); err != nil {
				return err
			}
		}
		return nil
	}},
	"merge": {[]dataset.Column{oneColumn("sum")}, func(_ *dataset.Call, l []*dataset.Sample) error {
		for _, s := range l {
			if err := setOne(&s.Values[0], first(&s.Values[0])+first(&s.Values[1])); err != nil {
				return err
			}
			s.Resize(1)
		}
		return nil
	}},
}

// allOf returns the columns of the samples of an epoch, each as JSON.
func allOf(t *testing.T, p runner, b *dataset.Built) []string {
	t.Helper()
	batches := make([][]any, len(b.Columns()))
	for i := range batches {
		batches[i] = []any{}
	}
	for {
		s, err := p.Next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for i, c := range b.Columns() {
			require.True(t, c.Desc.Matches(s.Values[i].Desc), "%v, want %v", s.Values[i].Desc, c.Desc)
			batches[i] = append(batches[i], nested(&s.Values[i].Tensor))
		}
	}
	var l []string
	for _, x := range batches {
		text, err := json.Marshal(x)
		require.NoError(t, err)
		l = append(l, string(text))
	}
	return l
}

// ruled returns samples of the lengths whose graph has a batch rule.
func ruled(b datagraph.Batching, lengths ...int) *dataset.Dataset {
	g := &datagraph.Graph{
		Inputs:  []datagraph.Column{{Name: "v", Desc: tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)}}},
		Outputs: []string{"x"},
	}
	g.Then(transforms.NewToType(tensor.Int32), []string{"v"}, []string{"x"}).SetBatch("x", b)
	return dataset.From(&vectors{lengths}).Map(g).Rename([]string{"x"}, []string{"y"})
}

// TestBatchRules checks batches by the rules of a graph.
func TestBatchRules(t *testing.T) {
	pad, concat := datagraph.Batching{Rule: datagraph.BatchPad, Value: -1}, datagraph.Batching{Rule: datagraph.BatchConcat}
	require.JSONEq(t, `[[[0,-1],[1,1]],[[2,2,2],[3,-1,-1]],[[4]]]`, all(t, ruled(pad, 1, 2, 3, 1, 1).Batch(2)))
	require.JSONEq(t, `[[0,1,1],[2,2,2,3],[4]]`, all(t, ruled(concat, 1, 2, 3, 1, 1).Batch(2)))
	require.JSONEq(t, `[[0,1,1],[2,2,2,3]]`, all(t, ruled(concat, 1, 2, 3, 1, 1).BatchDrop(2)))
	require.JSONEq(t, `[[1,1],[2,2,2],[0,3]]`, all(t, ruled(concat, 1, 2, 3, 1).BucketBatch("y", []int{2, 3}, []int{2, 1, 1})))
	explicit := dataset.PadColumn{Column: "y", Shape: []int{4}, Value: 9}
	require.JSONEq(t, `[[[0,9,9,9],[1,1,9,9]]]`, all(t, ruled(pad, 1, 2).BatchPadded(2, explicit)))

	// Without a rule, sizes must be equal.
	b, err := dataset.Build(t.Context(), ruled(datagraph.Batching{}, 1, 2).Batch(2), dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	_, err = p.Next(t.Context())
	require.ErrorContains(t, err, "sizes differ")

	// Both engines resume in the middle.
	d := ruled(pad, 1, 2, 3, 1, 1, 4, 2).Batch(2)
	b, err = dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	first := pull(t, b, nil)
	defer first.Close()
	_, err = first.Next(t.Context())
	require.NoError(t, err)
	state := first.State()
	for _, r := range []runner{pull(t, b, state), parallel(t, b, 3, state)} {
		s, err := r.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, [][]int32{{2, 2, 2}, {3, -1, -1}}, nested(&s.Column("y").Tensor))
		r.Close()
	}
}

// TestBatchFunc checks a function that gives every batch its own size.
func TestBatchFunc(t *testing.T) {
	f := func(c *dataset.Call, samples []*dataset.Sample) error {
		n := 2 + int(c.Ordinal)%3
		for _, s := range samples {
			x := tensor.View[int32](&s.Column("v").Tensor)[0]
			if err := s.Column("v").Reset(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n)}); err != nil {
				return err
			}
			for i := range n {
				tensor.View[int32](&s.Column("v").Tensor)[i] = x
			}
		}
		return nil
	}
	d := dataset.From(&vectors{[]int{1, 2, 3, 4, 5}}).BatchFunc(2, f)
	require.JSONEq(t, `[[[0,0],[1,1]],[[2,2,2,2],[3,3,3,3]],[[4,4,4]]]`, all(t, d))
}

// TestSamplers checks the documented properties of the samplers.
func TestSamplers(t *testing.T) {
	rows := func(d *dataset.Dataset, seed uint64) []string {
		b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: seed})
		require.NoError(t, err)
		defer b.Close()
		p := pull(t, b, nil)
		defer p.Close()
		return rest(t, p, 100_000)
	}
	ten := func() *dataset.Dataset { return dataset.Of(&numbers{N: 10}) }
	require.Equal(t, []string{"[3]", "[4]"}, rows(ten().Sample(&dataset.SequentialSampler{Start: 3, Count: 2}), 0))
	require.Equal(t, []string{"[7]", "[1]", "[7]"}, rows(ten().Sample(&dataset.SubsetSampler{Rows: []int64{7, 1, 7}}), 0))
	require.Equal(t, counts(rows(ten(), 0)), counts(rows(ten().Sample(&dataset.RandomSampler{}), 0)))
	require.NotEqual(t, rows(ten().Sample(&dataset.RandomSampler{}), 0), rows(ten().Sample(&dataset.RandomSampler{}), 1))
	require.Len(t, counts(rows(ten().Sample(&dataset.RandomSampler{Count: 4}), 0)), 4)
	for row, n := range counts(rows(ten().Sample(&dataset.RandomSampler{Replacement: true, Count: 50_000}), 0)) {
		require.InDelta(t, 5000, n, 5*67, row) // five standard deviations
	}
	weights := []float64{0, 1, 2, 3, 4, 0, 0, 0, 0, 0}
	got := counts(rows(ten().Sample(&dataset.WeightedSampler{Weights: weights, Count: 50_000, Replacement: true}), 0))
	for i, n := range []int{5000, 10000, 15000, 20000} {
		require.InDelta(t, n, got[[]string{"[1]", "[2]", "[3]", "[4]"}[i]], 5*110)
	}
	require.Len(t, got, 4)
	// Without replacement every row occurs once, and heavier rows tend to come
	// first.
	firsts := map[string]int{}
	for seed := range uint64(4000) {
		l := rows(ten().Sample(&dataset.WeightedSampler{Weights: weights, Count: 4}), seed)
		require.Len(t, counts(l), 4)
		firsts[l[0]]++
	}
	for i, n := range []int{400, 800, 1200, 1600} {
		require.InDelta(t, n, firsts[[]string{"[1]", "[2]", "[3]", "[4]"}[i]], 5*31)
	}
	for _, bad := range []dataset.Node{
		&dataset.SequentialSampler{Start: 9, Count: 2}, &dataset.SubsetSampler{Rows: []int64{10}}, &dataset.RandomSampler{Count: 11},
		&dataset.WeightedSampler{Weights: []float64{1}, Count: 1}, &dataset.PKSampler{PerClass: 1},
	} {
		_, err := dataset.Build(t.Context(), ten().Sample(bad), dataset.Options{})
		require.ErrorIs(t, err, dataset.ErrDefinition, "%T", bad)
		var ne *dataset.NodeError
		require.ErrorAs(t, err, &ne)
	}
}

// TestBuildErrors checks that Build reports invalid definitions with the node's
// path.
func TestBuildErrors(t *testing.T) {
	ten := func() *dataset.Dataset { return dataset.Of(&numbers{N: 10}) }
	stream := func() *dataset.Dataset { return dataset.Of(&numbers{N: 10, Stream: true}) }
	for _, c := range []struct {
		d    *dataset.Dataset
		want string
	}{
		{ten().Project("y"), `dataset: project: invalid definition: unknown column "y"; known: ["x"]`},
		{ten().Rename([]string{"x"}, []string{"a", "b"}), "dataset: rename: invalid parameter: 1 columns renamed to 2 names"},
		{ten().Batch(0), "dataset: batch: invalid parameter: batches of 0"},
		{ten().Take(-1).Batch(3), "dataset: batch/take: invalid parameter: count -1"},
		{stream().Shuffle(), "random access"},
		{ten().Repeat(0).Shuffle(), "endless dataset"},
		{ten().Repeat(0).Skip(1<<62 + 1), "endless dataset"},
		{ten().Concat(ten().Rename([]string{"x"}, []string{"y"})), `column 0 of input 1 is "y"`},
		{dataset.NewZip(ten(), ten()), `named "x"`},
		{ten().Split(1, 3, 4)[0], "sizes of 7 samples in total, want the dataset's 10"},
		{ten().Split(1, 0.5, 0.4)[0], "sum 0.9, want 1"},
		{stream().Cache(100), "a cache needs random access"},
		{dataset.Of(&dataset.BucketBatch{Column: "x", Boundaries: []int{3}, Sizes: []int{2, 2}, Pad: []dataset.PadColumn{}}, ten().Batch(2)), "a buffer of batches cannot be refilled"},
		{dataset.Of(&dataset.Shuffle{}), "no input"},
		{dataset.Of(&dataset.Filter{Name: "test/nobody"}, ten()), `unknown dataset function "test/nobody"; known: `},
	} {
		_, err := dataset.Build(t.Context(), c.d, dataset.Options{})
		require.ErrorContains(t, err, c.want)
		var ne *dataset.NodeError
		require.ErrorAs(t, err, &ne, c.want)
	}
	_, err := dataset.Build(t.Context(), ten().Shuffle().Cache(100), dataset.Options{Disable: []dataset.Pass{dataset.PlaceCaches}})
	require.ErrorContains(t, err, "shuffle below a cache")
}
