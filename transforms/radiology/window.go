package radiology

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Function is the function of a window: DICOM's VOI LUT Function.
type Function uint8

// The functions of PS3.3, C.11.2.1, for a value v, center c and width w.
const (
	// Linear is ((v - (c - 0.5)) / (w - 1) + 0.5) * (High - Low) + Low. Low is
	// the result up to c - 0.5 - (w-1)/2, High that above c - 0.5 + (w-1)/2.
	Linear Function = iota
	// LinearExact is ((v - c) / w + 0.5) * (High - Low) + Low. Low is the
	// result up to c - w/2, High that above c + w/2.
	LinearExact
	// Sigmoid is (High - Low) / (1 + exp(-4 (v - c) / w)) + Low.
	Sigmoid
)

var functionNames = []string{"linear", "linear_exact", "sigmoid"}

func (f Function) String() string { return enum.String("window function", functionNames, f) }

// MarshalText returns the name.
func (f Function) MarshalText() ([]byte, error) {
	return enum.Format("window function", functionNames, f)
}

// UnmarshalText parses the name.
func (f *Function) UnmarshalText(t []byte) error {
	return enum.Parse(f, "window function", functionNames, t)
}

// Window maps the values of a window to Low to High, and those outside to Low
// and High. It takes an image of samples or of modality values (modality_lut),
// of any type up to 32 bits or float64, HWC or CHW, and computes in float64.
// The result has the same shape.
//
// exp is that of NumPy on x86-64 with AVX-512; on other processors NumPy's
// differs in the last bit.
//
// Reference: pydicom 3.0.2, apply_windowing, whose range is that of the file;
// converted to DType by NumPy.
type Window struct {
	Center   float64      `json:"center"`   // finite; default 40
	Width    float64      `json:"width"`    // finite; for linear at least 1, else above 0; default 400
	Low      float64      `json:"low"`      // finite; default 0
	High     float64      `json:"high"`     // finite; default 1
	Function Function     `json:"function"` // default linear
	DType    tensor.DType `json:"dtype"`    // float32 or float64; default float32
}

//msgp:tuple Window
//sheet:window {"center": 128, "width": 100, "high": 255}

// NewWindow returns the linear op to 0 to 1 in float32.
func NewWindow(center, width float64) *Window {
	return &Window{Center: center, Width: width, High: 1, DType: tensor.Float32}
}

// Info describes the op.
func (*Window) Info() transforms.Info {
	return transforms.Info{
		Name: "window", Version: 1, New: func() transforms.Op { return NewWindow(40, 400) },
		Reference: "pydicom 3.0.2 apply_windowing", Exactness: "0",
	}
}

// Validate checks the numbers.
func (o *Window) Validate() error {
	for _, v := range []struct {
		name string
		v    float64
	}{{"center", o.Center}, {"width", o.Width}, {"low", o.Low}, {"high", o.High}} {
		if math.IsNaN(v.v) || math.IsInf(v.v, 0) {
			return paramErr("%s is %v, want a finite number", v.name, v.v)
		}
	}
	if int(o.Function) >= len(functionNames) {
		return paramErr("function is %v, want one of %q", o.Function, functionNames)
	}
	if err := checkWidth(o.Function, o.Width); err != nil {
		return paramErr("%v", err)
	}
	return checkDType(o.DType)
}

// Infer changes the dtype.
func (o *Window) Infer(dst, in []tensor.Desc) error { return infer(dst, in, o.DType) }

// Apply maps the values.
func (o *Window) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	return apply(c, dst[0], src[0], windowing(o.Function, o.Center, o.Width, o.Low, o.High))
}

// Pointwise marks the op as Pointwise.
func (o *Window) Pointwise() {}

// windowing returns a window's function.
func windowing(f Function, center, width, low, high float64) func(float64) float64 {
	span := high - low
	if f == Sigmoid {
		return func(v float64) float64 { return span/(1+exp(-4*(v-center)/width)) + low }
	}
	if f == Linear {
		center -= 0.5
		width--
	}
	from, to := center-width/2, center+width/2
	return func(v float64) float64 {
		switch {
		case v <= from:
			return low
		case v > to:
			return high
		}
		return float64(((v-center)/width+0.5)*span) + low
	}
}

// exp returns e to the power of x.
func exp(x float64) float64 {
	switch {
	case x > 709.8:
		return math.Inf(1)
	case math.Abs(x) > 700:
		return exactmath.Exp(x)
	}
	return exactmath.NumPyExp(x)
}
