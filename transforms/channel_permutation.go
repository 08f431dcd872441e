package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ChannelPermutation puts the channels of an image in another order: channel i
// of the output is channel Permutation[i] of the input. It takes an image of
// any dtype, HWC or CHW, with one channel for each number of Permutation, and
// keeps the description.
//
// Reference: torchvision 0.29.2, v2's permute_channels.
type ChannelPermutation struct {
	Permutation []int `json:"permutation"` // each number from 0 on once; 1 to 64 of them
}

//msgp:tuple ChannelPermutation

// maxPermuted is the largest number of channels of a permutation.
const maxPermuted = 64

// NewChannelPermutation returns the op. It keeps the slice.
func NewChannelPermutation(permutation ...int) *ChannelPermutation {
	return &ChannelPermutation{permutation}
}

// Info describes the op.
func (*ChannelPermutation) Info() Info {
	return Info{
		Name: "channel_permutation", Version: 1, New: func() Op { return NewChannelPermutation(2, 1, 0) },
		Reference: "torchvision 0.29.2 v2 permute_channels", Exactness: "0",
	}
}

// Validate checks that the numbers are a permutation.
func (o *ChannelPermutation) Validate() error {
	n := len(o.Permutation)
	if n < 1 || n > maxPermuted {
		return paramErr("permutation has %d numbers, want 1 to %d", n, maxPermuted)
	}
	var seen uint64
	for i, v := range o.Permutation {
		if v < 0 || v >= n || seen>>v&1 == 1 {
			return paramErr("permutation[%d] is %d, want each number of 0 to %d once", i, v, n-1)
		}
		seen |= 1 << v
	}
	return nil
}

// Infer keeps the description.
func (o *ChannelPermutation) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0]); err != nil {
		return err
	}
	return wantChannels(in[0], len(o.Permutation))
}

// Apply copies the channels.
func (o *ChannelPermutation) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	size := s.DType.Size()
	in, out := s.Data[:len(dst[0].Data)], dst[0].Data
	if s.Layout == tensor.CHW {
		plane := len(out) / len(o.Permutation)
		for i, p := range o.Permutation {
			copy(out[i*plane:][:plane], in[p*plane:])
		}
		return nil
	}
	st, ok := c.State.(*permutationState)
	if !ok {
		st = &permutationState{}
		c.State = st
	}
	st.from = st.from[:0]
	for _, p := range o.Permutation {
		for i := range size {
			st.from = append(st.from, p*size+i)
		}
	}
	kernel.Rearrange(out, in, len(st.from), st.from)
	return nil
}

// permutationState holds the source of every byte of a pixel.
type permutationState struct{ from []int }
