package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestTileRules compares the canvases and grids with the reference's; see
// testdata/gen/ops/tiles.py.
func TestTileRules(t *testing.T) {
	rules := readSizeRules[[9]int](t, "resize_to_tiles", "tiles.json")
	for _, r := range rules {
		op, err := UnmarshalParams("resize_to_tiles", 1, r.Params)
		require.NoError(t, err, "%s", r.Params)
		o := op.(*ResizeToTiles)
		require.NotEmpty(t, r.Sizes)
		for _, s := range r.Sizes {
			g, nh, nw, err := o.geometry(s[0], s[1])
			if s[2] == 0 {
				require.ErrorIs(t, err, ErrInput, "%s %v", r.Params, s)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, s, [9]int{s[0], s[1], g.height, g.width, g.rows, g.columns, g.choice, nh, nw}, "%s", r.Params)
		}
	}
}

func TestTileSizes(t *testing.T) {
	rules := readSizeRules[[4]int](t, "resize", "tiles.json")
	for _, r := range rules {
		o, err := UnmarshalParams("resize", 1, r.Params)
		require.NoError(t, err)
		for _, s := range r.Sizes {
			p, err := o.(Scaled).Scale(s[0], s[1], nil)
			require.NoError(t, err)
			require.Equal(t, s, [4]int{s[0], s[1], p.Height, p.Width}, "%s", r.Params)
		}
	}
	refusesParam(t, "size_rule", &Resize{Fit: FitShortest, Edge: 3, SizeRule: SizeEven})
	refusesParam(t, "max_edge", &Resize{Fit: FitLongest, Edge: 3, MaxEdge: 4})
}

func TestResizeToTiles(t *testing.T) {
	with := func(f func(*ResizeToTiles)) *ResizeToTiles {
		o := NewResizeToTiles(8, 8, 1, 4)
		f(o)
		return o
	}
	refusesParam(t, "height", NewResizeToTiles(0, 1, 1, 1))
	refusesParam(t, "width", NewResizeToTiles(1, 1<<24+1, 1, 1))
	refusesParam(t, "max_tiles", NewResizeToTiles(1, 1, 1, 1025))
	refusesParam(t, "min_tiles", NewResizeToTiles(1, 1, 3, 2))
	refusesParam(t, "min_tiles", with(func(o *ResizeToTiles) { o.Rule, o.MinTiles = TilesCanvas, 2 }))
	refusesParam(t, "max_tiles", with(func(o *ResizeToTiles) { o.Rule = TilesMultiple }))
	refusesParam(t, "max_line", with(func(o *ResizeToTiles) { o.Rule, o.MaxLine = TilesScale, 2 }))
	refusesParam(t, "max_line", with(func(o *ResizeToTiles) { o.MaxLine = -1 }))
	refusesParam(t, "rule", with(func(o *ResizeToTiles) { o.Rule = 99 }))
	refusesParam(t, "fit", with(func(o *ResizeToTiles) { o.Fit = 99 }))
	refusesParam(t, "position", with(func(o *ResizeToTiles) { o.Position = 99 }))
	refusesParam(t, "fill", with(func(o *ResizeToTiles) { o.Fill = nil }))
	refusesParam(t, "sizes", with(func(o *ResizeToTiles) { o.Sizes = [][]int{{1, 2}} }))
	sized := func(sizes ...[]int) *ResizeToTiles {
		return with(func(o *ResizeToTiles) { o.Rule, o.MinTiles, o.MaxTiles, o.Sizes = TilesSize, 0, 0, sizes })
	}
	refusesParam(t, "sizes", sized())
	refusesParam(t, "sizes[1]", sized([]int{1, 2}, []int{3}))
	refusesParam(t, "width", sized([]int{1, 0}))
	require.NoError(t, sized([]int{1, 2}).Validate())
	refusesParam(t, "interpolation", with(func(o *ResizeToTiles) { o.Interpolation = Area }))
	refusesParam(t, "min_side", with(func(o *ResizeToTiles) { o.MinSide = -1 }))
	refusesParam(t, "min_tiles", with(func(o *ResizeToTiles) { o.Rule, o.MinTiles = TilesCeil, 2 }))

	image := tensor.Image(tensor.Uint8, tensor.HWC, 30, 20, 3)
	refusesInput(t, "cannot hold fill", with(func(o *ResizeToTiles) { o.Fill = []float64{-1} }), image)
	refusesInput(t, "fill has 2 values", with(func(o *ResizeToTiles) { o.Fill = []float64{1, 2} }), image)
	refusesInput(t, "want dtype", NewResizeToTiles(1, 1, 1, 1), tensor.Image(tensor.Int32, tensor.HWC, 4, 4, 3))
	refusesInput(t, "want sides of 1 to", NewResizeToTiles(1<<24, 1, 2, 2), image)
	var out [4]tensor.Desc
	require.NoError(t, NewResizeToTiles(8, 8, 1, 4).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 7, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), out[0])
}

func ExampleResizeToTiles() {
	out := exampleRun(NewResizeToTiles(4, 4, 1, 6), exampleBytes(10, 21, 1, make([]byte, 210)...))
	fmt.Println(out[0].Shape, tensor.View[int64](out[1]), tensor.View[int64](out[2]))
	// Output: (4, 8, 1) [1 2] [3]
}

func TestSplitTiles(t *testing.T) {
	refusesParam(t, "overlap", &SplitTiles{Height: 3, Width: 2, Overlap: 2})
	refusesParam(t, "overlap", &SplitTiles{Height: 3, Width: 2, Overlap: -1})
	refusesParam(t, "overlap", &SplitTiles{Overlap: 1})
	refusesParam(t, "width", NewSplitTiles(1, 0))
	refusesParam(t, "height", NewSplitTiles(0, 1))
	refusesInput(t, "not covered exactly", NewSplitTiles(2, 3), tensor.Image(tensor.Uint8, tensor.HWC, 4, 7, 3))
	refusesInput(t, "not covered exactly", NewSplitTiles(2, 3), tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 2, 3))
	refusesInput(t, "want an image", NewSplitTiles(1, 1), vector)
	var out [1]tensor.Desc
	require.NoError(t, NewSplitTiles(2, 3).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, 6, 3)}))
	require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown, 3, 2, 3)}, out[0])
}

func ExampleSplitTiles() {
	out := exampleRun(NewSplitTiles(1, 2), exampleBytes(2, 4, 1, 1, 2, 3, 4, 5, 6, 7, 8))
	fmt.Println(out[0].Shape, out[0].Data)
	// Output: (4, 1, 2, 1) [1 2 3 4 5 6 7 8]
}

func TestConcat(t *testing.T) {
	refusesParam(t, "omit", &Concat{Omit: 9})
	a := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(tensor.Unknown, 3, 4, 5)}
	infer := func(o *Concat, b tensor.Desc) (tensor.Desc, error) {
		var out [1]tensor.Desc
		err := o.Infer(out[:], []tensor.Desc{a, b})
		return out[0], err
	}
	got, err := infer(NewConcat(), tensor.Image(tensor.Uint8, tensor.CHW, 4, tensor.Unknown, 3))
	require.NoError(t, err)
	require.Equal(t, a, got)
	for _, b := range []tensor.Desc{
		tensor.Image(tensor.Uint8, tensor.HWC, 4, 5, 3), tensor.Image(tensor.Float32, tensor.CHW, 4, 5, 3), vector, tensor.Encoded(),
		{DType: tensor.Uint8, Shape: tensor.Dims(2, 3, 4)},
	} {
		_, err := infer(NewConcat(), b)
		require.ErrorIs(t, err, ErrInput, "%v", b)
	}
}

func TestPatchMask(t *testing.T) {
	refusesParam(t, "height", NewPatchMask(0, 1, 1))
	refusesParam(t, "patch", NewPatchMask(3, 2, 3))
	refusesParam(t, "dtype", &PatchMask{Height: 1, Width: 1, Patch: 1, DType: tensor.Bytes})
	for want, in := range map[string][]tensor.Desc{
		"not covered exactly": {tensor.Image(tensor.Uint8, tensor.HWC, 5, 4, 3), {DType: tensor.Int64, Shape: tensor.Dims(2)}},
		"size is":             {tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 3), {DType: tensor.Int32, Shape: tensor.Dims(2)}},
	} {
		var out [1]tensor.Desc
		err := NewPatchMask(4, 4, 2).Infer(out[:], in)
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}

func ExamplePatchMask() {
	o := NewPatchMask(2, 2, 1)
	o.DType = tensor.Uint8
	size, _ := tensor.New(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)})
	copy(tensor.View[int64](size), []int64{2, 3})
	fmt.Println(exampleRun(o, exampleBytes(2, 4, 1, make([]byte, 8)...), size)[0].Data)
	// Output: [1 1 1 1 1 0 1 0]
}

func TestMapTiles(t *testing.T) {
	with := func(f func(*MapTiles)) *MapTiles {
		o := NewMapTiles(4, 4, NewInvert())
		f(o)
		return o
	}
	refusesParam(t, "cut", with(func(o *MapTiles) { o.Cut = 9 }))
	refusesParam(t, "whole", with(func(o *MapTiles) { o.Whole = 9 }))
	refusesParam(t, "height", with(func(o *MapTiles) { o.Height = 0 }))
	refusesParam(t, "width", with(func(o *MapTiles) { o.Width = maxSide + 1 }))
	refusesParam(t, "height", with(func(o *MapTiles) { o.Cut = CutNone }))
	refusesParam(t, "width", with(func(o *MapTiles) { o.Cut, o.Width = CutGrid, 1025 }))
	refusesParam(t, "min_side", with(func(o *MapTiles) { o.MinSide = 1 }))
	refusesParam(t, "max_tiles", with(func(o *MapTiles) { o.Cut, o.Height, o.Width, o.MinSide = CutAspect, 0, 0, 1 }))
	refusesParam(t, "min_aspect", with(func(o *MapTiles) { o.MinAspect = 1 }))
	refusesParam(t, "whole", with(func(o *MapTiles) { o.Cut, o.Height, o.Width, o.Whole = CutNone, 0, 0, WholeLast }))
	refusesParam(t, "pad_height", with(func(o *MapTiles) { o.PadHeight, o.PadWidth = 1, 1 }))
	refusesParam(t, "pad_width", with(func(o *MapTiles) { o.Pad, o.PadHeight = true, 1 }))
	refusesParam(t, "mask_dtype", with(func(o *MapTiles) { o.MaskDType = tensor.Bytes }))
	refusesParam(t, "fill", with(func(o *MapTiles) { o.Fill = nil }))
	refusesParam(t, "ops has 0 ops", with(func(o *MapTiles) { o.Ops = nil }))
	refusesParam(t, "random", with(func(o *MapTiles) { o.Ops = OpList{NewRandomHorizontalFlip()} }))
	refusesParam(t, "decode", with(func(o *MapTiles) { o.Ops = OpList{NewDecode()} }))

	image := tensor.Image(tensor.Uint8, tensor.HWC, 6, 8, 3)
	refusesInput3(t, "tile 2 becomes", NewMapTiles(4, 4, NewInvert()), image)
	refusesInput3(t, "at most 4096", NewMapTiles(1, 1, NewInvert()), tensor.Image(tensor.Uint8, tensor.HWC, 65, 64, 3))
	refusesInput3(t, "has no tiles", with(func(o *MapTiles) {
		o.Cut, o.Height, o.Width, o.MinSide, o.MaxTiles, o.MinAspect = CutAspect, 0, 0, 1, 2, 9
	}), image)
	refusesInput3(t, "has no pixels", with(func(o *MapTiles) { o.Cut, o.Height, o.Width = CutGrid, 7, 1 }), image)
	refusesInput3(t, "larger than 3x9", with(func(o *MapTiles) { o.Pad, o.PadHeight, o.PadWidth = true, 3, 9 }), image)
	refusesInput3(t, "cannot hold fill", with(func(o *MapTiles) { o.Pad, o.Fill = true, []float64{0.5} }), image)
	refusesInput3(t, "tile 0: op 1, chw2hwc", NewMapTiles(4, 4, NewInvert(), NewCHW2HWC()), image)
	var out [3]tensor.Desc
	require.NoError(t, NewMapTiles(4, 4, NewResize(5, 6)).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 7, 3)}))
	require.Equal(t, tensor.Dims(tensor.Unknown, 3, 5, 6), out[0].Shape)
	require.Equal(t, tensor.Dims(tensor.Unknown, 5, 6), out[1].Shape)
}

// refusesInput3 is refusesInput for an op of three outputs.
func refusesInput3(t *testing.T, want string, op Op, in tensor.Desc) {
	t.Helper()
	require.NoError(t, op.Validate())
	var out [3]tensor.Desc
	err := op.Infer(out[:], []tensor.Desc{in})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, want)
}

func ExampleMapTiles() {
	o := NewMapTiles(1, 2, NewInvert())
	o.Pad = true
	out := exampleRun(o, exampleBytes(1, 3, 1, 1, 2, 3))
	fmt.Println(out[0].Shape, out[0].Data, tensor.View[int64](out[1]), tensor.View[int64](out[2]))
	// Output: (2, 1, 2, 1) [254 253 252 0] [1 1 1 0] [2]
}

func ExampleConcat() {
	tiles := exampleRun(NewSplitTiles(1, 1), exampleBytes(1, 2, 1, 1, 2))[0]
	thumbnail := exampleBytes(1, 1, 1, 9)
	fmt.Println(exampleRun(NewConcat(), tiles, thumbnail)[0].Data)
	fmt.Println(exampleRun(&Concat{Omit: OmitSecond}, thumbnail, thumbnail)[0].Data)
	// Output:
	// [1 2 9]
	// [9]
}

func ExampleRowCount() {
	tiles := exampleRun(NewSplitTiles(1, 1), exampleBytes(1, 2, 1, 1, 2))[0]
	fmt.Println(tensor.View[int64](exampleRun(NewRowCount(), tiles)[0]))
	// Output: [2]
}

func TestTakeRows(t *testing.T) {
	refusesParam(t, "start", NewTakeRows(-1, 1))
	refusesParam(t, "count", NewTakeRows(0, 0))
	refusesInput(t, "want at least 3", NewTakeRows(1, 2), tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2)})
	refusesInput(t, "want a first axis", NewTakeRows(0, 1), tensor.Image(tensor.Uint8, tensor.HWC, 1, 1, 3))
}

func ExampleTakeRows() {
	tiles := exampleRun(NewSplitTiles(1, 1), exampleBytes(1, 3, 1, 1, 2, 3))[0]
	fmt.Println(exampleRun(NewTakeRows(1, 2), tiles)[0].Data)
	// Output: [2 3]
}

func TestTileMask(t *testing.T) {
	refusesParam(t, "dtype", &TileMask{DType: tensor.Bytes})
	refusesInput(t, "want tiles of four axes", &TileMask{DType: tensor.Bool, Pixels: true}, tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2, 3)})
}

func ExampleTileMask() {
	out := exampleRun(&TileMask{Pixels: true, DType: tensor.Uint8}, exampleBytes(1, 2, 1, 1, 2))
	fmt.Println(out[0].Shape, out[0].Data)
	// Output: (1, 1, 2) [1 1]
}
