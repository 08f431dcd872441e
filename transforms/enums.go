package transforms

import "github.com/infer-prep/infer-prep/internal/enum"

// Backend names the library whose arithmetic an op reproduces, where libraries differ.
type Backend uint8

// The backends.
const (
	Pillow  Backend = iota // Pillow 13.0.0
	OpenCV                 // OpenCV 5.0.0
	Torch                  // torch 2.15.0 and torchvision 0.29.2
	OpenCV4                // OpenCV 3.4 to 4.11, where OpenCV 5 is another; of WarpAffine and what is warped with it
	MXNet                  // MXNet 1.9.1, of its ImageRecordIter; of the colour adjustments but hue, and of bicubic resizing
)

var backendNames = []string{"pillow", "opencv", "torch", "opencv4", "mxnet"}

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
	Nearest      Interpolation = iota // the pixel at the scaled coordinate; with pillow as nearest_exact
	NearestExact                      // the pixel nearest to the scaled pixel centre
	Box                               // the mean of the pixels below; Pillow's
	Bilinear                          // the triangle filter
	Hamming                           // Pillow's
	Bicubic                           // cubic convolution with a = -0.5 (pillow, torch antialiased) or -0.75 (opencv, torch)
	Lanczos                           // windowed sinc: three lobes (pillow, torch) or four (opencv)
	Area                              // the mean of the area below
	PILCubic                          // Pillow's bicubic, but with the width always first: MindSpore's PILCUBIC
)

var interpolationNames = []string{"nearest", "nearest_exact", "box", "bilinear", "hamming", "bicubic", "lanczos", "area", "pilcubic"}

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
