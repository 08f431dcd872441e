package jpegli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// drawn is an image of edges, slopes and noise.
func drawn(t testing.TB, h, w, channels int) *tensor.Tensor {
	m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, channels))
	require.NoError(t, err)
	s := uint32(h*w + channels)
	for i := range m.Data {
		x, y, k := i/channels%w, i/channels/w, i%channels
		s = s*1664525 + 1013904223
		m.Data[i] = byte(x*(k+1) + 3*y + (x/16*(y/16))*40 + int(s>>28))
	}
	return m
}

// images are those of the digest.
func images(t testing.TB) (l []*tensor.Tensor) {
	for _, s := range [][2]int{{1, 1}, {1, 17}, {16, 16}, {47, 33}, {90, 121}} {
		for _, channels := range []int{1, 3} {
			l = append(l, drawn(t, s[0], s[1], channels))
		}
	}
	b, err := os.ReadFile("../../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	m, err := codec.Decode(b, nil)
	require.NoError(t, err)
	return append(l, m)
}

// digest is the sha256 of all files that the test makes, with their lengths. It
// is that of wazero on amd64, and of the Go code on amd64, arm64 and wasm.
const digest = "d4623687b346a8f21cab507c43ef75100a0df6a9e77f673baf2c4e3f7726f069"

func TestDigest(t *testing.T) {
	all := sha256.New()
	n := 0
	for _, m := range images(t) {
		for _, q := range []int{1, 50, 95, 100} {
			for c := codec.Chroma420; c <= codec.Chroma444; c++ {
				if m.Len() > 1e5 && (q != 95 || c > codec.Chroma420) {
					continue // for the time it takes in an interpreter
				}
				b, err := Encode(nil, m, codec.EncodeOptions{Quality: q, Chroma: c})
				require.NoError(t, err)
				fmt.Fprintf(all, "%d ", len(b))
				all.Write(b)
				n++

				i, err := codec.DecodeConfig(b, nil)
				require.NoError(t, err)
				require.Equal(t, m.Height(), i.Height)
				require.Equal(t, m.Width(), i.Width)
				if m.Channels() == 1 {
					require.Equal(t, "baseline gray", i.Variant)
				} else {
					require.Equal(t, "baseline 4:"+c.String()[1:2]+":"+c.String()[2:], i.Variant)
				}
			}
		}
	}
	require.Equal(t, 121, n)
	require.Equal(t, digest, fmt.Sprintf("%x", all.Sum(nil)), "the bytes of 121 files")
}

// The pixels are near those of the image.
func TestPixels(t *testing.T) {
	for _, channels := range []int{1, 3} {
		m := drawn(t, 90, 70, channels)
		for i := range m.Data {
			m.Data[i] = byte(20 + i/channels%70 + i/channels/70)
		}
		b, err := Encode([]byte("head"), m, codec.EncodeOptions{Quality: 95, Chroma: codec.Chroma420})
		require.NoError(t, err)
		require.Equal(t, "head", string(b[:4]))
		o := codec.Options{}
		if channels == 1 {
			o.Color = codec.ToLuma
		}
		got, err := codec.Decode(b[4:], &o)
		require.NoError(t, err)
		for i := range m.Data {
			require.InDelta(t, m.Data[i], got.Data[i], 4, "byte %d", i)
		}
	}
}

func TestConcurrent(t *testing.T) {
	m := drawn(t, 40, 50, 3)
	want, err := Encode(nil, m, codec.EncodeOptions{Quality: 90, Chroma: codec.Chroma444})
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				got, err := Encode(nil, m, codec.EncodeOptions{Quality: 90, Chroma: codec.Chroma444})
				if err != nil || string(got) != string(want) {
					t.Errorf("other bytes (%v)", err)
				}
			}
		})
	}
	all.Wait()
}

func TestErrors(t *testing.T) {
	m := drawn(t, 2, 3, 3)
	for _, o := range []codec.EncodeOptions{{Quality: 101}, {Quality: -1}, {Quality: 50, Chroma: codec.Chroma440}, {Chroma: codec.Chroma411}} {
		b, err := Encode([]byte("x"), m, o)
		require.ErrorContains(t, err, "want 1 to 100")
		require.Equal(t, "x", string(b))
	}
	for _, m := range []*tensor.Tensor{drawn(t, 2, 3, 4), drawn(t, 2, 3, 2), tensor.FromBytes([]byte("abc"))} {
		_, err := Encode(nil, m, codec.EncodeOptions{Quality: 95})
		require.ErrorContains(t, err, "want a uint8 HWC image of 1 or 3 channels")
	}
	for _, s := range [][2]int{{1, MaxSide + 1}, {MaxSide + 1, 1}} {
		_, err := Encode(nil, drawn(t, s[0], s[1], 1), codec.EncodeOptions{Quality: 95})
		require.ErrorIs(t, err, codec.ErrLimit)
	}
	_, err := Encode(nil, &tensor.Tensor{Desc: tensor.Image(tensor.Uint8, tensor.HWC, 20000, 20000, 3)}, codec.EncodeOptions{Quality: 95})
	require.ErrorIs(t, err, codec.ErrLimit)
	// The defaults.
	want, err := Encode(nil, m, codec.EncodeOptions{Quality: 95, Chroma: codec.Chroma420})
	require.NoError(t, err)
	got, err := Encode(nil, m, codec.EncodeOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got)
	most := [][2]int{{1, MaxSide}, {MaxSide, 1}}
	for _, s := range most[:short.Rounds(t, 2, 0)] {
		b, err := Encode(nil, drawn(t, s[0], s[1], 3), codec.EncodeOptions{Quality: 95})
		require.NoError(t, err)
		i, err := codec.DecodeConfig(b, nil)
		require.NoError(t, err)
		require.Equal(t, s, [2]int{i.Height, i.Width})
	}
}

func BenchmarkEncode(b *testing.B) {
	m := drawn(b, 256, 341, 3)
	for b.Loop() {
		if _, err := Encode(nil, m, codec.EncodeOptions{Quality: 95, Chroma: codec.Chroma420}); err != nil {
			b.Fatal(err)
		}
	}
}
