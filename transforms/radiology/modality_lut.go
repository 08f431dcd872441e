package radiology

import (
	"github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ModalityLUT turns stored samples into modality values, such as Hounsfield
// units, by the numbers of the file: the Modality LUT Sequence (0028,3000) if
// there is one, else Rescale Slope (0028,1053) and Intercept (0028,1052):
// sample * slope + intercept, in float64. It takes an image of samples of any
// type up to 32 bits, HWC or CHW, and the DICOM file that they are from. A file
// without these elements is an error. The result has the same shape.
//
// As in NumPy, samples of a LUT wrap around in their type when the first one
// that it maps is subtracted. The numbers of enhanced multi-frame files, which
// are in the Shared Functional Groups Sequence (5200,9229), are not read.
//
// Reference: pydicom 3.0.2, apply_modality_lut (apply_rescale), converted to
// DType by NumPy.
type ModalityLUT struct {
	DType tensor.DType `json:"dtype"` // float32 or float64; default float32
}

//msgp:tuple ModalityLUT

// NewModalityLUT returns the op for float32.
func NewModalityLUT() *ModalityLUT { return &ModalityLUT{DType: tensor.Float32} }

// Info describes the op.
func (*ModalityLUT) Info() transforms.Info {
	return transforms.Info{
		Name: "modality_lut", Version: 1, New: func() transforms.Op { return NewModalityLUT() },
		In: []string{"image", "file"}, Out: []string{"image"},
		Reference: "pydicom 3.0.2 apply_modality_lut", Exactness: "0",
	}
}

// Validate checks the dtype.
func (o *ModalityLUT) Validate() error { return checkDType(o.DType) }

// Infer changes the dtype.
func (o *ModalityLUT) Infer(dst, in []tensor.Desc) error { return infer(dst, in, o.DType) }

// Apply reads the file's numbers and converts.
func (o *ModalityLUT) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	v, err := read(c, src[1])
	if err != nil {
		return err
	}
	if v.Modality != nil {
		f, err := lookUp(v.Modality, src[0].DType)
		if err != nil {
			return err
		}
		return apply(c, dst[0], src[0], f)
	}
	if v.Slope == nil {
		return missing("Rescale Slope (0028,1053)")
	}
	if v.Intercept == nil {
		return missing("Rescale Intercept (0028,1052)")
	}
	slope, intercept := *v.Slope, *v.Intercept
	return apply(c, dst[0], src[0], func(x float64) float64 { return float64(x*slope) + intercept })
}

// lookUp returns the function of a modality LUT for samples of type d.
func lookUp(t *dicom.LUT, d tensor.DType) (func(float64) float64, error) {
	if t.Bits != 8 && t.Bits != 16 {
		return nil, inputErr("Modality LUT Sequence (0028,3000) has entries of %d bits, want 8 or 16", t.Bits)
	}
	var wrap func(int) int
	lo, hi := 0, 0
	switch d {
	case tensor.Uint8:
		wrap, hi = func(x int) int { return int(uint8(x)) }, 255
	case tensor.Int8:
		wrap, lo, hi = func(x int) int { return int(int8(x)) }, -128, 127
	case tensor.Uint16:
		wrap, hi = func(x int) int { return int(uint16(x)) }, 65535
	case tensor.Int16:
		wrap, lo, hi = func(x int) int { return int(int16(x)) }, -32768, 32767
	case tensor.Int32:
		wrap, lo, hi = func(x int) int { return int(int32(x)) }, -1<<31, 1<<31-1
	default:
		return nil, inputErr("Modality LUT Sequence (0028,3000) maps samples, got an image of %v", d)
	}
	last := len(t.Data) - 1
	if t.First < lo || t.First > hi || last > hi {
		return nil, inputErr("Modality LUT Sequence (0028,3000) maps %d samples from %d on, which %v does not hold: NumPy refuses it", len(t.Data), t.First, d)
	}
	return func(x float64) float64 {
		k := 0
		if v := int(x); v >= t.First {
			k = min(max(wrap(v-t.First), 0), last)
		}
		return float64(t.Data[k])
	}, nil
}
