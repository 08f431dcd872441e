// Package all registers every importer.
package all

import (
	_ "github.com/infer-prep/infer-prep/importer/hf"
	_ "github.com/infer-prep/infer-prep/importer/kaldi"
	_ "github.com/infer-prep/infer-prep/importer/keras"
	_ "github.com/infer-prep/infer-prep/importer/librosa"
	_ "github.com/infer-prep/infer-prep/importer/mindir"
	_ "github.com/infer-prep/infer-prep/importer/onnx"
	_ "github.com/infer-prep/infer-prep/importer/opencv"
	_ "github.com/infer-prep/infer-prep/importer/tflite"
	_ "github.com/infer-prep/infer-prep/importer/timm"
	_ "github.com/infer-prep/infer-prep/importer/torchaudio"
	_ "github.com/infer-prep/infer-prep/importer/torchvision"
	_ "github.com/infer-prep/infer-prep/importer/ultralytics"
)
