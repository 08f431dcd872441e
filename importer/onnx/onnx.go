// Package onnx imports the graph that Embed of package onnx, or the command bundle
// embed-onnx, stored in an ONNX model's metadata_props.
//
// The graph equals the embedded one, with its names of outputs and its way of
// decoding. The importer infers nothing from the model itself.
package onnx

import (
	"errors"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/onnx"
)

func init() {
	// 2 GiB are what protobuf messages, and so models, are bounded by.
	importer.Register(importer.Importer{
		Name: "onnx", Import: Import, MaxBytes: math.MaxInt32,
		Doc: "an ONNX model with a graph embedded by infer-prep bundle embed-onnx, exact as the embedded graph",
	})
}

// Import reads a model. One without a graph is importer.ErrMissing, what is no
// model or has a graph that cannot be read is importer.ErrFormat; both wrap
// package onnx's errors too.
func Import(data []byte) (*datagraph.Graph, error) {
	g, _, err := onnx.Extract(data)
	switch {
	case errors.Is(err, onnx.ErrNoGraph):
		return nil, fmt.Errorf("importer: onnx: %w: %w", importer.ErrMissing, err)
	case err != nil:
		return nil, fmt.Errorf("importer: onnx: %w: %w", importer.ErrFormat, err)
	}
	return importer.Finish("onnx", g)
}
