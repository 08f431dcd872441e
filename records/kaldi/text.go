package kaldi

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// text reads a text object, whose first byte is c, to the end of its last line.
func (r *Reader) text(c byte) (err error) {
	r.h.Form = Text
	r.values, r.ints = r.values[:0], r.ints[:0]
	for c == ' ' || c == '\t' {
		if c, err = r.readByte(); err != nil {
			return err
		}
	}
	switch {
	case c == '[' && r.o.Type != IntVector:
		return r.textFloats()
	case c == '[': // written by kaldiio
		return r.textInts(0, ']')
	default:
		return r.textInts(c, '\n')
	}
}

// word reads the text of a number and the byte after it. c is its first byte,
// if not 0.
func (r *Reader) word(c byte) (word string, end byte, err error) {
	var b [64]byte
	n := 0
	for {
		if c == 0 {
			if c, err = r.readByte(); err != nil {
				return "", 0, err
			}
		}
		switch {
		case space(c) || c == ']' || c == ';' || c == '[':
			return string(b[:n]), c, nil
		case n == len(b):
			return "", 0, r.corrupt("%q is no number", b[:])
		case c == 0:
			return "", 0, r.corrupt("byte 00 in text")
		}
		b[n] = c
		n++
		c = 0
	}
}

// ended reads the line end after a bracket.
func (r *Reader) ended() error {
	c, err := r.readByte()
	blank := false
	for err == nil && (c == ' ' || c == '\t') {
		blank = true
		c, err = r.readByte()
	}
	if err == nil && c == '\r' {
		c, err = r.readByte()
	}
	if err == nil && blank && (c == '[' || c == '\n') {
		return r.unsupported("a posterior")
	}
	if err == nil && c != '\n' {
		return r.corrupt("%q behind the bracket, want the line's end", c)
	}
	return err
}

// room returns an error if there are more elements than the limit allows.
func (r *Reader) room(n, size int) error {
	if int64(n)*int64(size) > r.o.Limit {
		return r.tooLarge(int64(n) * int64(size))
	}
	return nil
}

func (r *Reader) textInts(c, until byte) error {
	for {
		w, end, err := r.word(c)
		if err != nil {
			return err
		}
		c = 0
		if w != "" {
			n, err := strconv.ParseInt(w, 10, 32)
			if err != nil {
				return r.corrupt("%q is no int32", w)
			}
			r.ints = append(r.ints, int32(n))
			if err := r.room(len(r.ints), 4); err != nil {
				return err
			}
		}
		switch {
		case end == until:
			if until == ']' {
				if err := r.ended(); err != nil {
					return err
				}
			}
			r.h.Type, r.h.DType = IntVector, tensor.Int32
			return r.shape(0, int64(len(r.ints)))
		case end == ';':
			return r.unsupported("a vector of vectors or of pairs")
		case !space(end) || end == '\n':
			return r.corrupt("%q in a vector of int32", end)
		}
	}
}

func (r *Reader) textFloats() error {
	r.h.DType = r.float(tensor.Float32)
	bits := 8 * r.h.DType.Size()
	var rows, cols, row int
	lines := false
	for {
		w, end, err := r.word(0)
		if err != nil {
			return err
		}
		if w != "" {
			v, err := parseFloat(w, bits)
			if err != nil {
				return r.corrupt("%q is no number of %d bits", w, bits)
			}
			r.values = append(r.values, v)
			row++
			if err := r.room(len(r.values), bits/8); err != nil {
				return err
			}
		}
		switch end {
		case '[':
			return r.corrupt("a bracket within brackets")
		case ']', '\n', ';':
			lines = lines || end != ']'
			if row > 0 {
				if rows > 0 && row != cols {
					return r.corrupt("row %d has %d numbers, the rows before have %d", rows, row, cols)
				}
				rows, cols, row = rows+1, row, 0
			}
			if end != ']' {
				continue
			}
			if err := r.ended(); err != nil {
				return err
			}
			if r.o.Type == Matrix || r.o.Type == Any && lines {
				r.h.Type = Matrix
				return r.shape(0, int64(rows), int64(cols))
			}
			if lines {
				return r.corrupt("a line ends within a vector")
			}
			r.h.Type = Vector
			return r.shape(0, int64(len(r.values)))
		}
	}
}

// parseFloat parses a decimal, an infinity or NaN.
func parseFloat(s string, bits int) (float64, error) {
	sign := 1.0
	bare := s
	if bare[0] == '-' {
		sign, bare = -1, bare[1:]
	} else if bare[0] == '+' {
		bare = bare[1:]
	}
	switch strings.ToLower(bare) {
	case "inf", "infinity":
		return math.Inf(int(sign)), nil
	case "nan":
		return math.NaN(), nil
	}
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, bits)
}

func (r *Reader) textValues(t *tensor.Tensor) {
	switch t.DType {
	case tensor.Int32:
		copy(tensor.View[int32](t), r.ints)
	case tensor.Float64:
		copy(tensor.View[float64](t), r.values)
	default:
		for i, v := 0, tensor.View[float32](t); i < len(v); i++ {
			v[i] = float32(r.values[i])
		}
	}
}

// digits is the number of significant digits that Kaldi writes.
const digits = 7

func appendFloat(b []byte, v float64) []byte {
	switch {
	case v != v:
		return append(b, "nan"...)
	case v-v != 0 && v > 0:
		return append(b, "inf"...)
	case v-v != 0:
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', digits, 64)
}

// appendText appends a tensor as Kaldi writes it after the key's blank.
func appendText(b []byte, t *tensor.Tensor) ([]byte, error) {
	var at func(i int) float64
	switch t.DType {
	case tensor.Int32:
		for _, v := range tensor.View[int32](t) {
			b = append(strconv.AppendInt(b, int64(v), 10), ' ')
		}
		return append(b, '\n'), nil
	case tensor.Float32:
		v := tensor.View[float32](t)
		at = func(i int) float64 { return float64(v[i]) }
	case tensor.Float64:
		v := tensor.View[float64](t)
		at = func(i int) float64 { return v[i] }
	default:
		return nil, fmt.Errorf("kaldi: %v cannot be written as text", t.Desc)
	}
	n := int(t.Len())
	b = append(b, " ["...)
	if t.Shape.Rank() == 1 {
		b = append(b, ' ')
		for i := range n {
			b = append(appendFloat(b, at(i)), ' ')
		}
		return append(b, "]\n"...), nil
	}
	if n == 0 {
		return append(b, " ]\n"...), nil
	}
	for i := range n {
		if i%t.Shape.At(1) == 0 {
			b = append(b, "\n  "...)
		}
		b = append(appendFloat(b, at(i)), ' ')
	}
	return append(b, "]\n"...), nil
}
