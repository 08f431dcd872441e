package transforms

import (
	"fmt"
	"testing"
)

func TestRandomObjectCrop(t *testing.T) {
	refusesParam(t, "format is xy", NewRandomObjectCrop(CoordXY))
	for name, set := range map[string]func(*RandomObjectCrop){
		"probability": func(o *RandomObjectCrop) { o.Probability = -1 },
		"min_covered": func(o *RandomObjectCrop) { o.MinCovered = []float64{2} },
		"min_kept":    func(o *RandomObjectCrop) { o.MinKept[0] = -1 },
		"ratio":       func(o *RandomObjectCrop) { o.Ratio[0] = Range{0, 1} },
		"area":        func(o *RandomObjectCrop) { o.Area[0] = Range{0.5, 3000} },
		"trials":      func(o *RandomObjectCrop) { o.Trials[0] = 0 },
	} {
		op := NewRandomObjectCrop(CoordXYXY)
		set(op)
		refusesParam(t, name, op)
	}
	op := NewRandomObjectCrop(CoordXYXY)
	op.MinCovered = nil
	refusesParam(t, "min_covered has 0 values, want 1 or as many as other parameters, at most 64", op)
}

func ExampleRandomObjectCrop() {
	op := NewRandomObjectCrop(CoordXYXY)
	for sample := range uint64(2) {
		fmt.Println(OpList(drawObjects(op, sample, 10, 20, 60, 70)))
	}
	// Output:
	// [{"op":"object_crop","version":1,"params":{"top":13,"left":10,"height":57,"width":67,"keep":"covered","coverage":0.3}}]
	// [{"op":"object_crop","version":1,"params":{"top":2,"left":7,"height":72,"width":88,"keep":"covered","coverage":0.3}}]
}
