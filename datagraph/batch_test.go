package datagraph

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// batchGraph copies its input to the output "x".
func batchGraph(d tensor.Desc, b Batching) *Graph {
	g := &Graph{Inputs: []Column{{Name: "in", Desc: d}}, Outputs: []string{"x"}}
	g.Then(transforms.NewToType(d.DType), []string{"in"}, []string{"x"})
	return g.SetBatch("x", b)
}

func vectors(t *testing.T, dims ...[]int) (l []*tensor.Tensor) {
	n := float32(0)
	for _, d := range dims {
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(d...)})
		require.NoError(t, err)
		for i := range tensor.View[float32](x) {
			n++
			tensor.View[float32](x)[i] = n
		}
		l = append(l, x)
	}
	return l
}

func collated(t *testing.T, b Batching, dims ...[]int) (*tensor.Tensor, error) {
	d := tensor.Desc{DType: tensor.Float32}
	for range dims[0] {
		d.Shape = d.Shape.Append(tensor.Unknown)
	}
	p, err := Compile(batchGraph(d, b), CompileOptions{})
	require.NoError(t, err)
	var samples [][]*tensor.Tensor
	for _, x := range vectors(t, dims...) {
		samples = append(samples, []*tensor.Tensor{x})
	}
	out, err := p.Collate(samples)
	if err != nil {
		return nil, err
	}
	require.Len(t, out, 1)
	return out[0], nil
}

func TestCollate(t *testing.T) {
	for _, c := range []struct {
		b    Batching
		dims [][]int
		want []int
		data []float32
	}{
		{Batching{}, [][]int{{2}, {2}}, []int{2, 2}, []float32{1, 2, 3, 4}},
		{Batching{}, [][]int{{}, {}}, []int{2}, []float32{1, 2}},
		{Batching{Rule: BatchPad, Value: -7}, [][]int{{1, 2}, {2, 1}}, []int{2, 2, 2}, []float32{1, 2, -7, -7, 3, -7, 4, -7}},
		{Batching{Rule: BatchPad}, [][]int{{0, 2}, {1, 0}}, []int{2, 1, 2}, []float32{0, 0, 0, 0}},
		{Batching{Rule: BatchPad}, [][]int{{}, {}}, []int{2}, []float32{1, 2}},
		{Batching{Rule: BatchConcat}, [][]int{{1, 2}, {0, 2}, {2, 2}}, []int{3, 2}, []float32{1, 2, 3, 4, 5, 6}},
		{Batching{Rule: BatchSingle}, [][]int{{2, 1}}, []int{2, 1}, []float32{1, 2}},
		{Batching{Rule: BatchSingle}, [][]int{{}}, []int{}, []float32{1}},
	} {
		got, err := collated(t, c.b, c.dims...)
		require.NoError(t, err)
		require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(c.want...)}, got.Desc)
		require.Equal(t, c.data, tensor.View[float32](got))
	}
	for _, c := range []struct {
		b    Batching
		dims [][]int
		text string
	}{
		{Batching{}, [][]int{{2}, {3}}, `output "x": tensor: invalid description: sample 1 is float32 (3,), sample 0 float32 (2,): rule stack needs equal sizes`},
		{Batching{Rule: BatchConcat}, [][]int{{2, 1}, {2, 2}}, "rule concat needs equal sizes"},
		{Batching{Rule: BatchPad}, [][]int{{2, 1}, {2}}, "sample 1 is float32 (2,), sample 0 float32 (2, 1)"},
		{Batching{Rule: BatchConcat}, [][]int{{}, {}}, "no batch by rule concat"},
		{Batching{}, [][]int{{1, 1, 1, 1, 1, 1, 1, 1}}, "no batch by rule stack"},
		{Batching{Rule: BatchSingle}, [][]int{{2}, {2}}, "2 samples have no batch by rule single"},
	} {
		_, err := collated(t, c.b, c.dims...)
		require.ErrorIs(t, err, tensor.ErrDesc)
		require.ErrorContains(t, err, c.text)
	}
}

func TestCollateLimits(t *testing.T) {
	p, err := Compile(New(transforms.NewDecode()), CompileOptions{Limits: codec.Limits{Bytes: 100}})
	require.NoError(t, err)
	_, err = p.Collate(nil)
	require.ErrorContains(t, err, "no samples")
	_, err = p.Collate([][]*tensor.Tensor{{}})
	require.ErrorContains(t, err, "sample 0 has 0 tensors, want 1")
	_, err = p.Collate([][]*tensor.Tensor{{tensor.FromBytes(nil)}})
	require.ErrorIs(t, err, tensor.ErrDesc)
	l := vectors(t, []int{9}, []int{9}, []int{9})
	_, err = p.Collate([][]*tensor.Tensor{l[:1], l[1:2]})
	require.NoError(t, err)
	_, err = p.Collate([][]*tensor.Tensor{l[:1], l[1:2], l[2:]})
	require.ErrorIs(t, err, codec.ErrLimit)
}

func TestBatchRules(t *testing.T) {
	d := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 2)}
	g := batchGraph(d, Batching{Rule: BatchPad, Value: 0.5})
	text, err := json.Marshal(g)
	require.NoError(t, err)
	require.Contains(t, string(text), `"batch":[{"column":"x","rule":"pad","value":0.5}]`)
	back := &Graph{}
	require.NoError(t, json.Unmarshal(text, back))
	require.Equal(t, g, back)
	packed, err := g.MarshalMsg(nil)
	require.NoError(t, err)
	back = &Graph{}
	rest, err := back.UnmarshalMsg(packed)
	require.NoError(t, err)
	require.Empty(t, rest)
	require.Equal(t, g, back)
	for n := range packed {
		_, err := new(Graph).UnmarshalMsg(packed[:n])
		require.Error(t, err, "cut after %d bytes", n)
	}
	require.Error(t, json.Unmarshal([]byte(`{"infer_prep_graph":1,"inputs":[{"name":"x","dtype":"float32","layout":"none","shape":[2]}],"steps":[],"outputs":["x"],"batch":[{"column":"x","rule":"pad"}]}`), back))

	// A rule follows its column, and the zero rule is none.
	require.Equal(t, []BatchColumn{{"y", Batching{BatchPad, 0.5}}}, g.Rename("y").Batch)
	p, err := Compile(g, CompileOptions{})
	require.NoError(t, err)
	require.Equal(t, []Column{{Name: "y", Desc: d, Batch: Batching{BatchPad, 0.5}}}, p.Outputs())
	require.Empty(t, g.SetBatch("y", Batching{}).Batch)
	plain, err := g.MarshalMsg(nil)
	require.NoError(t, err)
	require.Equal(t, byte(0x96), plain[0], "graphs without rules keep their form")

	for text, l := range map[string][]BatchColumn{
		`column "z", which no step produces`: {{Column: "z"}},
		`two batch rules`:                    {{Column: "y"}, {Column: "y"}},
		`want one of`:                        {{"y", Batching{Rule: 9}}},
		`with value 1, want 0`:               {{"y", Batching{BatchConcat, 1}}},
		`want a finite number`:               {{"y", Batching{BatchPad, math.Inf(1)}}},
		`at most 100`:                        make([]BatchColumn, 101),
	} {
		g.Batch = l
		require.ErrorIs(t, g.Validate(), ErrGraph)
		require.ErrorContains(t, g.Validate(), text)
	}
	g.Batch = nil
	g.Inputs[0].Batch.Rule = BatchPad
	require.ErrorContains(t, g.Validate(), "only outputs have one")
}
