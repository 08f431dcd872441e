//go:build goexperiment.simd && wasm && !purego

package kernel

import "simd/archsimd"

// The *_wasm.go files hold kernels in Go's own vectors of 128 bits, which Go
// 1.27 compiles to the SIMD instructions of WebAssembly if GOEXPERIMENT is
// simd. They have the signatures of the functions that *_simd.go wraps around
// assembly. archsimd has no narrowing and no shuffle of two vectors for
// WebAssembly: values are narrowed by combining shifted lanes instead.

// The types of lanes are free to change. These names keep the kernels readable.
type (
	i8x16 = archsimd.Int8x16
	i16x8 = archsimd.Int16x8
	i32x4 = archsimd.Int32x4
	u8x16 = archsimd.Uint8x16
	u16x8 = archsimd.Uint16x8
	u32x4 = archsimd.Uint32x4
)

func load16(b []byte) u8x16 { return archsimd.LoadUint8x16Array((*[16]byte)(b)) }

func store16(b []byte, v u8x16) { v.StoreArray((*[16]byte)(b)) }

// narrow4 returns the 16 values of four vectors as bytes. The values are 0 to
// 255; order is byteOrder.
func narrow4(a, b, c, d i32x4, order i8x16) u8x16 {
	v := a.Or(b.ShiftAllLeft(8)).Or(c.ShiftAllLeft(16).Or(d.ShiftAllLeft(24)))
	return v.ToBits().ReshapeToUint8s().BitsToInt8().LookupOrZero(order).ToBits()
}

// byteOrder transposes 4 x 4 bytes.
var byteOrder = [16]int8{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}

// The bytes of v, extended to 32 bits, four at a time.
func quarter0(v u8x16) i32x4 { return v.ExtendLo8ToUint16().ExtendLo4ToUint32().BitsToInt32() }
func quarter1(v u8x16) i32x4 { return v.ExtendLo8ToUint16().ExtendHi4ToUint32().BitsToInt32() }
func quarter2(v u8x16) i32x4 { return v.ExtendHi8ToUint16().ExtendLo4ToUint32().BitsToInt32() }
func quarter3(v u8x16) i32x4 { return v.ExtendHi8ToUint16().ExtendHi4ToUint32().BitsToInt32() }
