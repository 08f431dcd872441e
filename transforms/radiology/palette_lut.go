package radiology

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// PaletteLUT turns the samples of a PALETTE COLOR image into RGB by the palette
// of the file (0028,1101 to 1203). It takes an image of one channel and any
// integer type up to 32 bits, HWC, and the DICOM file that it is from. The
// result is HWC with three channels. A file without a palette, or with one of
// another type than DType, is an error, and so are segmented and supplemental
// palettes and those with alpha.
//
// Reference: pydicom 3.0.2, apply_color_lut.
type PaletteLUT struct {
	DType tensor.DType `json:"dtype"` // of the palette's entries: uint8 or uint16; default uint8
}

//msgp:tuple PaletteLUT

// NewPaletteLUT returns the op for palettes of 8 bits.
func NewPaletteLUT() *PaletteLUT { return &PaletteLUT{DType: tensor.Uint8} }

// Info describes the op.
func (*PaletteLUT) Info() transforms.Info {
	return transforms.Info{
		Name: "palette_lut", Version: 1, New: func() transforms.Op { return NewPaletteLUT() },
		In: []string{"image", "file"}, Out: []string{"image"},
		Reference: "pydicom 3.0.2 apply_color_lut", Exactness: "0",
	}
}

// Validate checks the dtype.
func (o *PaletteLUT) Validate() error {
	if o.DType != tensor.Uint8 && o.DType != tensor.Uint16 {
		return paramErr("dtype is %v, want uint8 or uint16", o.DType)
	}
	return nil
}

// Infer changes the dtype and the number of channels.
func (o *PaletteLUT) Infer(dst, in []tensor.Desc) error {
	if err := infer(dst, in, o.DType); err != nil {
		return err
	}
	d := in[0]
	if c := d.Channels(); d.Layout != tensor.HWC || c != 1 && c != tensor.Unknown || d.DType == tensor.Float32 || d.DType == tensor.Float64 {
		return inputErr("%v, want samples of one channel, HWC", d)
	}
	dst[0] = tensor.Image(o.DType, tensor.HWC, d.Height(), d.Width(), 3)
	if err := dst[0].Validate(); err != nil {
		return inputErr("the output is invalid: %v", err)
	}
	return nil
}

// Apply reads the palette and looks up the samples.
func (o *PaletteLUT) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	p, err := dicom.ReadPalette(src[1].Data, c.Limits)
	if err != nil {
		return err
	}
	n := len(p.Colors[0])
	switch {
	case p.Bits != 8*o.DType.Size():
		return codec.Errorf("dicom", -1, codec.ErrUnsupported, "a palette of %d bits, the op palette_lut wants %v", p.Bits, o.DType)
	case p.Bits == 8 && n > 256:
		return inputErr("the palette has %d entries of 8 bits: NumPy refuses it", n)
	}
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	indices := make([]float64, s.Len())
	applyTo(indices, s, func(x float64) float64 {
		v := int(x)
		if v < p.First {
			return 0
		}
		// The difference wraps around in the type of the entries.
		k := int(uint16(v - p.First))
		if p.Bits == 8 {
			k = int(uint8(k))
		}
		return float64(min(k, n-1))
	})
	for i, k := range indices {
		for ch := range 3 {
			if v := p.Colors[ch][int(k)]; p.Bits == 8 {
				dst[0].Data[3*i+ch] = uint8(v)
			} else {
				tensor.View[uint16](dst[0])[3*i+ch] = v
			}
		}
	}
	return nil
}
