//go:build !small

package all

import (
	_ "github.com/infer-prep/infer-prep/codec/dicom" // registers DICOM
	_ "github.com/infer-prep/infer-prep/codec/pnm"   // registers PBM, PGM, PPM and PFM
	_ "github.com/infer-prep/infer-prep/codec/qoi"   // registers QOI
	_ "github.com/infer-prep/infer-prep/codec/tga"   // registers TGA
)
