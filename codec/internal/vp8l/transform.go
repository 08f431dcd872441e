package vp8l

import "github.com/infer-prep/infer-prep/internal/kernel"

// The kinds of transform (RFC 9649, section 3.5).
const (
	predictor     = 0
	crossColor    = 1
	subtractGreen = 2
	colorIndexing = 3
)

// transform is a transform of the image that the file undoes before it stores
// the pixels.
type transform struct {
	kind   int
	bits   uint // of the side of a tile, or of the pixels in one
	width  int  // of the image after it is inverted
	pixels []uint32
}

// invert inverts a transform that keeps the number of pixels.
func (t *transform) invert(pixels []uint32) {
	switch t.kind {
	case predictor:
		t.predict(pixels)
	case crossColor:
		t.addColors(pixels)
	case subtractGreen:
		kernel.VP8LAddGreen(pixels)
	case colorIndexing:
		for i, v := range pixels {
			pixels[i] = t.pixels[v>>8&0xFF]
		}
	}
}

// unpack inverts a colour table of up to 16 colours: several pixels share one
// of in, whose rows have w.
func (t *transform) unpack(out, in []uint32, w int) {
	size := uint(8) >> t.bits // bits of a pixel
	mask := uint32(1)<<size - 1
	for len(out) > 0 {
		row := out[:t.width]
		for x := range row {
			v := in[x>>t.bits] >> 8 & 0xFF
			row[x] = t.pixels[v>>(uint(x)&(1<<t.bits-1)*size)&mask]
		}
		out, in = out[t.width:], in[w:]
	}
}

// addColors inverts the transform that takes from red and blue what green, and
// from blue what red suggests.
func (t *transform) addColors(pixels []uint32) {
	across := tiles(t.width, t.bits)
	for y := 0; len(pixels) > 0; y++ {
		row := pixels[:t.width]
		pixels = pixels[t.width:]
		codes := t.pixels[y>>t.bits*across:][:across]
		for len(row) > 0 {
			n := min(1<<t.bits, len(row))
			c := codes[0]
			codes = codes[1:]
			kernel.VP8LAddColors(row[:n], int8(c), int8(c>>8), int8(c>>16))
			row = row[n:]
		}
	}
}

// predict adds to each pixel what its neighbours predict.
func (t *transform) predict(pixels []uint32) {
	w := t.width
	pixels[0] = kernel.VP8LAdd(pixels[0], kernel.VP8LBlack)
	for x := 1; x < w; x++ {
		pixels[x] = kernel.VP8LAdd(pixels[x], pixels[x-1])
	}
	across := tiles(w, t.bits)
	for y := 1; y*w < len(pixels); y++ {
		// The last pixel's neighbour above to the right is the first one of
		// its own row.
		up, row := pixels[(y-1)*w:y*w+1], pixels[y*w:(y+1)*w]
		row[0] = kernel.VP8LAdd(row[0], up[0])
		modes := t.pixels[y>>t.bits*across:][:across]
		for x := 1; x < w; {
			end := min(w, (x>>t.bits+1)<<t.bits)
			kernel.VP8LPredict(modes[x>>t.bits]>>8&15, row[:end], up, x)
			x = end
		}
	}
}
