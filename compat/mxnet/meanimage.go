package mxnet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// A mean image is stored in a file of one array, as mx.nd.save writes it.
// Little-endian:
//
//	uint64 0x112 and 0 | uint64 1, the number of arrays
//	array: uint32 magic | int32 0, dense | uint32 axes, int64 each | int32 1 and 0, CPU 0 | int32 0, float32 | float32 each
//	uint64 1, the number of names | uint64 length | name
//
// The magic is that of MXNet 1.0 and later, or of its arrays with NumPy's
// shapes.
const (
	listMagic           = 0x112
	arrayMagic   uint32 = 0xf993fac9
	npArrayMagic uint32 = 0xf993faca
	meanName            = "mean_img"
)

// maxMeanFile bounds the size of a file.
const maxMeanFile = 1 << 30

// appendMean appends the file of a mean image to b.
func appendMean(b []byte, mean *tensor.Tensor) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, listMagic)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint64(b, 1)
	b = le.AppendUint32(b, arrayMagic)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, uint32(mean.Shape.Rank()))
	for a := range mean.Shape.Rank() {
		b = le.AppendUint64(b, uint64(mean.Shape.At(a)))
	}
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, 0)
	for _, v := range tensor.View[float32](mean) {
		b = le.AppendUint32(b, math.Float32bits(v))
	}
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, uint64(len(meanName)))
	return append(b, meanName...)
}

// parseMean parses the file of a mean image of the given shape. The array may
// have any name or none.
func parseMean(b []byte, shape tensor.Shape) (*tensor.Tensor, error) {
	le := binary.LittleEndian
	at := 0
	bad := func(format string, args ...any) (*tensor.Tensor, error) {
		return nil, fmt.Errorf("%w: at byte %d: %s", dataset.ErrData, at, fmt.Sprintf(format, args...))
	}
	var short bool
	u32 := func() uint32 {
		if short = short || len(b)-at < 4; short {
			return 0
		}
		at += 4
		return le.Uint32(b[at-4:])
	}
	u64 := func() uint64 {
		if short = short || len(b)-at < 8; short {
			return 0
		}
		at += 8
		return le.Uint64(b[at-8:])
	}
	if m, zero, n := u64(), u64(), u64(); m != listMagic || zero != 0 || n != 1 {
		return bad("the header %#x %#x %#x, want a file of one array", m, zero, n)
	}
	if m := u32(); m != arrayMagic && m != npArrayMagic {
		return bad("magic %#x, want %#x or %#x", m, arrayMagic, npArrayMagic)
	}
	if u32() != 0 {
		return bad("a sparse array, want a dense one")
	}
	var dims []int
	rank := u32()
	for range min(rank, tensor.MaxRank+1) {
		dims = append(dims, int(min(u64(), math.MaxInt32)))
	}
	for i, n := range dims {
		if rank != uint32(shape.Rank()) || n != shape.At(i) {
			return bad("an image of %v, want %v", dims, shape)
		}
	}
	if rank != uint32(shape.Rank()) {
		return bad("an image of %d axes, want %v", rank, shape)
	}
	u32() // the device that it was saved from
	u32()
	if t := u32(); t != 0 && !short {
		return bad("elements of type %d, want 0, float32", t)
	}
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Layout: tensor.CHW, Shape: shape})
	if err != nil {
		return nil, err
	}
	v := tensor.View[float32](t)
	if short || len(b)-at < 4*len(v) {
		return bad("the file ends within the array")
	}
	for i := range v {
		v[i] = math.Float32frombits(u32())
	}
	for n := u64(); n > 0 && !short; n-- {
		size := u64()
		if size > uint64(len(b)-at) {
			short = true
			break
		}
		at += int(size)
	}
	if short || at != len(b) {
		return bad("the names do not end with the file's %d bytes", len(b))
	}
	return t, nil
}

// readMean reads a mean image.
func readMean(ctx context.Context, o store.Opener, name string, shape tensor.Shape) (*tensor.Tensor, error) {
	f, err := o.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	var t *tensor.Tensor
	if n := f.Size(); n > maxMeanFile {
		err = fmt.Errorf("%w: %d bytes, want at most %d", dataset.ErrData, n, maxMeanFile)
	} else {
		b := make([]byte, n)
		if _, err = f.ReadAt(b, 0); err == nil || err == io.EOF {
			t, err = parseMean(b, shape)
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("mean_img %s: %w", name, err)
	}
	return t, nil
}

// writeMean writes a mean image. The file appears when it is complete.
func writeMean(ctx context.Context, o store.Opener, name string, mean *tensor.Tensor) error {
	return store.WriteFile(ctx, o, name, appendMean(nil, mean))
}

// meanOf returns the mean of a run's images, summed in order.
func meanOf(ctx context.Context, run Runner, shape tensor.Shape) (*tensor.Tensor, error) {
	sum, err := tensor.New(tensor.Desc{DType: tensor.Float32, Layout: tensor.CHW, Shape: shape})
	if err != nil {
		return nil, err
	}
	v := tensor.View[float32](sum)
	n := 0
	for {
		s, err := run.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		x := tensor.View[float32](&s.Values[0].Tensor)
		if n == 0 {
			copy(v, x)
		} else {
			for i := range v {
				v[i] += x[i]
			}
		}
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: no images, want at least one for the mean", dataset.ErrData)
	}
	f := 1 / float32(n)
	for i := range v {
		v[i] *= f
	}
	return sum, nil
}

// subtract computes x - mean for a uint8 HWC image and a mean image. Its result
// is float32 and CHW.
type subtract struct {
	mean  *tensor.Tensor // float32, CHW
	whole bool           // round the mean, half away from zero
}

// Info names the op: graphs cannot hold it.
func (*subtract) Info() transforms.Info { return transforms.Info{Name: "subtract"} }

func (o *subtract) Validate() error { return nil }

func (o *subtract) Infer(dst, in []tensor.Desc) error {
	s := o.mean.Shape
	if want := tensor.Image(tensor.Uint8, tensor.HWC, s.At(1), s.At(2), s.At(0)); in[0] != want {
		return fmt.Errorf("%w: %v, want %v", transforms.ErrInput, in[0], want)
	}
	dst[0] = o.mean.Desc
	return nil
}

func (o *subtract) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	channels := o.mean.Shape.At(0)
	pixels := len(s.Data) / channels
	mean, out := tensor.View[float32](o.mean), tensor.View[float32](dst[0])
	for ch := range channels {
		m, to := mean[ch*pixels:][:pixels], out[ch*pixels:][:pixels]
		for i, at := 0, ch; i < pixels; i, at = i+1, at+channels {
			x := m[i]
			if o.whole {
				x = float32(math.Round(float64(x)))
			}
			to[i] = float32(s.Data[at]) - x
		}
	}
	return nil
}
