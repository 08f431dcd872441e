package datagraph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// TestPlaceBlocks checks graphs that cut images into tiles or patches: which
// steps the pass merges, and that they return what the steps return.
func TestPlaceBlocks(t *testing.T) {
	planes := func(p *transforms.Patchify) *transforms.Patchify {
		p.Layout = tensor.CHW
		return p
	}
	patches := func(p transforms.Patchify) transforms.Op {
		p.Patch, p.Merge = 14, max(p.Merge, 1)
		return planes(&p)
	}
	pixels := func(ops ...transforms.Op) []transforms.Op {
		return append(ops, transforms.NewToTensor(), transforms.NewNormalize([]float64{0.1, 0.2, 0.3}, []float64{0.5, 0.6, 0.7}))
	}
	size := func(h, w int) transforms.Op { return resize(h, w, transforms.Bicubic, transforms.TorchUint8) }
	head := pixels(transforms.NewDecode(), size(56, 84))
	with := func(ops []transforms.Op, more ...transforms.Op) []transforms.Op { return slices.Concat(ops, more) }
	overlapping := transforms.NewSplitTiles(28, 28)
	overlapping.Overlap = 14
	numbered := transforms.Patchify{Patch: 14, Merge: 1, Layout: tensor.CHW, Numbered: true}
	outside := transforms.NewLetterbox(56, 84)
	for _, c := range []struct {
		name  string
		ops   []transforms.Op
		steps int
	}{
		{"tiles", with(head, transforms.NewSplitTiles(28, 28)), 1},
		{"wide tiles", with(pixels(transforms.NewDecode(), size(200, 140)), transforms.NewSplitTiles(100, 70)), 1},
		{"one tile", with(head, transforms.NewSplitTiles(0, 0)), 1},
		{"tiles that overlap", with(head, overlapping), 2},
		{"tiles of HWC", []transforms.Op{transforms.NewDecode(), size(56, 84), transforms.NewInvert(), transforms.NewSplitTiles(28, 28)}, 2},
		{"tiles of bytes", []transforms.Op{transforms.NewDecode(), size(56, 84), transforms.NewHWC2CHW(), transforms.NewSplitTiles(28, 42)}, 1},
		{"patches", with(head, patches(transforms.Patchify{})), 1},
		{"merged patches of two frames", with(head, patches(transforms.Patchify{Merge: 2, Temporal: 2})), 1},
		{"frames first", with(head, patches(transforms.Patchify{Merge: 2, Temporal: 3, FramesFirst: true})), 1},
		{"raster", with(head, patches(transforms.Patchify{Merge: 2, Raster: true, Planes: true})), 1},
		{"patches of HWC", with(head, transforms.NewPatchify(14)), 2},
		{"numbered", with(head, &numbered), 2},
		{"patches of bytes", []transforms.Op{transforms.NewDecode(), size(56, 84), transforms.NewHWC2CHW(), patches(transforms.Patchify{Temporal: 2})}, 1},
		{"patches of 28", with(head, planes(transforms.NewPatchify(28))), 1},
		{"patches without a resize", with(pixels(transforms.NewDecode(), transforms.NewCrop(3, 2, 28, 28)), patches(transforms.Patchify{Merge: 2})), 1},
		{"upside down", with(pixels(transforms.NewDecode(), transforms.NewVerticalFlip(), size(56, 84), transforms.NewVerticalFlip(), transforms.NewHorizontalFlip()), patches(transforms.Patchify{})), 1},
		{"upside down tiles", with(pixels(transforms.NewDecode(), size(56, 84), transforms.NewVerticalFlip()), transforms.NewSplitTiles(28, 28)), 1},
		{"padded", with(pixels(transforms.NewDecode(), outside), patches(transforms.Patchify{Temporal: 2})), 1},
		{"padded at the bottom", with(pixels(transforms.NewDecode(), size(20, 31), transforms.NewCrop(0, 0, 56, 84)), patches(transforms.Patchify{})), 1},
		{"not covered", with(head, transforms.NewSplitTiles(27, 28)), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := datagraph.New(c.ops...)
			p, err := datagraph.Compile(g, datagraph.CompileOptions{})
			if c.name == "not covered" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Len(t, p.Steps(), c.steps, describe(p))
			require.Equal(t, c.steps == 1, slices.Contains(p.Steps()[0].Passes, datagraph.PlaceBlocks))
			equalRuns(t, g)
		})
	}
}

// equalRuns compares the plan of g with the one without passes, and checks that
// it did not decline.
func equalRuns(t *testing.T, g *datagraph.Graph) {
	t.Helper()
	fused, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	r, want := fused.NewRunner(), fused.Unfused().NewRunner()
	images := []string{"jpeg_base_420.jpg", "jpeg_large.jpg", "jpeg_base_420.jpg"}
	for _, name := range images[:short.Rounds(t, len(images), 2)] {
		in := testImage(t, name)
		out, err := want.Run(in)
		require.NoError(t, err, name)
		got, err := r.Run(in)
		require.NoError(t, err, name)
		require.False(t, r.TakeDeclined(), name)
		require.Len(t, got, len(out))
		for i := range out {
			require.Equal(t, out[i].Desc, got[i].Desc, name)
			require.Equal(t, out[i].Data, got[i].Data, name)
		}
		if name == "jpeg_large.jpg" || short.On() {
			continue // the tables are made anew for each size
		}
		require.Zero(t, testing.AllocsPerRun(2, func() { _, err = r.Run(in) }))
		require.NoError(t, err)
	}
}

// TestConcatBlocks checks that the rows of another column are put before or
// behind tiles in the step that makes them.
func TestConcatBlocks(t *testing.T) {
	const thumbnail, image = "thumbnail", datagraph.Image
	for _, c := range []struct {
		name    string
		h, w    int // of the image that is cut
		omit    transforms.Omit
		in      []string
		before  bool // the thumbnail is there before the tiles
		outputs []string
		steps   int
		decline bool
	}{
		{"behind", 28, 84, transforms.OmitNone, []string{image, thumbnail}, true, []string{image}, 3, false},
		{"before", 28, 84, transforms.OmitNone, []string{thumbnail, image}, true, []string{image}, 3, false},
		{"left out", 28, 28, transforms.OmitSecond, []string{image, thumbnail}, true, []string{image}, 3, false},
		{"only the thumbnail", 28, 28, transforms.OmitSecond, []string{thumbnail, image}, true, []string{image}, 3, true},
		{"not left out", 56, 28, transforms.OmitSecond, []string{image, thumbnail}, true, []string{image}, 3, false},
		{"not there yet", 28, 84, transforms.OmitNone, []string{image, thumbnail}, false, []string{image}, 4, false},
		{"twice", 28, 84, transforms.OmitNone, []string{image, image}, true, []string{image, thumbnail}, 4, false},
		{"an output", 28, 84, transforms.OmitNone, []string{image, thumbnail}, true, []string{image, "tiles"}, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := datagraph.New(transforms.NewDecode())
			small := func() {
				g.Then(resize(28, 28, transforms.Bilinear, transforms.Pillow), []string{"whole"}, []string{thumbnail})
				g.Then(transforms.NewToTensor(), []string{thumbnail}, []string{thumbnail})
			}
			g.Rename("whole")
			if c.before {
				small()
			}
			tiles := image
			g.Then(resize(c.h, c.w, transforms.Bicubic, transforms.Pillow), []string{"whole"}, []string{image})
			g.Add(transforms.NewToTensor())
			if len(c.outputs) > 1 && c.outputs[1] == "tiles" {
				tiles = "tiles"
			}
			g.Then(transforms.NewSplitTiles(28, 28), []string{image}, []string{tiles})
			if !c.before {
				small()
			}
			in := slices.Clone(c.in)
			if i := slices.Index(in, image); tiles != image {
				in[i] = tiles
			}
			g.Then(&transforms.ConcatRows{Omit: c.omit}, in, []string{image})
			g.Outputs = c.outputs
			p, err := datagraph.Compile(g, datagraph.CompileOptions{})
			require.NoError(t, err)
			require.Len(t, p.Steps(), c.steps, describe(p))
			r, want := p.NewRunner(), p.Unfused().NewRunner()
			out, err := want.Run(testImage(t, "jpeg_large.jpg"))
			require.NoError(t, err)
			got, err := r.Run(testImage(t, "jpeg_large.jpg"))
			require.NoError(t, err)
			require.Equal(t, c.decline, r.TakeDeclined())
			for i := range out {
				require.Equal(t, out[i].Desc, got[i].Desc)
				require.Equal(t, out[i].Data, got[i].Data)
			}
		})
	}
}
