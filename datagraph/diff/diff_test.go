package diff

import (
	"context"
	"encoding/json"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func floats(t *testing.T, d tensor.Desc, v ...float32) *tensor.Tensor {
	t.Helper()
	d.DType = tensor.Float32
	x, err := tensor.New(d)
	require.NoError(t, err)
	copy(tensor.View[float32](x), v)
	return x
}

func TestCompare(t *testing.T) {
	nan, inf, negative := float32(math.NaN()), float32(math.Inf(1)), Number(math.Copysign(0, -1))
	four := tensor.Desc{Shape: tensor.Dims(4)}
	bytes, err := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(4)}, []byte{1, 2, 3, 4})
	require.NoError(t, err)
	image := tensor.Image(tensor.Float32, tensor.HWC, 2, 2, 1)
	strided, err := floats(t, image, 1, 2, 3, 4).Transposed()
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		a, b *tensor.Tensor
		want Difference // without A and B
	}{
		{"equal", floats(t, four, 1, nan, inf, 0), floats(t, four, 1, nan, inf, 0), Difference{Equal: true, Comparable: true, Elements: 4}},
		{"the sign of zero", floats(t, four, 0), floats(t, four, float32(math.Copysign(0, -1))), Difference{
			Comparable: true, Elements: 4, Differ: 1, Largest: &Place{At: []int{0}, B: negative}, Places: []Place{{At: []int{0}, B: negative}},
		}},
		{"not finite", floats(t, four, 1, nan, inf, 0), floats(t, four, 1, 2, 3, 8), Difference{
			Comparable: true, Elements: 4, Differ: 3, NotFinite: 2, Max: 8, Mean: 4, Largest: &Place{At: []int{3}, B: 8},
			Places: []Place{{At: []int{1}, A: Number(math.NaN()), B: 2}, {At: []int{2}, A: Number(math.Inf(1)), B: 3}},
		}},
		{"dtypes", bytes, floats(t, four, 1, 2, 3, 4), Difference{Comparable: true, Elements: 4, Hint: "the values are equal, the dtypes are not"}},
		{"values of dtypes", bytes, floats(t, four, 1, 2, 3, 5), Difference{
			Comparable: true, Elements: 4, Differ: 1, Max: 1, Mean: 0.25, Largest: &Place{At: []int{3}, A: 4, B: 5}, Places: []Place{{At: []int{3}, A: 4, B: 5}},
		}},
		{"an image", floats(t, image, 1, 2, 3, 4), floats(t, image, 1, 2, 9, 4), Difference{
			Comparable: true, Elements: 4, Differ: 1, Max: 6, Mean: 1.5, Image: true,
			Largest: &Place{At: []int{1, 0, 0}, A: 3, B: 9}, Places: []Place{{At: []int{1, 0, 0}, A: 3, B: 9}},
		}},
		{"a view", strided, floats(t, tensor.Desc{Shape: tensor.Dims(1, 2, 2)}, 1, 2, 3, 4), Difference{Equal: true, Comparable: true, Elements: 4, Image: true}},
		{"a batch axis", floats(t, image), floats(t, tensor.Desc{Shape: tensor.Dims(1, 2, 2, 1)}), Difference{Hint: "the shapes are equal except for leading axes of 1"}},
		{"height and width", floats(t, tensor.Image(0, tensor.HWC, 5, 6, 3)), floats(t, tensor.Image(0, tensor.HWC, 6, 5, 3)), Difference{Hint: "height and width are swapped"}},
		{"sizes", floats(t, tensor.Image(0, tensor.HWC, 5, 6, 3)), floats(t, tensor.Image(0, tensor.HWC, 6, 9, 3)), Difference{Hint: "the image sizes differ"}},
		{"channels", floats(t, tensor.Image(0, tensor.HWC, 5, 6, 3)), floats(t, tensor.Image(0, tensor.HWC, 5, 6, 1)), Difference{Hint: "the numbers of channels differ"}},
		{"encoded", tensor.FromBytes([]byte("ab")), tensor.FromBytes([]byte("ab")), Difference{Equal: true, Comparable: true}},
		{"different encoded bytes", tensor.FromBytes([]byte("ab")), floats(t, four), Difference{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			have := Compare(c.a, c.b, 2)
			c.want.A, c.want.B = c.a.Desc, c.b.Desc
			x, err := json.Marshal(have)
			require.NoError(t, err) // NaN too
			y, err := json.Marshal(c.want)
			require.NoError(t, err)
			require.Equal(t, string(y), string(x))
		})
	}
}

func TestHeatMap(t *testing.T) {
	d := tensor.Image(tensor.Float32, tensor.HWC, 2, 2, 3)
	a := floats(t, d)
	b := floats(t, tensor.Desc{Shape: tensor.Dims(1, 3, 2, 2)}, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 2, float32(math.NaN()))
	m, err := HeatMap(a, b)
	require.NoError(t, err)
	require.Equal(t, color.NRGBA{0, 0, 0, 255}, m.At(0, 0))
	require.Equal(t, color.NRGBA{191, 0, 0, 255}, m.At(1, 0))
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, m.At(0, 1))
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, m.At(1, 1))
	m, err = HeatMap(a, a)
	require.NoError(t, err)
	require.Equal(t, color.NRGBA{0, 0, 0, 255}, m.At(1, 1))
	// A matrix of 2 rows, and its transpose.
	row := floats(t, tensor.Desc{Shape: tensor.Dims(2, 3)}, 0, 0, 0, 0, 0, 1)
	m, err = HeatMap(row, floats(t, row.Desc))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 3, 2), m.Bounds())
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, m.At(2, 0))
	column := floats(t, tensor.Desc{Shape: tensor.Dims(3, 2)}, 0, 0, 0, 0, 0, 1)
	m, err = HeatMap(column, floats(t, column.Desc))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 3, 2), m.Bounds())
	require.Equal(t, color.NRGBA{255, 255, 255, 255}, m.At(2, 0))
	_, err = HeatMap(a, floats(t, tensor.Desc{Shape: tensor.Dims(12)}))
	require.ErrorContains(t, err, "want two images of the same size")
}

// TestChanges applies every change to graphs of all kinds: the graph itself
// stays unchanged, and the changed graph runs or is refused.
func TestChanges(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	graphs := map[string]*datagraph.Graph{
		"exact": datagraph.New(transforms.NewDecode(), transforms.NewResize(20, 30), transforms.NewRescale(1.0/255), transforms.NewHWC2CHW()).Rename("pixel_values"),
		"columns": datagraph.New().Then(transforms.NewDecode(), []string{"image"}, []string{"a"}).Then(transforms.NewResizeShortest(20), []string{"a"}, []string{"b"}).
			Then(transforms.NewCenterCrop(16, 16), []string{"b"}, []string{"c"}).Then(transforms.NewToTensor(), []string{"c"}, []string{"d"}).
			Then(transforms.NewNormalize([]float64{0.5}, []float64{0.5}), []string{"d"}, []string{"image"}),
		"crop": datagraph.New(transforms.NewDecode(), transforms.NewResizedCrop(1, 2, 30, 40, 16, 16), transforms.NewHorizontalFlip()),
		"gray": datagraph.New(&transforms.Decode{Color: codec.ToGray}, transforms.NewResizeShortest(20), transforms.NewToTensor()),
	}
	half := transforms.NewResizeShortest(20)
	half.SizeRule = transforms.SizeHalfEven
	graphs["opencv"] = datagraph.New(&transforms.Decode{Color: codec.ToBGR, Orientation: codec.OrientationApply, Gray16: codec.Gray16High, Alpha: codec.AlphaWhite}, transforms.NewToType(tensor.Float32))
	graphs["floats"] = datagraph.New(transforms.NewDecode(), transforms.NewRescale(1.0/255), transforms.NewResize(20, 30))
	graphs["size"] = datagraph.New(transforms.NewDecode(), half)
	graphs["letterbox"] = datagraph.New(transforms.NewDecode(), transforms.NewLetterbox(32, 32), transforms.NewToTensor()).Rename("images")
	for _, n := range []string{"clip", "decode", "imagenet"} {
		graphs[n], err = preset.Graph(n)
		require.NoError(t, err)
	}
	works := map[string]int{}
	for name, g := range graphs {
		before, err := g.MarshalJSON()
		require.NoError(t, err)
		e := newExplainer(t.Context(), g, g.Outputs[0], tensor.FromBytes(file), nil, &Options{Limits: codec.DefaultLimits()})
		e.target = target{h: 16, w: 12, c: 3}
		l := allChanges()
		for i, s := range l {
			require.Equal(t, i, position(l, s), "%s is listed twice", s.Name)
			require.True(t, (s.rewrite == nil) != (s.undo == nil), s.Name)
			require.NotEmpty(t, s.group)
			require.NotEmpty(t, s.Text)
			if s.rewrite == nil {
				continue
			}
			if _, ok := e.run([]Change{s}); ok {
				works[s.Name]++
			}
		}
		after, err := g.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), name)
	}
	for _, s := range allChanges() {
		if s.rewrite != nil {
			require.NotZero(t, works[s.Name], "%s applies to no graph", s.Name)
		}
	}
}

// TestUnfold: every form of the arithmetic becomes a division by 255 and a mean
// and std, and computes the same values but for rounding.
func TestUnfold(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	times := func(l []float64, f float64) []float64 {
		return combined(l, []float64{f}, func(x, y float64) float64 { return x * y })
	}
	float := transforms.NewToType(tensor.Float32)
	for name, c := range map[string]struct {
		ops  []transforms.Op
		want []string
	}{
		"ToTensor":    {[]transforms.Op{transforms.NewToTensor(), transforms.NewNormalize(mean, std)}, []string{"rescale", "normalize", "hwc2chw"}},
		"fused":       {[]transforms.Op{float, transforms.NewNormalize(times(mean, 255), times(std, 255)), transforms.NewHWC2CHW()}, []string{"rescale", "normalize", "hwc2chw"}},
		"blob":        {[]transforms.Op{&transforms.Rescale{Scale: 1, Rule: transforms.RescaleMultiply}, transforms.NewNormalize(times(mean, 255), []float64{1}), transforms.NewMultiply(0.017)}, []string{"rescale", "normalize"}},
		"offset":      {[]transforms.Op{&transforms.Rescale{Scale: 1 / 127.5, Offset: -1}}, []string{"rescale", "normalize"}},
		"twice":       {[]transforms.Op{float, transforms.NewNormalize(times(mean, 255), times(std, 255)), transforms.NewNormalize([]float64{0}, std)}, []string{"rescale", "normalize"}},
		"Caffe":       {[]transforms.Op{float, transforms.NewNormalize([]float64{123.68, 116.779, 103.939}, []float64{1})}, []string{"to_type", "normalize"}},
		"only scaled": {[]transforms.Op{transforms.NewRescale(1.0 / 255)}, []string{"rescale"}},
		"raw":         {[]transforms.Op{float}, []string{"to_type"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := datagraph.New(append([]transforms.Op{transforms.NewDecode()}, c.ops...)...)
			r := newRunner(codec.DefaultLimits(), tensor.FromBytes(file))
			want, err := r.run(g)
			require.NoError(t, err)
			u := clone(g)
			for range 2 { // the second time changes nothing
				require.True(t, unfold(u))
				var have []string
				for _, s := range u.Steps[1:] {
					have = append(have, transforms.InfoOf(s.Op).Name)
				}
				require.Equal(t, c.want, have)
			}
			have, err := r.run(u)
			require.NoError(t, err)
			d := Compare(want, have, 0)
			require.True(t, d.Comparable)
			require.Less(t, float64(d.Max), 1e-4)
		})
	}
	require.False(t, unfold(datagraph.New(transforms.NewDecode())))
}

// TestRunner: steps that run one by one from the cache compute the same tensor
// as the whole plan.
func TestRunner(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	r := newRunner(codec.DefaultLimits(), tensor.FromBytes(file))
	for _, n := range preset.Names() {
		g, err := preset.Graph(n)
		require.NoError(t, err)
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(t, err)
		want, err := plan.NewRunner().Run(tensor.FromBytes(file))
		require.NoError(t, err)
		have, err := r.run(g)
		require.NoError(t, err)
		require.True(t, Compare(want[0], have, 0).Equal, n)
	}
}

func TestExplainErrors(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", "jpeg_base_420.jpg"))
	require.NoError(t, err)
	image := tensor.FromBytes(file)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	o := Options{Limits: codec.DefaultLimits()}
	x := floats(t, tensor.Image(0, tensor.CHW, 224, 224, 3))
	_, err = Explain(t.Context(), datagraph.New(transforms.NewDecode(), transforms.NewRandomHorizontalFlip()), "image", image, x, o)
	require.ErrorContains(t, err, "random ops")
	_, err = Explain(t.Context(), g, "image", image, tensor.FromBytes(nil), o)
	require.ErrorContains(t, err, "want numbers")
	_, err = Explain(t.Context(), g, "image", tensor.FromBytes(file[:20]), x, o)
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Explain(ctx, g, "image", image, x, o)
	require.ErrorIs(t, err, context.Canceled)
	// No change yields this shape.
	r, err := Explain(t.Context(), datagraph.New(transforms.NewDecode()), "image", image, floats(t, tensor.Desc{Shape: tensor.Dims(7)}), o)
	require.NoError(t, err)
	require.Empty(t, r.Explanations)
}
