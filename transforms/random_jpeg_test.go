package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomJPEG(t *testing.T) {
	refusesParam(t, "min_quality is 0", NewRandomJPEG(0, 50))
	refusesParam(t, "max_quality is 101", NewRandomJPEG(50, 101))
	refusesParam(t, "max_quality is 49, want at least min_quality, 50", NewRandomJPEG(50, 49))
	refusesParam(t, "chroma is default", &RandomJPEG{50, 100, codec.ChromaDefault})
	refusesInput(t, "want dtype", NewRandomJPEG(50, 100), rgb32)
	refusesInput(t, "want layout HWC", NewRandomJPEG(50, 100), tensor.Image(tensor.Uint8, tensor.CHW, 2, 2, 3))
}

func ExampleRandomJPEG() {
	op := NewRandomJPEG(50, 100)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"jpeg","version":1,"params":{"quality":75,"chroma":"420"}}]
	// [{"op":"jpeg","version":1,"params":{"quality":53,"chroma":"420"}}]
}
