//go:build !purego

package kernel

// yuv420SIMD is YUV420ToRGB for n pixels, a multiple of 16 and not 0. For each
// 16 pixels it reads 16 bytes of u and v, orders them as twice says and
// advances.
//
//go:noescape
func yuv420SIMD(dst, y, u, v *byte, n int, twice *[16]uint8, advance int)
