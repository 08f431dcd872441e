// Package noise fills tensors with random numbers.
package noise

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Bytes fills b with the bytes of 32-bit numbers, low byte first.
func Bytes(b []byte, r *rng.Stream) {
	for len(b) >= 4 {
		binary.LittleEndian.PutUint32(b, r.Uint32())
		b = b[4:]
	}
	if len(b) > 0 {
		n := r.Uint32()
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
	}
}

// Fill fills a dense tensor, one draw per element. Integers take the low bits
// of a 32-bit number (Int64 takes 64 bits), and Bool takes the lowest bit.
// Floating-point elements lie in [0, 1). They take the upper bits of a number,
// as multiples of 2^-53 (Float64), 2^-24 (Float32), 2^-11 (Float16) or 2^-8
// (BFloat16).
func Fill(t *tensor.Tensor, r *rng.Stream) {
	switch t.DType {
	case tensor.Uint8, tensor.Int8:
		for i := range t.Data {
			t.Data[i] = byte(r.Uint32())
		}
	case tensor.Bool:
		for i := range t.Data {
			t.Data[i] = byte(r.Uint32() & 1)
		}
	case tensor.Uint16, tensor.Int16:
		for i, v := 0, tensor.View[uint16](t); i < len(v); i++ {
			v[i] = uint16(r.Uint32())
		}
	case tensor.Int32:
		for i, v := 0, tensor.View[int32](t); i < len(v); i++ {
			v[i] = int32(r.Uint32())
		}
	case tensor.Int64:
		for i, v := 0, tensor.View[int64](t); i < len(v); i++ {
			v[i] = int64(r.Uint64())
		}
	case tensor.Float16:
		for i, v := 0, tensor.View[uint16](t); i < len(v); i++ {
			v[i] = tensor.Float16FromFloat32(float32(r.Uint32()>>21) / (1 << 11))
		}
	case tensor.BFloat16:
		for i, v := 0, tensor.View[uint16](t); i < len(v); i++ {
			v[i] = tensor.BFloat16FromFloat32(float32(r.Uint32()>>24) / (1 << 8))
		}
	case tensor.Float32:
		for i, v := 0, tensor.View[float32](t); i < len(v); i++ {
			v[i] = float32(r.Uint32()>>8) / (1 << 24)
		}
	case tensor.Float64:
		for i, v := 0, tensor.View[float64](t); i < len(v); i++ {
			v[i] = r.Float64()
		}
	}
}
