package codec

import (
	"slices"
	"strings"
)

// Format is one image file format. Formats register themselves when their
// package is imported; codec/all imports every one.
type Format struct {
	Name string // lower case: "jpeg"
	// Match reports whether an input that starts with head (its first 64 bytes,
	// fewer if it is shorter) is of this format.
	Match func(head []byte) bool
	// Scales says that the decoder can reduce: it is given Options.Scale, and its
	// pixels are that part of Config's size.
	Scales bool
	// New makes a decoder. It may keep buffers between images.
	New func() FormatDecoder
}

// FormatDecoder decodes one format. It is used by one goroutine at a time.
type FormatDecoder interface {
	// Config reads the header alone, and allocates nothing that grows with the image.
	Config(data []byte, o *Options) (Config, error)
	// Decode decodes the first frame into dst, reusing dst's memory where it is
	// large enough. It checks o.Limits before it allocates. dst has the Mode,
	// Width and Height that Config gave for the same data and options. On an
	// error dst's contents are undefined.
	Decode(dst *Raster, data []byte, o *Options) error
}

// Mode is the kind of pixels in a file, with Pillow's names.
type Mode uint8

// The modes. All samples are 8 bits except I16's.
const (
	NoMode Mode = iota
	L           // gray (Pillow's "1" too: 0 and 255)
	LA          // gray, alpha
	P           // index into Raster.Palette
	RGB
	RGBA
	CMYK // as Pillow gives it: 255 is full ink (Adobe's inversion already undone)
	I16  // 16-bit gray, little-endian
)

var modeNames = [...]string{"none", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"}
var modeSizes = [...]int{0, 1, 2, 1, 3, 4, 4, 2}

// String is Pillow's name of the mode.
func (m Mode) String() string { return modeNames[m] }

// Size is the number of bytes of a pixel.
func (m Mode) Size() int { return modeSizes[m] }

// Config is what the header says.
type Config struct {
	Format        string // "jpeg", …
	Width, Height int    // pixels as stored, before orientation
	Mode          Mode
	Depth         int    // bits per sample as stored: 1, 2, 4, 8, 12, 16
	Orientation   int    // EXIF's, 1 to 8; 1 if there is none
	HasAlpha      bool   // an alpha channel, or transparent palette entries, or a colour key
	Frames        int    // 1, or the number of frames if the header tells; 2 for "more than one"
	Variant       string // the format's own kind, for people: "baseline 4:2:0", "interlaced", …
	// AutoOrient says that the reference applies the orientation unasked (Pillow does for TIFF).
	AutoOrient bool
}

// Raster is a decoded frame before any policy has been applied.
type Raster struct {
	Mode          Mode
	Width, Height int
	Stride        int    // bytes from a row to the next
	Pix           []byte // at least Stride*(Height-1) + Width*Mode.Size()
	// Palette is P's colours, RGBA, not premultiplied; alpha 255 where the file has none.
	Palette [256][4]uint8
	// Key is the colour that the file calls transparent (PNG tRNS of gray and
	// RGB images, GIF's index in a gray image), as Pillow compares it with the
	// 8-bit samples; it is valid if HasKey. L and I16 use Key[0].
	Key    [3]uint8
	HasKey bool
	// KeyRGB is the colour that Pillow still calls transparent after
	// convert("RGB"), valid if HasKeyRGB: the key, or the colour of a palette's
	// only transparent entry. It differs from Key where Pillow converts it oddly.
	KeyRGB    [3]uint8
	HasKeyRGB bool
	// Damaged is set in Lenient mode when something was missing or wrong.
	Damaged error
}

// Reset gives r the size and mode, dense, reusing its memory.
func (r *Raster) Reset(m Mode, width, height int) {
	n := width * m.Size() * height
	if cap(r.Pix) < n {
		r.Pix = make([]byte, n)
	}
	r.Mode, r.Width, r.Height, r.Stride, r.Pix = m, width, height, width*m.Size(), r.Pix[:n]
	r.HasKey, r.HasKeyRGB, r.Damaged = false, false, nil
}

var formats []Format

// Register adds a format. It is called from init functions only.
func Register(f Format) {
	formats = append(formats, f)
	slices.SortFunc(formats, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
}

// Formats lists the names of the linked formats, sorted.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Sniff gives the name of the linked format that data starts as, "" if there is none.
func Sniff(data []byte) string {
	if f := sniff(data); f != nil {
		return f.Name
	}
	return ""
}

func sniff(data []byte) *Format {
	head := data[:min(len(data), 64)]
	for i := range formats {
		if formats[i].Match(head) {
			return &formats[i]
		}
	}
	return nil
}
