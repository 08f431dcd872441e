package kaldi

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxKey is the size of the longest key.
const maxKey = 4096

// Options are the options of a Reader and a Script. The zero value is ready for
// use.
type Options struct {
	Name   string // of the file, for errors
	Offset int64  // position in the file of the first byte
	// Limit is the size of the largest object, in bytes, both in the file and
	// as a tensor. Default 1 GiB.
	Limit int64
	// Type is the required type of all objects. Default Any, which detects it.
	Type Type
	// DType is Float32 or Float64, to convert matrices and vectors to. Default:
	// the stored type, and Float32 for text and compressed matrices.
	DType tensor.DType
	// Run runs a command of a script and returns its output. Default: commands
	// are a PipeError.
	Run func(command string) (io.ReadCloser, error)
}

func (o Options) check() (Options, error) {
	if o.Limit <= 0 {
		o.Limit = 1 << 30
	}
	switch {
	case o.DType != tensor.Invalid && o.DType != tensor.Float32 && o.DType != tensor.Float64:
		return o, fmt.Errorf("kaldi: dtype %v, want float32 or float64", o.DType)
	case int(o.Type) >= len(typeNames):
		return o, fmt.Errorf("kaldi: %v, want a type from any to wave", o.Type)
	}
	return o, nil
}

// sized is input that can be skipped without reading: a bytes.Reader or an
// io.SectionReader.
type sized interface {
	io.Seeker
	Size() int64
}

// Reader reads the entries of an archive in order. It is for one goroutine at a
// time.
type Reader struct {
	o     Options
	r     *bufio.Reader
	under sized // nil if skipping must read
	left  int64 // bytes to the end, -1 if unknown
	at    int64 // position in the file of the next byte
	err   error

	h    Header
	head []byte // the bytes of the object that its header needed; for text, all bytes
	// rest is the number of the object's bytes that follow, -1 once they are
	// read. The first data bytes of these are the elements.
	rest, data int64
	tail       []byte      // the bytes after head that the header needed
	big        bool        // numbers of a wave are big-endian
	values     []float64   // of text
	ints       []int32     // of text
	cm         compression // of a compressed matrix
}

// NewReader returns a reader of an archive. If r has Seek and Size, as a
// bytes.Reader and an io.SectionReader have, the reader skips unused data
// without reading it.
func NewReader(r io.Reader, o Options) *Reader {
	x := &Reader{}
	x.reset(r, o)
	return x
}

func (r *Reader) reset(in io.Reader, o Options) {
	o, err := o.check()
	*r = Reader{o: o, left: -1, at: o.Offset, err: err, rest: -1, r: r.r}
	if s, ok := in.(sized); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			r.under, r.left = s, max(0, s.Size()-at)
		}
	}
	if r.r == nil {
		r.r = bufio.NewReaderSize(in, 16<<10)
	} else {
		r.r.Reset(in)
	}
}

// Next skips the rest of the current entry and reads the key and header of the
// next one. It returns io.EOF at the end, and any other error again at every
// later call.
func (r *Reader) Next() (Header, error) {
	if r.err == nil {
		r.err = r.next()
	}
	if r.err != nil {
		return Header{}, r.err
	}
	return r.h, nil
}

func (r *Reader) next() error {
	if err := r.pass(); err != nil {
		return err
	}
	r.h = Header{}
	key, err := r.key()
	if err != nil {
		return err
	}
	r.h.Key = key
	return r.object()
}

// Offset returns the position of the entry after the last one of Next, if its
// object was read.
func (r *Reader) Offset() int64 { return r.at }

//go:noinline
func (r *Reader) corrupt(format string, args ...any) error {
	return corrupt(r.o.Name, r.h.Offset, r.h.Key, format, args...)
}

// failed returns the error of a failed read. The end of the file is damage
// here, since more bytes must follow.
func (r *Reader) failed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return r.corrupt("the file ends at byte %d within the object", r.at)
	}
	return fmt.Errorf("kaldi: %s%w", where(r.o.Name, r.h.Key, r.at), err)
}

func (r *Reader) tooLarge(n int64) error {
	return fmt.Errorf("kaldi: %s%w: %d bytes, the limit is %d", where(r.o.Name, r.h.Key, r.h.Offset), records.ErrTooLarge, n, r.o.Limit)
}

// space reports whether a byte is a blank or line end. Kaldi also accepts the
// vertical tab and the form feed, which no writer uses: each is one bit from a
// line end.
func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// key reads up to the object.
func (r *Reader) key() (string, error) {
	var b []byte
	r.h.Offset = r.at
	for {
		c, err := r.r.ReadByte()
		if err == io.EOF && len(b) == 0 {
			return "", io.EOF
		}
		if err == io.EOF {
			return "", r.corrupt("the file ends within the key %q", b)
		}
		if err != nil {
			return "", r.failed(err)
		}
		r.moved(1)
		switch {
		case space(c) && len(b) == 0:
			r.h.Offset = r.at
		case c == ' ' || c == '\t':
			if !utf8.Valid(b) {
				return "", r.corrupt("the key %q is no UTF-8 text", b)
			}
			return string(b), nil
		case c == '\n':
			// The object is an empty text, and this is its end.
			r.moved(-1)
			if err := r.r.UnreadByte(); err != nil {
				return "", r.failed(err)
			}
			return string(b), nil
		case c < 0x20 || c == 0x7f:
			return "", r.corrupt("byte %02x in a key, after %q", c, b)
		case len(b) == maxKey:
			return "", r.corrupt("no key ends in %d bytes", maxKey)
		default:
			b = append(b, c)
		}
	}
}

func (r *Reader) moved(n int64) {
	r.at += n
	if r.left >= 0 {
		r.left -= n
	}
}

// readByte reads one more byte of the head.
func (r *Reader) readByte() (byte, error) {
	c, err := r.r.ReadByte()
	if err != nil {
		return 0, r.failed(err)
	}
	r.moved(1)
	if r.head = append(r.head, c); int64(len(r.head)) > r.o.Limit {
		return 0, r.tooLarge(int64(len(r.head)))
	}
	return c, nil
}

// take reads n more bytes of the head.
func (r *Reader) take(n int64) ([]byte, error) {
	at := len(r.head)
	if int64(at)+n > r.o.Limit {
		return nil, r.tooLarge(int64(at) + n)
	}
	var err error
	r.head, err = r.more(r.head, n)
	return r.head[min(at, len(r.head)):], err
}

// more appends n bytes. Memory grows with the input, not with the stated
// length.
func (r *Reader) more(b []byte, n int64) ([]byte, error) {
	if r.left >= 0 && n > r.left {
		return b, r.corrupt("the file ends %d bytes before the object does", n-r.left)
	}
	step := int64(1 << 20)
	if r.left >= 0 {
		step = n
	}
	for n > 0 {
		k := min(n, max(step, int64(len(b))))
		at := len(b)
		if int64(cap(b)-at) < k {
			x := make([]byte, at, int64(at)+k)
			copy(x, b)
			b = x
		}
		b = b[:int64(at)+k]
		got, err := io.ReadFull(r.r, b[at:])
		r.moved(int64(got))
		if err != nil {
			return b[:at+got], r.failed(err)
		}
		n -= k
	}
	return b, nil
}

// over skips n bytes.
func (r *Reader) over(n int64) error {
	if r.left >= 0 && n > r.left {
		return r.corrupt("the file ends %d bytes before the object does", n-r.left)
	}
	if b := int64(r.r.Buffered()); r.under != nil && n > b {
		if _, err := r.under.Seek(n-b, io.SeekCurrent); err != nil {
			return r.failed(err)
		}
		r.r.Reset(r.under.(io.Reader))
		r.moved(n)
		return nil
	}
	for n > 0 {
		k, err := r.r.Discard(int(min(n, 1<<30)))
		r.moved(int64(k))
		if err != nil {
			return r.failed(err)
		}
		n -= int64(k)
	}
	return nil
}

// pass skips the rest of the object.
func (r *Reader) pass() error {
	if r.rest < 0 {
		return nil
	}
	n := r.rest - int64(len(r.tail))
	behind := r.rest - r.data // bytes of a wave after its data
	r.rest = -1
	if err := r.over(n - behind); err != nil {
		return err
	}
	if r.isInts() {
		return r.intsEnd(nil)
	}
	return r.finish(behind)
}

// finish reads the n bytes after the data of a wave.
func (r *Reader) finish(n int64) error {
	if n == 0 {
		return nil
	}
	b, err := r.more(nil, n)
	if err != nil {
		return err
	}
	return r.behind(b, r.data)
}

// object reads the header of an object.
func (r *Reader) object() error {
	r.h = Header{Key: r.h.Key, Offset: r.at}
	r.head, r.tail, r.rest, r.data, r.big = r.head[:0], nil, 0, 0, false
	c, err := r.readByte()
	if err != nil {
		return err
	}
	switch c {
	case 0:
		err = r.binary()
	case 'R', 'N', 'P', 'A', 'f': // RIFF, RIFX; and NPY, PKL, AUDIO, fLaC of kaldiio
		err = r.named(c)
	default:
		err = r.text(c)
	}
	if err != nil {
		return err
	}
	if r.o.Type != Any && r.h.Type != r.o.Type {
		return r.corrupt("a %v, want a %v", r.h.Type, r.o.Type)
	}
	d := tensor.Desc{DType: r.h.DType, Shape: r.h.Shape}
	if n := d.Size(); n > r.o.Limit {
		return r.tooLarge(n)
	}
	if n := int64(len(r.head)) + r.rest; n > min(r.o.Limit, math.MaxInt) {
		return r.tooLarge(n)
	}
	return nil
}

func (r *Reader) float(stored tensor.DType) tensor.DType {
	if r.o.DType != tensor.Invalid {
		return r.o.DType
	}
	return stored
}

// dim reads a size as Kaldi writes it: the number of its bytes, which is 4, and
// the size.
func (r *Reader) dim(what string) (int64, error) {
	b, err := r.take(5)
	if err != nil {
		return 0, err
	}
	n := int32(binary.LittleEndian.Uint32(b[1:]))
	if b[0] != 4 || n < 0 {
		return 0, r.corrupt("% x where the %s had to be, want 04 and a number not below 0", b, what)
	}
	return int64(n), nil
}

// binary reads the header after the 0 of "\0B".
func (r *Reader) binary() error {
	b, err := r.take(2)
	if err != nil {
		return err
	}
	if b[0] != 'B' {
		return r.corrupt("00 %02x, want 00 42 or text", b[0])
	}
	switch b[1] {
	case 4:
		return r.intVector()
	case 8:
		return r.unsupported("a number of 8 bytes")
	case '<':
		return r.unsupported("a part of a model")
	}
	token := string(b[1:])
	for token[len(token)-1] != ' ' {
		c, err := r.readByte()
		if err != nil {
			return err
		}
		if token += string(rune(c)); len(token) > 4 {
			return r.corrupt("an object %q, want FM, DM, FV, DV, CM, CM2, CM3 or a vector of int32", token)
		}
	}
	size := int64(4)
	stored := tensor.Float32
	switch token {
	case "DM ", "DV ":
		size, stored = 8, tensor.Float64
	case "FM ", "FV ":
	case "CM ":
		return r.compressed(CM)
	case "CM2 ":
		return r.compressed(CM2)
	case "CM3 ":
		return r.compressed(CM3)
	default:
		if err := r.otherToken(token); err != nil {
			return err
		}
		return r.corrupt("an object %q, want FM, DM, FV, DV, CM, CM2, CM3 or a vector of int32", token)
	}
	r.cm.stored = stored
	r.h.DType = r.float(stored)
	if token[1] == 'V' {
		n, err := r.dim("vector's length")
		if err != nil {
			return err
		}
		r.h.Type = Vector
		return r.shape(size*n, n)
	}
	rows, err := r.dim("number of rows")
	if err != nil {
		return err
	}
	cols, err := r.dim("number of columns")
	if err != nil {
		return err
	}
	r.h.Type = Matrix
	return r.matrix(rows, cols, size, 0)
}

// matrix sets a shape with size bytes per element and extra bytes per column.
func (r *Reader) matrix(rows, cols, size, more int64) error {
	if (rows == 0) != (cols == 0) {
		return r.corrupt("a matrix of %d x %d", rows, cols)
	}
	if rows > 0 && cols > math.MaxInt64/16/rows {
		return r.tooLarge(math.MaxInt64)
	}
	return r.shape(rows*cols*size+cols*more, rows, cols)
}

// shape sets the shape of an object with n remaining bytes.
func (r *Reader) shape(n int64, dims ...int64) error {
	var s tensor.Shape
	for _, d := range dims {
		if d > math.MaxInt {
			return r.tooLarge(n)
		}
		s = s.Append(int(d))
	}
	r.h.Shape = s
	r.rest, r.data = n, n
	return nil
}

// isInts reports whether the object is a binary vector of int32.
func (r *Reader) isInts() bool { return r.h.Type == IntVector && r.h.Form == Binary }

func (r *Reader) intVector() error {
	b, err := r.take(4)
	if err != nil {
		return err
	}
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	if n != 0 && r.number() {
		return r.unsupported("a number of 4 bytes")
	}
	if n < 0 {
		return r.corrupt("a vector of %d numbers", n)
	}
	r.h.Type, r.h.DType = IntVector, tensor.Int32
	return r.shape(5*n, n)
}

func (r *Reader) compressed(f Form) error {
	b, err := r.take(16)
	if err != nil {
		return err
	}
	f32 := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[i:])) }
	r.cm = compression{min: f32(0), span: f32(4)}
	rows, cols := int64(int32(binary.LittleEndian.Uint32(b[8:]))), int64(int32(binary.LittleEndian.Uint32(b[12:])))
	if rows < 0 || cols < 0 {
		return r.corrupt("a matrix of %d x %d", rows, cols)
	}
	if cols == 0 { // Kaldi does not define the number of rows here
		rows = 0
	}
	r.h.Type, r.h.Form, r.h.DType = Matrix, f, r.float(tensor.Float32)
	switch f {
	case CM2:
		return r.matrix(rows, cols, 2, 0)
	case CM3:
		return r.matrix(rows, cols, 1, 0)
	default:
		return r.matrix(rows, cols, 1, 8)
	}
}

// errRead is the error of a second Read.
var errRead = errors.New("kaldi: no object is there, or it was read")

// Raw returns the bytes of the object as stored from Header.Offset on. The
// caller owns them. Call either Raw or Read for an entry.
func (r *Reader) Raw() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.rest < 0 {
		return nil, errRead
	}
	b := append(append([]byte{}, r.head...), r.tail...)
	n := r.rest - int64(len(r.tail))
	r.rest = -1
	b, r.err = r.more(b, n)
	switch {
	case r.err != nil:
	case r.h.Form == RIFF:
		r.err = r.behind(b[int64(len(r.head))+r.data:], r.data)
	case r.isInts():
		r.err = r.intsEnd(b[len(r.head):])
	}
	if r.err != nil {
		return nil, r.err
	}
	return b, nil
}

// Read returns the object of the last Header as a tensor, which the caller
// owns.
func (r *Reader) Read() (*tensor.Tensor, error) {
	t := &tensor.Tensor{}
	if err := r.ReadTo(t); err != nil {
		return nil, err
	}
	return t, nil
}

// ReadTo is like Read, but reads into t and reuses its memory if it is large
// enough.
func (r *Reader) ReadTo(t *tensor.Tensor) error {
	if r.err != nil {
		return r.err
	}
	if r.rest < 0 {
		return errRead
	}
	r.err = r.read(t)
	return r.err
}

func (r *Reader) read(t *tensor.Tensor) error {
	d := tensor.Desc{DType: r.h.DType, Shape: r.h.Shape}
	n := r.rest
	r.rest = -1
	plain := r.h.Form == Binary && r.h.Type != IntVector && r.h.DType == r.cm.stored || r.h.Form == RIFF && !r.big
	if plain && r.tail == nil && r.left >= n { // the data is in memory: no copy needed
		if err := t.Reset(d); err != nil {
			return err
		}
		k, err := io.ReadFull(r.r, t.Data)
		r.moved(int64(k))
		if err != nil {
			return r.failed(err)
		}
		if hostBig {
			swap(r.h.DType, t.Data)
		}
		return r.finish(n - r.data)
	}
	b := r.tail
	if b == nil {
		var err error
		if b, err = r.more(nil, r.data); err != nil {
			return err
		}
		if err := r.finish(n - r.data); err != nil {
			return err
		}
	}
	if err := t.Reset(d); err != nil {
		return err
	}
	switch {
	case r.h.Form == RIFF:
		copy(t.Data, b[:r.data])
		if r.big != hostBig {
			swap(r.h.DType, t.Data)
		}
	case r.h.Form == Text:
		r.textValues(t)
	case r.h.Type == IntVector:
		v := tensor.View[int32](t)
		for i := range v {
			if b[5*i] != 4 {
				return r.corrupt("number %d of %d has %d bytes, want 4", i, len(v), int8(b[5*i]))
			}
			v[i] = int32(binary.LittleEndian.Uint32(b[5*i+1:]))
		}
		return r.intsEnd(b)
	case r.h.Form == Binary:
		convert(t, b, r.cm.stored)
	case r.h.DType == tensor.Float64:
		decompress(tensor.View[float64](t), b, r.h, r.cm)
	default:
		decompress(tensor.View[float32](t), b, r.h, r.cm)
	}
	return nil
}

// convert converts stored floats of either width into t.
func convert(t *tensor.Tensor, b []byte, stored tensor.DType) {
	switch {
	case stored == t.DType:
		copy(t.Data, b)
		if hostBig {
			swap(stored, t.Data)
		}
	case stored == tensor.Float64:
		for i, v := 0, tensor.View[float32](t); i < len(v); i++ {
			v[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	default:
		for i, v := 0, tensor.View[float64](t); i < len(v); i++ {
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	}
}
