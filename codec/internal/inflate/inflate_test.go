package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// pieces returns a source that cuts data into pieces of k bytes.
func pieces(data []byte, k int) func() []byte {
	return func() []byte {
		if len(data) == 0 {
			return nil
		}
		p := data[:min(k, len(data))]
		data = data[len(p):]
		return p
	}
}

// samples are contents that use literals, short and long matches, and blocks of
// each kind.
func samples() map[string][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	l := map[string][]byte{"empty": {}, "one": {7}, "zeros": make([]byte, 100_000)}
	noise := make([]byte, 90_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	l["noise"] = noise
	slope := make([]byte, 100_000)
	for i := range slope {
		slope[i] = byte(rnd.NormFloat64()*3 + 0.5)
	}
	l["slope"] = slope
	var words []byte
	for len(words) < 100_000 {
		k := rnd.IntN(9) + 1
		at := rnd.IntN(len(words) + 1)
		if rnd.IntN(3) == 0 || at < k {
			words = append(words, noise[at%1000:][:k]...)
		} else {
			for range rnd.IntN(300) {
				words = append(words, words[len(words)-k])
			}
			words = append(words, words[at-k:at]...)
		}
	}
	l["words"] = words
	skewed := make([]byte, 100_000)
	for i := range skewed {
		skewed[i] = byte(min(255, rnd.ExpFloat64()*6))
	}
	l["skewed"] = skewed
	return l
}

func compress(t testing.TB, data []byte, level int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestEqual reads streams in pieces of several sizes, by rows of several
// lengths.
func TestEqual(t *testing.T) {
	var r Reader
	for name, data := range samples() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, 1, 6, 9} {
			packed := compress(t, data, level)
			for _, k := range []int{7, 8192, 1 << 30} {
				for _, row := range []int{1, 1000, 40_000, 200_000} {
					if row == 1 && k != 8192 || row == 200_000 && k != 8192 {
						continue
					}
					r.Reset(pieces(packed, k))
					left := data
					for len(left) > 0 {
						n := min(row, len(left))
						b, err := r.Next(n)
						require.NoError(t, err)
						if !bytes.Equal(left[:n], b) {
							t.Fatal(name, level, k, row, len(data)-len(left))
						}
						left = left[n:]
					}
					b, err := r.Next(1)
					require.Empty(t, b)
					require.Equal(t, io.EOF, err, "%s %d %d %d", name, level, k, row)
				}
			}
		}
	}
}

// TestEnds: a stream that ends early has the output before its end, and
// io.ErrUnexpectedEOF.
func TestEnds(t *testing.T) {
	data := samples()["words"][:1000]
	for _, level := range []int{0, 6} {
		packed := compress(t, data, level)
		for n := range packed {
			for _, k := range []int{3, 1 << 30} {
				require.NoError(t, same(t, packed[:n], k), n)
			}
		}
	}
}

// TestSlack decodes into outputs of many lengths: nothing is written behind
// them, even if pairs of literals, then the longest match end there.
func TestSlack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	memory := make([]byte, 5000)
	for literals := range 12 {
		var data []byte
		for len(data) < 4000 {
			for range literals {
				data = append(data, "abcd"[rnd.IntN(4)])
			}
			data = append(data, make([]byte, 259)...)
		}
		var r Reader
		r.Reset(Piece(compress(t, data, 9)))
		for r.state != inCodes {
			r.decode(1)
		}
		for size := slack + 1; size < 4000; size++ {
			for i := range memory[size:][:64] {
				memory[size+i] = 0xA5
			}
			z := kernel.Inflate{Bits: r.bits, N: r.n}
			_, w := z.Run(&r.lit, &r.dist, r.in, r.pos, memory[:size], 0)
			require.True(t, bytes.Equal(data[:w], memory[:w]))
			for i, v := range memory[size:][:64] {
				if v != 0xA5 {
					t.Fatalf("%d literals, output of %d bytes, of which %d are written: byte %d behind it, too", literals, size, w, i)
				}
			}
		}
	}
}

// both returns the output of compress/zlib and of a Reader, with their errors.
// It compares the Reader's with that of Go alone.
func both(t testing.TB, packed []byte, k int) (want, got []byte, wantErr, gotErr error) {
	const most = 1 << 20
	z, wantErr := zlib.NewReader(bytes.NewReader(packed))
	if wantErr == nil {
		want, wantErr = io.ReadAll(io.LimitReader(z, most))
	}
	read := func() ([]byte, error) {
		var r Reader
		r.Reset(pieces(packed, k))
		return io.ReadAll(io.LimitReader(&r, most))
	}
	got, gotErr = read()
	restore := cpu.DisableAll()
	plain, plainErr := read()
	restore()
	require.Equal(t, plainErr, gotErr)
	require.True(t, bytes.Equal(plain, got), "assembly and Go differ")
	return want, got, wantErr, gotErr
}

// same compares a Reader with compress/zlib.
func same(t testing.TB, packed []byte, k int) error {
	want, got, wantErr, gotErr := both(t, packed, k)
	if wantErr == io.EOF { // of an empty stream
		wantErr = io.ErrUnexpectedEOF
	}
	switch {
	case !bytes.Equal(want, got):
		return fmt.Errorf("%d bytes (%v), want %d (%v)", len(got), gotErr, len(want), wantErr)
	case (wantErr == nil) != (gotErr == nil), errors.Is(wantErr, io.ErrUnexpectedEOF) != errors.Is(gotErr, io.ErrUnexpectedEOF):
		return fmt.Errorf("error %v, want %v", gotErr, wantErr)
	}
	return nil
}

// FuzzReader compares a Reader with compress/zlib, which accepts more: it must
// never accept less.
func FuzzReader(f *testing.F) {
	for _, data := range samples() {
		for _, level := range []int{flate.HuffmanOnly, 0, 6} {
			f.Add(compress(f, data[:min(len(data), 2000)], level), uint16(100))
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte, k uint16) {
		want, got, wantErr, gotErr := both(t, packed, int(k)+1)
		if gotErr == nil {
			require.NoError(t, wantErr)
			require.True(t, bytes.Equal(want, got))
			return
		}
		// compress/zlib gives the last symbols of a stream only if further bits
		// follow; zlib, and a Reader, do not need them.
		require.True(t, bytes.HasPrefix(want, got) || wantErr != nil && bytes.HasPrefix(got, want))
		if wantErr == nil {
			require.ErrorIs(t, gotErr, ErrData)
		}
	})
}

// TestMutated compares damaged streams.
func TestMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	stricter := 0
	for name, data := range samples() {
		data = data[:min(len(data), 4000)]
		for _, level := range []int{flate.HuffmanOnly, 0, 6} {
			packed := compress(t, data, level)
			for range 60 {
				b := bytes.Clone(packed)
				for range rnd.IntN(3) + 1 {
					b[rnd.IntN(min(len(b), 200))] ^= 1 << rnd.IntN(8)
				}
				k := rnd.IntN(50) + 1
				if err := same(t, b, k); err != nil {
					want, got, wantErr, gotErr := both(t, b, k)
					require.ErrorIs(t, gotErr, ErrData, "%s: %v", name, err)
					require.True(t, bytes.HasPrefix(want, got), "%s: %v, %v", name, err, wantErr)
					stricter++
				}
			}
		}
	}
	t.Log(stricter, "streams are refused earlier than by compress/zlib")
}

func BenchmarkReader(b *testing.B) {
	for _, name := range []string{"slope", "words", "noise", "zeros"} {
		data := samples()[name]
		packed := compress(b, data, 6)
		b.Run(name, func(b *testing.B) {
			var r Reader
			b.SetBytes(int64(len(data)))
			for range b.N {
				r.Reset(pieces(packed, 1<<16))
				for n := 0; n < len(data); n += 1000 {
					_, _ = r.Next(min(1000, len(data)-n))
				}
			}
		})
		b.Run(name+"/std", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			z, _ := zlib.NewReader(bytes.NewReader(packed))
			row := make([]byte, 1000)
			for range b.N {
				_ = z.(zlib.Resetter).Reset(bytes.NewReader(packed), nil)
				for {
					if _, err := io.ReadFull(z, row); err != nil {
						break
					}
				}
			}
		})
	}
}

// TestFill compares Fill with Read, for outputs of several lengths of whole,
// damaged and cut streams.
func TestFill(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	var fill, read Reader
	failed := 0
	for name, data := range samples() {
		data = data[:min(len(data), 70_000)]
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 6} {
			packed := compress(t, data, level)
			for round := range 40 {
				b := bytes.Clone(packed)
				for range round % 3 {
					b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
				}
				if round%4 == 3 {
					b = b[:rnd.IntN(len(b)+1)]
				}
				n := rnd.IntN(len(data) + 2)
				if round%2 == 0 {
					n = max(0, len(data)-1+rnd.IntN(3))
				}
				whole := round%5 != 0
				want := make([]byte, n)
				read.Reset(Piece(b))
				at, err := io.ReadFull(&read, want)
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				if err == nil && whole {
					if b, end := read.Next(1); len(b) == 0 && end != io.EOF && end != io.ErrUnexpectedEOF && end != ErrDistance {
						err = end
					}
				}
				got := make([]byte, n+FillSlack+8)
				fill.Reset(Piece(b))
				k, gotErr := fill.Fill(got, n, whole)
				require.Equal(t, err, gotErr, "%s %d: %d of %d bytes, whole %t", name, level, n, len(data), whole)
				require.Equal(t, at, k)
				require.True(t, bytes.Equal(want[:at], got[:k]), name)
				require.Zero(t, [8]byte(got[n+FillSlack:]))
				if err != nil {
					failed++
				}
			}
		}
	}
	require.Greater(t, failed, 100)
}
