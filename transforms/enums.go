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

func (b Backend) String() string               { return enum.String("backend", backendNames, int(b)) }
func (b Backend) MarshalText() ([]byte, error) { return enum.Format("backend", backendNames, int(b)) }

// UnmarshalText reads the name.
func (b *Backend) UnmarshalText(t []byte) error {
	i, err := enum.Parse("backend", backendNames, t)
	*b = Backend(i)
	return err
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
	return enum.String("interpolation", interpolationNames, int(i))
}

// MarshalText writes the name.
func (i Interpolation) MarshalText() ([]byte, error) {
	return enum.Format("interpolation", interpolationNames, int(i))
}

// UnmarshalText reads the name.
func (i *Interpolation) UnmarshalText(t []byte) error {
	n, err := enum.Parse("interpolation", interpolationNames, t)
	*i = Interpolation(n)
	return err
}
