//go:build !purego

package kernel

// Literals does nothing.
func (r *VP8LReader) Literals(_ []uint32, _ *VP8LCodes) int { return 0 }

// vp8lAddGreenSIMD adds green to red and blue of n pixels, a multiple of 8 and
// not 0.
//
//go:noescape
func vp8lAddGreenSIMD(pixels *uint32, n int)

// vp8lAddColorsSIMD inverts the transform of colours for n pixels, a multiple
// of 4 and not 0. factors has those of green in words: 8 times that of blue,
// then 8 times that of red. redBlue has 8 times that of red in both words.
//
//go:noescape
func vp8lAddColorsSIMD(pixels *uint32, n int, factors, redBlue uint32)

// vp8lPredict0SIMD and the next ones invert the predictors for n pixels, 1 or
// more. There are pixels before row and up, and one after those of up.
//
//go:noescape
func vp8lPredict0SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict1SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict2SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict3SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict4SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict5SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict6SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict7SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict8SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict9SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict10SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict11SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict12SIMD(row, up *uint32, n int)

//go:noescape
func vp8lPredict13SIMD(row, up *uint32, n int)
