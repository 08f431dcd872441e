package sound

import (
	"io"
	"runtime"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// Decoder decodes sounds of every linked format and reuses its memory from
// sound to sound. The zero value is ready to use. One goroutine at a time may
// use it.
type Decoder struct {
	formats map[string]FormatDecoder
	in      Input
	header  Header
	open    FormatDecoder // nil if no sound is open
	planes  [][]float32
}

// Open reads the header of data and checks it against the limits. The zero
// Limits mean the defaults. The caller must not change data until Decode
// returns. Errors about the sound are of type *codec.Error.
func (d *Decoder) Open(data []byte, l codec.Limits) (Header, error) {
	d.in = Input{rest: data}
	return d.start(sniff(data), l)
}

func (d *Decoder) start(f *Format, l codec.Limits) (h Header, err error) {
	d.open = nil
	if f == nil {
		return h, unknown(d.in.Peek(sniffBytes))
	}
	fd := d.formats[f.Name]
	if fd == nil {
		if d.formats == nil {
			d.formats = map[string]FormatDecoder{}
		}
		fd = f.New()
		d.formats[f.Name] = fd
	}
	defer d.recovered(f.Name, &err)
	l = l.WithDefaults()
	if h, err = fd.Open(&d.in, l); err != nil {
		return h, err
	}
	h.Format = f.Name
	if err = h.check(); err == nil && d.in.Whole() {
		err = h.checkBytes(l)
	}
	if err == nil {
		d.header, d.open = h, fd
	}
	return h, err
}

// recovered turns a panic of a format's decoder into an error of kind
// ErrInternal and drops the decoder, whose state may be broken.
func (d *Decoder) recovered(format string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	delete(d.formats, format)
	d.open = nil
	stack := make([]byte, 1<<16)
	stack = stack[:runtime.Stack(stack, false)]
	*err = &codec.Error{Format: format, Offset: d.in.offset, Kind: codec.ErrInternal, Msg: errfmt.Sprintf("%v", v), Stack: stack}
}

// Decode decodes the open sound into dst, channel after channel. dst must have
// Samples x Channels values of the header. After an error its contents are
// undefined. A sound is decoded at most once after each Open.
//
// Errors about the sound are of type *codec.Error.
func (d *Decoder) Decode(dst []float32) (err error) {
	if d.open == nil {
		return errfmt.Errorf("sound: decode: no sound is open")
	}
	n := int(d.header.Samples)
	if len(dst) != n*d.header.Channels {
		return errfmt.Errorf("sound: decode: destination of %d values: want %d samples of %d channels", len(dst), n, d.header.Channels)
	}
	d.planes = d.planes[:0]
	for c := range d.header.Channels {
		d.planes = append(d.planes, dst[c*n:][:n:n])
	}
	got, err := d.read(d.planes)
	d.open = nil
	d.in = Input{}
	if err == io.EOF || err == nil && got < n {
		err = codec.Errorf(d.header.Format, -1, codec.ErrFormat, "the data ends after %d of %d samples", got, n)
	}
	return err
}

func (d *Decoder) read(dst [][]float32) (n int, err error) {
	if len(dst[0]) == 0 {
		return 0, nil
	}
	defer d.recovered(d.header.Format, &err)
	n, err = d.open.Read(dst)
	if d.in.err != nil && err != nil {
		return n, d.in.err
	}
	if n == len(dst[0]) {
		err = nil
	}
	return n, err
}

// Decode decodes data as a new float32 tensor of shape (channels, samples). The
// zero Limits mean the defaults. To decode many sounds, keep a [Decoder]
// instead.
func Decode(data []byte, l codec.Limits) (*tensor.Tensor, Header, error) {
	var d Decoder
	h, err := d.Open(data, l)
	if err != nil {
		return nil, h, err
	}
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(h.Channels, int(h.Samples))})
	if err == nil {
		err = d.Decode(floats(t.Data))
	}
	if err != nil {
		return nil, h, err
	}
	return t, h, nil
}

// floats returns the values of a dense float32 tensor's data.
func floats(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// Reader reads a sound from a stream, in bounded memory: blocks of any size
// give the same samples as Decode of the whole data. One goroutine at a time
// may use it.
type Reader struct{ d Decoder }

// NewReader reads the header. The zero Limits mean the defaults; a Reader needs
// at most 16 MiB, whatever the length of the sound. NewReader reads ahead of
// what it returns, so nothing else should read r.
func NewReader(r io.Reader, l codec.Limits) (*Reader, error) {
	s := &Reader{}
	s.d.in = Input{stream: r}
	head := s.d.in.Peek(sniffBytes)
	if s.d.in.err != nil {
		return nil, s.d.in.err
	}
	if _, err := s.d.start(sniff(head), l); err != nil {
		if s.d.in.err != nil {
			return nil, s.d.in.err
		}
		return nil, err
	}
	return s, nil
}

// Header describes the sound. Its Samples may be -1, and the stream may end
// before it has as many.
func (r *Reader) Header() Header { return r.d.header }

// Read decodes the next samples into dst, one slice of equal length for each
// channel, and returns the number of samples of each channel. It fills dst
// unless the sound ends, and returns 0 and io.EOF at the end. Errors about the
// sound are of type *codec.Error; others are the stream's.
func (r *Reader) Read(dst [][]float32) (int, error) {
	if len(dst) != r.d.header.Channels {
		return 0, errfmt.Errorf("sound: read: %d slices: want one for each of %d channels", len(dst), r.d.header.Channels)
	}
	for _, p := range dst {
		if len(p) != len(dst[0]) {
			return 0, errfmt.Errorf("sound: read: slices of %d and %d values: want equal lengths", len(dst[0]), len(p))
		}
	}
	if r.d.open == nil {
		return 0, errfmt.Errorf("sound: read: an earlier read failed")
	}
	n, err := r.d.read(dst)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}
