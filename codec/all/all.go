// Package all links every image format that codec knows, by importing them.
package all

import (
	_ "github.com/infer-prep/infer-prep/codec/bmp"  // registers BMP
	_ "github.com/infer-prep/infer-prep/codec/gif"  // registers GIF
	_ "github.com/infer-prep/infer-prep/codec/jpeg" // registers JPEG
	_ "github.com/infer-prep/infer-prep/codec/png"  // registers PNG
	_ "github.com/infer-prep/infer-prep/codec/tiff" // registers TIFF
	_ "github.com/infer-prep/infer-prep/codec/webp" // registers WebP
)
