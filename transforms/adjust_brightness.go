package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustBrightness multiplies every value by a factor: 0 returns black, 1 the
// image, and more than 1 a brighter image. It takes a uint8 image of one or
// three channels (opencv: three, mxnet: any number), HWC or CHW, and keeps the
// description. Values range from 0 to 255.
//
// The product of a value v and the factor f is a float32. It is clipped and
// then converted:
//
//   - Pillow, Torch: truncated;
//   - OpenCV, MXNet: rounded half to even.
//
// Reference: Pillow 13.0.0, ImageEnhance.Brightness, which torchvision's
// adjust_brightness calls for a Pillow image; torchvision 0.29.2, v2's
// adjust_brightness of a uint8 tensor; MindSpore 2.10.0,
// vision.AdjustBrightness of an array, which calls OpenCV's convertScaleAbs;
// MXNet 1.9.1, ImageRecordIter's brightness and ImageDetRecordIter's contrast.
type AdjustBrightness struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6 (mxnet: -1e6 to 1e6); 1 keeps the image
	Backend Backend `json:"backend"` // pillow, opencv, torch or mxnet; default pillow
}

//msgp:tuple AdjustBrightness
//sheet:adjust_brightness {"factor": 1.4}

// NewAdjustBrightness returns the op with Pillow's arithmetic.
func NewAdjustBrightness(factor float64) *AdjustBrightness {
	return &AdjustBrightness{Factor: factor, Backend: Pillow}
}

// Info describes the op.
func (*AdjustBrightness) Info() Info {
	return Info{
		Name: "adjust_brightness", Version: 1, New: func() Op { return NewAdjustBrightness(1) }, InPlace: true,
		Reference: adjustReference, Exactness: "0",
	}
}

// Validate checks the factor and the backend.
func (o *AdjustBrightness) Validate() error {
	return checkAdjust(o.Factor, o.Backend)
}

// Infer keeps the description.
func (o *AdjustBrightness) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if o.Backend == MXNet {
		return wantImage(in[0], tensor.Uint8)
	}
	return wantAdjusted(in[0], o.Backend)
}

// adjustBrightnessState is the lookup table of an op.
type adjustBrightnessState struct {
	op    AdjustBrightness
	valid bool
	table [256]uint8
}

// Apply looks the products up in a table.
func (o *AdjustBrightness) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	st, ok := c.State.(*adjustBrightnessState)
	if !ok {
		st = &adjustBrightnessState{}
		c.State = st
	}
	if !st.valid || st.op != *o {
		st.op, st.valid = *o, true
		for v := range st.table {
			f := float32(float32(v) * float32(o.Factor))
			if o.Backend == OpenCV || o.Backend == MXNet {
				st.table[v] = round8(f)
			} else {
				st.table[v] = trunc8(f)
			}
		}
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, st.table[:])
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *AdjustBrightness) Pointwise() {}
