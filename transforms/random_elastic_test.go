package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomElastic(t *testing.T) {
	op := NewRandomElastic()
	refusesInput(t, "want sides of more than 20 pixels", op, rgb8)
	op.SigmaX = 600
	refusesParam(t, "sigma_x", op)
	a, b := NewRandomElastic(), NewRandomElastic()
	a.SigmaX, a.SigmaY, b.SigmaX, b.SigmaY = 0, 0, 0, 0
	require.NotEqual(t, exampleDraw(a, 0), exampleDraw(a, 1))
	require.Equal(t, exampleDraw(a, 1), exampleDraw(b, 1))
}

func ExampleRandomElastic() {
	op := NewRandomElastic()
	op.SigmaX, op.SigmaY = 0.3, 0.3
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"elastic_noise","version":1,"params":{"alpha_x":50,"alpha_y":50,"sigma_x":0.3,"sigma_y":0.3,"key":9260169713232697211,"interpolation":"bilinear","fill":[0]}}]
	// [{"op":"elastic_noise","version":1,"params":{"alpha_x":50,"alpha_y":50,"sigma_x":0.3,"sigma_y":0.3,"key":1433939160901824328,"interpolation":"bilinear","fill":[0]}}]
}
