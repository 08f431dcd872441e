package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustHue rotates the hue of every pixel by a fraction of the colour circle:
// one third turns red into green. It takes a uint8 image of three channels, HWC
// or CHW, and keeps the description. An image of one channel is copied (opencv
// rejects it). Values range from 0 to 255.
//
//   - Pillow: converts to 8-bit HSV and back as ConvertColor does, and adds
//     int(255*f) to the hue modulo 256.
//   - Torch: computes in float32 HSV with values of 0 to 1, as torchvision does
//     for tensors. The result is multiplied by 255.999 and truncated.
//   - OpenCV: uses COLOR_RGB2HSV_FULL and COLOR_HSV2RGB_FULL, and adds
//     int(255*f) to the hue modulo 256. The conversion to RGB truncates in the
//     columns that OpenCV processes 32 at a time and rounds in the last ones,
//     as in ConvertColor.
//
// Reference: torchvision 0.29.2, adjust_hue of a Pillow 13.0.0 image, and v2's
// adjust_hue of a uint8 tensor; MindSpore 2.10.0, vision.AdjustHue of an array.
type AdjustHue struct {
	Factor  float64 `json:"factor"`  // in turns, -0.5 to 0.5; 0 keeps the hue
	Backend Backend `json:"backend"` // pillow, opencv or torch; default pillow
}

//msgp:tuple AdjustHue
//sheet:adjust_hue {"factor": 0.3}

// NewAdjustHue returns the op with Pillow's arithmetic, as torchvision uses it.
func NewAdjustHue(factor float64) *AdjustHue { return &AdjustHue{Factor: factor, Backend: Pillow} }

// Info describes the op.
func (*AdjustHue) Info() Info {
	return Info{
		Name: "adjust_hue", Version: 1, New: func() Op { return NewAdjustHue(0) }, InPlace: true,
		Reference: "torchvision 0.29.2 adjust_hue of a Pillow 13.0.0 image and of a uint8 tensor; MindSpore 2.10.0 AdjustHue " +
			"(x86-64 with AVX2) and OpenCV 5.0.0 for opencv",
		Exactness: "0",
	}
}

// Validate checks the factor and the backend.
func (o *AdjustHue) Validate() error {
	if !(o.Factor >= -0.5 && o.Factor <= 0.5) {
		return paramErr("factor is %v, want -0.5 to 0.5", o.Factor)
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *AdjustHue) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply rotates the hue.
func (o *AdjustHue) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.Channels() == 1 {
		copyUnlessSame(dst[0], s)
		return nil
	}
	turn, part := uint8(int32(o.Factor*255)), float32(o.Factor)
	eachPart(c, dst[0], s, func(at int, out, in colorPart) {
		if o.Backend != Pillow && o.Backend != Torch {
			k := kernel.HSVFull
			k.FromRGBRow(rgb(out), rgb(in))
			toRGBOpenCV(k, rgb(out), rgb(out), at, s.Width(), turn)
			return
		}
		r, g, b := out[0], out[1], out[2]
		for i := range r {
			if x, y, z := in[0][i], in[1][i], in[2][i]; o.Backend == Pillow {
				h, sat, v := pillowToHSV(x, y, z)
				r[i], g[i], b[i] = pillowFromHSV(h+turn, sat, v)
			} else {
				r[i], g[i], b[i] = torchHue(x, y, z, part)
			}
		}
	})
	return nil
}

// torchUnit holds every uint8 as torchvision's float32 of 0 to 1.
var torchUnit = scaled(1.0 / 255)

// torchHue rotates the hue of a pixel by a fraction of the circle, as
// torchvision does for tensors.
func torchHue(r, g, b uint8, part float32) (uint8, uint8, uint8) {
	fr, fg, fb := torchUnit[r], torchUnit[g], torchUnit[b]
	top, low := max(fr, fg, fb), min(fr, fg, fb)
	var h, s float32
	if top != low {
		d := top - low
		s = d / top
		rc, gc, bc := (top-fr)/d, (top-fg)/d, (top-fb)/d
		switch top {
		case fr:
			h = bc - gc
		case fg:
			h = (rc + 2) - bc
		default:
			h = (gc + 4) - rc
		}
	}
	// This is the remainder modulo 1 of a number in 0..2.
	h = float32(h*float32(1.0/6)) + 1
	if h >= 1 {
		h--
	}
	h += part
	switch {
	case h >= 1:
		h--
	case h < 0:
		h++ // rounding may make it 1
	}
	six := float32(h * 6)
	i := int32(six)
	f := six - float32(i)
	sf, rest := float32(s*f), 1-s
	t := [4]uint8{
		torch8(top),
		torch8(float32(rest * top)),
		torch8(float32((1 - sf) * top)),
		torch8(float32((sf + rest) * top)),
	}
	p := kernel.HSVParts[i%6]
	return t[p[0]], t[p[1]], t[p[2]]
}

// torch8 clips a number to 0..1 and converts it to torchvision's uint8.
func torch8(f float32) uint8 { return uint8(int32(float32(min(max(f, 0), 1) * 255.999))) }
