// Command infer-prep turns encoded images into the tensors that a model was
// trained on. Run "infer-prep --help" for its commands. Command infer-prep-full
// has the parts with large dependencies, too: the stores of the clouds and of
// HDFS, and the encoder jpegli.
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	"github.com/infer-prep/infer-prep/transforms/plugin"

	// These cannot be linked together with device/webgpu. Neither can plugin.
	_ "github.com/infer-prep/infer-prep/codec/avif" // registers AVIF, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/heif" // registers HEIC, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/jp2"  // registers JPEG 2000, where the library is found
	_ "github.com/infer-prep/infer-prep/codec/jxl"  // registers JPEG XL, where the library is found
	_ "github.com/infer-prep/infer-prep/device/ort"
)

func init() { cli.AllowPlugin = plugin.Allow }

func main() { cli.Main() }
