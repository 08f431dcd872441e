package jpeg

import (
	"errors"
	"math"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaxSide is the largest width and height of an encoded image in pixels:
// libjpeg's JPEG_MAX_DIMENSION.
const MaxSide = maxSide

// ErrOptions reports invalid EncodeOptions.
var ErrOptions = errors.New("jpeg: invalid encode options")

// Chroma is the resolution of the colour channels. ChromaDefault is Chroma420
// for RGB, and Chroma444 for gray and CMYK.
type Chroma = codec.Chroma

// The resolutions. Pillow cannot write Chroma440 and Chroma411.
const (
	ChromaDefault = codec.ChromaDefault
	Chroma420     = codec.Chroma420
	Chroma422     = codec.Chroma422
	Chroma444     = codec.Chroma444
	Chroma440     = codec.Chroma440
	Chroma411     = codec.Chroma411
)

// chromaFactors holds the sampling factors of the first component. Those of the
// others are 1.
var chromaFactors = [...][2]int{Chroma420: {2, 2}, Chroma422: {2, 1}, Chroma444: {1, 1}, Chroma440: {1, 2}, Chroma411: {4, 1}}

// Dialect is the library whose files the encoder writes. Pillow and OpenCV both
// use libjpeg-turbo; the comments of EncodeOptions state where they differ.
type Dialect uint8

const (
	Pillow Dialect = iota // Pillow 13.0.0: Image.save(f, "JPEG")
	OpenCV                // OpenCV 5.0.0: cv2.imencode(".jpg", image)
)

var dialectNames = []string{"pillow", "opencv"}

// String returns the name: "pillow" or "opencv".
func (d Dialect) String() string { return enum.String("dialect", dialectNames, d) }

// EncodeOptions configures the encoder. The zero value writes what Pillow's
// Image.save(f, "JPEG") writes.
type EncodeOptions struct {
	// Quality is 1 to 100. Default: 75 for Pillow, 95 for OpenCV.
	Quality int
	// ChromaQuality is the quality of the colour channels, 1 to 100. Default:
	// Quality. It needs the dialect OpenCV, which writes Chroma444 if the two
	// differ, whatever Chroma is. It has no effect on gray images.
	ChromaQuality int
	// Chroma is the resolution of the colour channels. For gray images it has
	// no effect on the pixels, but Pillow writes it into the frame header
	// unless it is ChromaDefault.
	Chroma Chroma
	// Optimize computes Huffman tables for the image. The file is smaller and
	// the pixels are the same.
	Optimize bool
	// Progressive writes a progressive file, which always has its own tables.
	Progressive bool
	// RestartBlocks writes a restart marker every so many MCUs, 0 to 65535.
	RestartBlocks int
	// RestartRows writes a restart marker every so many rows of MCUs, 0 to
	// 65535, and at most 65535 MCUs apart. If it is not 0, RestartBlocks has no
	// effect.
	RestartRows int
	Dialect     Dialect
}

// check validates the options and sets defaults, for images of ch channels.
func (o *EncodeOptions) check(ch int) error {
	switch {
	case o.Dialect > OpenCV || o.Chroma > Chroma411:
		return errfmt.Errorf("%w: dialect %v, chroma %v: unknown value", ErrOptions, o.Dialect, o.Chroma)
	case o.Quality < 0 || o.Quality > 100 || o.ChromaQuality < 0 || o.ChromaQuality > 100:
		return errfmt.Errorf("%w: quality %d, of chroma %d: want 1 to 100, or 0 for the default", ErrOptions, o.Quality, o.ChromaQuality)
	case o.ChromaQuality != 0 && o.Dialect != OpenCV:
		return errfmt.Errorf("%w: a quality of chroma needs the dialect %v", ErrOptions, OpenCV)
	case o.RestartBlocks < 0 || o.RestartBlocks > math.MaxUint16 || o.RestartRows < 0 || o.RestartRows > math.MaxUint16:
		return errfmt.Errorf("%w: restart markers every %d blocks or %d rows: want 0 to %d", ErrOptions, o.RestartBlocks, o.RestartRows, math.MaxUint16)
	}
	if o.Quality == 0 {
		o.Quality = 75
		if o.Dialect == OpenCV {
			o.Quality = 95
		}
	}
	if o.ChromaQuality == 0 {
		o.ChromaQuality = o.Quality
	}
	switch {
	case ch == 1 && o.Dialect == OpenCV || o.Quality != o.ChromaQuality:
		o.Chroma = Chroma444
	case o.Chroma != ChromaDefault:
	case ch == 3:
		o.Chroma = Chroma420
	default:
		o.Chroma = Chroma444
	}
	return nil
}

// Encode encodes t and appends the JPEG file to dst. See [Encoder.Encode]. It
// is safe for concurrent use.
func Encode(dst []byte, t *tensor.Tensor, o EncodeOptions) ([]byte, error) {
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	return e.Encode(dst, t, o)
}

var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// NewEncoder returns an encoder for package codec.
func (d *decoder) NewEncoder() codec.FormatEncoder { return &formatEncoder{} }

// formatEncoder is an Encoder with the options of package codec.
type formatEncoder struct{ e Encoder }

func (f *formatEncoder) Encode(dst []byte, t *tensor.Tensor, o codec.EncodeOptions) ([]byte, error) {
	return f.e.Encode(dst, t, EncodeOptions{Quality: o.Quality, Chroma: o.Chroma})
}

// An Encoder encodes images and keeps its memory for the next one. It is not
// safe for concurrent use. The zero value is ready.
type Encoder struct {
	o      EncodeOptions
	width  int
	height int
	maxH   int // largest sampling factors
	maxV   int
	comps  []encComp
	all    [4]encComp // memory of comps

	quality  [2]int // of the tables in quant
	quant    [2][64]uint8
	divisors [2]kernel.Divisors

	out      []byte // the file so far
	interval int    // of the restart markers, as last written
	left     int    // MCUs before the next restart marker
	writer   kernel.HuffWriter
	codes    kernel.HuffCodes
	specs    [4]huffSpec // the tables in codes
	counts   kernel.HuffCounts
	tokens   []kernel.Token
	used     int        // of tokens
	segments []int      // ends of the restart segments in tokens, but the last
	markers  int        // restart markers so far
	eobRun   uint32     // blocks whose end is empty, not in tokens
	late     []uint8    // correction bits, not in tokens
	pack     []byte     // a row of pixels without alpha
	source   *coefStore // of the coefficients, if not nil, in place of an image
	maxBits  [2]int     // length of the longest codes for DC and AC in optimal tables
}

// encComp is a component of the image.
type encComp struct {
	id, table byte // table is the number of the quantization and Huffman tables
	h, v      int
	wBlocks   int // blocks with samples of the image
	hBlocks   int

	// rows holds the samples of the component for a row of MCUs, in rows of
	// 8*wBlocks bytes. line holds rows of full width before downsampling.
	rows []byte
	line [2][]byte
	// blocks holds the quantized coefficients of a row of MCUs, or of the whole
	// image in progressive mode, in rows of wBlocks. masks belong to it; see
	// kernel.FDCTRow.
	blocks [][64]int16
	masks  []uint64
}

// Encode encodes t and appends the JPEG file to dst. The file equals that of
// o.Dialect byte for byte. t is a uint8 HWC image of one channel (gray), three
// (RGB), or four: CMYK with Pillow, and RGBA whose alpha is dropped with
// OpenCV. CMYK values are Pillow's: 0 is no ink.
//
// It returns an error that matches [ErrOptions], or [codec.ErrUnsupported] for
// another kind of tensor, or [codec.ErrLimit] if a side is 0 or more than
// MaxSide. On error, Encode returns dst unchanged.
//
// It allocates nothing but the file if earlier images were at least as large.
func (e *Encoder) Encode(dst []byte, t *tensor.Tensor, o EncodeOptions) ([]byte, error) {
	if t.DType != tensor.Uint8 || !t.IsImage() || t.Layout != tensor.HWC || t.Channels() != 1 && t.Channels() != 3 && t.Channels() != 4 {
		return dst, codec.Errorf(format, -1, codec.ErrUnsupported, "encode %v: want a uint8 HWC image of 1, 3 or 4 channels", t.Desc)
	}
	h, w, ch := t.Height(), t.Width(), t.Channels()
	if h < 1 || w < 1 || h > maxSide || w > maxSide {
		return dst, codec.Errorf(format, -1, codec.ErrLimit, "encode %d x %d pixels: want sides of 1 to %d", w, h, maxSide)
	}
	if ch == 4 && o.Dialect == OpenCV {
		ch = 3
	}
	if err := o.check(ch); err != nil {
		return dst, err
	}
	if t.Strides[1] != t.Channels() || t.Channels() > 1 && t.Strides[2] != 1 {
		t = t.Clone() // its rows are not dense
	}
	e.o, e.width, e.height, e.maxBits = o, w, h, [2]int{16, 16}
	if err := e.layout(ch); err != nil {
		return dst, err
	}
	e.out, e.interval = dst, 0
	switch {
	case o.Progressive:
		e.progressive(t)
	case o.Optimize:
		e.optimized(t)
	default:
		e.standard(t)
	}
	out := append(e.out, 0xFF, mEOI)
	e.out = nil
	return out, nil
}

// layout sets up the components, tables and memory for an image of ch channels.
func (e *Encoder) layout(ch int) error {
	f := chromaFactors[e.o.Chroma]
	e.maxH, e.maxV = f[0], f[1]
	e.comps = e.all[:ch]
	for i := range e.comps {
		c := &e.comps[i]
		c.id, c.table, c.h, c.v = byte(i+1), 0, 1, 1
		switch {
		case ch == 4:
			c.id = "CMYK"[i]
		case i > 0:
			c.table = 1
		}
		if i == 0 {
			c.h, c.v = e.maxH, e.maxV
		}
		c.wBlocks = ceilDiv(e.width*c.h, 8*e.maxH)
		c.hBlocks = ceilDiv(e.height*c.v, 8*e.maxV)
		rows := c.v
		if e.o.Progressive {
			rows = c.hBlocks
		}
		if n := int64(c.wBlocks) * int64(rows); n > math.MaxInt/128 {
			return codec.Errorf(format, -1, codec.ErrLimit, "encode %d x %d pixels: too many for a progressive file", e.width, e.height)
		}
		c.blocks = grow(c.blocks, c.wBlocks*rows)
		c.masks = grow(c.masks, c.wBlocks*rows)
		c.rows = grow(c.rows, 64*c.wBlocks*c.v)
		if c.h != e.maxH || c.v != e.maxV {
			for y := range e.maxV {
				c.line[y] = grow(c.line[y], 8*c.wBlocks*e.maxH)
			}
		}
	}
	for i, q := range [2]int{e.o.Quality, e.o.ChromaQuality} {
		if e.quality[i] != q {
			e.quality[i] = q
			scaleTable(&e.quant[i], &stdQuant[i], q)
			e.divisors[i].Set(&e.quant[i])
		}
	}
	return nil
}

// stdQuant holds the quantization tables of T.81, tables K.1 and K.2, in
// natural order.
var stdQuant = [2][64]uint8{
	{
		16, 11, 10, 16, 24, 40, 51, 61,
		12, 12, 14, 19, 26, 58, 60, 55,
		14, 13, 16, 24, 40, 57, 69, 56,
		14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77,
		24, 35, 55, 64, 81, 104, 113, 92,
		49, 64, 78, 87, 103, 121, 120, 101,
		72, 92, 95, 98, 112, 100, 103, 99,
	},
	{
		17, 18, 24, 47, 99, 99, 99, 99,
		18, 21, 26, 66, 99, 99, 99, 99,
		24, 26, 56, 99, 99, 99, 99, 99,
		47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99,
	},
}

// scaleTable scales a table by libjpeg's percentage for a quality: 5000/q below
// 50, else 200-2q. The values are rounded and limited to 1 to 255.
func scaleTable(dst, src *[64]uint8, quality int) {
	percent := 200 - 2*quality
	if quality < 50 {
		percent = 5000 / quality
	}
	for i, v := range src {
		dst[i] = uint8(min(max((int(v)*percent+50)/100, 1), 255))
	}
}
