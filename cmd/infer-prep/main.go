// Command infer-prep turns encoded images into the tensors that a model was
// trained on. Run "infer-prep --help" for its commands.
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	"github.com/infer-prep/infer-prep/transforms/plugin"

	// It cannot be linked together with device/webgpu, and neither can plugin.
	_ "github.com/infer-prep/infer-prep/device/ort"
)

func init() { cli.AllowPlugin = plugin.Allow }

func main() { cli.Main() }
