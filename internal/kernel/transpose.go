package kernel

// Transpose exchanges rows and columns: pixel x of row y of dst becomes pixel y
// of row x of src. dst has height rows of width pixels of px bytes. dst and src
// must not overlap.
func Transpose(dst, src Rows, height, width, px int) {
	if height == 0 || width == 0 || px == 0 {
		return
	}
	if transpose(dst, src, height, width, px) {
		return
	}
	// The lines of a tile of src stay in the cache until all of their bytes
	// were used.
	const tile = 64
	for x0 := 0; x0 < width; x0 += tile {
		n := min(tile, width-x0)
		for y := range height {
			out := dst.Data[dst.At+y*dst.Step+x0*px:][:n*px]
			at := src.At + x0*src.Step + y*px
			for i := 0; i < len(out); i += px {
				for c := range px {
					out[i+c] = src.Data[at+c]
				}
				at += src.Step
			}
		}
	}
}
