// Package tensor holds n-dimensional arrays: what the ops read and write, and
// what is handed to a model.
//
// A [Desc] is the type (dtype, layout, shape), a [Tensor] is a Desc with data.
// The data is bytes in the machine's own order, little-endian on every platform
// this module is tested on; the encoders (npy, npz, raw, safetensors, ONNX
// TensorProto) always write little-endian.
//
// Tensors are not safe for concurrent writes. Views share their parent's data.
//
// # Encodings
//
// The encodings hold type, shape and elements, and no layout: a decoded tensor
// has NoLayout (but for raw, where the caller says what it is), is dense, and
// shares no memory with anything. Strided views are written as they are, without
// a copy of the whole.
//
//	           npy, npz  safetensors  ONNX TensorProto  raw
//	BFloat16   no        yes          yes               yes
//	Bytes      no        no           yes, as a string  yes
//	others     yes       yes          yes               yes
//
// Every reader takes limit, the largest number of bytes of elements that it may
// return, over all tensors of a file; beyond that it fails with [ErrLimit]
// before it allocates. math.MaxInt64 is no limit. Memory also follows the bytes
// that have arrived, or that a file or a bytes.Reader is known to hold, whatever
// a header claims: it is at most 1 MiB, or three times those bytes while a
// buffer grows. No input makes a reader panic.
//
// The functions may be called concurrently on different readers and writers,
// and on the same tensors to write.
package tensor

import (
	"fmt"
	"unsafe"
)

// Tensor is an array, or a view of one. Data starts at the first element;
// Strides are in elements. A Tensor made by New or Wrap is dense.
type Tensor struct {
	Desc
	Strides [MaxRank]int
	Data    []byte
}

// New allocates a dense tensor of zeros. The description must be concrete;
// an ErrDesc says what is wrong with it. The data is aligned to 8 bytes.
func New(d Desc) (*Tensor, error) {
	t := &Tensor{}
	if err := t.Reset(d); err != nil {
		return nil, err
	}
	return t, nil
}

// Wrap makes a dense tensor over data, which it shares. For a Bytes tensor data
// is the value; for others its length must be d.Size(). Elements of more than
// one byte must be aligned, as slices that Go allocates are.
func Wrap(d Desc, data []byte) (*Tensor, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if d.DType != Bytes && (!d.Shape.Known() || d.Size() != int64(len(data))) {
		return nil, fmt.Errorf("%w: %v needs %d bytes, got %d", ErrDesc, d, d.Size(), len(data))
	}
	if n := d.DType.Size(); n > 1 && len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%uintptr(n) != 0 {
		return nil, fmt.Errorf("%w: %v needs data aligned to %d bytes", ErrDesc, d, n)
	}
	t := &Tensor{Desc: d, Data: data}
	t.Strides = denseStrides(d.Shape)
	return t, nil
}

// FromBytes is an encoded image (or any byte string) as a Bytes scalar that shares b.
func FromBytes(b []byte) *Tensor { return &Tensor{Desc: Encoded(), Data: b} }

// Reset makes t a dense tensor of description d, keeping t's memory when it is
// large enough (and aligned for d); the elements are then whatever was there. It
// is how buffers are reused from image to image. A Bytes tensor keeps the length of its Data.
func (t *Tensor) Reset(d Desc) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.DType == Bytes {
		t.Desc = d
		return nil
	}
	n := d.Size()
	if n < 0 {
		return fmt.Errorf("%w: %v has an unknown size", ErrDesc, d)
	}
	if n != int64(int(n)) || n > maxBytes {
		return fmt.Errorf("%w: %v does not fit the address space", ErrDesc, d)
	}
	if size := uintptr(d.DType.Size()); int64(cap(t.Data)) < n || // or bytes or a view, at any address
		n > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))%size != 0 {
		t.Data = Alloc(int(n))
	}
	t.Data = t.Data[:n]
	t.Desc = d
	t.Strides = denseStrides(d.Shape)
	return nil
}

// maxBytes is below what make panics at, on every 64-bit platform (the heap is
// at most 48 bits wide). Whoever runs graphs bounds memory far below it.
const maxBytes = 1 << 46

// Alloc makes n zero bytes, aligned to 8.
func Alloc(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*8)[:n]
}

func denseStrides(s Shape) (st [MaxRank]int) {
	n := 1
	for i := s.Rank() - 1; i >= 0; i-- {
		st[i] = n
		n *= s.At(i)
	}
	return st
}

// Dense reports whether the elements lie one after another in row-major order.
func (t *Tensor) Dense() bool {
	n := 1
	for i := t.Shape.Rank() - 1; i >= 0; i-- {
		if t.Shape.At(i) != 1 && t.Strides[i] != n {
			return false
		}
		n *= t.Shape.At(i)
	}
	return true
}

// Slice is the view of t that has only lo <= index < hi along an axis.
func (t *Tensor) Slice(axis, lo, hi int) (*Tensor, error) {
	if t.DType == Bytes || axis < 0 || axis >= t.Shape.Rank() || lo < 0 || hi < lo || hi > t.Shape.At(axis) {
		return nil, fmt.Errorf("tensor: slice [%d:%d] of axis %d is outside %v", lo, hi, axis, t.Desc)
	}
	v := *t
	v.Shape = t.Shape.With(axis, hi-lo)
	if v.Len() == 0 {
		v.Data = nil
		return &v, nil
	}
	off := lo * t.Strides[axis] * t.DType.Size()
	end := off + v.extent()
	v.Data = t.Data[off:end:end] // so that Reset of the view cannot reach beyond it
	return &v, nil
}

// Transposed is the view of the image t in the other layout; pixels stay where they are.
func (t *Tensor) Transposed() (*Tensor, error) {
	if !t.IsImage() {
		return nil, fmt.Errorf("tensor: %v has no layout to change", t.Desc)
	}
	v := *t
	s := t.Strides
	if t.Layout == HWC {
		v.Desc = Image(t.DType, CHW, t.Height(), t.Width(), t.Channels())
		v.Strides[0], v.Strides[1], v.Strides[2] = s[2], s[0], s[1]
	} else {
		v.Desc = Image(t.DType, HWC, t.Height(), t.Width(), t.Channels())
		v.Strides[0], v.Strides[1], v.Strides[2] = s[1], s[2], s[0]
	}
	return &v, nil
}

// extent is the number of bytes from the first element to the end of the last.
func (t *Tensor) extent() int {
	n := 1
	for i := range t.Shape.Rank() {
		n += (t.Shape.At(i) - 1) * t.Strides[i]
	}
	return n * t.DType.Size()
}

// CopyTo copies t, which may be a strided view, into the dense dst, whose dtype
// and shape must be t's. The two must not overlap.
func (t *Tensor) CopyTo(dst *Tensor) error {
	if t.DType == Bytes || dst.DType != t.DType || dst.Shape != t.Shape || !dst.Dense() {
		return fmt.Errorf("tensor: cannot copy %v to %v", t.Desc, dst.Desc)
	}
	if t.Len() == 0 {
		return nil
	}
	if t.Dense() {
		copy(dst.Data, t.Data)
		return nil
	}
	t.gather(dst.Data, t.Data, 0)
	return nil
}

// gather copies axis and what is inside it to out, and returns the rest of out.
func (t *Tensor) gather(out, in []byte, axis int) []byte {
	size := t.DType.Size()
	if axis == t.Shape.Rank() {
		return out[copy(out, in[:size]):]
	}
	n, step := t.Shape.At(axis), t.Strides[axis]*size
	if axis == t.Shape.Rank()-1 && step == size {
		return out[copy(out, in[:n*size]):]
	}
	if axis == t.Shape.Rank()-1 && size == 1 {
		for i := range n {
			out[i] = in[i*step]
		}
		return out[n:]
	}
	for i := range n {
		out = t.gather(out, in[i*step:], axis+1)
	}
	return out
}

// Clone is a dense copy of t.
func (t *Tensor) Clone() *Tensor {
	if t.DType == Bytes {
		return FromBytes(append([]byte{}, t.Data...))
	}
	c := &Tensor{}
	if err := c.Reset(t.Desc); err != nil {
		panic(err) // t exists, so its description is sound
	}
	if err := t.CopyTo(c); err != nil {
		panic(err)
	}
	return c
}

// Overlaps reports whether the memory from the first to the last element of t
// and that of u overlap; views whose elements lie between each other's count.
func (t *Tensor) Overlaps(u *Tensor) bool {
	if len(t.Data) == 0 || len(u.Data) == 0 {
		return false
	}
	a, b := uintptr(unsafe.Pointer(&t.Data[0])), uintptr(unsafe.Pointer(&u.Data[0]))
	return a < b+uintptr(len(u.Data)) && b < a+uintptr(len(t.Data))
}
