package transforms

import "github.com/infer-prep/infer-prep/internal/enum"

// Backend names the library whose arithmetic an op reproduces, where libraries differ.
type Backend uint8

// The backends.
const (
	Pillow Backend = iota
	OpenCV
	Torch
)

var backendNames = []string{"pillow", "opencv", "torch"}

func (b Backend) String() string               { return enum.String("backend", backendNames, b) }
func (b Backend) MarshalText() ([]byte, error) { return enum.Format("backend", backendNames, b) }

// UnmarshalText reads the name.
func (b *Backend) UnmarshalText(t []byte) error {
	return enum.Parse(b, "backend", backendNames, t)
}

// Interpolation is how a resize computes a pixel from those around it.
type Interpolation uint8

// The interpolations. Which backend has which: see Resize.
const (
	Nearest Interpolation = iota
	NearestExact
	Box
	Bilinear
	Hamming
	Bicubic
	Lanczos
	Area
)

var interpolationNames = []string{"nearest", "nearest_exact", "box", "bilinear", "hamming", "bicubic", "lanczos", "area"}

func (i Interpolation) String() string {
	return enum.String("interpolation", interpolationNames, i)
}

// MarshalText writes the name.
func (i Interpolation) MarshalText() ([]byte, error) {
	return enum.Format("interpolation", interpolationNames, i)
}

// UnmarshalText reads the name.
func (i *Interpolation) UnmarshalText(t []byte) error {
	return enum.Parse(i, "interpolation", interpolationNames, t)
}
