package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestNormalizeSequence(t *testing.T) {
	refusesParam(t, "rule", &NormalizeSequence{Rule: 9, Mean: true, Var: true})
	refusesParam(t, "want true", &NormalizeSequence{Mean: true})
	bins := &NormalizeSequence{Rule: SequenceBins, Mean: true, Var: true}
	refusesInput(t, "rows and columns", bins, soundOf(4))
	bins.Rule = SequenceFeatures
	refusesInput(t, "rows and columns", bins, soundOf(4))
	refusesInput(t, "want float32", NewNormalizeSequence(), vector)
	refusesInput(t, "two columns", &NormalizeSequence{Rule: SequenceCMVN}, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(4, 1)})
}

func ExampleNormalizeSequence() {
	out := exampleRun(NewNormalizeSequence(), waveform(-3, 3, -3, 3))
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [-1 1 -1 1]
}
