package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Decode decodes an image. It takes an encoded image (a bytes scalar) and
// returns a uint8 HWC image of three channels; gray and luma have one channel,
// rgba has four. It supports the formats that the program imports: codec/all,
// or single formats such as codec/jpeg and codec/png.
//
// The defaults match Pillow's Image.open(f).convert("RGB"): only TIFF's
// orientation applies, alpha is dropped, 16-bit gray is clipped, and an
// animation returns its first frame. Package codec documents the policies. The
// height and the width are unknown until the header is read.
//
// A scale other than full selects libjpeg's reduced decoding, with sides of
// ceil(side * scale). It approximates decoding and then resizing, with less
// work. It supports lossy JPEG; other files are codec.ErrUnsupported.
//
// An image that cannot be decoded, that a policy rejects or that exceeds the
// Context's Limits is a *codec.Error.
//
// Reference: Pillow 13.0.0 with libjpeg-turbo 3.1 and libwebp; OpenCV 5.0.0 for
// gray, YCbCr and RGB JPEG; TorchCodec 0.17.0 for torchcodec; transformers
// 5.23.0, convert_to_rgb, for white and key_white. For the scales: Pillow
// 13.0.0, Image.draft; OpenCV 5.0.0.93, IMREAD_REDUCED_COLOR_2, _4 and _8,
// IMREAD_REDUCED_GRAYSCALE_2, _4 and _8.
type Decode struct {
	// Color is the layout of the pixels: rgb, bgr, gray, luma or rgba. Default
	// rgb.
	Color codec.Color `json:"color"`
	// Alpha is the policy for transparency: drop, white or key_white. Default
	// drop.
	Alpha codec.Alpha `json:"alpha"`
	// Gray16 is the conversion of 16-bit gray to 8 bits: clip or high. Default
	// clip.
	Gray16 codec.Gray16 `json:"gray16"`
	// Refuse lists the kinds of image that are errors: gray, alpha, depth16,
	// cmyk, palette, animation, canvas, bilevel. Default empty.
	Refuse codec.Refuse `json:"refuse"`
	// Orientation is the policy for the EXIF orientation: ignore or apply.
	// Default ignore.
	Orientation codec.Orientation `json:"orientation"`
	// Damage is the policy for damaged files: pillow, strict, lenient, imread,
	// imdecode or torchcodec. Default pillow.
	Damage codec.Damage `json:"damage"`
	// Scale is the fraction of the size to decode: full, half, quarter or
	// eighth. Default full.
	Scale codec.Scale `json:"scale"`
}

//msgp:tuple Decode
//msgp:shim codec.Color as:uint8 using:uint8/codec.Color
//msgp:shim codec.Alpha as:uint8 using:uint8/codec.Alpha
//msgp:shim codec.Gray16 as:uint8 using:uint8/codec.Gray16
//msgp:shim codec.Refuse as:uint8 using:uint8/codec.Refuse
//msgp:shim codec.Orientation as:uint8 using:uint8/codec.Orientation
//msgp:shim codec.Damage as:uint8 using:uint8/codec.Damage
//msgp:shim codec.Scale as:uint8 using:uint8/codec.Scale

// NewDecode returns the op with the defaults: Pillow's
// Image.open(f).convert("RGB").
func NewDecode() *Decode { return &Decode{} }

// workerBytes is the number of bytes of a file for each goroutine that decodes
// it: with less, to begin with it costs more time than it saves.
const workerBytes = 96 << 10

// decodeState is the decoder that the Decode ops of one worker share, and the
// image that it has open.
type decodeState struct {
	decoder codec.Decoder
	image   *codec.Image       // nil if none is open
	native  *codec.NativeImage // nil if none is open
	frame   int                // of native
	options codec.Options
	data    []byte // of image or native
	run     uint64 // in which image was opened
}

// opened returns the image of src if it is open and not yet decoded, else nil.
func (s *decodeState) opened(src *tensor.Tensor, o *codec.Options) *codec.Image {
	if s.image == nil || s.options != *o || len(s.data) != len(src.Data) || len(s.data) > 0 && &s.data[0] != &src.Data[0] {
		return nil
	}
	return s.image
}

// open reads the header of src.
func (s *decodeState) open(c *Context, src *tensor.Tensor, o *codec.Options) (*codec.Image, error) {
	s.options, s.run, s.image, s.native, s.data = *o, c.scratch.run, nil, nil, nil
	i, err := s.decoder.Open(src.Data, &s.options)
	if err == nil {
		s.image, s.data = i, src.Data
	}
	return i, err
}

// take returns the image of src for decoding. It reads the header unless
// InferData has.
func (o *Decode) take(c *Context, src *tensor.Tensor) (*codec.Image, error) {
	s, opt := &c.scratch.decode, o.options()
	opt.Limits, opt.Workers, opt.Index = c.Limits, min(c.scratch.workers, len(src.Data)/workerBytes), c.scratch.index
	i := s.opened(src, &opt)
	if i == nil {
		var err error
		if i, err = s.open(c, src, &opt); err != nil {
			return nil, err
		}
	}
	s.image, s.data = nil, nil
	return i, nil
}

// Open reads the header of src and describes the image. Apply and ApplyRows use
// what it read if they follow for the same input.
func (o *Decode) Open(c *Context, src *tensor.Tensor) (codec.Info, error) {
	s, opt := &c.scratch.decode, o.options()
	opt.Limits, opt.Workers, opt.Index = c.Limits, min(c.scratch.workers, len(src.Data)/workerBytes), c.scratch.index
	// Within a run the data of an input does not change.
	if s.run != 0 && s.run == c.scratch.run {
		if i := s.opened(src, &opt); i != nil {
			return i.Info(), nil
		}
	}
	i, err := s.open(c, src, &opt)
	if err != nil {
		return codec.Info{}, err
	}
	return i.Info(), nil
}

func (o *Decode) options() codec.Options {
	return codec.Options{
		Color: o.Color, Alpha: o.Alpha, Gray16: o.Gray16, Refuse: o.Refuse, Orientation: o.Orientation, Damage: o.Damage,
		Scale: o.Scale,
	}
}

// Info describes the op.
func (*Decode) Info() Info {
	return Info{
		Name: "decode", Version: 1, New: func() Op { return NewDecode() },
		Reference: "Pillow 13.0.0 convert(\"RGB\"), Image.draft for the scales; OpenCV 5.0.0 imdecode for gray, YCbCr, RGB JPEG", Exactness: "0",
	}
}

// Validate checks that the values are valid policies.
func (o *Decode) Validate() error {
	opt := o.options()
	if err := opt.Validate(); err != nil {
		return paramErr("%v", err)
	}
	return nil
}

// Infer describes an image of unknown height and width.
func (o *Decode) Infer(dst, in []tensor.Desc) error {
	if in[0] != tensor.Encoded() {
		return inputErr("%v, want bytes: an encoded image", in[0])
	}
	dst[0] = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, o.Color.Channels())
	return nil
}

// InferData reads the header. Apply and ApplyRows use what it read.
func (o *Decode) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	i, err := o.Open(c, src[0])
	if err != nil {
		return err
	}
	dst[0] = i.Desc()
	return nil
}

// Apply decodes the image.
func (o *Decode) Apply(c *Context, dst, src []*tensor.Tensor) error {
	i, err := o.take(c, src[0])
	if err != nil {
		return err
	}
	defer i.Close()
	return i.Decode(dst[0].Data)
}

// ApplyRows decodes a region of the image and passes its rows to sink; see
// codec.Image.DecodeRows.
func (o *Decode) ApplyRows(c *Context, sink codec.RowSink, region codec.Region, src *tensor.Tensor) error {
	i, err := o.take(c, src)
	if err != nil {
		return err
	}
	defer i.Close()
	return i.DecodeRows(sink, region)
}

// Swapped returns a copy of the op that decodes BGR in place of RGB, or the
// reverse. It reports false for other colours.
func (o *Decode) Swapped() (RowSource, bool) {
	d := *o
	switch d.Color {
	case codec.ToRGB:
		d.Color = codec.ToBGR
	case codec.ToBGR:
		d.Color = codec.ToRGB
	default:
		return nil, false
	}
	return &d, true
}
