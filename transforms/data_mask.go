//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaskRule defines which channels of a pixel must have data.
type MaskRule uint8

// The rules.
const (
	MaskAny  MaskRule = iota // one channel or more, as in rasterio's dataset_mask: the result has one channel
	MaskAll                  // all channels: the result has one channel
	MaskEach                 // each channel for itself, as in rasterio's read_masks: the result has the image's channels
)

var maskRuleNames = []string{"any", "all", "each"}

func (r MaskRule) String() string { return enum.String("mask rule", maskRuleNames, r) }

// MarshalText returns the name.
func (r MaskRule) MarshalText() ([]byte, error) {
	return enum.Format("mask rule", maskRuleNames, r)
}

// UnmarshalText parses the name.
func (r *MaskRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "mask rule", maskRuleNames, t)
}

// DataMask marks where an image has data: 255 where a value is not a no-data
// value, else 0. It takes an image of any dtype of fixed size, HWC or CHW, and
// returns a uint8 image of the same layout.
//
// A floating-point no-data value is rounded to the image's dtype. A value that
// the dtype cannot hold is an ErrInput. Zeros of both signs are equal.
//
// Reference: rasterio 1.4.4 (GDAL 3.10.3), dataset_mask for any and read_masks
// for each, of a file whose no-data value is NoData, or NaN for NaN alone.
type DataMask struct {
	NoData NumberList `json:"no_data"` // one value for all channels or one per channel; may be empty; default 0
	NaN    bool       `json:"nan"`     // whether NaN is no data, too; only for floating-point images; default false
	Rule   MaskRule   `json:"rule"`    // any, all or each; default any
}

//msgp:tuple DataMask
//sheet:data_mask {"no_data": [255]}

// NewDataMask returns the op for no-data values: one for all channels, or one
// per channel. A pixel with data in any channel has data. It keeps the slice.
func NewDataMask(noData ...float64) *DataMask { return &DataMask{NoData: noData} }

// Info describes the op.
func (*DataMask) Info() Info {
	return Info{
		Name: "data_mask", Version: 1, New: func() Op { return NewDataMask(0) },
		Reference: "rasterio 1.4.4 dataset_mask, read_masks", Exactness: "0",
	}
}

// Validate checks the values and the rule.
func (o *DataMask) Validate() error {
	if err := checkEnum("rule", o.Rule, maskRuleNames); err != nil {
		return err
	}
	if len(o.NoData) == 0 && !o.NaN {
		return paramErr("no_data has no values and nan is false, want a no-data value")
	}
	return checkFinite("no_data", o.NoData...)
}

// Infer describes the mask.
func (o *DataMask) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	if o.NaN && !isFloat(d.DType) {
		return inputErr("%v with nan, want a floating-point image", d)
	}
	if err := wantNoData(d, o.NoData); err != nil {
		return err
	}
	channels := 1
	if o.Rule == MaskEach {
		channels = d.Channels()
	}
	dst[0] = tensor.Image(tensor.Uint8, d.Layout, d.Height(), d.Width(), channels)
	return inferred(dst[0])
}

// wantNoData rejects no-data values that do not match the image's channels or
// dtype. None are accepted.
func wantNoData(d tensor.Desc, noData []float64) error {
	if len(noData) == 0 {
		return nil
	}
	return wantFill(d, "no_data", noData)
}

// Apply compares.
func (o *DataMask) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	var none []byte
	if len(o.NoData) > 0 {
		none = fillPixel(c, s.Desc, o.NoData)
	}
	// Words of the same size stand for all types. The most of a word without
	// its sign is infinity if NaN, which is greater, is no data.
	switch d := s.DType; d.Size() {
	case 1:
		maskWords(o, dst[0].Data, s.Desc, s.Data, none, 0, math.MaxUint8)
	case 2:
		sign, most := uint16(0), uint16(math.MaxUint16)
		if isFloat(d) {
			sign = 1 << 15
		}
		switch {
		case o.NaN && d == tensor.Float16:
			most = 0x7C00
		case o.NaN:
			most = 0x7F80
		}
		maskWords(o, dst[0].Data, s.Desc, tensor.Cast[uint16](s.Data), tensor.Cast[uint16](none), sign, most)
	case 4:
		sign, most := int32(0), int32(math.MaxInt32)
		if isFloat(d) {
			sign = math.MinInt32
		}
		if o.NaN {
			most = 0x7F800000
		}
		maskWords(o, dst[0].Data, s.Desc, tensor.Cast[int32](s.Data), tensor.Cast[int32](none), sign, most)
	default:
		sign, most := int64(0), int64(math.MaxInt64)
		if isFloat(d) {
			sign = math.MinInt64
		}
		if o.NaN {
			most = 0x7FF0000000000000
		}
		maskWords(o, dst[0].Data, s.Desc, tensor.Cast[int64](s.Data), tensor.Cast[int64](none), sign, most)
	}
	return nil
}

// maskWords writes the mask. none has the no-data value of each channel, or
// nothing. sign is 0 for integers.
func maskWords[T uint8 | uint16 | int32 | int64](o *DataMask, out []byte, d tensor.Desc, in, none []T, sign, most T) {
	step, next := strides(d)
	pixels := d.Height() * d.Width()
	for ch := range d.Channels() {
		for i := range pixels {
			at := ch*next + i*step
			v := in[at]
			valid := v&^sign <= most
			if len(none) > 0 {
				n := none[ch]
				valid = valid && v != n && (v|n)&^sign != 0
			}
			m := byte(0)
			if valid {
				m = 255
			}
			switch {
			case o.Rule == MaskEach:
				out[at] = m
			case ch == 0:
				out[i] = m
			case o.Rule == MaskAny:
				out[i] |= m
			default:
				out[i] &= m
			}
		}
	}
}
