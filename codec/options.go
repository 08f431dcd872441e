package codec

// Options are the policies of a decode. The zero value is Pillow's
// Image.open(f).convert("RGB") with no limits; see DefaultOptions.
type Options struct {
	Color  Color  // what the pixels become. Default: ToRGB
	Alpha  Alpha  // what becomes of transparency. Default: AlphaDrop
	Gray16 Gray16 // how 16-bit gray becomes 8 bits. Default: Gray16Clip
	// Refuse lists kinds of image that are an error (ErrUnsupported) and not converted.
	Refuse      Refuse
	Orientation Orientation // Default: OrientationIgnore
	Damage      Damage      // Default: DamagePillow
	Scale       Scale       // Default: ScaleFull
	Limits      Limits
	// Workers is the number of goroutines that decode one image, besides the
	// caller's, which waits for them; less than 2 means the caller's alone. They
	// change neither pixels nor errors, and have ended when the call returns. It has
	// an effect on baseline Huffman JPEG of one scan with restart markers, all of
	// them in place, and DamagePillow alone (see package jpeg). The buffers of each
	// count for Limits.Bytes; if that is too little, none are started.
	Workers int
}

// DefaultOptions is Options with DefaultLimits.
func DefaultOptions() Options { return Options{Limits: DefaultLimits()} }

// Color is the colour layout of the decoded pixels.
type Color uint8

// The colour layouts.
const (
	ToRGB  Color = iota // 3 channels
	ToBGR               // 3 channels, as OpenCV keeps them
	ToGray              // 1 channel: Image.open(f).convert("L"), (19595 R + 38470 G + 7471 B + 32768) >> 16, gray as it is
	ToLuma              // 1 channel: a YCbCr JPEG's own Y, as OpenCV's IMREAD_GRAYSCALE and Pillow's draft("L"); other files as ToGray
	ToRGBA              // 4 channels; alpha is 255 where the file has none
)

// Channels is the number of channels of the layout.
func (c Color) Channels() int { return [...]int{3, 3, 1, 1, 4}[c] }

// Alpha says what becomes of transparency where the result has no alpha
// channel; ToRGBA keeps alpha, whatever the policy. ToGray is the luma of the
// result of the policy. Reference: transformers 5.23.0, image_transforms.convert_to_rgb,
// with Pillow 13.0.0.
type Alpha uint8

// The alpha policies.
const (
	AlphaDrop  Alpha = iota // forget it: the colour under transparent pixels shows, as convert("RGB") does
	AlphaWhite              // composite on white, palette transparency and colour keys too: transformers' convert_to_rgb(Image.open(f))
	// AlphaKeyWhite is convert_to_rgb(Image.open(f).convert("RGB")): alpha
	// channels and tables of palette alphas are forgotten, but a single
	// transparent colour survives Pillow's conversion (see Raster.KeyRGB), and
	// the pixels of that colour become white.
	AlphaKeyWhite
)

// Gray16 says how 16-bit gray becomes 8 bits.
type Gray16 uint8

// The 16-bit gray policies. 16-bit colour always keeps its high byte, as in Pillow.
const (
	Gray16Clip Gray16 = iota // min(v, 255), as Pillow's convert
	Gray16High               // v >> 8, as OpenCV's 8-bit imread
)

// Refuse is a set of kinds of image.
type Refuse uint8

// The kinds that can be refused.
const (
	RefuseGray      Refuse = 1 << iota // gray images, where colour is wanted
	RefuseAlpha                        // transparency of any kind
	RefuseDepth16                      // 16 bits per sample
	RefuseCMYK                         // CMYK and YCCK
	RefusePalette                      // palette images
	RefuseAnimation                    // more than one frame
)

// Orientation says what becomes of the EXIF orientation. TIFF's is always
// applied, as Pillow does.
type Orientation uint8

// The orientation policies.
const (
	OrientationIgnore Orientation = iota // pixels as stored
	OrientationApply                     // upright, as ImageOps.exif_transpose
)

// Scale says at which part of its size an image is decoded. Other scales than
// ScaleFull give the pixels of libjpeg's scaled decoding (its reduced inverse
// DCTs), which is Pillow's Image.draft and OpenCV's IMREAD_REDUCED_COLOR_2, _4
// and _8; a side becomes ceil(side * scale). They are for JPEG that is not
// lossless; other files are ErrUnsupported.
type Scale uint8

// The scales.
const (
	ScaleFull Scale = iota
	ScaleHalf
	ScaleQuarter
	ScaleEighth
)

// Of is the length of a side of n pixels.
func (s Scale) Of(n int) int { return (n + 1<<s - 1) >> s }

// Damage says how broken files are treated.
type Damage uint8

// The damage policies. They differ for JPEG; for PNG, DamageStrict verifies
// every checksum and wants the stream to end with the image; the other formats
// have DamagePillow alone.
const (
	DamagePillow  Damage = iota // accept what Pillow accepts, and give what it gives
	DamageStrict                // any damage is an error with its offset
	DamageLenient               // decode what is there, and report it in Raster.Damaged
)
