// Package codec decodes encoded images (JPEG, PNG, GIF, BMP, TIFF, WebP, PNM,
// QOI, TGA, ICO and DIB) to exactly the pixels of Pillow 13.0.0.
//
// The format packages register themselves when they are imported. Import
// codec/all for every format that needs no library of C, or only the packages
// that are needed; codec/avif, codec/heif, codec/jp2 and codec/jxl load such
// libraries:
//
//	import _ "github.com/infer-prep/infer-prep/codec/all"
//
// [Decode] decodes one image. To decode many, keep a [Decoder] for each
// goroutine: it reuses its memory. [Decoder.Open] reads the header and returns
// an [Image], which reports its size and decodes itself, as a whole or by rows.
//
// [Decoder.OpenNative] gives the samples of a file in their own type, such as
// uint16, and any number of channels.
//
// [Options] selects colours, transparency, orientation and scale, and bounds
// the cost of one image. Its zero value is Pillow's
// Image.open(f).convert("RGB") with [DefaultLimits]. Decoding errors are of
// type [*Error].
package codec
