package transforms

import (
	"fmt"
	"testing"
	"time"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestZSpeed(t *testing.T) {
	for _, op := range []Op{NewResampleSinc(48000, 16000), NewResampleSinc(44100, 16000), NewResamplePoly(48000, 16000), NewResamplePoly(44100, 16000)} {
		n := 30 * 48000
		in := floats(make([]float32, n), n)
		for i := range n {
			in.Data[4*i+2] = byte(i * 7)
			in.Data[4*i+3] = 0x3d
		}
		c := newContext()
		s := time.Now()
		dst := outputs(t, c, op, []*tensor.Tensor{in}, 0)
		best := time.Hour
		first := time.Duration(0)
		for k := range 8 {
			s = time.Now()
			c.Begin()
			op.Apply(c, dst, []*tensor.Tensor{in})
			if k == 0 {
				first = time.Since(s)
			}
			best = min(best, time.Since(s))
		}
		fmt.Println(InfoOf(op).Name, first, best)
	}
}
