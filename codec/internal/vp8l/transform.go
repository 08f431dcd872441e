package vp8l

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
		for i, v := range pixels {
			g := v >> 8 & 0xFF
			pixels[i] = v&0xFF00FF00 | (v&0x00FF00FF+g<<16+g)&0x00FF00FF
		}
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
			greenRed, greenBlue, redBlue := int32(int8(c)), int32(int8(c>>8)), int32(int8(c>>16))
			for i, v := range row[:n] {
				g := int32(int8(v >> 8))
				r := uint32(int32(v>>16)+greenRed*g>>5) & 0xFF
				b := uint32(int32(v)+greenBlue*g>>5+redBlue*int32(int8(r))>>5) & 0xFF
				row[i] = v&0xFF00FF00 | r<<16 | b
			}
			row = row[n:]
		}
	}
}

const black = 0xFF000000

// predict adds to each pixel what its neighbours predict.
func (t *transform) predict(pixels []uint32) {
	w := t.width
	pixels[0] = add(pixels[0], black)
	for x := 1; x < w; x++ {
		pixels[x] = add(pixels[x], pixels[x-1])
	}
	across := tiles(w, t.bits)
	for y := 1; y*w < len(pixels); y++ {
		// The last pixel's neighbour above to the right is the first one of
		// its own row.
		up, row := pixels[(y-1)*w:y*w+1], pixels[y*w:(y+1)*w]
		row[0] = add(row[0], up[0])
		modes := t.pixels[y>>t.bits*across:][:across]
		for x := 1; x < w; {
			end := min(w, (x>>t.bits+1)<<t.bits)
			predictRow(modes[x>>t.bits]>>8&15, row[:end], up, x)
			x = end
		}
	}
}

// predictRow predicts the pixels from column x on, at least 1, by mode.
func predictRow(mode uint32, row, up []uint32, x int) {
	left := row[x-1]
	corner := up[x-1] // above to the left
	up = up[x : len(row)+1]
	row = row[x:]
	up = up[:len(row)+1]
	switch mode {
	default: // 0, 14, 15
		for i, v := range row {
			row[i] = add(v, black)
		}
	case 1:
		for i, v := range row {
			left = add(v, left)
			row[i] = left
		}
	case 2:
		for i, v := range row {
			row[i] = add(v, up[i])
		}
	case 3:
		for i, v := range row {
			row[i] = add(v, up[i+1])
		}
	case 4:
		for i, v := range row {
			row[i] = add(v, corner)
			corner = up[i]
		}
	case 5:
		for i, v := range row {
			left = add(v, mean(mean(left, up[i+1]), up[i]))
			row[i] = left
		}
	case 6:
		for i, v := range row {
			left = add(v, mean(left, corner))
			row[i], corner = left, up[i]
		}
	case 7:
		for i, v := range row {
			left = add(v, mean(left, up[i]))
			row[i] = left
		}
	case 8:
		for i, v := range row {
			row[i] = add(v, mean(corner, up[i]))
			corner = up[i]
		}
	case 9:
		for i, v := range row {
			row[i] = add(v, mean(up[i], up[i+1]))
		}
	case 10:
		for i, v := range row {
			left = add(v, mean(mean(left, corner), mean(up[i], up[i+1])))
			row[i], corner = left, up[i]
		}
	case 11:
		for i, v := range row {
			left = add(v, choose(up[i], left, corner))
			row[i], corner = left, up[i]
		}
	case 12:
		for i, v := range row {
			left = add(v, full(left, up[i], corner))
			row[i], corner = left, up[i]
		}
	case 13:
		for i, v := range row {
			left = add(v, half(mean(left, up[i]), corner))
			row[i], corner = left, up[i]
		}
	}
}

// add adds the four channels.
func add(a, b uint32) uint32 {
	return (a&0xFF00FF00+b&0xFF00FF00)&0xFF00FF00 | (a&0x00FF00FF+b&0x00FF00FF)&0x00FF00FF
}

// mean returns the means of the four channels, rounded down.
func mean(a, b uint32) uint32 { return (a^b)&0xFEFEFEFE>>1 + a&b }

// choose returns the one of a and b whose sum of distances to a+b-c is smaller,
// a if they are equal.
func choose(a, b, c uint32) uint32 {
	d := 0
	for s := 0; s < 32; s += 8 {
		x, y, z := int(a>>s&0xFF), int(b>>s&0xFF), int(c>>s&0xFF)
		d += max(y-z, z-y) - max(x-z, z-x)
	}
	if d <= 0 {
		return a
	}
	return b
}

// clamp limits a sum of bytes to a byte.
func clamp(v int32) uint32 { return uint32(max(0, min(v, 255))) }

// full returns a+b-c of each channel.
func full(a, b, c uint32) (v uint32) {
	for s := 0; s < 32; s += 8 {
		v |= clamp(int32(a>>s&0xFF)+int32(b>>s&0xFF)-int32(c>>s&0xFF)) << s
	}
	return v
}

// half returns a+(a-b)/2 of each channel, where the half is rounded to 0.
func half(a, b uint32) (v uint32) {
	for s := 0; s < 32; s += 8 {
		x, y := int32(a>>s&0xFF), int32(b>>s&0xFF)
		v |= clamp(x+(x-y)/2) << s
	}
	return v
}
