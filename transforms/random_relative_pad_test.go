package transforms

import (
	"fmt"
	"testing"
)

func TestRandomRelativePad(t *testing.T) {
	op := NewRandomRelativePad(0.5)
	refusesParam(t, "max_scale is 0.5, want 1 to 1000", op)
	op = NewRandomRelativePad(2)
	op.Fill = nil
	refusesParam(t, "fill has no values", op)
	op = NewRandomRelativePad(2)
	op.Probability = -1
	refusesParam(t, "probability -1, want 0 to 1", op)
}

func ExampleRandomRelativePad() {
	fmt.Println(OpList(drawRelative(NewRandomRelativePad(3), 1)))
	// Output: [{"op":"relative_window","version":1,"params":{"top":-0.6417089700698853,"left":-1.0068037509918213,"height":2.124138116836548,"width":2.124138116836548,"fill":[127],"keep":"all","coverage":0}}]
}
