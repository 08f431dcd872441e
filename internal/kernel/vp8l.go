package kernel

// VP8LReader reads bits of a lossless WebP image, the lowest one of a byte
// first. The assembly knows the order of its fields.
type VP8LReader struct {
	In   []byte
	Pos  int    // of the next byte
	Bits uint64 // the next bits; those above N may be the same as after Pos
	N    int    // bits that are valid
}

// VP8LFirst is the number of bits that index the first tables of codes.
const VP8LFirst = 8

// VP8LCodes are the tables that package prefix makes of the codes of green,
// red, blue and alpha. Their symbols are at bits 16 to 30.
type VP8LCodes [4][]uint32

// VP8LBlack is an opaque black pixel.
const VP8LBlack = 0xFF000000

// VP8LPredict adds to each pixel of row from column x on, at least 1, what the
// predictor of that mode makes of its neighbours (RFC 9649, section 4.1). up is
// the row above, with one pixel more than row.
func VP8LPredict(mode uint32, row, up []uint32, x int) {
	if x >= len(row) || vp8lPredict(mode, row, up, x) {
		return
	}
	left := row[x-1]
	corner := up[x-1] // above to the left
	up = up[x : len(row)+1]
	row = row[x:]
	up = up[:len(row)+1]
	switch mode {
	default: // 0, 14, 15
		for i, v := range row {
			row[i] = VP8LAdd(v, VP8LBlack)
		}
	case 1:
		for i, v := range row {
			left = VP8LAdd(v, left)
			row[i] = left
		}
	case 2:
		for i, v := range row {
			row[i] = VP8LAdd(v, up[i])
		}
	case 3:
		for i, v := range row {
			row[i] = VP8LAdd(v, up[i+1])
		}
	case 4:
		for i, v := range row {
			row[i] = VP8LAdd(v, corner)
			corner = up[i]
		}
	case 5:
		for i, v := range row {
			left = VP8LAdd(v, vp8lMean(vp8lMean(left, up[i+1]), up[i]))
			row[i] = left
		}
	case 6:
		for i, v := range row {
			left = VP8LAdd(v, vp8lMean(left, corner))
			row[i], corner = left, up[i]
		}
	case 7:
		for i, v := range row {
			left = VP8LAdd(v, vp8lMean(left, up[i]))
			row[i] = left
		}
	case 8:
		for i, v := range row {
			row[i] = VP8LAdd(v, vp8lMean(corner, up[i]))
			corner = up[i]
		}
	case 9:
		for i, v := range row {
			row[i] = VP8LAdd(v, vp8lMean(up[i], up[i+1]))
		}
	case 10:
		for i, v := range row {
			left = VP8LAdd(v, vp8lMean(vp8lMean(left, corner), vp8lMean(up[i], up[i+1])))
			row[i], corner = left, up[i]
		}
	case 11:
		for i, v := range row {
			left = VP8LAdd(v, vp8lChoose(up[i], left, corner))
			row[i], corner = left, up[i]
		}
	case 12:
		for i, v := range row {
			left = VP8LAdd(v, vp8lFull(left, up[i], corner))
			row[i], corner = left, up[i]
		}
	case 13:
		for i, v := range row {
			left = VP8LAdd(v, vp8lHalf(vp8lMean(left, up[i]), corner))
			row[i], corner = left, up[i]
		}
	}
}

// VP8LAdd adds the four channels.
func VP8LAdd(a, b uint32) uint32 {
	return (a&0xFF00FF00+b&0xFF00FF00)&0xFF00FF00 | (a&0x00FF00FF+b&0x00FF00FF)&0x00FF00FF
}

// vp8lMean returns the means of the four channels, rounded down.
func vp8lMean(a, b uint32) uint32 { return (a^b)&0xFEFEFEFE>>1 + a&b }

// vp8lChoose returns the one of a and b whose sum of distances to a+b-c is
// smaller, a if they are equal.
func vp8lChoose(a, b, c uint32) uint32 {
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

// vp8lClamp limits a sum of bytes to a byte.
func vp8lClamp(v int32) uint32 { return uint32(max(0, min(v, 255))) }

// vp8lFull returns a+b-c of each channel.
func vp8lFull(a, b, c uint32) (v uint32) {
	for s := 0; s < 32; s += 8 {
		v |= vp8lClamp(int32(a>>s&0xFF)+int32(b>>s&0xFF)-int32(c>>s&0xFF)) << s
	}
	return v
}

// vp8lHalf returns a+(a-b)/2 of each channel, where the half is rounded to 0.
func vp8lHalf(a, b uint32) (v uint32) {
	for s := 0; s < 32; s += 8 {
		x, y := int32(a>>s&0xFF), int32(b>>s&0xFF)
		v |= vp8lClamp(x+(x-y)/2) << s
	}
	return v
}

// VP8LAddGreen adds green to red and blue.
func VP8LAddGreen(pixels []uint32) {
	for i := vp8lAddGreen(pixels); i < len(pixels); i++ {
		v := pixels[i]
		g := v >> 8 & 0xFF
		pixels[i] = v&0xFF00FF00 | (v&0x00FF00FF+g<<16+g)&0x00FF00FF
	}
}

// VP8LAddColors adds to red and blue what green suggests, and to blue what the
// red that results suggests: products with the factors, divided by 32.
func VP8LAddColors(pixels []uint32, greenRed, greenBlue, redBlue int8) {
	for i := vp8lAddColors(pixels, greenRed, greenBlue, redBlue); i < len(pixels); i++ {
		v := pixels[i]
		g := int32(int8(v >> 8))
		r := uint32(int32(v>>16)+int32(greenRed)*g>>5) & 0xFF
		b := uint32(int32(v)+int32(greenBlue)*g>>5+int32(redBlue)*int32(int8(r))>>5) & 0xFF
		pixels[i] = v&0xFF00FF00 | r<<16 | b
	}
}

// ARGBToRGB writes the red, green and blue bytes of words whose highest byte is
// alpha and whose lowest one is blue.
func ARGBToRGB(dst []uint8, src []uint32) {
	if len(src) == 0 {
		return
	}
	dst = dst[:3*len(src)]
	for i := argbToRGB(dst, src); i < len(src); i++ {
		v, p := src[i], dst[3*i:][:3]
		p[0], p[1], p[2] = uint8(v>>16), uint8(v>>8), uint8(v)
	}
}
