// Package onnx imports the graph that Embed of package onnx, or the command
// bundle embed-onnx, stored in an ONNX model's metadata_props.
//
// The graph equals the embedded one, with its names of outputs and its way of
// decoding. The importer infers nothing from the model itself, and ignores all
// of it but that entry.
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
	// protobuf messages, and so models, have at most 2 GiB.
	importer.Register(importer.Importer{
		Name: "onnx", Import: Import, MaxBytes: math.MaxInt32,
		Doc: "an ONNX model with a graph embedded by infer-prep bundle embed-onnx, exact as the embedded graph",
		// The first field is the version, a number.
		Detect: func(_ string, head []byte) bool { return len(head) > 2 && head[0] == 1<<3 },
	})
}

// Import reads a model. A model without a graph is importer.ErrMissing. An
// invalid model or graph is importer.ErrFormat. Both also wrap package onnx's
// errors.
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
