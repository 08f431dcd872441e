package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeToPatches(t *testing.T) {
	refusesParam(t, "patch", NewResizeToPatches(0, 1))
	refusesParam(t, "max_patches", NewResizeToPatches(1, 0))
	refusesParam(t, "max_patches", NewResizeToPatches(1, 1<<24+1))
	refusesParam(t, "interpolation", &ResizeToPatches{Patch: 1, MaxPatches: 1, Interpolation: Area, Merge: 1})
	refusesParam(t, "rule", &ResizeToPatches{Patch: 1, MaxPatches: 1, Rule: 9, Merge: 1})
	refusesParam(t, "merge", &ResizeToPatches{Patch: 1, MaxPatches: 1})
	refusesParam(t, "merge", &ResizeToPatches{Patch: 1, MaxPatches: 1, Merge: 2})
	refusesParam(t, "merge", &ResizeToPatches{Patch: 1, MaxPatches: 1, Rule: PatchGemma4, Merge: 1<<12 + 1})
	refusesParam(t, "min_patches", &ResizeToPatches{Patch: 1, MaxPatches: 1, Merge: 1, MinPatches: 1})
	refusesParam(t, "min_patches", &ResizeToPatches{Patch: 1, MaxPatches: 1, Rule: PatchNemotron, Merge: 1, MinPatches: -1})
	refusesParam(t, "max_side", &ResizeToPatches{Patch: 1, MaxPatches: 1, Merge: 1, MaxSide: 1})
	refusesParam(t, "max_side", &ResizeToPatches{Patch: 1, MaxPatches: 1, Rule: PatchKimi, Merge: 1})
	refusesParam(t, "max_side", &ResizeToPatches{Patch: 1, MaxPatches: 1, Rule: PatchUltraVBert, Merge: 1, MaxSide: 4097})
	refusesParam(t, "max_patches", &ResizeToPatches{Patch: 1 << 24, MaxPatches: 64, Rule: PatchGemma4, Merge: 1})
	refusesInput(t, "would become 0 x 0", &ResizeToPatches{Patch: 9, MaxPatches: 8, Rule: PatchGemma4, Merge: 3}, tensor.Image(tensor.Uint8, tensor.HWC, 5, 5, 1))
	refusesInput(t, "want sides of 1 to", NewResizeToPatches(1<<24, 1<<24), tensor.Image(tensor.Uint8, tensor.HWC, 1<<24, 1<<24, 1))
	op := NewResizeToPatches(16, 256)
	refusesInput(t, "want dtype", op, tensor.Image(tensor.Int32, tensor.HWC, 4, 4, 3))
	var out [1]tensor.Desc
	require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 7, tensor.Unknown, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3), out[0])
}

func ExampleResizeToPatches() {
	fmt.Println(exampleRun(NewResizeToPatches(16, 256), exampleBytes(60, 80, 1, make([]byte, 60*80)...))[0].Shape)
	// Output: (224, 288, 1)
}
