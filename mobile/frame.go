package mobile

// Frame describes the pixels of a bitmap or of a camera frame in memory. All
// sizes of memory are in bytes.
type Frame struct {
	// Width and Height are the pixels that are in memory, before the crop.
	Width, Height int
	// RowStride is the number of bytes from one row to the next. 0 means dense
	// rows. In YUV frames it is that of Y.
	RowStride int
	// ChromaRowStride and ChromaPixelStride are the number of bytes from one
	// row, and from one sample, of U and V to the next. The latter is 1 for
	// planes of their own and 2 for interleaved ones (NV12, NV21). 0 means
	// dense rows and 1.
	ChromaRowStride, ChromaPixelStride int
	// The crop rectangle in pixels: Left and Top are inside it, Right and
	// Bottom outside. All 0 means the whole frame.
	CropLeft, CropTop, CropRight, CropBottom int
	// Rotation is the clockwise rotation in degrees that makes the image
	// upright: 0, 90, 180 or 270. It follows the crop.
	Rotation int
}
