//go:build !small

package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// PercentileScale scales each channel by two of its own percentiles: x becomes
// (x - lo) / (hi - lo + Epsilon), limited to 0..1. It takes a uint8, uint16,
// int16 or float32 image, HWC or CHW, and returns float32 with the same layout.
//
// lo and hi are percentiles of the channel's values, without NaN and without
// the values of NoData. The percentile q of n sorted values lies at the index
// (n-1) * q/100 in float64. Between two values a and b, and at the fraction t
// of the way, it is a + (b-a)*t for t below 0.5, else b - (b-a)*(1-t). The
// arithmetic is float64 for integers and float32 for float32, with each
// operation rounded; the result is rounded to float32. Differences of int16
// wrap, as NumPy's do.
//
// Where hi - lo + Epsilon is 0, x = lo becomes NaN, and other values 0 or 1. A
// channel without values for the percentiles becomes NaN. The bits of a NaN and
// the sign of a 0 are unspecified.
//
// Reference: NumPy 2.4.6, nanpercentile of one channel with a Python float
// (method linear), then subtract, divide and clip. TorchGeo's
// percentile_normalization has an Epsilon of 1e-5.
type PercentileScale struct {
	Low     float64    `json:"low"`     // percentile that becomes 0, 0 to 100; default 2
	High    float64    `json:"high"`    // percentile that becomes 1, above Low, to 100; default 98
	Epsilon float64    `json:"epsilon"` // added to the divisor; finite in float32, at least 0; default 1e-5
	NoData  NumberList `json:"no_data"` // values left out of the percentiles: one for all channels or one per channel; default none
}

//msgp:tuple PercentileScale
//sheet:percentile_scale {"low": 10, "high": 60}

// NewPercentileScale returns the op with an epsilon of 1e-5. It leaves no value
// out.
func NewPercentileScale(low, high float64) *PercentileScale {
	return &PercentileScale{Low: low, High: high, Epsilon: 1e-5}
}

// Info describes the op.
func (*PercentileScale) Info() Info {
	return Info{
		Name: "percentile_scale", Version: 1, New: func() Op { return NewPercentileScale(2, 98) },
		Reference: "NumPy 2.4.6 nanpercentile", Exactness: "0",
	}
}

// Validate checks the percentiles, the epsilon and the no-data values.
func (o *PercentileScale) Validate() error {
	if err := checkBounds("low", o.Low, 0, 100); err != nil {
		return err
	}
	if err := checkBounds("high", o.High, 0, 100); err != nil {
		return err
	}
	if o.High <= o.Low {
		return paramErr("high is %v, want more than low, %v", o.High, o.Low)
	}
	if err := checkBounds("epsilon", o.Epsilon, 0, math.MaxFloat32); err != nil {
		return err
	}
	return checkFinite("no_data", o.NoData...)
}

// Infer changes the dtype.
func (o *PercentileScale) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], bandTypes...); err != nil {
		return err
	}
	if err := wantNoData(in[0], o.NoData); err != nil {
		return err
	}
	dst[0] = in[0]
	dst[0].DType = tensor.Float32
	return inferred(dst[0])
}

// Apply scales channel by channel.
func (o *PercentileScale) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	channels, pixels := s.Channels(), s.Height()*s.Width()
	if need := 4*int64(pixels) + 8*countLen; c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return limitErr("percentiles of %v need %d bytes, want at most %d", s.Desc, need, c.Limits.Bytes)
	}
	counts := tensor.Cast[int32](c.Scratch(8 * countLen))
	p := &percentiles{
		op: o, keys: tensor.Cast[int32](c.Scratch(4 * pixels)), single: s.DType == tensor.Float32, wrap: s.DType == tensor.Int16,
		upper: (*[countLen]int32)(counts), lower: (*[countLen]int32)(counts[countLen:]),
	}
	step, next := strides(s.Desc)
	out := tensor.View[float32](dst[0])
	for ch := range channels {
		b := band{first: ch * next, step: step, pixels: pixels}
		if len(o.NoData) > 0 {
			b.without, b.noData = true, channelValue(o.NoData, ch)
		}
		switch s.DType {
		case tensor.Uint8:
			scaleBand(p, b, out, s.Data, func(v uint8) uint32 { return uint32(v) << 16 }, func(k uint32) float64 { return float64(k >> 16) })
		case tensor.Uint16:
			scaleBand(p, b, out, tensor.View[uint16](s), func(v uint16) uint32 { return uint32(v) << 16 }, func(k uint32) float64 { return float64(k >> 16) })
		case tensor.Int16:
			scaleBand(p, b, out, tensor.View[int16](s), func(v int16) uint32 { return uint32(uint16(v)^1<<15) << 16 }, func(k uint32) float64 { return float64(int16(k>>16 ^ 1<<15)) })
		default:
			b.noData = float64(float32(b.noData))
			scaleBand(p, b, out, tensor.View[float32](s), floatKey, keyFloat)
		}
	}
	return nil
}

// countLen is the number of different upper or lower halves of a key.
const countLen = 1 << 16

// percentiles finds values by their rank among the keys of a channel: numbers
// in the order of the values, whose upper halves, then lower halves, are
// counted. So the time does not depend on the values.
type percentiles struct {
	op           *PercentileScale
	keys         []int32          // the bits of uint32
	upper, lower *[countLen]int32 // counts of the halves
	bucket       int              // the upper half whose lower ones are counted
	single       bool             // float32
	wrap         bool             // differences are those of int16
}

// Buckets of a channel of which no lower half, or nothing, was counted.
const (
	noBucket   = -1
	notCounted = -2
)

// band is the place of a channel, and its no-data value.
type band struct {
	first, step, pixels int
	without             bool
	noData              float64
}

// floatKey returns the key of a float32.
func floatKey(v float32) uint32 {
	if v == 0 {
		v = 0 // -0 is 0
	}
	u := math.Float32bits(v)
	if u>>31 == 1 {
		return ^u
	}
	return u | 1<<31
}

// keyFloat is the inverse of floatKey.
func keyFloat(k uint32) float64 {
	if k>>31 == 1 {
		return float64(math.Float32frombits(k &^ (1 << 31)))
	}
	return float64(math.Float32frombits(^k))
}

// scaleBand scales a channel.
func scaleBand[T uint8 | uint16 | int16 | float32](p *percentiles, b band, out []float32, in []T, key func(T) uint32, value func(uint32) float64) {
	n := 0
	for i := range b.pixels {
		v := in[b.first+i*b.step]
		if v != v || b.without && float64(v) == b.noData {
			continue
		}
		p.keys[n] = int32(key(v))
		n++
	}
	lo, hi := math.NaN(), math.NaN()
	if n > 0 {
		keys := p.keys[:n]
		p.bucket = notCounted
		lo = p.percentile(keys, p.op.Low, value)
		hi = p.percentile(keys, p.op.High, value)
	}
	if p.single {
		low, size := float32(lo), float32(float32(hi)-float32(lo))+float32(p.op.Epsilon)
		for i := range b.pixels {
			at := b.first + i*b.step
			out[at] = clampUnit((float32(in[at]) - low) / size)
		}
		return
	}
	size := float64(hi-lo) + p.op.Epsilon
	for i := range b.pixels {
		at := b.first + i*b.step
		out[at] = clampUnit(float32(float64(float64(in[at])-lo) / size))
	}
}

// percentile returns a percentile of keys.
func (p *percentiles) percentile(keys []int32, q float64, value func(uint32) float64) float64 {
	last := len(keys) - 1
	at := float64(float64(last) * (q / 100))
	i := int(at)
	j, t := i+1, at-float64(i)
	if i >= last {
		i, j, t = last, last, at+1 // NumPy's index is -1 then
	}
	a := value(p.rank(keys, i))
	b := a
	if j != i {
		b = value(p.rank(keys, j))
	}
	diff := b - a
	switch {
	case p.single:
		x, y, t32 := float32(a), float32(b), float32(t)
		d := y - x
		if t >= 0.5 {
			return float64(y - float32(d*float32(1-t)))
		}
		return float64(x + float32(d*t32))
	case p.wrap:
		diff = float64(int16(int(b) - int(a)))
	}
	if t >= 0.5 {
		return b - float64(diff*(1-t))
	}
	return a + float64(diff*t)
}

// rank returns the key that has r keys before it in their order.
func (p *percentiles) rank(keys []int32, r int) uint32 {
	if p.bucket == notCounted {
		clear(p.upper[:])
		for _, k := range keys {
			p.upper[uint32(k)>>16]++
		}
		p.bucket = noBucket
	}
	high, r := find(p.upper, r)
	if !p.single { // the lower halves are 0
		return high << 16
	}
	if p.bucket != int(high) {
		p.bucket = int(high)
		clear(p.lower[:])
		for _, k := range keys {
			if uint32(k)>>16 == high {
				p.lower[uint16(k)]++
			}
		}
	}
	low, _ := find(p.lower, r)
	return high<<16 | low
}

// find returns the half that has number r of those that were counted, and its
// number among the equal ones.
func find(counts *[countLen]int32, r int) (uint32, int) {
	i := 0
	for ; r >= int(counts[i]); i++ {
		r -= int(counts[i])
	}
	return uint32(i), r
}
