//go:build !js

// Command infer-prep-webgpu is infer-prep with the device webgpu:
//
//	infer-prep-webgpu run --device webgpu --preset imagenet -o tensors photos
//
// A program that also imports device/ort needs CGO_ENABLED=0 and -tags
// nofakecgo. Both devices use a library that calls C without cgo, and only one
// of the libraries may replace cgo's runtime.
package main

import (
	"github.com/infer-prep/infer-prep/cmd/internal/cli"
	_ "github.com/infer-prep/infer-prep/device/webgpu"
)

func main() { cli.Main() }
