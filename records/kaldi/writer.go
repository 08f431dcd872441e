package kaldi

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/tensor"
)

// WriterOptions are the options of a Writer. The zero value is ready for use.
type WriterOptions struct {
	// Offset is the position in the file of the first entry.
	Offset int64
	// Text writes text, with seven significant digits as in Kaldi.
	Text bool
	// Script, if not nil, receives a line for each entry, with Name as the
	// archive's name.
	Script io.Writer
	Name   string
}

// Writer writes an archive. It is for one goroutine at a time.
type Writer struct {
	o      WriterOptions
	w      io.Writer
	offset int64
	b      []byte
	err    error
}

// NewWriter returns a writer of an archive.
func NewWriter(w io.Writer, o WriterOptions) *Writer { return &Writer{o: o, w: w, offset: o.Offset} }

// Offset returns the position of the next entry.
func (w *Writer) Offset() int64 { return w.offset }

// CheckKey returns an error for keys that an archive cannot hold. These are
// empty keys, keys with blanks or control characters, keys that are not UTF-8,
// and keys of more than 4096 bytes.
func CheckKey(key string) error {
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("kaldi: %q is no key: want 1 to %d bytes of UTF-8 text without blanks", key, maxKey)
	}
	return nil
}

// Write writes a matrix (two axes) or vector (one) of float32 or float64, or a
// vector of int32.
func (w *Writer) Write(key string, t *tensor.Tensor) error {
	rank := t.Shape.Rank()
	isFloat := t.DType == tensor.Float32 || t.DType == tensor.Float64
	if !isFloat && (t.DType != tensor.Int32 || rank != 1) || rank < 1 || rank > 2 {
		return fmt.Errorf("kaldi: %v, want a matrix or vector of float32 or float64, or a vector of int32", t.Desc)
	}
	if err := checkSizes(t); err != nil {
		return err
	}
	if !t.Dense() {
		t = t.Clone()
	}
	if w.o.Text {
		b, err := appendText(w.b[:0], t)
		if err != nil {
			return err
		}
		w.b = b
		return w.put(key, b, nil)
	}
	b := append(w.b[:0], 0, 'B')
	switch {
	case t.DType == tensor.Int32:
		v := tensor.View[int32](t)
		b = appendDim(b, len(v))
		for _, x := range v {
			b = appendDim(b, int(x))
		}
		w.b = b
		return w.put(key, b, nil)
	case t.DType == tensor.Float32:
		b = append(b, 'F')
	default:
		b = append(b, 'D')
	}
	if rank == 1 {
		b = append(b, "V "...)
	} else {
		b = append(b, "M "...)
	}
	for i := range rank {
		b = appendDim(b, t.Shape.At(i))
	}
	w.b = b
	return w.put(key, b, littleEndian(t))
}

// littleEndian returns the numbers of a dense tensor as they are stored.
func littleEndian(t *tensor.Tensor) []byte {
	b := t.Data[:t.Size()]
	if hostBig {
		b = slices.Clone(b)
		swap(t.DType, b)
	}
	return b
}

func appendDim(b []byte, n int) []byte {
	return binary.LittleEndian.AppendUint32(append(b, 4), uint32(int32(n)))
}

func checkSizes(t *tensor.Tensor) error {
	s := t.Shape
	for i := range s.Rank() {
		if s.At(i) > math.MaxInt32 {
			return fmt.Errorf("kaldi: %v: a size is above 2147483647", t.Desc)
		}
	}
	if s.Rank() == 2 && (s.At(0) == 0) != (s.At(1) == 0) {
		return fmt.Errorf("kaldi: %v: Kaldi knows no such empty matrix but 0 x 0", t.Desc)
	}
	return nil
}

// WriteCompressed writes a compressed matrix of float32 or float64, in the same
// bytes as Kaldi. Numbers that are not finite are an error.
func (w *Writer) WriteCompressed(key string, t *tensor.Tensor, m Method) error {
	if t.Shape.Rank() != 2 || t.DType != tensor.Float32 && t.DType != tensor.Float64 {
		return fmt.Errorf("kaldi: %v, want a matrix of float32 or float64", t.Desc)
	}
	if err := checkSizes(t); err != nil {
		return err
	}
	if w.o.Text {
		return fmt.Errorf("kaldi: %q: text is not compressed", key)
	}
	if !t.Dense() {
		t = t.Clone()
	}
	var x []float32
	if t.DType == tensor.Float32 {
		x = tensor.View[float32](t)
	} else {
		for _, v := range tensor.View[float64](t) {
			x = append(x, float32(v))
		}
	}
	b, err := compress(x, t.Shape.At(0), t.Shape.At(1), m)
	if err != nil {
		return err
	}
	return w.put(key, []byte{0, 'B'}, b)
}

// WriteWave writes PCM samples, (samples, channels) of int16 or uint8, with a
// sample rate in Hz. Kaldi reads only int16.
func (w *Writer) WriteWave(key string, t *tensor.Tensor, rate int) error {
	if t.Shape.Rank() != 2 || t.DType != tensor.Int16 && t.DType != tensor.Uint8 {
		return fmt.Errorf("kaldi: %v, want (samples, channels) of int16 or uint8", t.Desc)
	}
	channels, width := t.Shape.At(1), t.DType.Size()
	const most = math.MaxInt32 - 64 // Kaldi's sizes are int32
	if t.Len() == 0 || t.Size() > most || channels*width > math.MaxUint16 || rate <= 0 || int64(rate) > math.MaxUint32/int64(channels*width) {
		return fmt.Errorf("kaldi: %q: %v at %d samples/s is no wave", key, t.Desc, rate)
	}
	if !t.Dense() {
		t = t.Clone()
	}
	data := littleEndian(t)
	n := len(data)
	if n%2 == 1 {
		data = append(data[:n:n], 0)
	}
	return w.put(key, waveHeader(rate, channels, width, n), data)
}

// WriteRaw writes an object from bytes that Reader.Raw returned.
func (w *Writer) WriteRaw(key string, object []byte) error { return w.put(key, object, nil) }

// put writes an entry. After an error all later calls return it too, since the
// file may end within an entry.
func (w *Writer) put(key string, head, data []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	e := Entry{Key: key, Path: w.o.Name, Offset: w.offset + int64(len(key)) + 1}
	var line string
	if w.o.Script != nil {
		var err error
		if line, err = e.Line(); err != nil {
			return err
		}
	}
	w.bytes(w.w, append([]byte(key), ' '), &w.offset)
	w.bytes(w.w, head, &w.offset)
	w.bytes(w.w, data, &w.offset)
	if w.o.Script != nil {
		var n int64
		w.bytes(w.o.Script, []byte(line+"\n"), &n)
	}
	return w.err
}

func (w *Writer) bytes(to io.Writer, b []byte, offset *int64) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := to.Write(b)
	*offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("kaldi: %w", err)
	}
}
