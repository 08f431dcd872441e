//go:build !purego

package kernel

// transposeRows is the number of rows of src whose lines stay in the cache
// until all of their bytes were read.
const transposeRows = 64

// transposeOrders moves four pixels of three bytes to dwords. They start at the
// first or the fifth of 16 bytes.
var transposeOrders = [2][16]uint8{
	{0, 1, 2, 0x80, 3, 4, 5, 0x80, 6, 7, 8, 0x80, 9, 10, 11, 0x80},
	{4, 5, 6, 0x80, 7, 8, 9, 0x80, 10, 11, 12, 0x80, 13, 14, 15, 0x80},
}

// transpose transposes in assembly and reports whether it did: four rows of dst
// at a time, and eight of src. The last ones overlap those before them.
func transpose(dst, src Rows, height, width, px int) bool {
	if px != 3 && px != 4 || width < 8 || height < 6 || !hasSIMD() {
		return false
	}
	for x, n := 0, 0; x < width; x += n {
		if n = min(transposeRows, (width-x)&^7); n == 0 {
			x, n = width-8, 8
		}
		for y0 := 0; y0 < height; y0 += 4 {
			y := min(y0, height-4)
			out := dst.first(y, 4, x*px, n*px)
			switch {
			case px == 4:
				transpose4AVX2(out, dst.Step, src.first(x, n, y*px, 16), src.Step, n)
			case y == 0:
				transpose3AVX2(out, dst.Step, src.first(x, n, 0, 16), src.Step, n, &transposeOrders[0])
			default:
				transpose3AVX2(out, dst.Step, src.first(x, n, y*px-4, 16), src.Step, n, &transposeOrders[1])
			}
		}
	}
	return true
}
