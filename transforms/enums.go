package transforms

import "github.com/infer-prep/infer-prep/internal/enum"

// Backend is the library whose arithmetic an op reproduces.
type Backend uint8

// The backends.
const (
	Pillow           Backend = iota // Pillow 13.0.0
	OpenCV                          // OpenCV 5.0.0
	Torch                           // torch 2.15.0 and torchvision 0.29.2
	OpenCV4                         // OpenCV 3.4 to 4.11, where it differs from OpenCV 5: for warps, Rotate, Affine and Perspective
	MXNet                           // MXNet 1.9.1 ImageRecordIter: for colour adjustments except hue, RandomGrayscale, and for bicubic resizing
	TorchUint8                      // torch 2.15.0's integer kernels for uint8, as torchvision's tensors use them: for resizing
	TorchUint8NoAVX2                // torch_uint8 on an x86-64 CPU without AVX2: for resizing
	MindSpore                       // MindSpore 2.10.0, where its rule is no other library's: for AutoContrast
	OpenCVIPP                       // OpenCV 5.0.0 with IPP on a CPU with AVX2: for bicubic resizing of uint8
)

var backendNames = []string{"pillow", "opencv", "torch", "opencv4", "mxnet", "torch_uint8", "torch_uint8_noavx2", "mindspore", "opencv_ipp"}

func (b Backend) String() string               { return enum.String("backend", backendNames, b) }
func (b Backend) MarshalText() ([]byte, error) { return enum.Format("backend", backendNames, b) }

// UnmarshalText parses the name.
func (b *Backend) UnmarshalText(t []byte) error {
	return enum.Parse(b, "backend", backendNames, t)
}

// Interpolation is the filter that computes a pixel from its neighbours.
type Interpolation uint8

// The interpolations. Resize documents which backend supports which.
const (
	Nearest      Interpolation = iota // the pixel at the scaled coordinate; with pillow the same as nearest_exact
	NearestExact                      // the pixel nearest to the scaled pixel centre
	Box                               // the mean of the covered pixels; Pillow only
	Bilinear                          // the triangle filter
	Hamming                           // the Hamming window; Pillow only
	Bicubic                           // cubic convolution with a = -0.5 (pillow, torch antialiased) or -0.75 (opencv, torch)
	Lanczos                           // windowed sinc with three lobes (pillow, torch) or four (opencv)
	Area                              // the mean of the covered area
	PILCubic                          // Pillow's bicubic, width always first: MindSpore's PILCUBIC
)

var interpolationNames = []string{"nearest", "nearest_exact", "box", "bilinear", "hamming", "bicubic", "lanczos", "area", "pilcubic"}

func (i Interpolation) String() string {
	return enum.String("interpolation", interpolationNames, i)
}

// MarshalText returns the name.
func (i Interpolation) MarshalText() ([]byte, error) {
	return enum.Format("interpolation", interpolationNames, i)
}

// UnmarshalText parses the name.
func (i *Interpolation) UnmarshalText(t []byte) error {
	return enum.Parse(i, "interpolation", interpolationNames, t)
}
