package tensor

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// ErrEncoding matches every error about an encoding, but no error of the
// underlying reader or writer. Each such error also matches one of the kinds
// below.
var ErrEncoding = errors.New("tensor: encoding")

// The kinds of [ErrEncoding].
var (
	ErrFormat      = errors.New("malformed")     // the bytes violate the format or end early
	ErrUnsupported = errors.New("not supported") // valid, but this package or the format cannot represent it
	ErrLimit       = errors.New("over the limit")
)

// Error reports input that an encoder or decoder rejects. errors.Is matches
// ErrEncoding, its Kind and its Err.
type Error struct {
	Format string // "npy", "npz" (package npz), "safetensors", "onnx" or "raw"
	Kind   error  // ErrFormat, ErrUnsupported or ErrLimit
	Name   string // of the tensor, or ""
	Offset int64  // in bytes: in the input, or in the member of an npz; -1 if unknown
	Detail string // the offending value and the expected one
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	s := "tensor: " + e.Format + ": "
	if e.Name != "" {
		s += strconv.Quote(e.Name) + ": "
	}
	s += e.Kind.Error() + ": " + e.Detail
	if e.Offset >= 0 {
		s += " at byte " + strconv.FormatInt(e.Offset, 10)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns ErrEncoding, the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrEncoding, e.Kind}
	}
	return []error{ErrEncoding, e.Kind, e.Err}
}

// Named is a tensor with its name in a file of several.
type Named struct {
	Name string
	T    *Tensor
}

// hostLittle reports whether the machine, and so Tensor.Data, is little-endian.
var hostLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// swapElems reverses the bytes of every element of the given size.
func swapElems(b []byte, size int) {
	if size > 1 {
		for ; len(b) >= size; b = b[size:] {
			slices.Reverse(b[:size])
		}
	}
}

// sound returns an error if t cannot be written: its description must be valid
// and known, and its elements must be inside Data.
func (t *Tensor) sound() error {
	if t == nil {
		return errfmt.Errorf("%w: the tensor is nil", ErrDesc)
	}
	if err := t.Validate(); err != nil {
		return err
	}
	if t.DType == Bytes {
		return nil
	}
	n := t.Size()
	if n < 0 {
		return errfmt.Errorf("%w: %v: want known sizes", ErrDesc, t.Desc)
	}
	if n == 0 {
		return nil
	}
	last, size := int64(0), int64(t.DType.Size())
	for i := range t.Shape.Rank() {
		steps, st := int64(t.Shape.At(i)-1), int64(t.Strides[i])
		if st < 0 || steps > 0 && st > int64(len(t.Data))/steps {
			return errfmt.Errorf("%w: %v with strides %v is outside its %d bytes", ErrDesc, t.Desc, t.Strides[:t.Shape.Rank()], len(t.Data))
		}
		last += steps * st
	}
	if (last+1)*size > int64(len(t.Data)) {
		return errfmt.Errorf("%w: %v with strides %v is outside its %d bytes", ErrDesc, t.Desc, t.Strides[:t.Shape.Rank()], len(t.Data))
	}
	return nil
}

// writeElems writes the elements of t, which may be strided, in row-major order
// and little-endian. t must be sound and not Bytes.
func writeElems(w io.Writer, t *Tensor) error {
	n, size := t.Size(), t.DType.Size()
	if n == 0 {
		return nil
	}
	if t.Dense() && (hostLittle || size == 1) {
		_, err := w.Write(t.Data[:n])
		return err
	}
	e := elemWriter{w: w, t: t, size: size}
	e.buf = make([]byte, 0, min(n, 1<<16/int64(size)*int64(size)))
	if err := e.axis(0, 0); err != nil {
		return err
	}
	return e.flush()
}

type elemWriter struct {
	w    io.Writer
	t    *Tensor
	size int
	buf  []byte // whole elements
}

// axis writes the elements of axis i, which start at byte off of Data.
func (e *elemWriter) axis(i, off int) error {
	rank := e.t.Shape.Rank()
	if i < rank-1 {
		step := e.t.Strides[i] * e.size
		for range e.t.Shape.At(i) {
			if err := e.axis(i+1, off); err != nil {
				return err
			}
			off += step
		}
		return nil
	}
	n, step := 1, e.size
	if i < rank {
		n, step = e.t.Shape.At(i), e.t.Strides[i]*e.size
	}
	for n > 0 {
		if len(e.buf) == cap(e.buf) {
			if err := e.flush(); err != nil {
				return err
			}
		}
		k := 1
		if step == e.size {
			k = min(n, (cap(e.buf)-len(e.buf))/e.size)
		}
		e.buf = append(e.buf, e.t.Data[off:off+k*e.size]...)
		off += k * step
		n -= k
	}
	return nil
}

func (e *elemWriter) flush() error {
	if !hostLittle {
		swapElems(e.buf, e.size)
	}
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// startBytes is the most that a reader allocates because of a header alone.
const startBytes = 1 << 20

// readBytes reads n bytes into memory aligned to 8. It allocates start bytes at
// once and grows the buffer as more arrive. If r ends early, it returns the
// bytes read and io.EOF.
func readBytes(r io.Reader, n, start int64) ([]byte, error) {
	if n != int64(int(n)) {
		return nil, ErrLimit
	}
	b := Alloc(int(min(n, start)))
	for got, idle := 0, 0; int64(got) < n; {
		if got == len(b) {
			g := Alloc(int(min(n, 2*int64(len(b)))))
			copy(g, b)
			b = g
		}
		m, err := r.Read(b[got:])
		got += m
		if err != nil && int64(got) < n {
			return b[:got], err
		}
		if idle++; m > 0 {
			idle = 0
		} else if idle == 100 {
			return b[:got], io.ErrNoProgress
		}
	}
	return b, nil
}

// remaining returns the number of bytes that r is known to hold, 0 if unknown.
func remaining(r io.Reader) int64 {
	switch s := r.(type) {
	case interface{ Len() int }: // bytes.Reader, bytes.Buffer, strings.Reader
		return int64(s.Len())
	case io.Seeker: // a regular file
		at, err := s.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0
		}
		end, err := s.Seek(0, io.SeekEnd)
		if _, back := s.Seek(at, io.SeekStart); err != nil || back != nil {
			return 0
		}
		return max(0, end-at)
	}
	return 0
}

// decoder reads the parts of one input and adds their position to errors.
type decoder struct {
	r      io.Reader
	format string
	name   string
	off    int64 // bytes read so far
	have   int64 // bytes known to follow
	limit  int64 // bytes of elements still allowed
}

func (d *decoder) fail(kind error, off int64, format string, args ...any) error {
	return &Error{Format: d.format, Kind: kind, Name: d.name, Offset: off, Detail: errfmt.Sprintf(format, args...)}
}

// bytes reads n bytes; what names them in errors.
func (d *decoder) bytes(n int64, what string) ([]byte, error) {
	b, err := readBytes(d.r, n, max(d.have, startBytes))
	d.off += int64(len(b))
	d.have = max(0, d.have-int64(len(b)))
	switch {
	case err == ErrLimit:
		return nil, d.fail(ErrLimit, -1, "%s has %d bytes: must fit the address space", what, n)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, &Error{Format: d.format, Kind: ErrFormat, Name: d.name, Offset: d.off,
			Detail: errfmt.Sprintf("the input ends inside %s of %d bytes", what, n), Err: io.ErrUnexpectedEOF}
	case err != nil:
		return nil, errfmt.Errorf("tensor: %s: %w", d.format, err)
	}
	return b, nil
}

// end fails unless the input ends here.
func (d *decoder) end() error {
	var b [1]byte
	switch n, err := io.ReadFull(d.r, b[:]); {
	case n > 0:
		return d.fail(ErrFormat, d.off, "data after the end")
	case err != io.EOF:
		return errfmt.Errorf("tensor: %s: %w", d.format, err)
	}
	return nil
}

// desc returns the description of the sizes read at offset off, and subtracts
// its size from the limit.
func (d *decoder) desc(t DType, dims []int64, off int64) (Desc, error) {
	if len(dims) > MaxRank {
		return Desc{}, d.fail(ErrUnsupported, off, "%d axes, want at most %d", len(dims), MaxRank)
	}
	elems := int64(1)
	for _, n := range dims {
		if n < 0 {
			return Desc{}, d.fail(ErrFormat, off, "size %d of an axis: want 0 or more", n)
		}
		if n > 0 && elems > (1<<62)/8/n {
			return Desc{}, d.fail(ErrFormat, off, "%v of shape %v: want less than 2^62 bytes of data", t, dims)
		}
		elems *= max(n, 1)
	}
	desc := Desc{DType: t}
	for _, n := range dims {
		if n != int64(int(n)) {
			return Desc{}, d.fail(ErrLimit, off, "size %d of an axis, want at most %d on this platform", n, math.MaxInt)
		}
		desc.Shape = desc.Shape.Append(int(n))
	}
	n := desc.Size()
	if n > d.limit {
		return Desc{}, d.fail(ErrLimit, off, "%v has %d bytes, want at most %d", desc, n, d.limit)
	}
	d.limit -= n
	return desc, nil
}

// elems reads the elements of desc, row-major, in the given byte order.
func (d *decoder) elems(desc Desc, little bool) (*Tensor, error) {
	b, err := d.bytes(desc.Size(), "the data")
	if err != nil {
		return nil, err
	}
	if little != hostLittle {
		swapElems(b, desc.DType.Size())
	}
	return d.wrap(desc, b, d.off-int64(len(b)))
}

// wrap returns the tensor of data in the machine's order, read at offset off.
func (d *decoder) wrap(desc Desc, b []byte, off int64) (*Tensor, error) {
	if desc.DType == Bool {
		if i := slices.IndexFunc(b, func(v byte) bool { return v > 1 }); i >= 0 {
			return nil, d.fail(ErrFormat, off+int64(i), "bool is %d, want 0 or 1", b[i])
		}
	}
	t, err := Wrap(desc, b)
	if err != nil {
		return nil, d.fail(ErrFormat, off, "%v", err)
	}
	return t, nil
}

// refuse returns the error for a tensor that a format cannot represent.
func refuse(format, name string, t *Tensor, why string) error {
	return &Error{Format: format, Kind: ErrUnsupported, Name: name, Offset: -1, Detail: t.Desc.String() + " " + why}
}
