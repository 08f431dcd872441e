// Package eager runs preprocessing ops on one image, without a graph or a
// runner to set up:
//
//	t, err := eager.Apply(jpeg, transforms.NewDecode(), resize)
//
// Apply compiles a graph, runs it once and drops it, so its bytes are those of
// every other engine. To process many images with the same ops, compile once
// with package datagraph and keep the Runner, which allocates nothing per
// image.
//
// Random ops draw new numbers at every call, the same in every run of the
// program: Apply numbers its calls that draw from 0, with seed 0. [Draws] does
// so with a seed of the caller's, and [ApplyAt] takes the number itself, for
// calls in any order:
//
//	draws := eager.Draws{Seed: 42}
//	t, err := eager.ApplyAt(draws.Next(), jpeg, transforms.NewDecode(), transforms.NewRandomHorizontalFlip())
//
// A program imports the decoders that it needs, such as codec/jpeg, or
// codec/all for every image format. It links the ops that it mentions only.
package eager

import (
	"fmt"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Draws numbers calls that draw. The zero value is ready to use and has seed 0.
// It is safe for concurrent use; goroutines that share one then get the points
// in the order of their calls. Do not copy it after the first Next.
type Draws struct {
	Seed uint64 // set it before the first Next

	next atomic.Uint64
}

// Next returns the next point: epoch 0, and ordinals from 0.
func (d *Draws) Next() rng.Point { return rng.Point{Seed: d.Seed, Ordinal: d.next.Add(1) - 1} }

// draws numbers the calls of Apply that draw.
var draws Draws

// Apply runs the ops in order on image, an encoded image ([]byte) or a tensor,
// within the default limits. It returns the image output of the last op; the
// caller owns it. To get the other outputs of ops, use a graph. Apply is safe
// for concurrent use. The order of concurrent calls decides which numbers their
// random ops draw; ApplyAt does not depend on it.
//
// Errors wrap those of the ops and decoders, such as codec.ErrFormat,
// codec.ErrLimit, transforms.ErrParam and transforms.ErrInput.
func Apply[I []byte | *tensor.Tensor](image I, ops ...transforms.Op) (*tensor.Tensor, error) {
	return apply(draws.Next, image, ops)
}

// ApplyAt is Apply with the numbers of a point: random ops draw the same at the
// same point in every program and on every platform.
func ApplyAt[I []byte | *tensor.Tensor](at rng.Point, image I, ops ...transforms.Op) (*tensor.Tensor, error) {
	return apply(func() rng.Point { return at }, image, ops)
}

// apply calls at for the point if an op is random.
func apply[I []byte | *tensor.Tensor](at func() rng.Point, image I, ops []transforms.Op) (*tensor.Tensor, error) {
	in, ok := any(image).(*tensor.Tensor)
	if !ok {
		in = tensor.FromBytes(any(image).([]byte))
	}
	if in == nil {
		return nil, fmt.Errorf("eager: apply: %w: the tensor is nil", transforms.ErrInput)
	}
	g := datagraph.New(ops...)
	g.Inputs[0].Desc = in.Desc
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	r := p.NewRunner()
	if g.Random() {
		r.At = at()
	}
	out, err := r.Run(in)
	if err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return out[0].Clone(), nil // the output is the caller's input
	}
	return out[0], nil
}
