package diff

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestMatch: the mistakes of a program are found by a digest alone.
func TestMatch(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	image := tensor.FromBytes(b)
	make := func(color codec.Color, backend transforms.Backend, more ...transforms.Op) *datagraph.Graph {
		r := transforms.NewResize(16, 16)
		r.Backend, r.Interpolation = backend, transforms.Bilinear
		return datagraph.New(append([]transforms.Op{&transforms.Decode{Color: color}, r, transforms.NewToTensor()}, more...)...)
	}
	run := func(g *datagraph.Graph) *tensor.Tensor {
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		out, err := plan.NewRunner().Run(image)
		require.NoError(t, err)
		return out[0].Clone()
	}
	r := transforms.NewResize(16, 16)
	r.Interpolation = transforms.Bilinear
	raw := datagraph.New(&transforms.Decode{Color: codec.ToBGR}, r, transforms.NewToType(tensor.Float32), transforms.NewHWC2CHW())
	normalize := transforms.NewNormalize([]float64{0.5}, []float64{0.25})
	g := make(codec.ToRGB, transforms.Pillow, normalize)
	for _, c := range []struct {
		theirs *datagraph.Graph
		want   []string
	}{
		{make(codec.ToBGR, transforms.Pillow, normalize), []string{"bgr"}},
		{make(codec.ToRGB, transforms.OpenCV, normalize), []string{"opencv-bilinear"}},
		{make(codec.ToBGR, transforms.OpenCV, normalize), []string{"bgr", "opencv-bilinear"}},
		{raw, []string{"bgr", "not-rescaled", "not-normalized"}},
		{make(codec.ToRGB, transforms.Pillow, transforms.NewHorizontalFlip()), nil},
	} {
		theirs := run(c.theirs)
		equal := func(x *tensor.Tensor) bool { return Compare(x, theirs, 0).Equal }
		changes, err := Match(t.Context(), g, "image", image, theirs.Desc, equal, Options{})
		require.NoError(t, err)
		var names []string
		for _, x := range changes {
			names = append(names, x.Name)
		}
		require.ElementsMatch(t, c.want, names)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Match(ctx, g, "image", image, tensor.Desc{}, func(*tensor.Tensor) bool { return false }, Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Match(t.Context(), datagraph.New(transforms.NewDecode(), transforms.NewRandomHorizontalFlip()), "image", image, tensor.Desc{}, nil, Options{})
	require.ErrorContains(t, err, "random ops")
}
