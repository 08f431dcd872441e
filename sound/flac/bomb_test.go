package flac

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

// silence returns a file of frames of 65535 silent samples in eight channels,
// whose header states a number of samples.
func silence(frames int, samples uint64) []byte {
	b := []byte("fLaC\x80\x00\x00\x22\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00")
	b = binary.BigEndian.AppendUint64(b, 48000<<44|7<<41|15<<36|samples)
	b = append(b, make([]byte, 16)...)
	for i := range frames {
		f := []byte{0xff, 0xf8, 0x70, 0x78, byte(i), 0xff, 0xfe}
		f = append(f, crc8(f))
		f = append(f, make([]byte, 3*maxChannels)...) // constant, 0
		b = binary.BigEndian.AppendUint16(append(b, f...), crc16(f))
	}
	return b
}

func TestBombs(t *testing.T) {
	limits := codec.Limits{Bytes: 8 << 20}
	_, _, err := sound.Decode(silence(1, 1<<36-1), limits)
	require.ErrorIs(t, err, codec.ErrBytes)
	// The header has no number: the frames are counted up to the limit.
	bomb := silence(100, 0)
	_, _, err = sound.Decode(bomb, limits)
	require.ErrorIs(t, err, codec.ErrBytes)
	x, h, err := sound.Decode(silence(4, 0), limits)
	require.NoError(t, err)
	require.Equal(t, int64(4*maxBlock), h.Samples)
	require.Equal(t, make([]byte, 4*maxBlock*maxChannels*4), x.Data)

	// A stream needs the memory of one frame.
	r, err := sound.NewReader(bytes.NewReader(bomb), limits)
	require.NoError(t, err)
	planes := make([][]float32, maxChannels)
	for c := range planes {
		planes[c] = make([]float32, 10000)
	}
	total := 0
	for {
		n, err := r.Read(planes)
		total += n
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	require.Equal(t, 100*maxBlock, total)
}

// TestCRC compares with the definition.
func TestCRC(t *testing.T) {
	require.Equal(t, byte(0xf4), crc8([]byte("123456789")))
	require.Equal(t, uint16(0xfee8), crc16([]byte("123456789")))
	for n := range 40 {
		b := bytes.Repeat([]byte("\xa5\x01\xfe"), n)[:n]
		want := uint16(0)
		for _, x := range b {
			want ^= uint16(x) << 8
			for range 8 {
				want = want<<1 ^ 0x8005*(want>>15)
			}
		}
		require.Equal(t, want, crc16(b))
	}
}

// TestLinear compares the loops for small orders with the general one.
func TestLinear(t *testing.T) {
	for order := 1; order <= maxFast; order++ {
		coefs := make([]int64, order)
		for i := range coefs {
			coefs[i] = int64((i*7919+order)%4000 - 2000)
		}
		for _, n := range []int{order, order + 1, 8, 12, 13, 100} {
			a := make([]int32, max(n, order))
			for i := range a {
				a[i] = int32(i*i*31337) % 40000
			}
			want := append([]int32(nil), a...)
			linear(want, coefs, 11)
			linearFast(a, coefs, 11)
			require.Equal(t, want, a, "order %d of %d", order, n)
		}
	}
}
