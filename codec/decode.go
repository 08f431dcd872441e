package codec

import (
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// Info is what the header says, and what Decode makes of it.
type Info struct {
	Config
	OutWidth, OutHeight int // pixels of the result, after orientation
	Channels            int // of the result
	// Damaged says what was wrong with an image that was decoded nevertheless (DamageLenient).
	Damaged error
}

// Size is the number of bytes of the result.
func (i *Info) Size() int { return i.OutWidth * i.OutHeight * i.Channels }

// Desc describes the result: uint8, HWC.
func (i *Info) Desc() tensor.Desc {
	return tensor.Image(tensor.Uint8, tensor.HWC, i.OutHeight, i.OutWidth, i.Channels)
}

// Decoder decodes images of every linked format, and reuses its memory from
// image to image. The zero value is ready. It is used by one goroutine at a time.
type Decoder struct {
	formats map[string]FormatDecoder
	scratch Raster
	conv    converter
	row     []byte
	rows    rowConverter
	whole   []byte  // an image whose rows are to be given
	opt     Options // the caller's options; kept here so that they need not be moved to the heap
}

func (d *Decoder) options(o *Options) *Options {
	if o == nil {
		d.opt = DefaultOptions()
	} else {
		d.opt = *o
	}
	return &d.opt
}

// Config says what Decode will give, from the header alone. It applies the
// limits and the Refuse policy, so that what it accepts is refused later only
// for what the header does not show. o may be nil: DefaultOptions.
//
// Its errors are *Error: ErrFormat, ErrUnsupported or ErrLimit.
func (d *Decoder) Config(data []byte, o *Options) (Info, error) {
	info, _, err := d.config(data, d.options(o))
	return info, err
}

func (d *Decoder) config(data []byte, o *Options) (Info, FormatDecoder, error) {
	if err := o.Check(); err != nil {
		return Info{}, nil, err
	}
	f := sniff(data)
	if f == nil {
		return Info{}, nil, unknown(data)
	}
	fd := d.formats[f.Name]
	if fd == nil {
		if d.formats == nil {
			d.formats = map[string]FormatDecoder{}
		}
		fd = f.New()
		d.formats[f.Name] = fd
	}
	if o.Scale != ScaleFull && !f.Scales {
		return Info{}, nil, Errorf(f.Name, -1, ErrUnsupported, "scale %v, which is for JPEG", o.Scale)
	}
	c, err := fd.Config(data, o)
	if err != nil {
		return Info{}, nil, err
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
	// Pixels are those stored; bytes are needed for those of the result.
	if err := (Limits{Pixels: o.Limits.Pixels}).CheckSize(c.Format, c.Width, c.Height, 1); err != nil {
		return Info{}, nil, err
	}
	if err := (Limits{Bytes: o.Limits.Bytes}).CheckSize(c.Format, info.OutWidth, info.OutHeight, perPixel); err != nil {
		return Info{}, nil, err
	}
	if n := int64(c.Width) * int64(c.Height); n > min(maxPixels, int64(maxInt)/8) {
		return Info{}, nil, Errorf(c.Format, -1, ErrLimit, "%dx%d pixels do not fit the address space", c.Width, c.Height)
	}
	if err := refuse(&c, o); err != nil {
		return Info{}, nil, err
	}
	return info, fd, nil
}

const (
	maxInt    = int(^uint(0) >> 1)
	maxPixels = 1 << 43 // with 8 bytes each what Go can address; it counts where Limits has none
)

// oriented is the orientation that is to be applied.
func (i *Info) oriented(o *Options) int {
	if i.AutoOrient || o.Orientation == OrientationApply {
		return i.Orientation
	}
	return 1
}

// direct reports whether the format's own pixels can be decoded into the result's memory.
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
	} {
		if r.is && o.Refuse&r.kind != 0 {
			return Errorf(c.Format, -1, ErrUnsupported, "the image is refused: %s (mode %v, %d bits)", r.what, c.Mode, c.Depth)
		}
	}
	return nil
}

// Decode decodes the first frame into dst as dense height x width x channels
// bytes, which must be exactly as many as Config's Size says: make dst from
// Config's answer for the same data and options. It allocates nothing when the
// format's decoder does not, once its buffers have grown. On an error dst's
// contents are undefined. o may be nil: DefaultOptions.
//
// Its errors are *Error: ErrFormat, ErrUnsupported or ErrLimit.
func (d *Decoder) Decode(dst []byte, data []byte, o *Options) (Info, error) {
	o = d.options(o)
	info, fd, err := d.config(data, o)
	if err != nil {
		return Info{}, err
	}
	if len(dst) != info.Size() {
		return Info{}, fmt.Errorf("codec: %d bytes to decode into, want %d for %dx%d pixels of %d channels",
			len(dst), info.Size(), info.OutWidth, info.OutHeight, info.Channels)
	}
	in := direct(&info, o)
	own := d.scratch.Pix
	if in {
		d.scratch.Pix = dst[:0:len(dst)]
		defer func() { d.scratch.Pix = own }()
	}
	r := &d.scratch
	r.HasKey, r.HasKeyRGB, r.Damaged = false, false, nil
	if err := fd.Decode(r, data, o); err != nil {
		return Info{}, err
	}
	info.Damaged = r.Damaged
	if w, h := o.Scale.Of(info.Width), o.Scale.Of(info.Height); r.Mode != info.Mode || r.Width != w || r.Height != h {
		return Info{}, Errorf(info.Format, -1, ErrFormat, "decoded to %v %dx%d, the header said %v %dx%d",
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
		return info, nil
	}
	d.place(dst, r, &info, o)
	return info, nil
}

// place converts r into dst, turned upright.
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

// DecodeConfig is [Decoder.Config] with a new Decoder.
func DecodeConfig(data []byte, o *Options) (Info, error) {
	var d Decoder
	return d.Config(data, o)
}

// Decode decodes the first frame of data as a new uint8 HWC tensor of shape
// (height, width, channels). For many images keep a [Decoder] instead.
func Decode(data []byte, o *Options) (*tensor.Tensor, error) {
	var d Decoder
	info, err := d.Config(data, o)
	if err != nil {
		return nil, err
	}
	t, err := tensor.New(info.Desc())
	if err != nil {
		return nil, err
	}
	if _, err := d.Decode(t.Data, data, o); err != nil {
		return nil, err
	}
	return t, nil
}

// Check refuses values that are no policy.
func (o *Options) Check() error {
	for _, p := range [...]struct {
		kind  string
		names []string
		v     uint8
	}{
		{"color", colorNames, uint8(o.Color)},
		{"alpha", alphaNames, uint8(o.Alpha)},
		{"gray16", gray16Names, uint8(o.Gray16)},
		{"orientation", orientationNames, uint8(o.Orientation)},
		{"damage", damageNames, uint8(o.Damage)},
		{"scale", scaleNames, uint8(o.Scale)},
	} {
		if int(p.v) >= len(p.names) {
			return fmt.Errorf("codec: invalid %s %d", p.kind, p.v)
		}
	}
	return nil
}

// Magic makes a Format's Match of a pattern of first bytes, in which ? is any byte.
func Magic(pattern string) func(head []byte) bool {
	return func(head []byte) bool { return hasMagic(head, pattern) }
}

func hasMagic(head []byte, pattern string) bool {
	if len(head) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != head[i] {
			return false
		}
	}
	return true
}

// known are formats that may not be linked, and such as are not decoded here at all.
var known = [...]struct{ pattern, name, folder string }{
	{"\xff\xd8\xff", "JPEG", "jpeg"},
	{"\x89PNG\r\n\x1a\n", "PNG", "png"},
	{"GIF87a", "GIF", "gif"},
	{"GIF89a", "GIF", "gif"},
	{"BM????\x00\x00\x00\x00", "BMP", "bmp"},
	{"II*\x00", "TIFF", "tiff"},
	{"MM\x00*", "TIFF", "tiff"},
	{"RIFF????WEBP", "WebP", "webp"},
	{"II+\x00", "BigTIFF", "tiff"},
	{"MM\x00+", "big-endian BigTIFF", ""},
	{"????ftypavi", "AVIF", ""},
	{"????ftyphei", "HEIF", ""},
	{"????ftypmif1", "HEIF", ""},
	{"\x00\x00\x00\x0cjP  ", "JPEG 2000", ""},
	{"\xff\x4f\xff\x51", "JPEG 2000", ""},
	{"\x00\x00\x00\x0cJXL ", "JPEG XL", ""},
	{"\xff\x0a", "JPEG XL", ""},
	{"8BPS", "PSD", ""},
	{"%PDF", "PDF", ""},
	{"<svg", "SVG", ""},
}

// unknown explains why no linked format matches.
func unknown(data []byte) error {
	if len(data) == 0 {
		return Errorf("", -1, ErrFormat, "the input is empty, want an encoded image")
	}
	linked := "none (import a package of codec/, such as codec/all)"
	if len(formats) > 0 {
		linked = strings.Join(Formats(), ", ")
	}
	for _, k := range known {
		switch {
		case !hasMagic(data, k.pattern):
		case k.folder == "":
			return Errorf("", -1, ErrUnsupported, "%s is not decoded; the linked formats are: %s", k.name, linked)
		case !isLinked(k.folder):
			return Errorf("", -1, ErrUnsupported,
				"%s is not linked: import github.com/infer-prep/infer-prep/codec/%s; the linked formats are: %s", k.name, k.folder, linked)
		}
	}
	return Errorf("", 0, ErrFormat, "first bytes %q are of no known format; the linked formats are: %s", data[:min(len(data), 12)], linked)
}

func isLinked(name string) bool {
	for i := range formats {
		if formats[i].Name == name {
			return true
		}
	}
	return false
}
