// Package radiology registers the ops that turn the stored samples of DICOM
// files into modality values, such as Hounsfield units, into windowed ones, and
// into colours: modality_lut, voi_lut, window and palette_lut. The op
// decode_native gives the samples.
//
// All but window take the file as a second input and read its numbers. A file
// without the number that an op needs is an error that names the element;
// nothing is guessed.
package radiology

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

//go:generate go run ../../tools/msgpgen

//msgp:shim tensor.DType as:uint8 using:uint8/tensor.DType

func init() {
	transforms.Register((*ModalityLUT)(nil), (*PaletteLUT)(nil), (*VOILUT)(nil), (*Window)(nil))
}

// paramErr returns an error of kind transforms.ErrParam.
func paramErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", transforms.ErrParam, fmt.Sprintf(format, args...))
}

// inputErr returns an error of kind transforms.ErrInput.
func inputErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", transforms.ErrInput, fmt.Sprintf(format, args...))
}

// checkDType wants a floating-point type of the output.
func checkDType(d tensor.DType) error {
	if d != tensor.Float32 && d != tensor.Float64 {
		return paramErr("dtype is %v, want float32 or float64", d)
	}
	return nil
}

// infer describes the output for an image of samples or of floats, and for a
// file if there is a second input.
func infer(dst, in []tensor.Desc, d tensor.DType) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if !in[0].IsImage() {
		return inputErr("%v, want an image (layout HWC or CHW)", in[0])
	}
	switch in[0].DType {
	case tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Float32, tensor.Float64:
	default:
		return inputErr("%v, want uint8, int8, uint16, int16, int32, float32 or float64", in[0])
	}
	if len(in) > 1 && in[1] != tensor.Encoded() {
		return inputErr("%v, want bytes: a DICOM file", in[1])
	}
	dst[0] = in[0]
	dst[0].DType = d
	if err := dst[0].Validate(); err != nil {
		return inputErr("the output is invalid: %v", err)
	}
	return nil
}

// read reads the numbers of a file.
func read(c *transforms.Context, file *tensor.Tensor) (*dicom.Values, error) {
	return dicom.ReadValues(file.Data, c.Limits)
}

// missing returns the error for an element that the file lacks.
func missing(element string) error {
	return inputErr("the DICOM file has no %s", element)
}

type real interface{ float32 | float64 }

// apply computes f of every value, in float64.
func apply(c *transforms.Context, dst, src *tensor.Tensor, f func(float64) float64) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	if dst.DType == tensor.Float64 {
		applyTo(tensor.View[float64](dst), s, f)
	} else {
		applyTo(tensor.View[float32](dst), s, f)
	}
	return nil
}

func applyTo[T real](out []T, s *tensor.Tensor, f func(float64) float64) {
	switch s.DType {
	case tensor.Uint8:
		each(out, tensor.View[uint8](s), f)
	case tensor.Int8:
		each(out, tensor.View[int8](s), f)
	case tensor.Uint16:
		each(out, tensor.View[uint16](s), f)
	case tensor.Int16:
		each(out, tensor.View[int16](s), f)
	case tensor.Int32:
		each(out, tensor.View[int32](s), f)
	case tensor.Float32:
		each(out, tensor.View[float32](s), f)
	default:
		each(out, tensor.View[float64](s), f)
	}
}

func each[T real, S real | uint8 | int8 | uint16 | int16 | int32](out []T, in []S, f func(float64) float64) {
	for i, v := range in[:len(out)] {
		out[i] = T(f(float64(v)))
	}
}
