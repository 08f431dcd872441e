package jpeg

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/internal/short"
)

// randomFile returns a baseline file of random coefficients, gray or 4:2:0. A
// restart marker follows every interval MCUs; 0 means none. The standard tables
// have their AC symbols in random order, so that large values have long codes
// and short ones. size bounds the bits of a value, 1 to 10.
func randomFile(r *rand.Rand, width, height int, gray bool, interval, size int) []byte {
	b := []byte{0xFF, mSOI}
	segment := func(marker byte, body ...byte) {
		b = append(b, 0xFF, marker)
		b = binary.BigEndian.AppendUint16(b, uint16(2+len(body)))
		b = append(b, body...)
	}
	segment(mDQT, append([]byte{0}, bytes.Repeat([]byte{1 + byte(r.IntN(3))}, 64)...)...)
	frame := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0}
	scan := []byte{3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0}
	members, side := []int{0, 0, 0, 0, 1, 2}, 16
	if gray {
		frame, scan = append(frame[:5:5], 1, 1, 0x11, 0), []byte{1, 1, 0x00, 0, 63, 0}
		members, side = []int{0}, 8
	}
	segment(mSOF0, frame...)
	var codes kernel.HuffCodes
	for i, s := range []huffSpec{stdDCLuma, stdDCChroma} {
		codes.Build(i, &s.bits, &s.vals)
		segment(mDHT, append(append([]byte{byte(i)}, s.bits[1:]...), s.vals[:12]...)...)
	}
	for i, s := range []huffSpec{stdACLuma, stdACChroma} {
		// The end of the block keeps a short code.
		r.Shuffle(158, func(i, j int) { s.vals[i+4], s.vals[j+4] = s.vals[j+4], s.vals[i+4] })
		codes.Build(2+i, &s.bits, &s.vals)
		segment(mDHT, append(append([]byte{byte(0x10 + i)}, s.bits[1:]...), s.vals[:162]...)...)
	}
	segment(mDRI, byte(interval>>8), byte(interval))
	segment(mSOS, scan...)

	mcus := ceilDiv(width, side) * ceilDiv(height, side)
	w := kernel.HuffWriter{Buf: make([]byte, 6*kernel.HuffBlockSpace), Codes: &codes}
	flush := func(pad bool) {
		if pad {
			w.Pad()
		}
		for _, v := range w.Buf[:w.N] {
			if b = append(b, v); v == 0xFF {
				b = append(b, 0)
			}
		}
		w.N = 0
	}
	value := func() int32 {
		n := 1 + r.IntN(size)
		return extend(int32(r.IntN(1<<n)), n)
	}
	var pred [3]int32
	for i := range mcus {
		if interval > 0 && i > 0 && i%interval == 0 {
			flush(true)
			w.Reset()
			b = append(b, 0xFF, byte(mRST0+(i/interval-1)&7))
			pred = [3]int32{}
		}
		for _, c := range members {
			var block [64]int16
			var mask uint64
			for n := r.IntN([]int{1, 4, 12, 64}[r.IntN(4)]); n > 0; n-- {
				k := 1 + r.IntN(63)
				block[kernel.NaturalOrder[k]] = int16(value())
				mask |= 1 << k
			}
			dc := pred[c] + value()*int32(r.IntN(2))
			if dc < -1024 || dc > 1023 {
				dc = 0
			}
			w.Block(&block, mask, dc-pred[c], min(c, 1))
			pred[c] = dc
		}
		flush(false)
	}
	flush(true)
	return append(b, 0xFF, mEOI)
}

// TestQuickRestart compares the quick decoder with the careful one on files
// with restart intervals of every kind, whole and damaged. The whole files must
// be accepted.
func TestQuickRestart(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	p := newComparer()
	accepted, damaged := 0, 0
	for i := range short.Rounds(t, 3000, 60) {
		width, height := 1+r.IntN(100), 1+r.IntN(100)
		if i%100 == 0 {
			width, height = 1500, 200 // several chunks of 64 KiB
		}
		gray := r.IntN(2) == 0
		perRow := ceilDiv(width, 16)
		if gray {
			perRow = ceilDiv(width, 8)
		}
		interval := []int{0, 1, perRow, 2 * perRow, 1 + r.IntN(2*perRow), 3}[r.IntN(6)]
		whole := randomFile(r, width, height, gray, interval, 1+r.IntN(10))
		p.requireEqual(t, whole, codec.Options{Damage: codec.DamageStrict})
		p.requireEqual(t, whole, codec.Options{Workers: i % 4})
		require.NoError(t, p.quick.decodeData(&p.got, whole, &codec.Options{}))
		scan := bytes.Index(whole, []byte{0xFF, mSOS}) + 10
		for range 3 {
			data := bytes.Clone(whole)
			at := scan + r.IntN(max(1, len(data)-scan))
			at = min(at, len(data)-1)
			switch r.IntN(6) {
			case 0:
				data[at] ^= 1 << r.IntN(8)
			case 1:
				data = data[:at]
			case 2: // a marker, a stuffed zero or fill bytes
				data[at] = 0xFF
				data[min(at+1, len(data)-1)] = []byte{0, 0xFF, mRST0 + byte(r.IntN(8)), mEOI, 1}[r.IntN(5)]
			case 3:
				data = append(data[:at], data[min(len(data), at+r.IntN(20)):]...)
			case 4: // more data than the segment needs
				data = append(append(bytes.Clone(data[:at]), whole[scan:min(len(whole), scan+r.IntN(40))]...), data[at:]...)
			case 5: // another marker's number
				if m := bytes.Index(data[at:], []byte{0xFF, mRST0 + byte(r.IntN(8))}); m >= 0 {
					data[at+m+1] = mRST0 + byte(r.IntN(8))
				}
			}
			for _, damage := range []codec.Damage{codec.DamagePillow, codec.DamageImread, codec.DamageImdecode} {
				p.requireEqual(t, data, codec.Options{Damage: damage, Workers: r.IntN(4)})
			}
			if p.quick.decodeData(&p.got, data, &codec.Options{}) == nil {
				accepted++
			}
			damaged++
		}
	}
	require.Greater(t, accepted, damaged/3)
	require.NotNil(t, p.quick.ent.quick.huff.Buf)
	require.Nil(t, p.careful.ent.quick.huff.Buf)
}
