// Package soundtest compares the decoders of sound formats with libsndfile, in
// tests.
package soundtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

// Case is a file and what libsndfile reads of it: testdata/gen/codecs/sounds.py
// writes them.
type Case struct {
	Name     string    `json:"name"`
	File     []byte    `json:"file"`
	Rate     int       `json:"rate"`
	Channels int       `json:"channels"`
	Samples  int       `json:"samples"`
	SHA256   string    `json:"sha256"` // of the samples, channel after channel
	Values   []float32 `json:"values"` // the first samples
	Error    string    `json:"error"`  // the other fields are then 0
}

// Cases reads testdata/cases.json.
func Cases(t testing.TB) (l []Case) {
	b, err := os.ReadFile("testdata/cases.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &l))
	return l
}

// Run decodes every case, whole and as a stream in blocks of random sizes.
// unlike has the cases that are treated otherwise than by libsndfile, with the
// text of the error, or "" for none.
func Run(t *testing.T, unlike map[string]string) {
	cases := Cases(t)
	equal, refused := 0, 0
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			x, h, err := sound.Decode(c.File, codec.Limits{})
			text, other := unlike[c.Name]
			if other && text != "" || !other && c.Error != "" {
				require.ErrorContains(t, err, text, "libsndfile: %q", c.Error)
				var e *codec.Error
				require.True(t, errors.As(err, &e), "%v", err)
				require.NotErrorIs(t, err, codec.ErrInternal)
				t.Log(err)
				refused++
				return
			}
			require.NoError(t, err, "libsndfile reads %d samples", c.Samples)
			if !other {
				require.Equal(t, []int{c.Rate, c.Channels, c.Samples}, []int{h.Rate, h.Channels, int(h.Samples)})
				require.Equal(t, c.Values, floats(x.Data)[:len(c.Values)])
				require.Equal(t, c.SHA256, digest(floats(x.Data)))
				equal++
			}
			stream(t, c.File, rand.New(rand.NewPCG(uint64(i), 1)), h, x.Data)
		})
	}
	t.Logf("%d files equal to libsndfile's samples, %d refused, of %d", equal, refused, len(cases))
}

// Near decodes every case as Run does, for a format whose samples are not equal
// to libsndfile's: they may differ by distance. Values has every stride-th
// sample of each channel. unlike is that of Run. Near returns the SHA-256 of
// the samples of all cases, which is the same on every platform.
func Near(t *testing.T, stride int, distance float64, unlike map[string]string) string {
	cases := Cases(t)
	all := sha256.New()
	largest, compared := 0.0, 0
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			x, h, err := sound.Decode(c.File, codec.Limits{})
			text, other := unlike[c.Name]
			if other && text != "" || !other && c.Error != "" {
				require.ErrorContains(t, err, text, "libsndfile: %q", c.Error)
				var e *codec.Error
				require.True(t, errors.As(err, &e), "%v", err)
				require.NotErrorIs(t, err, codec.ErrInternal)
				t.Log(err)
				return
			}
			require.NoError(t, err, "libsndfile reads %d samples", c.Samples)
			v := floats(x.Data)
			all.Write([]byte(digest(v)))
			stream(t, c.File, rand.New(rand.NewPCG(uint64(i), 1)), h, x.Data)
			if !other {
				require.Equal(t, c.Samples, int(h.Samples))
			}
			require.GreaterOrEqual(t, int(h.Samples), c.Samples)
			if c.Error != "" {
				return
			}
			require.Equal(t, []int{c.Rate, c.Channels}, []int{h.Rate, h.Channels})
			for k, want := range c.Values {
				n := (c.Samples + stride - 1) / stride
				got := v[k/n*int(h.Samples)+k%n*stride]
				d := math.Abs(float64(got) - float64(want))
				require.LessOrEqual(t, d, distance, "channel %d, sample %d: %v, libsndfile has %v", k/n, k%n*stride, got, want)
				largest = max(largest, d)
				compared++
			}
		})
	}
	t.Logf("the largest difference of %d samples to libsndfile's is %.2g", compared, largest)
	return hex.EncodeToString(all.Sum(nil))
}

func digest(v []float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func floats(b []byte) []float32 {
	if len(b) == 0 {
		return []float32{}
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// stream reads a file in blocks and compares.
func stream(t *testing.T, file []byte, r *rand.Rand, h sound.Header, want []byte) {
	var in io.Reader = bytes.NewReader(file)
	if r.IntN(2) == 0 {
		in = iotest.OneByteReader(in)
	}
	s, err := sound.NewReader(in, codec.Limits{})
	require.NoError(t, err)
	require.Equal(t, []int{h.Rate, h.Channels}, []int{s.Header().Rate, s.Header().Channels})
	planes := make([][]float32, h.Channels)
	for {
		block := make([][]float32, h.Channels)
		size := 1 + r.IntN(100)
		for c := range block {
			block[c] = make([]float32, size)
		}
		n, err := s.Read(block)
		for c := range block {
			planes[c] = append(planes[c], block[c][:n]...)
		}
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	i := 0
	all := floats(want)
	for _, p := range planes {
		require.Len(t, p, int(h.Samples))
		for _, v := range p {
			if v != all[i] && (v == v || all[i] == all[i]) {
				t.Fatalf("stream: sample %d is %v, want %v", i, v, all[i])
			}
			i++
		}
	}
}

// Fuzz checks that no input makes a decoder panic or exceed its limits, and
// that a stream gives the same samples.
func Fuzz(f *testing.F) {
	for _, c := range Cases(f) {
		f.Add(c.File)
	}
	limits := codec.Limits{Bytes: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, h, err := sound.Decode(b, limits)
		if err != nil {
			require.NotErrorIs(t, err, codec.ErrInternal)
			return
		}
		require.LessOrEqual(t, len(x.Data), 1<<20)
		require.Equal(t, h.Bytes(), int64(len(x.Data)))
		stream(t, b, rand.New(rand.NewPCG(1, 2)), h, x.Data)
	})
}
