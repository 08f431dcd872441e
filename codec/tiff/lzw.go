package tiff

import "github.com/infer-prep/infer-prep/codec/internal/lzw"

// tiffLZW is TIFF's LZW. The size is that of libtiff's table: an encoder that
// does not clear it in time may add more codes than 12 bits can name. In data
// of before TIFF 6.0 the lowest bit comes first, and codes become longer one
// code later.
func tiffLZW(old bool) lzw.Variant {
	return lzw.Variant{Bits: 8, HighFirst: !old, Early: !old, Clear: true, Codes: lzw.MaxCodes, Full: true}
}

// isOldLZW reports whether LZW data has the order of bits of libtiff before
// TIFF 6.0. It is libtiff's test: such data begins with a clear code, whose low
// bits come first.
func isOldLZW(in []byte) bool { return len(in) >= 2 && in[0] == 0 && in[1]&1 != 0 }
