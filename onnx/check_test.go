package onnx

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// typed declares a value of a type that elemTypes may not have.
func typed(b []byte, field protowire.Number, name string, elem int64, dims []int64) []byte {
	t := appendInt(nil, tensorElem, elem)
	if dims != nil {
		var shape []byte
		for _, n := range dims {
			dim := appendString(nil, dimParam, "n")
			if n != tensor.Unknown {
				dim = appendInt(nil, dimValue, n)
			}
			shape = appendMessage(shape, shapeDim, dim)
		}
		t = appendMessage(t, tensorDims, shape)
	}
	v := appendMessage(appendString(nil, valueName, name), valueType, appendMessage(nil, typeTensor, t))
	return appendMessage(b, field, v)
}

type io struct {
	name string
	elem int64
	dims []int64
}

func modelOf(inputs, outputs []io) []byte {
	var g []byte
	for _, v := range inputs {
		g = typed(g, graphInput, v.name, v.elem, v.dims)
	}
	for _, v := range outputs {
		g = typed(g, graphOutput, v.name, v.elem, v.dims)
	}
	return appendMessage(nil, modelGraph, g)
}

func TestCheckFit(t *testing.T) {
	const float, half, text, long = 1, 10, 8, 7
	one := func() *datagraph.Graph {
		return datagraph.New(transforms.NewDecode(), transforms.NewResize(4, 6), transforms.NewToTensor()).Rename("x")
	}
	two := func() *datagraph.Graph {
		g := one()
		g.Then(transforms.NewToType(tensor.Float16), []string{"x"}, []string{"y"})
		g.Outputs = []string{"x", "y"}
		return g
	}
	scores := func(dims ...int64) []io { return []io{{"logits", float, dims}} }
	const u = tensor.Unknown
	for _, c := range []struct {
		name    string
		g       *datagraph.Graph
		inputs  []io
		outputs []io
		labels  int
		want    FitProblem
	}{
		{"batch of any size", one(), []io{{"x", float, []int64{u, 3, 4, 6}}}, nil, 0, ""},
		{"batch of 1, another name", one(), []io{{"z", float, []int64{1, 3, 4, 6}}}, nil, 0, ""},
		{"no batch", one(), []io{{"x", float, []int64{3, 4, 6}}}, nil, 0, ""},
		{"all sizes open", one(), []io{{"x", float, []int64{u, u, u, u}}}, nil, 0, ""},
		{"any shape", one(), []io{{"x", float, nil}}, nil, 0, ""},
		{"unknown size of the graph", datagraph.New(transforms.NewDecode(), transforms.NewToTensor()).Rename("x"), []io{{"x", float, []int64{1, 3, 9, 9}}}, nil, 0, ""},
		{"an input of the program's own", one(), []io{{"x", float, []int64{u, 3, 4, 6}}, {"ids", long, []int64{u, u}}}, nil, 0, ""},
		{"an output too many", two(), []io{{"x", float, []int64{u, 3, 4, 6}}}, nil, 0, ""},
		{"two", two(), []io{{"y", half, []int64{u, 3, 4, 6}}, {"x", float, []int64{u, 3, 4, 6}}}, nil, 0, ""},

		{"names", two(), []io{{"x", float, []int64{u, 3, 4, 6}}, {"z", half, nil}}, nil, 0, FitName},
		{"no name of two", one(), []io{{"a", float, nil}, {"b", float, nil}}, nil, 0, FitName},
		{"no inputs", one(), nil, nil, 0, FitName},
		{"dtype", one(), []io{{"x", half, []int64{u, 3, 4, 6}}}, nil, 0, FitDType},
		{"text", one(), []io{{"x", text, []int64{u, 3, 4, 6}}}, nil, 0, FitDType},
		{"swapped dtypes", two(), []io{{"y", float, nil}, {"x", half, nil}}, nil, 0, FitDType},
		{"batch of 8", one(), []io{{"x", float, []int64{8, 3, 4, 6}}}, nil, 0, FitBatch},
		{"video", one(), []io{{"x", float, []int64{u, 8, 3, 4, 6}}}, nil, 0, FitRank},
		{"flat", one(), []io{{"x", float, []int64{u, 72}}}, nil, 0, FitRank},
		{"layout", one(), []io{{"x", float, []int64{u, 4, 6, 3}}}, nil, 0, FitLayout},
		{"layout without a batch", one(), []io{{"x", float, []int64{u, u, 3}}}, nil, 0, FitLayout},
		{"size", one(), []io{{"x", float, []int64{u, 3, 6, 4}}}, nil, 0, FitShape},

		{"labels", one(), []io{{"x", float, nil}}, scores(u, 10), 10, ""},
		{"labels of a flat output", one(), []io{{"x", float, nil}}, scores(10), 10, ""},
		{"labels of a pooled output", one(), []io{{"x", float, nil}}, scores(1, 10, 1, 1), 10, ""},
		{"an open number", one(), []io{{"x", float, nil}}, scores(u, u), 9, ""},
		{"a detector", one(), []io{{"x", float, nil}}, scores(1, 84, 8400), 80, ""},
		{"another output", one(), []io{{"x", float, nil}}, append(scores(1, 512), io{"probs", float, []int64{1, 10}}), 10, ""},
		{"integers are no scores", one(), []io{{"x", float, nil}}, []io{{"ids", long, []int64{1, 3}}}, 10, ""},
		{"no labels", one(), []io{{"x", float, nil}}, scores(u, 10), 0, ""},
		{"too few labels", one(), []io{{"x", float, nil}}, scores(u, 10), 9, FitLabels},
		{"a background class", one(), []io{{"x", float, nil}}, scores(1, 1001, 1, 1), 1000, FitLabels},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckFit(modelOf(c.inputs, c.outputs), c.g, c.labels)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrFit)
			var e *FitError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, e.Problem, err.Error())
			require.NotContains(t, err.Error(), "%!")
		})
	}
	require.ErrorIs(t, CheckFit([]byte("model"), one(), 0), ErrModel)
	require.Error(t, CheckFit(modelOf(nil, nil), &datagraph.Graph{}, 0))
	err := CheckFit(modelOf([]io{{"a", float, []int64{u, 3}}, {"b", text, nil}}, nil), one(), 0)
	require.EqualError(t, err, "onnx: the graph's output x (float32 CHW (3, 4, 6)) does not fit the model: no input has its name: want one of a (float32 [?, 3]), b (unsupported type of any shape)")
}
