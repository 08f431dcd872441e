package codec

import (
	"runtime"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// Decoder decodes images of every linked format and reuses its memory from
// image to image. The zero value is ready to use. One goroutine at a time may
// use it.
type Decoder struct {
	formats map[string]FormatDecoder
	image   Image
	native  NativeImage
	options Options // of the open image
	scratch Raster
	conv    converter
	row     []byte
	rows    rowConverter
	guard   guardedSink
	whole   []byte // an image whose rows DecodeRows copies
}

// Image is an encoded image whose header has been read. It belongs to its
// Decoder and is valid until the Decoder's next Open. It keeps a reference to
// the data until then, or until Close.
type Image struct {
	d      *Decoder
	info   Info
	data   []byte
	format FormatDecoder // that has read the header; nil after decoding
}

// Info describes an image and the result of decoding it.
type Info struct {
	Config
	OutWidth, OutHeight int // size of the result, after scaling and orientation
	Channels            int // of the result
	// Damaged is the first damage that Decode met under DamageLenient, nil if
	// none.
	Damaged error
}

// Size returns the number of bytes of the result.
func (i *Info) Size() int { return i.OutWidth * i.OutHeight * i.Channels }

// Desc describes the result: uint8, HWC.
func (i *Info) Desc() tensor.Desc {
	return tensor.Image(tensor.Uint8, tensor.HWC, i.OutHeight, i.OutWidth, i.Channels)
}

// Open reads the header of data and checks it against the limits and the Refuse
// policy. Decoding then fails only for faults that the header does not show. A
// nil o means the zero Options. Open copies o. The caller must not change data
// while it uses the image.
//
// Errors about the image are of type *Error.
func (d *Decoder) Open(data []byte, o *Options) (*Image, error) {
	d.options = Options{}
	if o != nil {
		d.options = *o
	}
	d.options.Limits = d.options.Limits.WithDefaults()
	i := &d.image
	*i = Image{d: d}
	if err := d.options.Validate(); err != nil {
		return nil, err
	}
	if err := i.open(data); err != nil {
		return nil, err
	}
	return i, nil
}

// open reads the header with the Decoder's options.
func (i *Image) open(data []byte) (err error) {
	d, o := i.d, &i.d.options
	f, fd, err := d.find(data)
	if err != nil {
		return err
	}
	if o.Scale != ScaleFull && !f.Scales {
		return Errorf(f.Name, -1, ErrUnsupported, "scale %v: want full, only JPEG has other scales", o.Scale)
	}
	defer d.recovered(f.Name, fd, &err)
	c, err := fd.Open(data, o)
	if err != nil {
		return err
	}
	info := Info{Config: c, OutWidth: o.Scale.Of(c.Width), OutHeight: o.Scale.Of(c.Height), Channels: o.Color.Channels()}
	if info.Orientation < 1 || info.Orientation > 8 {
		info.Orientation = 1
	}
	if info.oriented(o) >= 5 {
		info.OutWidth, info.OutHeight = info.OutHeight, info.OutWidth
	}
	perPixel := info.Channels
	if !direct(&info, o) {
		perPixel += c.Mode.Size() // the scratch raster
	}
	// The pixel limit counts stored pixels, the byte limit those of the result.
	if err := o.Limits.checkPixels(c.Format, c.Width, c.Height); err != nil {
		return err
	}
	if err := o.Limits.checkBytes(c.Format, info.OutWidth, info.OutHeight, perPixel); err != nil {
		return err
	}
	if n := int64(c.Width) * int64(c.Height); n > min(maxPixels, int64(maxInt)/8) {
		return Errorf(c.Format, -1, ErrLimit, "%dx%d pixels do not fit the address space", c.Width, c.Height)
	}
	if err := refuse(&c, o); err != nil {
		return err
	}
	if o.Damage.OpenCV() && o.Color != ToRGB && o.Color != ToBGR {
		// IMREAD_UNCHANGED has as many channels as the file. libpng and others
		// make gray of colours, each by a rule of its own.
		if o.Color == ToRGBA || c.Mode != L && c.Mode != LA && c.Mode != I16 {
			return Errorf(c.Format, -1, ErrUnsupported, "%v of mode %v under damage %v: want rgb, bgr, or luma of JPEG and gray", o.Color, c.Mode, o.Damage)
		}
	}
	if o.Damage == DamageTorchCodec && (o.Color != ToRGB && o.Color != ToBGR || o.Alpha != AlphaDrop) {
		return Errorf(c.Format, -1, ErrUnsupported, "%v with alpha %v under damage %v: want rgb or bgr, and drop", o.Color, o.Alpha, o.Damage)
	}
	i.info, i.data, i.format = info, data, fd
	return nil
}

// find returns data's format, which the damage policy must allow, and its
// decoder.
func (d *Decoder) find(data []byte) (*Format, FormatDecoder, error) {
	f, damage := sniff(data), d.options.Damage
	if f == nil {
		return nil, nil, unknown(data)
	}
	if f.PillowOnly && (damage.OpenCV() || damage == DamageTorchCodec) {
		return nil, nil, Errorf(f.Name, -1, ErrUnsupported, "damage %v: want pillow, strict or lenient, because OpenCV and TorchCodec do not read this format as Pillow does", damage)
	}
	fd := d.formats[f.Name]
	if fd == nil {
		if d.formats == nil {
			d.formats = map[string]FormatDecoder{}
		}
		fd = f.New()
		d.formats[f.Name] = fd
	}
	return f, fd, nil
}

const (
	maxInt    = int(^uint(0) >> 1)
	maxPixels = 1 << 43 // 8 bytes each are what Go can address; applies without limits
)

// reopen makes the format's decoder ready to decode the image once more.
func (i *Image) reopen() error {
	if i.data == nil {
		return errfmt.Errorf("codec: decode: the image is closed")
	}
	if i.format != nil {
		return nil
	}
	return i.open(i.data)
}

// recovered turns a panic of a format's decoder into an error of kind
// ErrInternal and drops the decoder, whose state may be broken. A panic of the
// caller's RowSink goes through.
func (d *Decoder) recovered(format string, fd FormatDecoder, err *error) {
	v := recover()
	if v == nil {
		return
	}
	if d.guard.inside {
		d.guard = guardedSink{}
		panic(v)
	}
	d.guard = guardedSink{}
	delete(d.formats, format)
	offset := int64(-1)
	if p, ok := fd.(interface{ Offset() int64 }); ok {
		offset = p.Offset()
	}
	*err = &Error{Format: format, Offset: offset, Kind: ErrInternal, Msg: errfmt.Sprintf("%v", v), Stack: stack()}
}

// stack returns the stack of the current goroutine, as debug.Stack does.
// Package runtime/debug would link fmt and os.
func stack() []byte {
	b := make([]byte, 1<<16)
	return b[:runtime.Stack(b, false)]
}

// Info describes the image and its result.
func (i *Image) Info() Info { return i.info }

// Close drops the image's reference to its data. Calling it is optional.
func (i *Image) Close() { i.data, i.format = nil, nil }

// Decode decodes the first frame into dst as dense height x width x channels
// bytes. dst must have Info's Size in bytes. After an error its contents are
// undefined. Decode allocates nothing once its buffers have grown, unless the
// format's decoder does. An image may be decoded several times; from the second
// time on, Decode reads the header again.
//
// Errors about the image are of type *Error.
func (i *Image) Decode(dst []byte) (err error) {
	if len(dst) != i.info.Size() {
		return errfmt.Errorf("codec: decode: destination of %d bytes: want %d for %dx%d pixels of %d channels",
			len(dst), i.info.Size(), i.info.OutWidth, i.info.OutHeight, i.info.Channels)
	}
	if err := i.reopen(); err != nil {
		return err
	}
	d, o, info, fd := i.d, &i.d.options, &i.info, i.format
	i.format = nil
	defer d.recovered(info.Format, fd, &err)
	in := direct(info, o)
	own := d.scratch.Pix
	if in {
		d.scratch.Pix = dst[:0:len(dst)]
		defer func() { d.scratch.Pix = own }()
	}
	r := &d.scratch
	r.HasKey, r.HasKeyRGB, r.Damaged = false, false, nil
	if err := fd.Decode(r); err != nil {
		return err
	}
	info.Damaged = r.Damaged
	if w, h := o.Scale.Of(info.Width), o.Scale.Of(info.Height); r.Mode != info.Mode || r.Width != w || r.Height != h {
		return Errorf(info.Format, -1, ErrFormat, "decoded to %v %dx%d, the header promised %v %dx%d",
			r.Mode, r.Width, r.Height, info.Mode, w, h)
	}
	if in && &r.Pix[0] == &dst[0] && r.Stride == r.Width*info.Channels {
		switch {
		case o.Color == ToGray || o.Color == ToLuma || o.Color == ToRGBA:
		case o.Alpha == AlphaWhite && r.HasKey:
			keyToWhite(dst, r.Key)
		case o.Alpha == AlphaKeyWhite && r.HasKeyRGB:
			keyToWhite(dst, r.KeyRGB)
		}
		if o.Color == ToBGR {
			swapRB(dst)
		}
		return nil
	}
	d.place(dst, r, info, o)
	return nil
}

// place converts r into dst and turns it upright.
func (d *Decoder) place(dst []byte, r *Raster, info *Info, o *Options) {
	n := info.Channels
	origin, dx, dy := placement(info.oriented(o), r.Width, r.Height, n)
	d.conv.start(r, o)
	if dx == n {
		for y := range r.Height {
			at := origin + y*dy
			d.conv.convert(dst[at:at+n*r.Width], y)
		}
		return
	}
	if cap(d.row) < n*r.Width {
		d.row = make([]byte, n*r.Width)
	}
	row := d.row[:n*r.Width]
	for y := range r.Height {
		d.conv.convert(row, y)
		at := origin + y*dy
		for i := 0; i < len(row); i += n {
			copy(dst[at:at+n], row[i:i+n])
			at += dx
		}
	}
}

// oriented returns the orientation to apply.
func (i *Info) oriented(o *Options) int {
	if i.AutoOrient || o.Orientation == OrientationApply {
		return i.Orientation
	}
	return 1
}

// direct reports whether the format's own pixels can be decoded into the
// result's memory.
func direct(i *Info, o *Options) bool {
	if i.oriented(o) != 1 {
		return false
	}
	switch o.Color {
	case ToRGB, ToBGR:
		return i.Mode == RGB
	case ToRGBA:
		return i.Mode == RGBA
	}
	return i.Mode == L && (!i.HasAlpha || o.Alpha == AlphaDrop)
}

// refuse applies the Refuse policy.
func refuse(c *Config, o *Options) error {
	wantsColor := o.Color != ToGray && o.Color != ToLuma
	for _, r := range [...]struct {
		kind Refuse
		is   bool
		what string
	}{
		{RefuseGray, wantsColor && (c.Mode == L || c.Mode == LA || c.Mode == I16), "gray"},
		{RefuseAlpha, c.HasAlpha, "has transparency"},
		{RefuseDepth16, c.Depth > 8, "more than 8 bits per sample"},
		{RefuseCMYK, c.Mode == CMYK, "CMYK"},
		{RefusePalette, c.Mode == P, "has a palette"},
		{RefuseAnimation, c.Frames > 1, "more than one frame"},
		{RefuseCanvas, c.Canvas, "a transparent colour or a frame unlike its screen, which readers colour differently"},
		{RefuseBilevel, c.Mode == L && c.Depth == 1, "1 bit per sample"},
	} {
		if r.is && o.Refuse&r.kind != 0 {
			return Errorf(c.Format, -1, ErrUnsupported, "refused by policy: %s (mode %v, %d bits)", r.what, c.Mode, c.Depth)
		}
	}
	return nil
}

// DecodeConfig reads the header of data; see [Decoder.Open]. A nil o means the
// zero Options.
func DecodeConfig(data []byte, o *Options) (Info, error) {
	var d Decoder
	i, err := d.Open(data, o)
	if err != nil {
		return Info{}, err
	}
	return i.Info(), nil
}

// Decode decodes the first frame of data as a new uint8 HWC tensor of shape
// (height, width, channels). A nil o means the zero Options. To decode many
// images, keep a [Decoder] instead.
func Decode(data []byte, o *Options) (*tensor.Tensor, error) {
	var d Decoder
	i, err := d.Open(data, o)
	if err != nil {
		return nil, err
	}
	t, err := tensor.New(i.info.Desc())
	if err != nil {
		return nil, err
	}
	if err := i.Decode(t.Data); err != nil {
		return nil, err
	}
	return t, nil
}
