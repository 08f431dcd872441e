package codec

import "github.com/infer-prep/infer-prep/internal/errfmt"

// Options are the policies of decoding. The zero value is Pillow's
// Image.open(f).convert("RGB") with DefaultLimits.
type Options struct {
	Color  Color  // colour layout of the result. Default ToRGB
	Alpha  Alpha  // treatment of transparency. Default AlphaDrop
	Gray16 Gray16 // conversion of 16-bit gray to 8 bits. Default Gray16Clip
	// Refuse is the set of image kinds that are an error (ErrUnsupported)
	// instead of being converted. Default none.
	Refuse      Refuse
	Orientation Orientation // treatment of the EXIF orientation. Default OrientationIgnore
	Damage      Damage      // treatment of damaged files. Default DamagePillow
	Scale       Scale       // fraction of the size to decode. Default ScaleFull
	Limits      Limits      // bounds of the cost. Default DefaultLimits
	// Frame is the number of the frame that OpenNative reads of TIFF and DICOM.
	// Other formats have frame 0. Open ignores it. At least 0. Default 0
	Frame int
	// Workers is the number of goroutines that decode one image while the
	// caller's goroutine waits. With less than 2, the caller's goroutine
	// decodes alone. Workers changes neither pixels nor errors, and all
	// goroutines end before the call returns. It takes effect for baseline
	// Huffman JPEG of one scan, under DamagePillow (see package jpeg), and for
	// the strips and tiles of TIFF: of OpenNative all, else those that are
	// compressed, except with CCITT. Each goroutine's buffers count towards
	// Limits.Bytes; if they exceed it, fewer goroutines are started, or none.
	Workers int
	// Index, if not nil, keeps notes about images of which DecodeRows decodes a
	// part, and makes later parts of the same images faster. It changes neither
	// pixels nor errors. Formats without notes ignore it: only JPEG has them
	// (see package jpeg). Default none.
	Index *Index
}

// Validate checks that every policy has a known value.
func (o *Options) Validate() error {
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
			return errfmt.Errorf("codec: invalid %s %d: want 0 to %d", p.kind, p.v, len(p.names)-1)
		}
	}
	if o.Frame < 0 {
		return errfmt.Errorf("codec: invalid frame %d: want at least 0", o.Frame)
	}
	return nil
}

// Color is the colour layout of the decoded pixels.
type Color uint8

// The colour layouts.
const (
	ToRGB Color = iota // 3 channels
	ToBGR              // 3 channels, OpenCV's order
	// ToGray has 1 channel, as Image.open(f).convert("L"): gray files
	// unchanged, else (19595 R + 38470 G + 7471 B + 32768) >> 16.
	ToGray
	// ToLuma has 1 channel: the Y of a YCbCr JPEG, as OpenCV's IMREAD_GRAYSCALE
	// and Pillow's draft("L"); other files as ToGray.
	ToLuma
	ToRGBA // 4 channels; alpha is 255 for files without alpha
)

// Channels returns the number of channels of the layout.
func (c Color) Channels() int { return [...]int{3, 3, 1, 1, 4}[c] }

// Alpha selects the treatment of transparency if the result has no alpha
// channel. ToRGBA always keeps alpha. ToGray is the luma of the policy's
// result. Reference: transformers 5.23.0, image_transforms.convert_to_rgb, with
// Pillow 13.0.0.
type Alpha uint8

// The alpha policies.
const (
	AlphaDrop Alpha = iota // drop alpha: colours of transparent pixels show, as in convert("RGB")
	// AlphaWhite composites on white, with palette transparency and colour
	// keys, as transformers' convert_to_rgb(Image.open(f)).
	AlphaWhite
	// AlphaKeyWhite is convert_to_rgb(Image.open(f).convert("RGB")). Alpha
	// channels and palette alphas are dropped. A single transparent colour
	// survives Pillow's conversion (see Raster.KeyRGB), and its pixels become
	// white.
	AlphaKeyWhite
)

// Gray16 selects the conversion of 16-bit gray to 8 bits. 16-bit colour always
// keeps its high byte, as in Pillow.
type Gray16 uint8

// The 16-bit gray policies.
const (
	Gray16Clip Gray16 = iota // min(v, 255), as Pillow's convert
	Gray16High               // v >> 8, as OpenCV's 8-bit imread
)

// Refuse is a set of image kinds.
type Refuse uint8

// The kinds that can be refused.
const (
	RefuseGray      Refuse = 1 << iota // gray images if the result is in colour
	RefuseAlpha                        // transparency of any kind
	RefuseDepth16                      // 16 bits per sample
	RefuseCMYK                         // CMYK and YCCK
	RefusePalette                      // palette images
	RefuseAnimation                    // more than one frame
	// RefuseCanvas refuses a GIF that readers colour differently: its first
	// frame has a transparent colour, or does not cover exactly the screen, or
	// has a gray colour table in a file with a coloured one.
	RefuseCanvas
	RefuseBilevel // 1 bit per sample without a palette: Pillow's mode "1"
)

// Orientation selects the treatment of the EXIF orientation. TIFF's orientation
// is always applied, as in Pillow. Under DamageImread, DamageImdecode and
// DamageTorchCodec the orientation is the one that OpenCV or TorchCodec finds:
// never in XMP or text, and whatever the entry's type.
type Orientation uint8

// The orientation policies.
const (
	OrientationIgnore Orientation = iota // pixels as stored
	OrientationApply                     // upright, as ImageOps.exif_transpose
)

// Scale is the fraction of its size at which an image is decoded. Scales other
// than ScaleFull give the pixels of libjpeg's reduced inverse DCTs, as Pillow's
// Image.draft and OpenCV's IMREAD_REDUCED_COLOR_2, _4 and _8. A side becomes
// ceil(side * scale). They work for JPEG, except lossless JPEG; other files are
// ErrUnsupported.
type Scale uint8

// The scales.
const (
	ScaleFull Scale = iota
	ScaleHalf
	ScaleQuarter
	ScaleEighth
)

// Of returns the scaled length of a side of n pixels.
func (s Scale) Of(n int) int { return (n + 1<<s - 1) >> s }

// Damage selects the treatment of damaged files.
//
// DamageStrict and DamageLenient differ from DamagePillow for JPEG and PNG. For
// PNG, DamageStrict verifies every checksum and requires that the compressed
// data ends with the image.
//
// DamageImread and DamageImdecode are those of a reader of OpenCV, for ToRGB,
// ToBGR, and ToLuma of JPEG and gray; other colours are ErrUnsupported. So is a
// file that OpenCV decodes to other pixels than Pillow, if its header shows
// that: lossless gray JPEG; animated PNG; BMP with 16 bits a pixel, 4-bit run
// lengths, or an unusual offset or palette; GIF with transparency, several
// frames or a frame that is not the screen; TIFF with alpha, with 2 bits or
// more than 8 but for unsigned gray of 16, or with an orientation that OpenCV
// does not apply. CMYK is decoded as by Pillow; RefuseCMYK refuses it. PNG must
// be whole.
//
// DamageTorchCodec is that of TorchCodec 0.17.0, decode_image(mode="RGB"), for
// ToRGB and ToBGR with AlphaDrop; others are ErrUnsupported. 16-bit PNG is
// rounded, (v*255 + 32895) >> 16, whatever Gray16. Transparent pixels of a GIF
// show its background. Of a JPEG only a whole file is accepted. ErrUnsupported
// are BMP and TIFF, animated GIF and WebP, which TorchCodec returns as frames,
// and a GIF whose frame leaves the screen. TorchCodec always applies the
// orientation: see OrientationApply.
type Damage uint8

// The damage policies.
const (
	DamagePillow  Damage = iota // accept the files that Pillow accepts, with the same pixels
	DamageStrict                // any damage is an error with its offset
	DamageLenient               // decode all that is readable and report damage in Raster.Damaged
	// DamageImread accepts the files that OpenCV's imread accepts, with the
	// same pixels. A JPEG that ends early is decoded as far as it goes.
	DamageImread
	// DamageImdecode accepts the files that OpenCV's imdecode accepts, with the
	// same pixels. A JPEG that ends early is an error.
	DamageImdecode
	// DamageTorchCodec accepts the JPEG, PNG, WebP and GIF files that
	// TorchCodec's decode_image accepts, with the same pixels. Corrupt data of
	// GIF and WebP is an error where TorchCodec goes on.
	DamageTorchCodec
)

// OpenCV reports whether d is the policy of one of OpenCV's readers.
func (d Damage) OpenCV() bool { return d == DamageImread || d == DamageImdecode }

// Library reports whether d is the policy of a reader that leaves headers to
// libjpeg, libpng and libwebp, as OpenCV and TorchCodec do. Pillow reads them
// itself and refuses other files.
func (d Damage) Library() bool { return d.OpenCV() || d == DamageTorchCodec }
