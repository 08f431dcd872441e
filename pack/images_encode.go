package pack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Encoding is the format of packed images.
type Encoding uint8

const (
	JPEG        Encoding = iota // baseline
	PNG                         // 8 bits per sample
	PassThrough                 // the unchanged bytes of the files
)

var encodingNames = []string{"jpeg", "png", "pass-through"}

// String returns the name.
func (e Encoding) String() string { return enum.String("encoding", encodingNames, e) }

// Turbo is the encoder of package codec/jpeg. It writes the files of
// libjpeg-turbo, byte for byte those of cv2.imencode.
const Turbo = "turbo"

// ErrEncoder reports an encoder that this program does not import.
var ErrEncoder = errors.New("no such encoder in this program")

// Encoders returns the names of the encoders of JPEG files in this program:
// Turbo, and those of imported packages.
func Encoders() []string {
	names := []string{Turbo}
	for _, e := range codec.Encoders() {
		names = append(names, e.Name)
	}
	return names
}

// other returns the imported encoder of the options, a zero one for Turbo.
func (o *ImageOptions) other() (codec.Encoder, error) {
	l := codec.Encoders()
	i := slices.IndexFunc(l, func(e codec.Encoder) bool { return e.Name == o.Encoder })
	switch {
	case o.Encoder == Turbo:
		return codec.Encoder{}, nil
	case i < 0:
		return codec.Encoder{}, fmt.Errorf("pack: encoder %q: %w: want one of %s", o.Encoder, ErrEncoder, strings.Join(Encoders(), ", "))
	case !slices.Contains(l[i].Chroma, o.Chroma):
		return codec.Encoder{}, fmt.Errorf("pack: chroma %v: want one of %v for %s", o.Chroma, l[i].Chroma, o.Encoder)
	}
	return l[i], nil
}

// version names the encoder's version for journals and plans.
func (o *ImageOptions) version() string {
	for _, e := range codec.Encoders() {
		if e.Name == o.Encoder {
			return e.Version
		}
	}
	return o.Encoder
}

// versions lists the versions of the encoders in this program.
func versions() (l []string) {
	for _, name := range Encoders() {
		l = append(l, (&ImageOptions{Encoder: name}).version())
	}
	return l
}

// encoderOf returns the name of the encoder with a version.
func encoderOf(version string) (string, bool) {
	i := slices.Index(versions(), version)
	if i < 0 {
		return "", false
	}
	return Encoders()[i], true
}

// Color selects the packed channels, as the flag of cv2.imread does.
type Color uint8

const (
	// RGB packs three channels without alpha: IMREAD_COLOR.
	RGB Color = iota
	// Gray packs one channel: IMREAD_GRAYSCALE.
	Gray
	// Unchanged packs the channels of the file: one, three, or four in PNG
	// (JPEG drops alpha). It ignores the EXIF orientation: IMREAD_UNCHANGED.
	// Images with 16 bits per sample are an error.
	Unchanged
)

var colorNames = []string{"rgb", "gray", "unchanged"}

// String returns the name.
func (c Color) String() string { return enum.String("color", colorNames, c) }

// ImageOptions describes the processing of an image before it is packed. With
// PassThrough only Check, Fast and Limits have an effect.
type ImageOptions struct {
	Encoding   Encoding
	Encoder    string      // of JPEG: one of Encoders; default Turbo
	Quality    int         // JPEG: 1 to 100, default 95; PNG: compression level 1 to 9, default 3
	Chroma     jpeg.Chroma // chroma subsampling of JPEG; default 4:2:0; other encoders may have fewer
	Color      Color
	CenterCrop bool // crop the largest centred square, before Resize
	Resize     int  // length of the shorter edge in pixels, up to 2^24; 0: no resize
	// Check decodes the images of PassThrough. One that cannot be decoded, for
	// example since it is cut short, is an error. Default: only the header is
	// read. Plans ignore it.
	Check bool
	// Fast rewrites the JPEG files of PassThrough so that they decode faster,
	// with the same pixels (see jpeg.Rewriter). Files that it refuses stay
	// unchanged.
	Fast   bool
	Limits codec.Limits // of decoding one image, and of the pixels after Resize; zero fields mean the defaults
}

// fill checks the options and sets defaults.
func (o *ImageOptions) fill() error {
	o.Limits = o.Limits.WithDefaults()
	if o.Encoder == "" || o.Encoding != JPEG {
		o.Encoder = Turbo
	}
	most := 0
	if o.Fast && o.Encoding != PassThrough {
		return fmt.Errorf("pack: encoding %v: lossless rewriting needs %v", o.Encoding, PassThrough)
	}
	switch o.Encoding {
	case PassThrough:
		*o = ImageOptions{Encoding: PassThrough, Encoder: Turbo, Check: o.Check, Fast: o.Fast, Limits: o.Limits}
		return nil
	case JPEG:
		if most = 100; o.Quality == 0 {
			o.Quality = 95
		}
		if o.Chroma == jpeg.ChromaDefault {
			o.Chroma = jpeg.Chroma420
		}
	case PNG:
		o.Chroma = 0
		if most = 9; o.Quality == 0 {
			o.Quality = 3
		}
	}
	switch {
	case most == 0 || o.Color > Unchanged || o.Chroma > jpeg.Chroma411:
		return fmt.Errorf("pack: encoding %v, color %v, chroma %v: unknown value", o.Encoding, o.Color, o.Chroma)
	case o.Quality < 1 || o.Quality > most:
		return fmt.Errorf("pack: quality %d: want 1 to %d for %v", o.Quality, most, o.Encoding)
	case o.Resize < 0 || o.Resize > 1<<24:
		return fmt.Errorf("pack: resize %d: want 0 to %d", o.Resize, 1<<24)
	}
	_, err := o.other()
	return err
}

// images prepares images one after another and reuses its memory.
type images struct {
	o       *ImageOptions
	file    []byte
	whole   bool // file is the content of the last image
	decoder codec.Decoder
	pixels  tensor.Tensor
	gray    tensor.Tensor
	resized tensor.Tensor
	crop    tensor.Tensor
	context *transforms.Context
	png     pngWriter
	jpeg    jpeg.Encoder
	rewrite jpeg.Rewriter
	other   codec.FormatEncoder // of JPEG; nil before its first image
}

// image appends the packed form of an image file to dst.
func (m *images) image(ctx context.Context, files store.Opener, dst []byte, path string) (_ []byte, err error) {
	m.whole = false
	if m.file, err = readFile(ctx, files, m.file[:0], path, m.o.Limits.Bytes); err != nil {
		return nil, err
	}
	m.whole = true
	return m.encode(dst)
}

// encode appends the packed form of the image in m.file to dst.
func (m *images) encode(dst []byte) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // a bug must not end the packing of all other images
			err = fmt.Errorf("%w: %v", codec.ErrInternal, p)
		}
	}()
	if m.o.Encoding == PassThrough {
		if err := m.validate(); err != nil {
			return nil, err
		}
		return m.unchanged(dst), nil
	}
	t, err := m.decode()
	if err != nil {
		return nil, err
	}
	if t, err = m.scale(t); err != nil {
		return nil, err
	}
	if m.o.Encoding == PNG {
		return m.png.encode(dst, t, m.o.Quality)
	}
	if m.o.Encoder != Turbo {
		if m.other == nil {
			e, err := m.o.other()
			if err != nil {
				return nil, err
			}
			m.other = e.New()
		}
		return m.other.Encode(dst, t, codec.EncodeOptions{Quality: m.o.Quality, Chroma: m.o.Chroma})
	}
	return m.jpeg.Encode(dst, t, jpeg.EncodeOptions{Quality: m.o.Quality, Chroma: m.o.Chroma, Dialect: jpeg.OpenCV})
}

// unchanged appends m.file to dst, rewritten if it can be.
func (m *images) unchanged(dst []byte) (out []byte) {
	defer func() {
		if recover() != nil { // a bug must not end the packing of all other images
			m.rewrite, out = jpeg.Rewriter{}, append(dst, m.file...)
		}
	}()
	if m.o.Fast {
		if b, err := m.rewrite.Rewrite(dst, m.file, m.o.Limits); err == nil {
			return b
		}
	}
	return append(dst, m.file...)
}

// validate returns an error if m.file, which is packed unchanged, does not
// begin as an image or, with Check, cannot be decoded. Images of formats that
// are not linked pass without Check.
func (m *images) validate() error {
	if m.o.Check {
		_, err := m.decode()
		return err
	}
	_, err := codec.DecodeConfig(m.file, nil)
	if errors.Is(err, codec.ErrUnsupported) || errors.Is(err, codec.ErrLimit) {
		return nil
	}
	return err
}

// decode decodes m.file as cv2.imread does.
func (m *images) decode() (*tensor.Tensor, error) {
	o := codec.Options{Gray16: codec.Gray16High, Orientation: codec.OrientationApply, Limits: m.o.Limits}
	format := "" // of an image that is converted to gray here
	switch m.o.Color {
	case Gray:
		i, err := m.decoder.Open(m.file, &o)
		if err != nil {
			return nil, err
		}
		// libjpeg returns its luma; other formats decode to colour, which is
		// converted below.
		if c := i.Info(); c.Format != "jpeg" || c.Mode == codec.CMYK {
			format = c.Format
		} else {
			o.Color = codec.ToLuma
		}
	case Unchanged:
		o.Orientation, o.Refuse = codec.OrientationIgnore, codec.RefuseDepth16
		i, err := m.decoder.Open(m.file, &o)
		if err != nil {
			return nil, err
		}
		switch c := i.Info(); {
		case c.Mode == codec.L: // with or without a colour key
			o.Color = codec.ToGray
		case c.HasAlpha && m.o.Encoding == PNG:
			o.Color = codec.ToRGBA
		}
	}
	i, err := m.decoder.Open(m.file, &o)
	if err == nil {
		info := i.Info()
		err = m.pixels.Reset(info.Desc())
	}
	if err == nil {
		err = i.Decode(m.pixels.Data)
	}
	if err != nil || format == "" {
		return &m.pixels, err
	}
	if format == "png" { // OpenCV leaves the conversion to libpng, which truncates
		if err := m.gray.Reset(m.pixels.WithChannels(1)); err != nil {
			return nil, err
		}
		for i := range m.gray.Data[:m.gray.Len()] {
			p := m.pixels.Data[3*i:][:3]
			m.gray.Data[i] = uint8((9797*uint32(p[0]) + 19234*uint32(p[1]) + 3737*uint32(p[2])) >> 15)
		}
		return &m.gray, nil
	}
	return m.apply(&m.gray, &transforms.Grayscale{Channels: 1, Backend: transforms.OpenCV}, &m.pixels)
}

// scale crops and resizes as im2rec does.
func (m *images) scale(t *tensor.Tensor) (*tensor.Tensor, error) {
	h, w := t.Height(), t.Width()
	if m.o.CenterCrop && h != w {
		axis, side, from := 0, w, (h-w)/2
		if w > h {
			axis, side, from = 1, h, (w-h)/2
		}
		c, err := t.Slice(axis, from, from+side)
		if err != nil {
			return nil, err
		}
		h, w = side, side
		if t = c; m.o.Resize == 0 {
			if err := m.crop.Reset(c.Desc); err != nil {
				return nil, err
			}
			return &m.crop, c.CopyTo(&m.crop)
		}
	}
	edge := m.o.Resize
	if edge == 0 {
		return t, nil
	}
	nh, nw := edge, int(int64(w)*int64(edge)/int64(h))
	if h > w {
		nh, nw = int(int64(h)*int64(edge)/int64(w)), edge
	}
	if l := m.o.Limits.Pixels; l > 0 && int64(nh) > l/int64(nw) {
		return nil, fmt.Errorf("%w: %d x %d pixels after the resize: the limit is %d", codec.ErrPixels, nw, nh, l)
	}
	return m.apply(&m.resized, &transforms.Resize{Fit: transforms.FitExact, Height: nh, Width: nw, Interpolation: transforms.Bilinear, Backend: transforms.OpenCV}, t)
}

// apply runs one op.
func (m *images) apply(dst *tensor.Tensor, op transforms.Op, src *tensor.Tensor) (*tensor.Tensor, error) {
	if err := op.Validate(); err != nil {
		return nil, err
	}
	var d [1]tensor.Desc
	if err := op.Infer(d[:], []tensor.Desc{src.Desc}); err != nil {
		return nil, err
	}
	if err := dst.Reset(d[0]); err != nil {
		return nil, err
	}
	if m.context == nil {
		m.context = transforms.NewContext(m.o.Limits)
	}
	m.context.Begin()
	return dst, op.Apply(m.context, []*tensor.Tensor{dst}, []*tensor.Tensor{src})
}

// readFile reads a file into b if its capacity suffices, else into new memory.
// A file of more than limit bytes is codec.ErrLimit, if limit is positive.
func readFile(ctx context.Context, files store.Opener, b []byte, path string, limit int64) (_ []byte, err error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := f.Size()
	if limit > 0 && size > limit {
		return b, fmt.Errorf("%w: a file of %d bytes: the limit is %d", codec.ErrBytes, size, limit)
	}
	return store.ReadAll(f, b)
}

// below joins root and a path of a list. As in os.path.join, an absolute path
// stays as it is.
func below(root, path string) string {
	if store.IsAbs(path) {
		return path
	}
	return store.Join(root, path)
}
