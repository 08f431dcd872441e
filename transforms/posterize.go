package transforms

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// Posterize keeps the most significant bits of every value. It takes a uint8 or
// float32 image with any number of channels, HWC or CHW, and keeps the
// description.
//
// A uint8 value v becomes v &^ (255 >> bits): 0 to 255. A float32 value v, of 0
// to 1, becomes min(max(floor(v*2^bits), 0), 2^bits-1) / 2^bits. All of its
// steps are exact in float32 except v*2^bits, which may overflow to infinity.
// NaN stays NaN.
//
// Reference: Pillow 13.0.0, ImageOps.posterize, for 1 to 8 bits; torchvision
// 0.29.2, v2's posterize, for uint8 and float32; MindSpore 2.10.0,
// vision.Posterize. They agree on uint8.
type Posterize struct {
	Bits int `json:"bits"` // 0 to 8; 8 keeps a uint8 image
}

//msgp:tuple Posterize
//sheet:posterize {"bits": 2}

// NewPosterize returns the op.
func NewPosterize(bits int) *Posterize { return &Posterize{bits} }

// Info describes the op.
func (*Posterize) Info() Info {
	return Info{
		Name: "posterize", Version: 1, New: func() Op { return NewPosterize(4) }, InPlace: true,
		Reference: "Pillow 13.0.0 ImageOps.posterize, torchvision 0.29.2 v2 posterize, MindSpore 2.10.0 vision.Posterize", Exactness: "0",
	}
}

// Validate checks the number of bits.
func (o *Posterize) Validate() error { return checkBits(o.Bits) }

// checkBits wants a number of bits to keep of 8.
func checkBits(bits int) error {
	if bits < 0 || bits > 8 {
		return paramErr("bits is %d, want 0 to 8", bits)
	}
	return nil
}

// Infer keeps the description.
func (o *Posterize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Uint8, tensor.Float32)
}

// Apply masks the bits.
func (o *Posterize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		levels := float32(int32(1) << o.Bits)
		out := tensor.View[float32](dst[0])
		for i, v := range tensor.View[float32](s)[:len(out)] {
			n := float32(math.Floor(float64(float32(v * levels))))
			if n < 0 {
				n = 0
			} else if n > levels-1 {
				n = levels - 1
			}
			out[i] = float32(n * (1 / levels))
		}
		return nil
	}
	keep := ^uint8(255 >> o.Bits)
	words := uint64(keep) * 0x0101010101010101
	out := dst[0].Data
	in := s.Data[:len(out)]
	for len(in) >= 8 {
		binary.NativeEndian.PutUint64(out, binary.NativeEndian.Uint64(in)&words)
		in, out = in[8:], out[8:]
	}
	for i, v := range in {
		out[i] = v & keep
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Posterize) Pointwise() {}
