package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomChannelPermutation puts the channels of an image in a random order. It
// takes an image of any dtype with one to four channels, HWC or CHW, and keeps
// the description.
//
// Reference: torchvision 0.29.2's RandomChannelPermutation. All permutations
// are equally likely.
type RandomChannelPermutation struct{}

//msgp:tuple RandomChannelPermutation

// NewRandomChannelPermutation returns the op.
func NewRandomChannelPermutation() *RandomChannelPermutation { return &RandomChannelPermutation{} }

// Info describes the op.
func (*RandomChannelPermutation) Info() Info {
	return Info{
		Name: "random_channel_permutation", Version: 1, New: func() Op { return NewRandomChannelPermutation() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate returns nil: the op has no parameters.
func (o *RandomChannelPermutation) Validate() error { return nil }

// Infer keeps the description.
func (o *RandomChannelPermutation) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0]); err != nil {
		return err
	}
	return wantChannels(in[0], 1, 2, 3, 4)
}

// Apply returns ErrNotDrawn.
func (o *RandomChannelPermutation) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a ChannelPermutation, or nothing for one channel.
func (o *RandomChannelPermutation) Draw(d *Draw) error { return d.permuteChannels() }

// permutations holds the permutations of up to four numbers. Emitted ops have
// slices of it, because their memory is used again.
var permutations = func() (l [5][][]int) {
	l[1] = [][]int{{0}}
	for n := 2; n < len(l); n++ {
		for _, p := range l[n-1] {
			for at := range n {
				q := append([]int{}, p[:at]...)
				l[n] = append(l[n], append(append(q, n-1), p[at:]...))
			}
		}
	}
	return l
}()

// permuteChannels emits a random ChannelPermutation, or nothing for one
// channel.
func (d *Draw) permuteChannels() error {
	in := d.In[0]
	if err := wantImage(in); err != nil {
		return err
	}
	ch := in.Channels()
	if ch < 1 || ch >= len(permutations) {
		return inputErr("%v, want 1 to 4 channels", in)
	}
	if ch == 1 {
		return nil
	}
	return emitOp(d, ChannelPermutation{permutations[ch][d.IntN(len(permutations[ch]))]})
}
