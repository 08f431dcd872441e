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
			switch px {
			case 1:
				for i := range out {
					out[i] = src.Data[at]
					at += src.Step
				}
			case 3:
				for i := 0; i < len(out); i += 3 {
					o, p := out[i:i+3:i+3], src.Data[at:at+3:at+3]
					o[0], o[1], o[2] = p[0], p[1], p[2]
					at += src.Step
				}
			default:
				for i := 0; i < len(out); i += px {
					copy(out[i:i+px], src.Data[at:])
					at += src.Step
				}
			}
		}
	}
}
