package tensor

import (
	"encoding/binary"
	"io"
	"math"
	"unicode/utf8"
)

// The fields of TensorProto (onnx.proto, onnx 1.23.2).
const (
	onnxDims       = 1
	onnxType       = 2
	onnxSegment    = 3
	onnxFloats     = 4
	onnxInt32s     = 5
	onnxStrings    = 6
	onnxInt64s     = 7
	onnxName       = 8
	onnxRaw        = 9
	onnxDoubles    = 10
	onnxUint64s    = 11
	onnxExternal   = 13
	onnxLocation   = 14
	onnxTypeString = 8 // TensorProto.DataType.STRING
)

// onnxTypes holds the values of TensorProto.DataType.
var onnxTypes = [...]int{
	Uint8: 2, Int8: 3, Uint16: 4, Int16: 5, Int32: 6, Int64: 7, Float16: 10, BFloat16: 16, Float32: 1,
	Float64: 11, Bool: 9, Bytes: onnxTypeString,
}

// WriteTensorProto writes t as an ONNX TensorProto, the form of the files in an
// ONNX test_data_set. The elements are in raw_data; a Bytes tensor is one
// string_data. The bytes equal those of onnx.numpy_helper.from_array(a, name)
// in onnx 1.23.2. An empty name is omitted. A name that is not UTF-8 is
// ErrUnsupported, and so is data that exceeds protobuf's 2 GiB.
func WriteTensorProto(w io.Writer, name string, t *Tensor) error {
	if err := t.sound(); err != nil {
		return err
	}
	if !utf8.ValidString(name) {
		return refuse("onnx", name, t, "has an invalid name, want UTF-8")
	}
	var b []byte
	for i := range t.Shape.Rank() {
		b = append(b, onnxDims<<3)
		b = binary.AppendUvarint(b, uint64(t.Shape.At(i)))
	}
	b = append(b, onnxType<<3, byte(onnxTypes[t.DType]))
	size := int64(len(t.Data))
	if t.DType != Bytes {
		size = t.Size()
	}
	if int64(len(b)+len(name))+size > math.MaxInt32-32 {
		return refuse("onnx", name, t, "must fit the 2 GiB of a protobuf message")
	}
	if t.DType == Bytes {
		b = append(b, onnxStrings<<3|2)
		b = binary.AppendUvarint(b, uint64(size))
		b = append(b, t.Data...)
	}
	if name != "" {
		b = append(b, onnxName<<3|2)
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
	}
	if t.DType == Bytes {
		_, err := w.Write(b)
		return err
	}
	b = append(b, onnxRaw<<3|2)
	b = binary.AppendUvarint(b, uint64(size))
	if _, err := w.Write(b); err != nil {
		return err
	}
	return writeElems(w, t)
}

// ReadTensorProto reads one message, to the end of r, and returns the tensor
// and its name. The elements may be in raw_data or in the field of their type,
// packed or not. A STRING without axes becomes a Bytes tensor. The message may
// be 1 MiB larger than limit. Unless the elements are in raw_data, both the
// message and the tensor are in memory.
//
// External data, segments, other strings, and types that this package lacks,
// such as UINT32 and the 8-bit floats, are ErrUnsupported. A value outside its
// type's range is ErrFormat.
func ReadTensorProto(r io.Reader, limit int64) (string, *Tensor, error) {
	d := decoder{r: r, format: "onnx", have: remaining(r), limit: limit}
	b, err := d.readAll(max(0, min(limit, math.MaxInt64-startBytes)) + startBytes)
	if err != nil {
		return "", nil, err
	}
	m := protoTensor{d: &d, buf: b}
	if err := m.fields(); err != nil {
		return m.name, nil, err
	}
	d.name = m.name
	t, err := m.tensor()
	if err != nil {
		return m.name, nil, err
	}
	return m.name, t, nil
}

// protoTensor collects the fields of a message. Spans are ranges of buf.
type protoTensor struct {
	d    *decoder
	buf  []byte
	dims []int64
	rank int
	kind int64
	name string

	raw     span
	hasRaw  bool
	strings int
	str     span
	count   [16]int64 // elements of each typed field
	first   [16]int   // the offset of its first element
}

type span struct{ lo, hi int }

func (m *protoTensor) fail(kind error, at int, format string, args ...any) error {
	return m.d.fail(kind, int64(at), format, args...)
}

// varint reads a varint at i and returns its end, -1 if it is invalid.
func (m *protoTensor) varint(i, end int) (uint64, int) {
	v, n := binary.Uvarint(m.buf[i:end])
	if n <= 0 {
		return 0, -1
	}
	return v, i + n
}

// field reads the field at i: its number, wire type, value or content, and end.
func (m *protoTensor) field(i int) (num uint64, wire int, v uint64, c span, next int, err error) {
	tag, j := m.varint(i, len(m.buf))
	if j < 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return 0, 0, 0, span{}, 0, m.fail(ErrFormat, i, "invalid field tag")
	}
	num, wire = tag>>3, int(tag&7)
	next = -1
	c = span{j, j}
	switch wire {
	case 0:
		v, next = m.varint(j, len(m.buf))
		c.hi = next
	case 1:
		c.hi = j + 8
		next = c.hi
	case 2:
		n, k := m.varint(j, len(m.buf))
		if k >= 0 && n <= uint64(len(m.buf)-k) {
			c = span{k, k + int(n)}
			next = c.hi
		}
	case 5:
		c.hi = j + 4
		next = c.hi
	default: // groups, which the message does not use
		return 0, 0, 0, span{}, 0, m.fail(ErrFormat, i, "field %d has wire type %d", num, wire)
	}
	if next < 0 || next > len(m.buf) {
		return 0, 0, 0, span{}, 0, m.fail(ErrFormat, i, "field %d ends after the message", num)
	}
	return num, wire, v, c, next, nil
}

// onnxWire holds the wire type of one element of each field that is read.
var onnxWire = [16]int{
	onnxDims: 0, onnxType: 0, onnxSegment: 2, onnxFloats: 5, onnxInt32s: 0, onnxStrings: 2, onnxInt64s: 0,
	onnxName: 2, onnxRaw: 2, onnxDoubles: 1, onnxUint64s: 0, onnxExternal: 2, onnxLocation: 0, 12: 2, 15: -1,
}

func (m *protoTensor) fields() error {
	for i := 0; i < len(m.buf); {
		num, wire, v, c, next, err := m.field(i)
		if err != nil {
			return err
		}
		at := i
		i = next
		if num == 0 || num >= uint64(len(onnxWire)) || onnxWire[num] < 0 {
			continue // unknown, or metadata_props
		}
		packed := false
		switch num {
		case onnxDims, onnxFloats, onnxInt32s, onnxInt64s, onnxDoubles, onnxUint64s:
			packed = wire == 2
		}
		if wire != onnxWire[num] && !packed {
			return m.fail(ErrFormat, at, "field %d has wire type %d", num, wire)
		}
		switch num {
		case onnxDims:
			if !packed {
				m.dim(v)
				break
			}
			for j := c.lo; j < c.hi; {
				v, k := m.varint(j, c.hi)
				if k < 0 {
					return m.fail(ErrFormat, j, "invalid number in dims")
				}
				m.dim(v)
				j = k
			}
		case onnxType:
			m.kind = int64(int32(v))
		case onnxSegment:
			return m.fail(ErrUnsupported, at, "a segment of a tensor")
		case onnxExternal:
			return m.fail(ErrUnsupported, at, "external data")
		case onnxLocation:
			if v != 0 {
				return m.fail(ErrUnsupported, at, "external data")
			}
		case onnxName:
			if !utf8.Valid(m.buf[c.lo:c.hi]) {
				return m.fail(ErrFormat, c.lo, "name is not UTF-8")
			}
			m.name = string(m.buf[c.lo:c.hi])
		case onnxRaw:
			m.raw, m.hasRaw = c, true
		case onnxStrings:
			m.str = c
			m.strings++
		case onnxFloats, onnxInt32s, onnxInt64s, onnxDoubles, onnxUint64s:
			n := int64(1)
			if packed {
				if n, err = m.packed(num, c); err != nil {
					return err
				}
			}
			if m.count[num] == 0 {
				m.first[num] = at
			}
			m.count[num] += n
		}
	}
	return nil
}

func (m *protoTensor) dim(v uint64) {
	if m.rank++; m.rank <= MaxRank {
		m.dims = append(m.dims, int64(v))
	}
}

// packed counts the elements of a packed field.
func (m *protoTensor) packed(num uint64, c span) (int64, error) {
	size := map[uint64]int{onnxFloats: 4, onnxDoubles: 8}[num]
	if size > 0 {
		if (c.hi-c.lo)%size != 0 {
			return 0, m.fail(ErrFormat, c.lo, "field %d has %d bytes, want a multiple of %d", num, c.hi-c.lo, size)
		}
		return int64((c.hi - c.lo) / size), nil
	}
	n := int64(0)
	for j := c.lo; j < c.hi; n++ {
		_, k := m.varint(j, c.hi)
		if k < 0 {
			return 0, m.fail(ErrFormat, j, "invalid number in field %d", num)
		}
		j = k
	}
	return n, nil
}

func (m *protoTensor) tensor() (*Tensor, error) {
	if m.rank > MaxRank {
		return nil, m.fail(ErrUnsupported, -1, "%d axes, want at most %d", m.rank, MaxRank)
	}
	used := 0 // fields with data
	for num, n := range m.count {
		if n > 0 {
			used++
			if m.strings > 0 || m.hasRaw || used > 1 {
				return nil, m.fail(ErrFormat, m.first[num], "more than one field with data")
			}
		}
	}
	if m.kind == onnxTypeString {
		return m.bytes(used)
	}
	if m.strings > 0 {
		return nil, m.fail(ErrFormat, m.str.lo, "strings in a tensor of type %d", m.kind)
	}
	t := Invalid
	for i, k := range onnxTypes {
		if k != 0 && int64(k) == m.kind {
			t = DType(i)
		}
	}
	if t == Invalid {
		if m.kind == 0 {
			return nil, m.fail(ErrFormat, -1, "data_type is missing")
		}
		return nil, m.fail(ErrUnsupported, -1, "data_type %d", m.kind)
	}
	desc, err := m.d.desc(t, m.dims, -1)
	if err != nil {
		return nil, err
	}
	if m.hasRaw {
		if int64(m.raw.hi-m.raw.lo) != desc.Size() {
			return nil, m.fail(ErrFormat, m.raw.lo, "raw_data of %[2]v has %[1]d bytes: want %[3]d", m.raw.hi-m.raw.lo, desc, desc.Size())
		}
		// The front of the buffer is aligned, so no new memory is needed.
		n := copy(m.buf, m.buf[m.raw.lo:m.raw.hi])
		b := m.buf[:n:n]
		if !hostLittle {
			swapElems(b, t.Size())
		}
		return m.d.wrap(desc, b, int64(m.raw.lo))
	}
	num, n := onnxField(t), desc.Len()
	for other, c := range m.count {
		if c > 0 && uint64(other) != num {
			return nil, m.fail(ErrFormat, m.first[other], "field %d in a %v tensor, want field %d", other, t, num)
		}
	}
	if m.count[num] != n {
		return nil, m.fail(ErrFormat, -1, "field %[1]d of %[3]v has %[2]d elements: want %[4]d", num, m.count[num], desc, n)
	}
	out := make([]byte, 0)
	if n > 0 {
		out = Alloc(int(desc.Size()))
	}
	if err := m.typed(num, t, out); err != nil {
		return nil, err
	}
	return m.d.wrap(desc, out, -1)
}

// onnxField returns the number of the field for t's elements.
func onnxField(t DType) uint64 {
	switch t {
	case Float32:
		return onnxFloats
	case Float64:
		return onnxDoubles
	case Int64:
		return onnxInt64s
	}
	return onnxInt32s
}

func (m *protoTensor) bytes(used int) (*Tensor, error) {
	switch {
	case m.hasRaw || used > 0:
		return nil, m.fail(ErrFormat, -1, "a STRING tensor with data other than string_data")
	case m.rank != 0:
		return nil, m.fail(ErrUnsupported, -1, "strings with %d axes, want one string without axes", m.rank)
	case m.strings != 1:
		return nil, m.fail(ErrFormat, -1, "%d strings, want 1", m.strings)
	}
	n := m.str.hi - m.str.lo
	if int64(n) > m.d.limit {
		return nil, m.fail(ErrLimit, m.str.lo, "string has %d bytes, want at most %d", n, m.d.limit)
	}
	copy(m.buf, m.buf[m.str.lo:m.str.hi])
	return FromBytes(m.buf[:n:n]), nil
}

// typed decodes a typed field into out, which has room for the counted
// elements.
func (m *protoTensor) typed(want uint64, t DType, out []byte) error {
	for i := 0; i < len(m.buf) && len(out) > 0; {
		num, wire, v, c, next, err := m.field(i)
		if err != nil {
			return err
		}
		i = next
		if num != want {
			continue
		}
		if wire == 0 {
			if out, err = m.put(t, out, v, c.lo); err != nil {
				return err
			}
			continue
		}
		for j := c.lo; j < c.hi; {
			var v uint64
			k := j
			switch num {
			case onnxFloats:
				v, k = uint64(binary.LittleEndian.Uint32(m.buf[j:])), j+4
			case onnxDoubles:
				v, k = binary.LittleEndian.Uint64(m.buf[j:]), j+8
			default:
				v, k = m.varint(j, c.hi)
			}
			if out, err = m.put(t, out, v, j); err != nil {
				return err
			}
			j = k
		}
	}
	return nil
}

// put stores the element v, read at offset at, and returns the rest of out.
func (m *protoTensor) put(t DType, out []byte, v uint64, at int) ([]byte, error) {
	lo, hi := int64(0), int64(0)
	switch t {
	case Int64, Float64:
		binary.NativeEndian.PutUint64(out, v)
		return out[8:], nil
	case Float32:
		binary.NativeEndian.PutUint32(out, uint32(v))
		return out[4:], nil
	case Bool:
		hi = 1
	case Uint8:
		hi = math.MaxUint8
	case Int8:
		lo, hi = math.MinInt8, math.MaxInt8
	case Int16:
		lo, hi = math.MinInt16, math.MaxInt16
	case Int32:
		lo, hi = math.MinInt32, math.MaxInt32
	default: // Uint16, and the bits of Float16 and BFloat16
		hi = math.MaxUint16
	}
	// Like protobuf, take the low 32 bits of an int32.
	n := int64(int32(v))
	if n < lo || n > hi {
		return nil, m.fail(ErrFormat, at, "%d in int32_data, want a %v", n, t)
	}
	switch t.Size() {
	case 1:
		out[0] = byte(n)
	case 2:
		binary.NativeEndian.PutUint16(out, uint16(n))
	default:
		binary.NativeEndian.PutUint32(out, uint32(n))
	}
	return out[t.Size():], nil
}
