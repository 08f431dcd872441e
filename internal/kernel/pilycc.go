package kernel

// PillowYCCProduct returns factor x v in 6-bit fixed point; factor is in units
// of 1/100000. The rounding is that of Pillow's tables, int(factor*value*64 +
// 0.5), which does not round negative products to nearest.
func PillowYCCProduct(factor, v int) int32 { return int32((factor*v*64 + 50000) / 100000) }

// PillowYCCToRGB converts a pixel as Pillow converts from YCbCr to RGB
// (ConvertYCbCr.c). libjpeg and libtiff have other roundings.
func PillowYCCToRGB(y, cb, cr uint8) (r, g, b uint8) {
	clamp := func(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
	l, u, v := int32(y), int(cb)-128, int(cr)-128
	return clamp(l + PillowYCCProduct(140200, v)>>6),
		clamp(l + (PillowYCCProduct(-34414, u)+PillowYCCProduct(-71414, v))>>6),
		clamp(l + PillowYCCProduct(177200, u)>>6)
}
