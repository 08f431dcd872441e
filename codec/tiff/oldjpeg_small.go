//go:build small

package tiff

import "github.com/infer-prep/infer-prep/codec"

// oldDecoder is empty: small builds refuse old JPEG.
type oldDecoder struct{}

func (*decoder) parseOld() error {
	return unsupported("compression old JPEG: small builds do not decode it")
}

func (*decoder) decodeOld(*codec.Raster) error { return nil }
