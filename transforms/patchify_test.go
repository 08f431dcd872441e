package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPatchify(t *testing.T) {
	refusesParam(t, "patch", NewPatchify(0))
	refusesParam(t, "merge", &Patchify{Patch: 1, Layout: tensor.HWC})
	refusesParam(t, "temporal", &Patchify{Patch: 1, Merge: 1, Temporal: -1, Layout: tensor.CHW})
	refusesParam(t, "frames_first", &Patchify{Patch: 1, Merge: 1, Layout: tensor.CHW, FramesFirst: true})
	refusesParam(t, "planes", &Patchify{Patch: 1, Merge: 1, Layout: tensor.HWC, Planes: true})
	refusesParam(t, "numbered", &Patchify{Patch: 1, Merge: 1, Layout: tensor.CHW, Planes: true, Numbered: true})
	refusesInput(t, "want float32 for numbered", &Patchify{Patch: 1, Merge: 1, Layout: tensor.HWC, Numbered: true}, tensor.Image(tensor.Uint8, tensor.HWC, 6, 9, 3))
	refusesInput(t, "multiples of 6", &Patchify{Patch: 3, Merge: 2, Layout: tensor.CHW, Raster: true}, tensor.Image(tensor.Uint8, tensor.HWC, 6, 9, 3))
	refusesParam(t, "layout", &Patchify{Patch: 1, Merge: 1})
	refusesParam(t, "layout", &Patchify{Patch: 1, Merge: 1, Layout: 9})
	refusesInput(t, "want an image", NewPatchify(1), vector)
	refusesInput(t, "multiples of 6", &Patchify{Patch: 3, Merge: 2, Layout: tensor.CHW}, tensor.Image(tensor.Uint8, tensor.HWC, 6, 9, 3))
	refusesInput(t, "multiples of 4", NewPatchify(4), tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 9, 3))
	refusesInput(t, "2^48", &Patchify{Patch: 1 << 24, Merge: 1, Temporal: 2, Layout: tensor.CHW}, tensor.Image(tensor.Uint8, tensor.HWC, 1<<24, 1<<24, 3))
	for _, c := range []struct {
		op       Patchify
		h, w, c  int
		rows, of int
		grid     int
	}{
		{Patchify{Patch: 14, Temporal: 2, Merge: 2, Layout: tensor.CHW}, 28, 56, 3, 8, 1176, 3},
		{Patchify{Patch: 14, Temporal: 2, Merge: 2, Layout: tensor.CHW}, tensor.Unknown, 56, 3, tensor.Unknown, 1176, 3},
		{Patchify{Patch: 16, Merge: 1, Layout: tensor.HWC}, 32, tensor.Unknown, 3, tensor.Unknown, 768, 2},
		{Patchify{Patch: 16, Merge: 1, Layout: tensor.HWC}, 32, 16, tensor.Unknown, 2, tensor.Unknown, 2},
	} {
		var out [2]tensor.Desc
		require.NoError(t, c.op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Float32, tensor.CHW, c.h, c.w, c.c)}))
		require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(c.rows, c.of)}, out[0], "%+v", c)
		require.Equal(t, tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(c.grid)}, out[1], "%+v", c)
	}
}

func TestPatchifyPlanes(t *testing.T) {
	op := &Patchify{Patch: 14, Temporal: 1, Merge: 1, Layout: tensor.CHW, Planes: true}
	for channels, want := range map[int]tensor.Shape{3: tensor.Dims(8, 3, 14, 14), tensor.Unknown: tensor.Dims(8, tensor.Unknown, 14, 14)} {
		var out [2]tensor.Desc
		require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Float32, tensor.CHW, 28, 56, channels)}))
		require.Equal(t, want, out[0].Shape)
	}
}

func ExamplePatchify() {
	out := exampleRun(NewPatchify(2), exampleBytes(2, 4, 1, 1, 2, 3, 4, 5, 6, 7, 8))
	fmt.Println(out[0].Shape, out[0].Data, tensor.View[int64](out[1]))
	// Output: (2, 4) [1 2 5 6 3 4 7 8] [1 2]
}
