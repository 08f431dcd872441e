//go:build !small

package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// rateChanger computes outputs of which every step-th has the same taps.
type rateChanger struct {
	from, step int // input samples for every step outputs
	// front and back are the numbers of zeros that the taps read around the
	// input.
	front, back int
	fused       bool // the kind of kernel.Chain
	phases      []ratePhase
	at          []int // of the longest phase
}

// ratePhase is the taps of every step-th output, for the input samples from
// first on, zeros counted.
type ratePhase struct {
	first int
	taps  []float32
}

// apply resamples every channel. The input is taken apart first: sample
// j*from + r is element j of row r, so that the outputs of a phase read
// elements that follow each other.
func (s *rateChanger) apply(c *Context, dst, t *tensor.Tensor) error {
	axis := t.Shape.Rank() - 1
	n, m := t.Shape.At(axis), dst.Shape.At(axis)
	in, out := tensor.View[float32](t), tensor.View[float32](dst)
	if n == 0 || m == 0 {
		clear(out)
		return nil
	}
	block := kernel.ChainBlock
	outputs := ((m+s.step-1)/s.step + block - 1) / block * block
	row := outputs + (s.front+s.back)/s.from + 2
	row = max(row, (s.front+n)/s.from+1)
	need := 4 * (int64(row)*int64(s.from) + int64(outputs))
	if l := c.Limits.Bytes; l > 0 && need > l {
		return limitErr("%v needs %d bytes, the limit is %d", t.Desc, need, l)
	}
	rows := tensor.Cast[float32](c.Scratch(4 * row * s.from))
	part := tensor.Cast[float32](c.Scratch(4 * outputs))
	clear(rows)
	for ch := range len(in) / n {
		r, j := s.front%s.from, s.front/s.from
		for _, v := range in[ch*n:][:n] {
			rows[r*row+j] = v
			if r++; r == s.from {
				r, j = 0, j+1
			}
		}
		y := out[ch*m:][:m]
		for p, ph := range s.phases[:min(s.step, m)] {
			at := s.at[:len(ph.taps)]
			for i := range at {
				k := ph.first + i
				at[i] = k%s.from*row + k/s.from
			}
			kernel.Chain(part, rows, at, ph.taps, s.fused)
			for i, k := 0, p; k < m; i, k = i+1, k+s.step {
				y[k] = part[i]
			}
		}
	}
	return nil
}
