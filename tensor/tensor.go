// Package tensor holds n-dimensional arrays, which ops read and write and
// models take as input, and encodes them as npy, safetensors, ONNX and raw
// files. Package npz below it has NumPy's archives.
//
// A [Desc] describes a tensor: dtype, layout and shape. A [Tensor] is a Desc
// with data. The data is bytes in the machine's byte order, little-endian on
// every platform that this module is tested on. The encoders always write
// little-endian.
//
// Tensors are not safe for concurrent writes. Views share their parent's data.
//
// # Encodings
//
// The encodings store type, shape and elements, but no layout. A decoded tensor
// is dense and owns its memory. It has NoLayout, except that the caller of
// ReadRaw states the layout. Writers accept strided views and do not copy the
// whole tensor.
//
//	           npy, npz  safetensors  ONNX TensorProto  raw
//	BFloat16   no        yes          yes               yes
//	Bytes      no        no           yes, as a string  yes
//	others     yes       yes          yes               yes
//
// Every reader takes limit, the largest number of bytes of elements that it may
// return, over all tensors of a file. It fails with [ErrLimit] before it
// allocates more. math.MaxInt64 means no limit. A header alone cannot make a
// reader allocate much: memory is at most 1 MiB, or three times the bytes that
// have arrived or that a file or bytes.Reader is known to hold. No input makes
// a reader panic.
//
// The functions are safe for concurrent use on different readers and writers.
// Several goroutines may write the same tensor.
package tensor

import (
	"math"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// Tensor is an array, or a view of one. Data starts at the first element.
// Strides count elements. New and Wrap return dense tensors.
type Tensor struct {
	Desc
	Strides [MaxRank]int
	Data    []byte
}

// New allocates a dense tensor of zeros, aligned to 8 bytes. It returns an
// error that wraps ErrDesc if d is invalid or has unknown sizes.
func New(d Desc) (*Tensor, error) {
	t := &Tensor{}
	if err := t.Reset(d); err != nil {
		return nil, err
	}
	return t, nil
}

// Wrap returns a dense tensor that shares data. A Bytes tensor takes data of
// any length as its value. For other types the length must be d.Size(), and
// elements of more than one byte must be aligned, as in slices that Go
// allocates.
func Wrap(d Desc, data []byte) (*Tensor, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if d.DType != Bytes && (!d.Shape.Known() || d.Size() != int64(len(data))) {
		return nil, errfmt.Errorf("%w: %v: data has %[4]d bytes: want %[3]d", ErrDesc, d, d.Size(), len(data))
	}
	if n := d.DType.Size(); n > 1 && len(data) > 0 && uintptr(unsafe.Pointer(&data[0]))%uintptr(n) != 0 {
		return nil, errfmt.Errorf("%w: %v: want data aligned to %d bytes", ErrDesc, d, n)
	}
	t := &Tensor{Desc: d, Data: data}
	t.Strides = denseStrides(d.Shape)
	return t, nil
}

// FromBytes returns b, an encoded image or any byte string, as a Bytes scalar
// that shares b.
func FromBytes(b []byte) *Tensor { return &Tensor{Desc: Encoded(), Data: b} }

// Reset makes t a dense tensor of description d. It keeps t's memory if that is
// large enough and aligned for d; the elements are then arbitrary. Callers use
// it to reuse a buffer for the next image. With a d of Bytes, Data stays as it
// is.
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
		return errfmt.Errorf("%w: %v: want known sizes", ErrDesc, d)
	}
	if n != int64(int(n)) || n > maxBytes {
		return errfmt.Errorf("%w: %v does not fit the address space", ErrDesc, d)
	}
	if size := uintptr(d.DType.Size()); int64(cap(t.Data)) < n || // Bytes and views may start at any address
		n > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))%size != 0 {
		t.Data = Alloc(int(n))
	}
	t.Data = t.Data[:n]
	t.Desc = d
	t.Strides = denseStrides(d.Shape)
	return nil
}

// maxBytes is below the size at which make panics: on 64-bit platforms the heap
// has at most 48-bit addresses, on 32-bit platforms an int holds the size. The
// limits of graphs are far smaller.
const maxBytes = min(1<<46, math.MaxInt-7)

// Alloc returns n zero bytes, aligned to 8.
func Alloc(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	w := make([]uint64, (n+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*8)[:n]
	largePages(b)
	return b
}

func denseStrides(s Shape) (st [MaxRank]int) {
	n := 1
	for i := s.Rank() - 1; i >= 0; i-- {
		st[i] = n
		n *= s.At(i)
	}
	return st
}

// Dense reports whether the elements are contiguous and in row-major order.
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

// Slice returns the view of t with lo <= index < hi along an axis.
func (t *Tensor) Slice(axis, lo, hi int) (*Tensor, error) {
	if t.DType == Bytes || axis < 0 || axis >= t.Shape.Rank() || lo < 0 || hi < lo || hi > t.Shape.At(axis) {
		return nil, errfmt.Errorf("tensor: slice: [%d:%d] of axis %d, want a range inside %v", lo, hi, axis, t.Desc)
	}
	v := *t
	v.Shape = t.Shape.With(axis, hi-lo)
	if v.Len() == 0 {
		v.Data = nil
		return &v, nil
	}
	off := lo * t.Strides[axis] * t.DType.Size()
	end := off + v.extent()
	v.Data = t.Data[off:end:end] // Reset of the view must not reach beyond it
	return &v, nil
}

// Transposed returns a view of the image t in the other layout. It moves no
// data.
func (t *Tensor) Transposed() (*Tensor, error) {
	if !t.IsImage() {
		return nil, errfmt.Errorf("tensor: transposed: %v, want an image", t.Desc)
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

// extent returns the number of bytes from the first element to the end of the
// last.
func (t *Tensor) extent() int {
	n := 1
	for i := range t.Shape.Rank() {
		n += (t.Shape.At(i) - 1) * t.Strides[i]
	}
	return n * t.DType.Size()
}

// CopyTo copies t, which may be a strided view, to dst. dst must be dense, with
// the same dtype and shape, and must not overlap t.
func (t *Tensor) CopyTo(dst *Tensor) error {
	if t.DType == Bytes || dst.DType != t.DType || dst.Shape != t.Shape || !dst.Dense() {
		return errfmt.Errorf("tensor: copy: %v to %v: want equal types and shapes, a dense target, and no bytes", t.Desc, dst.Desc)
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

// gather copies an axis and the axes inside it to out, and returns the rest of
// out.
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

// Clone returns a dense copy of t.
func (t *Tensor) Clone() *Tensor {
	if t.DType == Bytes {
		return FromBytes(append([]byte{}, t.Data...))
	}
	c := &Tensor{}
	if err := c.Reset(t.Desc); err != nil {
		panic(err) // t exists, so its description is valid
	}
	if err := t.CopyTo(c); err != nil {
		panic(err)
	}
	return c
}

// Overlaps reports whether the memory ranges of t and u overlap, each from its
// first to its last element. Interleaved views therefore overlap.
func (t *Tensor) Overlaps(u *Tensor) bool {
	if len(t.Data) == 0 || len(u.Data) == 0 {
		return false
	}
	a, b := uintptr(unsafe.Pointer(&t.Data[0])), uintptr(unsafe.Pointer(&u.Data[0]))
	return a < b+uintptr(len(u.Data)) && b < a+uintptr(len(t.Data))
}
