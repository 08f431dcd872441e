// Package all links every image format that needs no library of C, by importing
// them. Programs import codec/avif, codec/heif, codec/jp2 and codec/jxl
// themselves. Builds with the tag small leave out DICOM, PNM, QOI and TGA.
package all

import (
	_ "github.com/infer-prep/infer-prep/codec/bmp"  // registers BMP, DIB and ICO
	_ "github.com/infer-prep/infer-prep/codec/gif"  // registers GIF
	_ "github.com/infer-prep/infer-prep/codec/jpeg" // registers JPEG
	_ "github.com/infer-prep/infer-prep/codec/png"  // registers PNG
	_ "github.com/infer-prep/infer-prep/codec/tiff" // registers TIFF
	_ "github.com/infer-prep/infer-prep/codec/webp" // registers WebP
)
