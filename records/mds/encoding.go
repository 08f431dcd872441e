package mds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// column is a column of a shard.
type column struct {
	Column
	encoding string
	size     int64  // of its values; 0 if it varies
	wire     string // the type of its numbers in the file, or empty
	rank     int    // of its arrays; -1 until the first sample is read
	shape    tensor.Shape
	bad      bool // it is not read
}

// types are the types of numbers, with their replacements here.
var types = map[string]tensor.DType{
	"uint8": tensor.Uint8, "uint16": tensor.Uint16, "uint32": tensor.Int64, "uint64": tensor.Int64,
	"int8": tensor.Int8, "int16": tensor.Int16, "int32": tensor.Int32, "int64": tensor.Int64,
	"float16": tensor.Float16, "float32": tensor.Float32, "float64": tensor.Float64,
}

// sizes are the bytes of numbers in a file.
var sizes = map[string]int64{
	"uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
	"float16": 2, "float32": 4, "float64": 8,
}

// codes are the numbers of types in arrays that state theirs.
var codes = map[byte]string{
	8: "uint8", 9: "int8", 16: "uint16", 17: "int16", 18: "float16", 32: "uint32", 33: "int32",
	34: "float32", 64: "uint64", 65: "int64", 66: "float64",
}

// columnsOf returns the columns of a shard.
func columnsOf(x *indexShard) ([]column, error) {
	n := len(x.Names)
	if n == 0 || n > maxColumns || len(x.Encodings) != n || len(x.Sizes) != n {
		return nil, fmt.Errorf("%d column_names, %d column_encodings and %d column_sizes, want 1 to %d of each", n, len(x.Encodings), len(x.Sizes), maxColumns)
	}
	l := make([]column, n)
	seen := map[string]bool{}
	for i := range l {
		c := &l[i]
		c.Name, c.encoding = x.Names[i], x.Encodings[i]
		if c.Name == "" || seen[c.Name] {
			return nil, fmt.Errorf("column %q, want distinct non-empty names", c.Name)
		}
		seen[c.Name] = true
		if err := c.parse(); err != nil {
			return nil, fmt.Errorf("column %q with encoding %q: %w", c.Name, c.encoding, err)
		}
		size := int64(0)
		if x.Sizes[i] != nil {
			size = *x.Sizes[i]
		}
		if size != c.size && !c.bad {
			return nil, fmt.Errorf("column %q with encoding %q: column_sizes has %d, want %d", c.Name, c.encoding, size, c.size)
		}
		if c.size = size; size < 0 || size > math.MaxUint32 {
			return nil, fmt.Errorf("column %q: a size of %d", c.Name, size)
		}
	}
	return l, nil
}

// parse sets the description of an encoding.
func (c *column) parse() error {
	name, args, _ := strings.Cut(c.encoding, ":")
	if d, ok := types[c.encoding]; ok {
		c.Desc.DType, c.wire, c.size = d, c.encoding, sizes[c.encoding]
		return nil
	}
	switch c.encoding {
	case "bytes", "jpeg", "png":
		c.Desc.DType = tensor.Bytes
		return nil
	case "str", "json", "str_decimal":
		c.Desc.DType, c.Text = tensor.Bytes, true
		return nil
	case "int":
		c.Desc.DType, c.wire, c.size = tensor.Int64, "int64", 8
		return nil
	case "str_int":
		c.Desc.DType = tensor.Int64
		return nil
	case "str_float":
		c.Desc.DType = tensor.Float64
		return nil
	case "pil":
		c.Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, tensor.Unknown)
		return nil
	}
	if name != "ndarray" {
		c.bad = true
		return nil
	}
	c.rank = -1
	if args == "" {
		return nil
	}
	dtype, shape, fixed := strings.Cut(args, ":")
	d, ok := types[dtype]
	if !ok {
		return fmt.Errorf("the type %q, want one of numbers", dtype)
	}
	c.Desc.DType, c.wire = d, dtype
	if !fixed {
		return nil
	}
	c.size, c.rank = sizes[dtype], 0
	for s := range strings.SplitSeq(shape, ",") {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 || c.rank == tensor.MaxRank || c.size > math.MaxUint32/n {
			return fmt.Errorf("the shape %q, want up to %d sizes of 1 or more", shape, tensor.MaxRank)
		}
		c.shape = c.shape.Append(int(n))
		c.rank++
		c.size *= n
	}
	c.Desc.Shape = c.shape
	return nil
}

// decode decodes the wanted values of a sample.
func (s *Set) decode(r *Row, b []byte) error {
	if len(r.Values) != len(s.wanted) {
		r.Values = make([]tensor.Tensor, len(s.wanted))
	}
	r.sizes = r.sizes[:0]
	for i := range s.columns {
		n := uint32(s.columns[i].size)
		if n == 0 {
			if len(b) < 4 {
				return errors.New("it ends within the sizes of its values")
			}
			n, b = binary.LittleEndian.Uint32(b), b[4:]
		}
		r.sizes = append(r.sizes, n)
	}
	for i := range s.columns {
		c, n := &s.columns[i], r.sizes[i]
		if uint64(n) > uint64(len(b)) {
			return fmt.Errorf("column %q: a value of %d bytes, %d are left", c.Name, n, len(b))
		}
		v := b[:n:n]
		b = b[n:]
		if k := slices.Index(s.wanted, i); k >= 0 {
			if err := c.decode(&r.Values[k], v); err != nil {
				return fmt.Errorf("column %q: %w", c.Name, err)
			}
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes behind its values", len(b))
	}
	return nil
}

// decode makes t the value v.
func (c *column) decode(t *tensor.Tensor, v []byte) error {
	switch {
	case c.rank != 0:
		return c.array(t, v)
	case c.wire != "":
		return numbers(t, c.Desc, c.wire, v)
	case c.Desc.DType == tensor.Bytes:
		if c.Text && !utf8.Valid(v) {
			return fmt.Errorf("%.80q is no UTF-8 text", v)
		}
		*t = tensor.Tensor{Desc: tensor.Encoded(), Data: v}
		return nil
	case c.Desc.DType == tensor.Uint8:
		return picture(t, v)
	}
	var word [8]byte
	if c.Desc.DType == tensor.Int64 {
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return fmt.Errorf("%.80q, want an int64", v)
		}
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		return numbers(t, c.Desc, "int64", word[:])
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%.80q, want a number", v)
	}
	binary.LittleEndian.PutUint64(word[:], math.Float64bits(f))
	return numbers(t, c.Desc, "float64", word[:])
}

// array decodes an array, which may state its type and its shape.
func (c *column) array(t *tensor.Tensor, v []byte) error {
	wire, d := c.wire, tensor.Desc{DType: c.Desc.DType, Shape: c.shape}
	if wire == "" {
		if len(v) == 0 || codes[v[0]] == "" {
			return errors.New("an array of an unknown type")
		}
		wire, v = codes[v[0]], v[1:]
		if d.DType = types[wire]; c.rank >= 0 && d.DType != c.Desc.DType {
			return fmt.Errorf("%w: an array of %s, want %v as in the first sample", records.ErrUnsupported, wire, c.Desc.DType)
		}
	}
	if c.shape.Rank() == 0 {
		if len(v) == 0 {
			return errors.New("an array without a shape")
		}
		rank, size := int(v[0]>>2), 1<<(v[0]&3)
		if v = v[1:]; rank == 0 || rank > tensor.MaxRank || len(v) < rank*size {
			return fmt.Errorf("an array of %d axes, want 1 to %d", rank, tensor.MaxRank)
		}
		if c.rank >= 0 && rank != c.rank {
			return fmt.Errorf("%w: an array of %d axes, want %d as in the first sample", records.ErrUnsupported, rank, c.rank)
		}
		for range rank {
			n := uint64(0)
			for k := range size {
				n |= uint64(v[k]) << (8 * k)
			}
			if v = v[size:]; n > math.MaxInt32 {
				return fmt.Errorf("an axis of %d, want at most %d", n, math.MaxInt32)
			}
			d.Shape = d.Shape.Append(int(n))
		}
	}
	return numbers(t, d, wire, v)
}

// numbers decodes numbers of a type of the file.
func numbers(t *tensor.Tensor, d tensor.Desc, wire string, v []byte) error {
	n, size := int64(1), sizes[wire]
	for i := range d.Shape.Rank() {
		if k := int64(d.Shape.At(i)); k == 0 || n <= math.MaxUint32/k {
			n *= k
		} else {
			n = math.MaxUint32
		}
	}
	if n*size != int64(len(v)) {
		return fmt.Errorf("%d bytes for %s of shape %v", len(v), wire, d.Shape)
	}
	if err := t.Reset(d); err != nil {
		return err
	}
	b := t.Data
	switch {
	case wire == "uint32":
		for i := range int(n) {
			binary.NativeEndian.PutUint64(b[8*i:], uint64(binary.LittleEndian.Uint32(v[4*i:])))
		}
	case size == 1:
		copy(b, v)
	case size == 2:
		for i := 0; i < len(v); i += 2 {
			binary.NativeEndian.PutUint16(b[i:], binary.LittleEndian.Uint16(v[i:]))
		}
	case size == 4:
		for i := 0; i < len(v); i += 4 {
			binary.NativeEndian.PutUint32(b[i:], binary.LittleEndian.Uint32(v[i:]))
		}
	default:
		for i := 0; i < len(v); i += 8 {
			x := binary.LittleEndian.Uint64(v[i:])
			if wire == "uint64" && x > math.MaxInt64 {
				return fmt.Errorf("%w: %d, want at most %d", records.ErrUnsupported, x, int64(math.MaxInt64))
			}
			binary.NativeEndian.PutUint64(b[i:], x)
		}
	}
	return nil
}

// channels are the channels of Pillow's modes that are read.
var channels = map[string]int{"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "RGBX": 4, "CMYK": 4, "YCbCr": 3, "HSV": 3, "LAB": 3}

// picture makes t a raw image.
func picture(t *tensor.Tensor, v []byte) error {
	if len(v) < 12 {
		return fmt.Errorf("an image of %d bytes", len(v))
	}
	w, h, n := uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[4:])), binary.LittleEndian.Uint32(v[8:])
	if v = v[12:]; uint64(n) > uint64(len(v)) {
		return errors.New("an image without a mode")
	}
	c := channels[string(v[:n])]
	if c == 0 {
		return fmt.Errorf("%w: an image of mode %.20q, want one of 8 bits without a palette", records.ErrUnsupported, v[:n])
	}
	if v = v[n:]; w > math.MaxInt32 || h > math.MaxInt32 || w*h > math.MaxUint32 || w*h*uint64(c) != uint64(len(v)) {
		return fmt.Errorf("%d bytes for an image of %d x %d with %d channels", len(v), w, h, c)
	}
	x, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, int(h), int(w), c), v)
	if err == nil {
		*t = *x
	}
	return err
}
