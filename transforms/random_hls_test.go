package transforms

import (
	"fmt"
	"testing"
)

func TestRandomHLS(t *testing.T) {
	refusesParam(t, "h is -1", NewRandomHLS(-1, 0, 0))
	refusesParam(t, "l is 256", NewRandomHLS(0, 256, 0))
	refusesParam(t, "s is 256", NewRandomHLS(0, 0, 256))
	refusesInput(t, "want [3] channels", NewRandomHLS(1, 1, 1), rgb8.WithChannels(4))
}

func ExampleRandomHLS() {
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(NewRandomHLS(36, 50, 50), sample))
	}
	// Output:
	// [{"op":"adjust_hls","version":1,"params":{"h":-3,"l":5,"s":-25}}]
	// [{"op":"adjust_hls","version":1,"params":{"h":-10,"l":41,"s":-3}}]
	// [{"op":"adjust_hls","version":1,"params":{"h":-27,"l":15,"s":-3}}]
}
