package radiology

import (
	"errors"

	"github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// VOILUT turns modality values into those to show, by the numbers of the file:
// the VOI LUT Sequence (0028,3010) if there is one, else Window Center
// (0028,1050) and Width (0028,1051) with the VOI LUT Function (0028,1056),
// which is linear if the file has none. It takes an image of samples or of
// modality values (modality_lut), of any type up to 32 bits or float64, HWC or
// CHW, and the DICOM file that they are from. A file without these elements is
// an error. The result has the same shape.
//
// Windows map to the range of the file's modality values: that of Bits Stored
// (0028,0101), rescaled. Op window has a range of its own. MONOCHROME1 is not
// inverted. A LUT gives its entries; values with a fraction are truncated, as
// by NumPy, and values above the range of its type are errors.
//
// Reference: pydicom 3.0.2, apply_voi_lut, converted to DType by NumPy.
type VOILUT struct {
	// Index is the number of the view, 0 to 1023. A single window is taken
	// whatever Index is. Default 0.
	Index int          `json:"index"`
	DType tensor.DType `json:"dtype"` // float32 or float64; default float32
}

//msgp:tuple VOILUT

// NewVOILUT returns the op for the first view and float32.
func NewVOILUT() *VOILUT { return &VOILUT{DType: tensor.Float32} }

// Info describes the op.
func (*VOILUT) Info() transforms.Info {
	return transforms.Info{
		Name: "voi_lut", Version: 1, New: func() transforms.Op { return NewVOILUT() },
		In: []string{"image", "file"}, Out: []string{"image"},
		Reference: "pydicom 3.0.2 apply_voi_lut", Exactness: "0",
	}
}

const maxIndex = 1023

// Validate checks the index and the dtype.
func (o *VOILUT) Validate() error {
	if o.Index < 0 || o.Index > maxIndex {
		return paramErr("index is %d, want 0 to %d", o.Index, maxIndex)
	}
	return checkDType(o.DType)
}

// Infer changes the dtype.
func (o *VOILUT) Infer(dst, in []tensor.Desc) error { return infer(dst, in, o.DType) }

// Apply reads the file's numbers and converts.
func (o *VOILUT) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	v, err := read(c, src[1])
	if err != nil {
		return err
	}
	if len(v.VOI) > 0 {
		if o.Index >= len(v.VOI) {
			return inputErr("VOI LUT Sequence (0028,3010) has %d items, index is %d", len(v.VOI), o.Index)
		}
		return voi(c, dst[0], src[0], &v.VOI[o.Index])
	}
	f, err := fileWindow(v, o.Index)
	if err != nil {
		return err
	}
	return apply(c, dst[0], src[0], f)
}

// checkWidth checks the width of a window.
func checkWidth(f Function, width float64) error {
	if f == Linear && width < 1 {
		return errors.New("the width of a linear window is below 1")
	}
	if !(width > 0) {
		return errors.New("the width of a window is not above 0")
	}
	return nil
}

// fileWindow returns the function of a file's window.
func fileWindow(v *dicom.Values, index int) (func(float64) float64, error) {
	if len(v.Centers) == 0 {
		return nil, missing("Window Center (0028,1050) and no VOI LUT Sequence (0028,3010)")
	}
	if len(v.Widths) == 0 {
		return nil, missing("Window Width (0028,1051)")
	}
	if v.Photometric != "MONOCHROME1" && v.Photometric != "MONOCHROME2" {
		return nil, inputErr("a window of %s: want MONOCHROME1 or MONOCHROME2", v.Photometric)
	}
	pick := func(l []float64) (float64, error) {
		switch {
		case len(l) == 1:
			return l[0], nil
		case index >= len(l):
			return 0, inputErr("the DICOM file has %d windows, index is %d", len(l), index)
		}
		return l[index], nil
	}
	center, err := pick(v.Centers)
	if err != nil {
		return nil, err
	}
	width, err := pick(v.Widths)
	if err != nil {
		return nil, err
	}
	var f Function
	switch v.Function {
	case "LINEAR":
	case "LINEAR_EXACT":
		f = LinearExact
	case "SIGMOID":
		f = Sigmoid
	default:
		return nil, inputErr("VOI LUT Function (0028,1056) is %q, want LINEAR, LINEAR_EXACT or SIGMOID", v.Function)
	}
	if err := checkWidth(f, width); err != nil {
		return nil, inputErr("Window Width (0028,1051) %v: %v", width, err)
	}
	low, high := 0.0, 0.0
	switch {
	case v.Modality != nil:
		high = float64(uint64(1)<<v.Modality.Bits - 1)
	case v.Bits == 0:
		return nil, missing("Bits Stored (0028,0101)")
	case v.Signed:
		low = -float64(uint64(1) << (v.Bits - 1))
		high = -low - 1
	default:
		high = float64(uint64(1)<<v.Bits - 1)
	}
	if v.Slope != nil && v.Intercept != nil {
		low, high = float64(low**v.Slope)+*v.Intercept, float64(high**v.Slope)+*v.Intercept
	}
	return windowing(f, center, width, low, high), nil
}

// voi maps values by a VOI LUT.
func voi(c *transforms.Context, dst, src *tensor.Tensor, t *dicom.LUT) error {
	top := 1<<16 - 1
	if t.Bits == 8 {
		top = 255
	}
	last := len(t.Data) - 1
	if last > top {
		return inputErr("VOI LUT Sequence (0028,3010) has %d entries of 8 bits: NumPy refuses it", len(t.Data))
	}
	var bad error
	err := apply(c, dst, src, func(x float64) float64 {
		k := 0
		if x >= float64(t.First) {
			v := x - float64(t.First)
			if !(v < float64(top)+1) {
				bad = inputErr("value %v is %v above the first one of the VOI LUT: want at most %d", x, v, top)
				return 0
			}
			k = min(int(v), last)
		}
		return float64(t.Data[k])
	})
	if err != nil {
		return err
	}
	return bad
}
