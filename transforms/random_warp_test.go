package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestRandomWarpMatrix checks the matrix of an op without random ranges:
// WarpAffine with this matrix returns MXNet's result.
func TestRandomWarpMatrix(t *testing.T) {
	g, arrays := readGoldens(t, "warp_affine")
	count := 0
	for _, k := range g.Cases {
		want := g.op(t, k).(*WarpAffine)
		op := NewRandomWarp(0)
		op.Interpolation, op.Fill = want.Interpolation, want.Fill
		var angle int
		switch {
		case strings.HasPrefix(k.Name, "mxnet_rotate_"):
			_, err := fmt.Sscanf(k.Name, "mxnet_rotate_%d", &angle)
			require.NoError(t, err)
			op.Angles = AngleList{angle}
		case strings.HasPrefix(k.Name, "mxnet_sizes_"):
			op.MinSize, op.MaxSize = 13.5, 16.5
		case k.Name == "mxnet_empty":
			op.Scale = Range{0.05, 0.05}
		default:
			continue
		}
		count++
		require.NoError(t, op.Validate())
		in := []tensor.Desc{k.In[0].tensor(t, arrays).Desc}
		known := make([]tensor.Desc, 1)
		require.NoError(t, op.Infer(known, in))
		ops, err := NewDraw(newContext()).Run(op, rng.NewKey(1, 1, "").At(0), in, nil)
		require.NoError(t, err)
		require.Equal(t, []Op{want}, ops, k.Name)
		require.Equal(t, known[0], in[0], k.Name)
	}
	require.Equal(t, 21, count)
}

func TestRandomWarp(t *testing.T) {
	change := func(f func(*RandomWarp)) *RandomWarp {
		op := NewRandomWarp(5)
		f(op)
		return op
	}
	for word, f := range map[string]func(*RandomWarp){
		"shear":         func(o *RandomWarp) { o.Shear = Range{-2000, 0} },
		"max_angle":     func(o *RandomWarp) { o.MaxAngle = -1 },
		"angles[1]":     func(o *RandomWarp) { o.Angles = AngleList{3, maxAngle + 1} },
		"scale":         func(o *RandomWarp) { o.Scale = Range{0, 1} },
		"aspect":        func(o *RandomWarp) { o.Aspect = Range{1, math.Inf(1)} },
		"min_size":      func(o *RandomWarp) { o.MinSize = math.NaN() },
		"max_size":      func(o *RandomWarp) { o.MinSize, o.MaxSize = 10, 9 },
		"interpolation": func(o *RandomWarp) { o.Interpolation = Box },
		"backend":       func(o *RandomWarp) { o.Backend = OpenCV },
		"fill":          func(o *RandomWarp) { o.Fill = nil },
	} {
		refusesParam(t, word, change(f))
	}
	refusesInput(t, "want layout HWC", NewRandomWarp(5), tensor.Image(tensor.Uint8, tensor.CHW, 4, 5, 3))
	refusesInput(t, "would become", change(func(o *RandomWarp) { o.Scale = Range{1000, 1000} }), rgb8.WithSize(20000, 2))

	// Nothing is drawn for an image that is too large for its scale.
	d := NewDraw(NewContext(codec.DefaultLimits()))
	op := change(func(o *RandomWarp) { o.Scale = Range{900, 1000} })
	_, err := d.Run(op, rng.NewKey(1, 1, "").At(0), []tensor.Desc{rgb8.WithSize(20000, 2)}, nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "would become")

	for _, l := range []AngleList{nil, {}, {1, -2}} {
		text, err := json.Marshal(l)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "["), string(text))
		var back AngleList
		require.NoError(t, json.Unmarshal(text, &back))
		require.Len(t, back, len(l))
	}
}

func ExampleRandomWarp() {
	op := NewRandomWarp(0)
	op.Angles = AngleList{90}
	w := exampleDraw(op, 0)[0].(*WarpAffine)
	fmt.Printf("%.1f %d x %d\n", w.Matrix, w.Height, w.Width)
	// Output: [0.0 1.0 1.0 -1.0 0.0 7.0] 6 x 8
}
