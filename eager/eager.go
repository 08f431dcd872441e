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
// The package imports the decoders of all image formats.
package eager

import (
	"fmt"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Apply runs the ops in order on image, an encoded image ([]byte) or a tensor,
// within the default limits. It returns the image output of the last op; the
// caller owns it. To get the other outputs of ops, use a graph. Apply is safe
// for concurrent use.
//
// Errors wrap those of the ops and decoders, such as codec.ErrFormat,
// codec.ErrLimit, transforms.ErrParam and transforms.ErrInput.
func Apply[I []byte | *tensor.Tensor](image I, ops ...transforms.Op) (*tensor.Tensor, error) {
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
	out, err := p.NewRunner().Run(in)
	if err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return out[0].Clone(), nil // the output is the caller's input
	}
	return out[0], nil
}
