// Package all registers every importer.
package all

import (
	_ "github.com/infer-prep/infer-prep/importer/hf"
	_ "github.com/infer-prep/infer-prep/importer/onnx"
	_ "github.com/infer-prep/infer-prep/importer/timm"
	_ "github.com/infer-prep/infer-prep/importer/torchvision"
	_ "github.com/infer-prep/infer-prep/importer/ultralytics"
)
