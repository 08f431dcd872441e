package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// ElasticNoiseCoords moves points or boxes as ElasticNoise moves the pixels of
// an image of Height x Width, with the same noise. A point moves by the
// negative displacement of its pixel, from the pixel's centre: an approximation
// of the inverse. The pixel is the whole part of the point, and the least whole
// numbers not below the corners of a box, clamped to the image. The moved
// corners' bounds are the box afterwards. A rotated box moves by its centre and
// keeps size and angle. It is then clamped to the image as by
// ClampCoords. Points are never clamped. All arithmetic is float32.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: elastic_bounding_boxes and elastic_keypoints of torchvision 0.29.2
// (transforms.v2) with torch 2.15.0, for the displacement.
type ElasticNoiseCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes, or xy; default xyxy
	AlphaX   float64     `json:"alpha_x"`  // as for ElasticNoise; default 50
	AlphaY   float64     `json:"alpha_y"`  // as for ElasticNoise; default 50
	SigmaX   float64     `json:"sigma_x"`  // as for ElasticNoise; default 5
	SigmaY   float64     `json:"sigma_y"`  // as for ElasticNoise; default 5
	Key      uint64      `json:"key"`      // as for ElasticNoise
	Height   int         `json:"height"`   // height of the image in pixels, 1 to 2^24
	Width    int         `json:"width"`    // width of the image in pixels, 1 to 2^24
	Clamping Clamping    `json:"clamping"` // of boxes: soft, hard or none; default soft
}

//msgp:tuple ElasticNoiseCoords

// NewElasticNoiseCoords returns the op with the parameters of torchvision's
// ElasticTransform, for an image of height x width pixels, with soft clamping.
func NewElasticNoiseCoords(format CoordFormat, key uint64, height, width int) *ElasticNoiseCoords {
	return &ElasticNoiseCoords{Format: format, AlphaX: 50, AlphaY: 50, SigmaX: 5, SigmaY: 5, Key: key, Height: height, Width: width}
}

// noise returns the op that moves the image.
func (o *ElasticNoiseCoords) noise() ElasticNoise {
	return ElasticNoise{AlphaX: o.AlphaX, AlphaY: o.AlphaY, SigmaX: o.SigmaX, SigmaY: o.SigmaY, Key: o.Key}
}

// Info describes the op.
func (*ElasticNoiseCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "elastic_noise_coords", Version: 1,
		New: func() Op { return NewElasticNoiseCoords(CoordXYXY, 0, 224, 224) },
		In:  boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 elastic_bounding_boxes, elastic_keypoints, with a displacement of its own", Exactness: rotatedExactness,
	}
}

// Validate checks the names, the numbers and the size.
func (o *ElasticNoiseCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	n := o.noise()
	if err := n.Validate(); err != nil {
		return err
	}
	if half := n.half(); o.Height <= half || o.Width <= half {
		return paramErr("height is %d and width %d, want more than %d, half the kernel of the blur", o.Height, o.Width, half)
	}
	return nil
}

// Infer keeps the shape.
func (o *ElasticNoiseCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply moves the boxes.
func (o *ElasticNoiseCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	n := o.noise()
	field, err := n.field(c, o.Height, o.Width)
	if err != nil {
		return err
	}
	b := boxMover{format: o.Format, clamping: o.Clamping, height: float32(o.Height), width: float32(o.Width)}
	halfX, halfY := float32(0.5*b.width), float32(0.5*b.height)
	return eachRotated(c, dst, src, o.Format, func(row []float32) {
		b.movePlace(row, func(x, y float32) (float32, float32) {
			if o.Format != CoordXY {
				x, y = float32(math.Ceil(float64(x))), float32(math.Ceil(float64(y)))
			}
			i, k := pixelAt(x, o.Width), pixelAt(y, o.Height)
			d := field[2*(k*o.Width+i):][:2]
			x, y = kernel.TorchIdentity(i, o.Width)-d[0], kernel.TorchIdentity(k, o.Height)-d[1]
			return float32((x+1)*halfX) - 0.5, float32((y+1)*halfY) - 0.5
		})
	})
}

// pixelAt returns the whole part of v, clamped to 0..n-1. As on x86-64, what
// int64 does not hold is 0.
func pixelAt(v float32, n int) int {
	if !(v >= 0 && v < 1<<63) {
		return 0
	}
	return int(min(int64(v), int64(n-1)))
}

// movePlace moves a point or a box in place, a rotated box by its centre alone.
func (b *boxMover) movePlace(row []float32, f func(x, y float32) (float32, float32)) {
	if !b.format.rotated() {
		b.move(row, f)
		return
	}
	var r [8]float32
	convertRotated(r[:], row, b.format, CoordCXCYWHR)
	r[0], r[1] = f(r[0], r[1])
	clampRotated(r[:], CoordCXCYWHR, b.clamping, b.height, b.width)
	convertRotated(row, r[:], CoordCXCYWHR, b.format)
}
