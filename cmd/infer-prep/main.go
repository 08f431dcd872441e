// Command infer-prep turns encoded images into the tensors that a model was
// trained on. Run "infer-prep --help" for its commands.
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	_ "github.com/infer-prep/infer-prep/device/ort" // here, since it cannot be linked together with device/webgpu

	// MindRecord links SQLite, so it is not part of dataset/all.
	_ "github.com/infer-prep/infer-prep/dataset/mindrecord"
	_ "github.com/infer-prep/infer-prep/records/mindrecord"
)

func main() { cli.Main() }
