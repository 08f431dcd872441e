// Package eager runs ops on one image at once:
//
//	t, err := eager.Apply(jpegBytes, transforms.NewDecode(), transforms.NewResizeShortest(256), …)
//
// It is a graph that is compiled, run once and dropped, so its bytes are those
// of every other engine. For many images with the same ops compile once
// (package datagraph) and keep the Runner: that allocates nothing per image.
package eager

import (
	"fmt"

	_ "github.com/infer-prep/infer-prep/codec/all" // every image format
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Apply runs the ops in order on image, an encoded image ([]byte) or a tensor,
// with codec.DefaultLimits. It returns the tensor that the last op gives, which
// is the caller's. Of ops with several outputs only the image goes on; use a
// graph for the others. It is safe for concurrent use.
//
// Errors wrap those of the ops and decoders: codec.ErrFormat, codec.ErrLimit,
// transforms.ErrParam, transforms.ErrInput, …
func Apply[I []byte | *tensor.Tensor](image I, ops ...transforms.Op) (*tensor.Tensor, error) {
	in, ok := any(image).(*tensor.Tensor)
	if !ok {
		in = tensor.FromBytes(any(image).([]byte))
	}
	if in == nil {
		return nil, fmt.Errorf("eager: no tensor: %w", transforms.ErrInput)
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
		return out[0].Clone(), nil // it is the caller's input, not the Runner's
	}
	return out[0], nil
}
