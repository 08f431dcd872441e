package mindrecord

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"

	"github.com/infer-prep/infer-prep/internal/msgpack"
	"github.com/infer-prep/infer-prep/tensor"
)

// width returns the number of bytes that a value takes in a packed array, and
// the code of that width.
func width(v int64) (code, bytes int) {
	switch {
	case v == int64(int8(v)):
		return 0, 1
	case v == int64(int16(v)):
		return 1, 2
	case v == int64(int32(v)):
		return 2, 4
	}
	return 3, 8
}

// appendPacked appends a packed array.
func appendPacked[T int32 | int64](b []byte, values []T) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(values)))
	codes := len(b)
	b = append(b, make([]byte, (len(values)+3)/4)...)
	for i, v := range values {
		code, n := width(int64(v))
		b[codes+i/4] |= byte(code << (6 - 2*(i%4)))
		for k := range n {
			b = append(b, byte(int64(v)>>(8*k)))
		}
	}
	return b
}

// packedLen returns the number of values of a packed array, and where they
// begin. Every value has at least one byte.
func packedLen(b []byte) (n, values int, err error) {
	if len(b) < 4 {
		return 0, 0, fmt.Errorf("%d bytes, want a packed array", len(b))
	}
	count := int64(binary.BigEndian.Uint32(b))
	at := 4 + (count+3)/4
	if at+count > int64(len(b)) {
		return 0, 0, fmt.Errorf("a packed array of %d in %d bytes", count, len(b))
	}
	if count%4 != 0 && b[at-1]<<(2*(count%4)) != 0 {
		return 0, 0, fmt.Errorf("a packed array of %d with codes behind the last", count)
	}
	return int(count), int(at), nil
}

// unpack reads len(out) values. The caller gets that number from packedLen.
func unpack[T int32 | int64](out []T, b []byte, values int) error {
	codes, in := b[4:values], b[values:]
	for i := range out {
		n := 1 << (codes[i/4] >> (6 - 2*(i%4)) & 3)
		if n > len(in) {
			return fmt.Errorf("a packed array that ends at value %d of %d", i, len(out))
		}
		var v int64
		switch n {
		case 1:
			v = int64(int8(in[0]))
		case 2:
			v = int64(int16(binary.LittleEndian.Uint16(in)))
		case 4:
			v = int64(int32(binary.LittleEndian.Uint32(in)))
		case 8:
			v = int64(binary.LittleEndian.Uint64(in))
		}
		if out[i] = T(v); int64(out[i]) != v {
			return fmt.Errorf("value %d of a packed array is %d, beyond int32", i, v)
		}
		in = in[n:]
	}
	if len(in) > 0 {
		return fmt.Errorf("%d bytes behind a packed array", len(in))
	}
	return nil
}

// shaped returns a field's description with n elements.
func shaped(d tensor.Desc, n int) (tensor.Desc, error) {
	known, unknown := int64(1), -1
	for a := range d.Shape.Rank() {
		if s := d.Shape.At(a); s == tensor.Unknown {
			unknown = a
		} else if known *= int64(s); known > maxPage { // no page has so many
			return d, fmt.Errorf("%d values, want %v", n, d)
		}
	}
	if unknown >= 0 && int64(n)%known == 0 {
		return tensor.Desc{DType: d.DType, Shape: d.Shape.With(unknown, int(int64(n)/known))}, nil
	}
	if unknown >= 0 || int64(n) != known {
		return d, fmt.Errorf("%d values, want %v", n, d)
	}
	return d, nil
}

// decodeBlob decodes the bytes of a field. A bytes field shares them.
func (f *Field) decodeBlob(t *tensor.Tensor, b []byte) error {
	if f.Desc.DType == tensor.Bytes {
		*t = tensor.Tensor{Desc: f.Desc, Data: b}
		return nil
	}
	packed := f.Desc.DType == tensor.Int32 || f.Desc.DType == tensor.Int64
	n, at, size := 0, 0, f.Desc.DType.Size()
	var err error
	if packed {
		if n, at, err = packedLen(b); err != nil {
			return err
		}
	} else if n = len(b) / size; len(b)%size != 0 {
		return fmt.Errorf("%d bytes of %v", len(b), f.Desc.DType)
	}
	d, err := shaped(f.Desc, n)
	if err == nil {
		err = t.Reset(d)
	}
	if err != nil {
		return err
	}
	switch f.Desc.DType {
	case tensor.Int32:
		return unpack(tensor.View[int32](t), b, at)
	case tensor.Int64:
		return unpack(tensor.View[int64](t), b, at)
	case tensor.Float32:
		for i, v := 0, tensor.View[float32](t); i < n; i++ {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case tensor.Float64:
		for i, v := 0, tensor.View[float64](t); i < n; i++ {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return nil
}

// appendBlob appends the bytes of a field, and returns how many bytes packing
// saved. The caller has checked the value, which is dense.
func (f *Field) appendBlob(b []byte, t *tensor.Tensor) (out []byte, saved int64) {
	switch f.Desc.DType {
	case tensor.Int32:
		out = appendPacked(b, tensor.View[int32](t))
		return out, t.Size() - int64(len(out)-len(b))
	case tensor.Int64:
		out = appendPacked(b, tensor.View[int64](t))
		return out, t.Size() - int64(len(out)-len(b))
	case tensor.Float32:
		for _, v := range tensor.View[float32](t) {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b, 0
	case tensor.Float64:
		for _, v := range tensor.View[float64](t) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b, 0
	}
	return append(b, t.Data...), 0
}

// filler is a field with value 0, which MindSpore writes if a record would have
// no raw fields.
const filler = "id"

// decodeRaw decodes a raw record without its length: a MessagePack map of the
// schema's non-blob fields. values has an element for each field of the schema,
// nil for unwanted ones. Text is shared.
func (s *Schema) decodeRaw(values []*tensor.Tensor, b []byte, seen []bool) error {
	r := msgpack.Reader{B: b}
	n := msgpack.Read(&r, msgp.ReadMapHeaderBytes)
	clear(seen)
	want := 0
	for i := range s.Fields {
		if !s.Fields[i].blob() {
			want++
		}
	}
	if want == 0 && n == 1 { // a record is never empty
		if key := msgpack.Read(&r, msgp.ReadStringZC); string(key) != filler || msgpack.Read(&r, msgp.ReadInt64Bytes) != 0 || r.Err != nil {
			return fmt.Errorf("field %.80q, want %s, and 0", key, filler)
		}
		n = 0
	}
	if r.Err == nil && int64(n) != int64(want) {
		return fmt.Errorf("%d fields, want %d", n, want)
	}
	next := 0
	for range n {
		key := msgpack.Read(&r, msgp.ReadStringZC)
		if r.Err != nil {
			break
		}
		// MindSpore's writer sorts them, but does not document it.
		for next < len(s.Fields) && s.Fields[next].blob() {
			next++
		}
		i := next
		if i >= len(s.Fields) || s.Fields[i].Name != string(key) {
			i = s.find(string(key))
		}
		if i < 0 || s.Fields[i].blob() || seen[i] {
			return fmt.Errorf("field %.80q, want each of the schema's once", key)
		}
		seen[i] = true
		next = i + 1
		if err := s.Fields[i].decodeValue(values[i], &r); err != nil {
			return fmt.Errorf("%s: %w", s.Fields[i].Name, err)
		}
	}
	if r.Err != nil {
		return fmt.Errorf("%w", r.Err)
	}
	if len(r.B) > 0 {
		return fmt.Errorf("%d bytes behind the fields", len(r.B))
	}
	return nil
}

// decodeValue decodes the value of a field. t is nil if it is unwanted.
func (f *Field) decodeValue(t *tensor.Tensor, r *msgpack.Reader) error {
	var scratch tensor.Tensor
	if t == nil {
		t = &scratch
	}
	if f.Text {
		v := msgpack.Read(r, msgp.ReadStringZC)
		if r.Err == nil && !utf8.Valid(v) {
			return fmt.Errorf("%.80q is not UTF-8", v)
		}
		*t = tensor.Tensor{Desc: f.Desc, Data: v}
		return r.Err
	}
	if err := t.Reset(f.Desc); err != nil {
		return err
	}
	switch f.Desc.DType {
	case tensor.Int32:
		v := msgpack.Read(r, msgp.ReadInt64Bytes)
		if v != int64(int32(v)) {
			return fmt.Errorf("%d is beyond int32", v)
		}
		tensor.View[int32](t)[0] = int32(v)
	case tensor.Int64:
		tensor.View[int64](t)[0] = msgpack.Read(r, msgp.ReadInt64Bytes)
	case tensor.Float32:
		tensor.View[float32](t)[0] = float32(readFloat(r))
	case tensor.Float64:
		tensor.View[float64](t)[0] = readFloat(r)
	}
	return r.Err
}

func readFloat(r *msgpack.Reader) float64 {
	if r.Err == nil && msgp.NextType(r.B) == msgp.Float32Type {
		return float64(msgpack.Read(r, msgp.ReadFloat32Bytes))
	}
	return msgpack.Read(r, msgp.ReadFloat64Bytes)
}

// appendValue appends a value as MindSpore does: numbers in as few bytes as
// possible.
func (f *Field) appendValue(b []byte, t *tensor.Tensor) []byte {
	switch f.Desc.DType {
	case tensor.Int32:
		return appendInt(b, int64(tensor.View[int32](t)[0]))
	case tensor.Int64:
		return appendInt(b, tensor.View[int64](t)[0])
	case tensor.Float32:
		return msgp.AppendFloat32(b, tensor.View[float32](t)[0])
	case tensor.Float64:
		v := tensor.View[float64](t)[0]
		if s := float32(v); float64(s) == v {
			return msgp.AppendFloat32(b, s)
		}
		return msgp.AppendFloat64(b, v)
	}
	return msgp.AppendStringFromBytes(b, t.Data)
}

func appendInt(b []byte, v int64) []byte {
	if v >= 0 {
		return msgp.AppendUint64(b, uint64(v))
	}
	return msgp.AppendInt64(b, v)
}

// check returns an error if a value does not fit the field.
func (f *Field) check(t *tensor.Tensor) error {
	ok := f.Desc.DType == t.DType && f.Desc.Shape.Rank() == t.Shape.Rank()
	for a := 0; ok && a < f.Desc.Shape.Rank(); a++ {
		n := f.Desc.Shape.At(a)
		ok = n == t.Shape.At(a) || n == tensor.Unknown
	}
	if !ok {
		return fmt.Errorf("mindrecord: %w: %s is %v, want %v", ErrField, f.Name, t.Desc, f.Desc)
	}
	if f.Text && !utf8.Valid(t.Data) {
		return fmt.Errorf("mindrecord: %w: %s is %.80q, want UTF-8", ErrField, f.Name, t.Data)
	}
	return nil
}
