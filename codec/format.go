package codec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// Format describes one image file format. Format packages register theirs when
// they are imported; codec/all imports every one that needs no library of C.
type Format struct {
	Name string // lower case: "jpeg"
	// Magic lists patterns of a file's first bytes, at most SniffSize each. A
	// "?" matches any byte. Data that matches one of them is of this format.
	Magic []string
	// Scales reports that the decoder supports Options.Scale. Its pixels then
	// have the scaled size.
	Scales bool
	// PillowOnly reports that OpenCV and TorchCodec do not read the format, or
	// not as Pillow does: their damage policies refuse it.
	PillowOnly bool
	// Frames reports that OpenNative supports Options.Frame.
	Frames bool
	// New returns a decoder, which may keep buffers between images.
	New func() FormatDecoder
}

// FormatDecoder decodes the images of one format. One goroutine at a time uses
// it. Options that it receives have limits without zero fields.
//
// A FormatDecoder may have a method Offset() int64, which returns its position
// in the data; errors of kind ErrInternal use it. It may have a method
// NewEncoder() FormatEncoder, which function NewEncoder calls.
type FormatDecoder interface {
	// Open reads the header. It allocates nothing that grows with the image. It
	// may keep data and o until Decode returns or until the next Open.
	Open(data []byte, o *Options) (Config, error)
	// Decode decodes the first frame of the open image into dst and reuses
	// dst's memory if it is large enough. It checks the limits before it
	// allocates. dst gets the Mode, Width and Height of Open's Config. After an
	// error dst's contents are undefined. Decode, or DecodeRows of a
	// RowDecoder, is called at most once after each Open.
	Decode(dst *Raster) error
}

// Mode is the kind of pixels in a file. The names are Pillow's.
type Mode uint8

// The modes. Samples have 8 bits, except I16's.
const (
	NoMode Mode = iota
	L           // gray (Pillow's "1" too: 0 and 255)
	LA          // gray, alpha
	P           // index into Raster.Palette
	RGB
	RGBA
	CMYK // as in Pillow: 255 is full ink (Adobe's inversion is undone)
	I16  // 16-bit gray, little-endian
)

var modeNames = []string{"none", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"}
var modeSizes = [...]int{0, 1, 2, 1, 3, 4, 4, 2}

// String returns Pillow's name of the mode.
func (m Mode) String() string { return enum.String("mode", modeNames, m) }

// Size returns the number of bytes of a pixel.
func (m Mode) Size() int { return modeSizes[m] }

// Config holds what the header says about an image.
type Config struct {
	Format        string // "jpeg", …
	Width, Height int    // size as stored, before orientation
	Mode          Mode
	Depth         int    // bits per sample as stored: 1, 2, 4, 8, 10, 12 or 16
	Orientation   int    // EXIF's, 1 to 8; 1 if the file has none
	HasAlpha      bool   // an alpha channel, transparent palette entries, or a colour key
	Frames        int    // number of frames; 2 if there are more and the header has no count
	Canvas        bool   // see RefuseCanvas
	Variant       string // the format's own kind, for people: "baseline 4:2:0", "interlaced", …
	// AutoOrient reports that the orientation is always applied, as Pillow does
	// for TIFF.
	AutoOrient bool
}

// Raster is a decoded frame before any policy is applied.
type Raster struct {
	Mode          Mode
	Width, Height int
	Stride        int    // bytes from one row to the next
	Pix           []byte // at least Stride*(Height-1) + Width*Mode.Size()
	// Palette holds the colours of mode P: RGBA, not premultiplied. Alpha is
	// 255 where the file has none.
	Palette [256][4]uint8
	// Key is the colour that the file marks as transparent (PNG's tRNS of gray
	// and RGB images, GIF's index in a gray image), as Pillow compares it with
	// the 8-bit samples. It is valid if HasKey is true. L and I16 use Key[0].
	Key    [3]uint8
	HasKey bool
	// KeyRGB is the colour that is still transparent after Pillow's
	// convert("RGB"): the key, or the colour of a palette's only transparent
	// entry. It is valid if HasKeyRGB is true. Pillow's conversion of the key
	// makes it differ from Key for some depths.
	KeyRGB    [3]uint8
	HasKeyRGB bool
	// Damaged is the first damage under DamageLenient, nil if there was none.
	Damaged error
}

// Reset gives r a mode and a size, dense rows, and no keys. It reuses r's
// memory.
func (r *Raster) Reset(m Mode, width, height int) {
	n := width * m.Size() * height
	if cap(r.Pix) < n {
		r.Pix = make([]byte, n)
	}
	r.Mode, r.Width, r.Height, r.Stride, r.Pix = m, width, height, width*m.Size(), r.Pix[:n]
	r.HasKey, r.HasKeyRGB, r.Damaged = false, false, nil
}

var formats = registry.New[*Format]("image format")

// Register adds a format. Format packages call it from init. It panics if the
// name is empty or taken, or if a field is missing.
func Register(f Format) {
	if f.New == nil || len(f.Magic) == 0 {
		formats.Refuse(f.Name, "want Magic and New")
	}
	formats.Add(f.Name, &f)
}

// NewFormatDecoder returns a decoder of a linked format, nil if the format is
// not linked. Formats that hold images of other formats use it; programs use
// [Decoder], which applies the policies.
func NewFormatDecoder(format string) FormatDecoder {
	f, ok := formats.Get(format)
	if !ok {
		return nil
	}
	return f.New()
}

// Formats returns the names of the linked formats, sorted.
func Formats() []string { return slices.Clone(formats.Names()) }

// SniffSize is the largest number of bytes that Sniff looks at: those of DICOM.
const SniffSize = 132

// Sniff returns the name of the linked format whose magic bytes data starts
// with, "" if none matches. It looks at no more than SniffSize bytes.
func Sniff(data []byte) string {
	if f := sniff(data); f != nil {
		return f.Name
	}
	return ""
}

func sniff(data []byte) (found *Format) {
	for _, f := range formats.All() {
		for _, m := range f.Magic {
			// The first bytes of DICOM are free. Scanners write those of TIFF.
			if (found == nil || len(m) == SniffSize) && hasMagic(data, m) {
				found = f
			}
		}
	}
	return found
}

// hasMagic reports whether data starts with pattern, in which ? is any byte.
func hasMagic(data []byte, pattern string) bool {
	if len(data) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != data[i] {
			return false
		}
	}
	return true
}

const any32 = "????????????????????????????????"

// known lists the magic bytes of formats that may not be linked or are not
// supported, for error messages.
var known = [...]struct{ pattern, name, folder string }{
	{any32 + any32 + any32 + any32 + "DICM", "DICOM", "dicom"},
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
	{"????ftypavi", "AVIF", "avif"},
	{"????ftyphe", "HEIF", "heif"},
	{"????ftypmif1", "HEIF", "heif"},
	{"????ftypmsf1", "HEIF", "heif"},
	{"????ftypcrx ", "Canon CR3 (camera raw)", ""},
	{"????ftypqt  ", "QuickTime (video)", ""},
	{"????ftyp", "MP4 (video)", ""},
	{"????moov", "QuickTime (video)", ""},
	{"????mdat", "QuickTime (video)", ""},
	{"\x1a\x45\xdf\xa3", "Matroska or WebM (video)", ""},
	{"RIFF????AVI ", "AVI (video)", ""},
	{"\x00\x00\x00\x0cjP  ", "JPEG 2000", "jp2"},
	{"\xff\x4f\xff\x51", "JPEG 2000", "jp2"},
	{"\x00\x00\x00\x0cJXL ", "JPEG XL", "jxl"},
	{"\xff\x0a", "JPEG XL", "jxl"},
	{"II\xbc\x01", "JPEG XR", ""},
	{"RIFF????WAVE", "a WAV sound", ""},
	{"fLaC", "a FLAC sound", ""},
	{"8BPS", "PSD (Photoshop)", ""},
	{"%PDF", "PDF", ""},
	{"%!PS", "PostScript", ""},
	{"\xc5\xd0\xd3\xc6", "EPS (PostScript)", ""},
	{"\x00\x00\x01\x00", "ICO", "bmp"},
	{"\x0c\x00\x00\x00????\x01\x00", "DIB", "bmp"},
	{"\x28\x00\x00\x00????????\x01\x00", "DIB", "bmp"},
	{"\x7c\x00\x00\x00????????\x01\x00", "DIB", "bmp"},
	{"qoif", "QOI", "qoi"},
	{"P1\n", "PBM", "pnm"},
	{"P1 ", "PBM", "pnm"},
	{"P1\t", "PBM", "pnm"},
	{"P2\n", "PGM", "pnm"},
	{"P2 ", "PGM", "pnm"},
	{"P2\t", "PGM", "pnm"},
	{"P3\n", "PPM", "pnm"},
	{"P3 ", "PPM", "pnm"},
	{"P3\t", "PPM", "pnm"},
	{"P4\n", "PBM", "pnm"},
	{"P4 ", "PBM", "pnm"},
	{"P4\t", "PBM", "pnm"},
	{"P5\n", "PGM", "pnm"},
	{"P5 ", "PGM", "pnm"},
	{"P5\t", "PGM", "pnm"},
	{"P6\n", "PPM", "pnm"},
	{"P6 ", "PPM", "pnm"},
	{"P6\t", "PPM", "pnm"},
	{"Pf\n", "PFM", "pnm"},
	{"Pf ", "PFM", "pnm"},
	{"Pf\t", "PFM", "pnm"},
	{"P0CMYK", "PPM", "pnm"},
	{"?\x00\x02\x00\x00\x00\x00\x00\x00\x00", "TGA", "tga"},
	{"?\x00\x03\x00\x00\x00\x00\x00\x00\x00", "TGA", "tga"},
	{"?\x00\x0a\x00\x00\x00\x00\x00\x00\x00", "TGA", "tga"},
	{"?\x00\x0b\x00\x00\x00\x00\x00\x00\x00", "TGA", "tga"},
	{"?\x01\x01?????\x00\x00", "TGA", "tga"},
	{"?\x01\x09?????\x00\x00", "TGA", "tga"},
	{"\x00\x00\x02\x00", "CUR (cursor)", ""},
	{"icns", "ICNS (icon)", ""},
	{"FUJIFILMCCD-RAW", "Fujifilm RAF (camera raw)", ""},
	{"IIRO", "Olympus ORF (camera raw)", ""},
	{"IIRS", "Olympus ORF (camera raw)", ""},
	{"MMOR", "Olympus ORF (camera raw)", ""},
	{"IIU\x00", "Panasonic RW2 (camera raw)", ""},
	{"II\x1a\x00\x00\x00HEAPCCDR", "Canon CRW (camera raw)", ""},
	{"v/1\x01", "OpenEXR", ""},
	{"#?RADIANCE", "Radiance HDR", ""},
	{"#?RGBE", "Radiance HDR", ""},
	{"DDS ", "DDS", ""},
	{"gimp xcf", "XCF (GIMP)", ""},
	{"\x0a\x05\x01\x08", "PCX", ""},
	{"PK\x03\x04", "a ZIP archive", ""},
	{"\x1f\x8b", "gzip data", ""},
	{"\x28\xb5\x2f\xfd", "zstd data", ""},
	{"\x93NUMPY", "an NPY array", ""},
	{"version https://git-lfs.github.com/", "a pointer of Git LFS, not the file itself; git lfs pull fetches it", ""},
}

// maxMarkup is the number of bytes of a text file in which name looks for its
// first element.
const maxMarkup = 4096

// name returns the name of a format that data is of, and the folder of its
// package. The folder is "" if the format is not supported, and both are "" if
// the format is unknown.
func name(data []byte) (name, folder string) {
	for _, k := range known {
		if hasMagic(data, k.pattern) {
			return k.name, k.folder
		}
	}
	if len(data) > 2 && data[0] == 'P' && strings.IndexByte(" \t\r\n#", data[2]) >= 0 {
		switch c := data[1]; {
		case c >= '1' && c <= '6':
			return [...]string{"PBM", "PGM", "PPM"}[(c-'1')%3], ""
		case c == '7':
			return "PAM", ""
		case c == 'F' || c == 'f':
			return "PFM", ""
		}
	}
	text := bytes.Clone(bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), maxMarkup)], []byte("\xef\xbb\xbf")), " \t\r\n"))
	for i, c := range text { // bytes.ToLower needs the tables of package unicode
		if c >= 'A' && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	switch {
	case !bytes.HasPrefix(text, []byte("<")):
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return "an HTML page", ""
	case bytes.Contains(text, []byte("<svg")):
		return "SVG", ""
	}
	return "", ""
}

// unknown returns the error for data that no linked format matches.
func unknown(data []byte) error {
	if len(data) == 0 {
		return Errorf("", -1, ErrFormat, "empty input: want an encoded image")
	}
	if name, folder := name(data); folder != "" {
		if _, ok := formats.Get(folder); !ok {
			return notLinked(name, folder)
		}
	} else if name != "" {
		return Errorf("", -1, ErrUnsupported, "%s: want one of the linked formats: %s", name, linked())
	}
	return Errorf("", 0, ErrFormat, "unknown format, first bytes %q: want one of the linked formats: %s", data[:min(len(data), 12)], linked())
}

// notLinked returns the error for a format that the program does not import.
func notLinked(name, folder string) error {
	return Errorf("", -1, ErrUnsupported,
		"%s is not linked: import github.com/infer-prep/infer-prep/codec/%s; the linked formats are: %s", name, folder, linked())
}

// linked lists the linked formats for error messages.
func linked() string {
	if names := formats.Names(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "none (import a package below codec, such as codec/all)"
}
