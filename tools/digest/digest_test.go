// Package digest tests that all tensors are the same on every platform. It runs
// every preset and example configuration over every test image, and a training,
// and prints a digest of the tensors.
package digest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	x "github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func TestDigest(t *testing.T) {
	graphs := map[string]*datagraph.Graph{}
	var names []string
	for _, n := range preset.Names() {
		g, err := preset.Graph(n)
		require.NoError(t, err)
		graphs[n] = g
		names = append(names, n)
	}
	configs, err := filepath.Glob("../../testdata/configs/*/*")
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, c := range configs {
		i, err := importer.Lookup(filepath.Base(filepath.Dir(c)))
		require.NoError(t, err)
		b, err := os.ReadFile(c)
		require.NoError(t, err)
		graphs[c], err = i.Import(b)
		require.NoError(t, err, c)
		names = append(names, c)
	}
	images, err := filepath.Glob("../../testdata/images/*")
	require.NoError(t, err)
	require.NotEmpty(t, images)

	// Every image is decoded, but the other presets run on one image in forty,
	// and each configuration on three of those: the test also runs under
	// emulation.
	var some []string
	for i := 0; i < len(images); i += 40 {
		some = append(some, images[i])
	}
	all := sha256.New()
	for i, n := range names {
		plan, err := datagraph.Compile(graphs[n], datagraph.CompileOptions{})
		require.NoError(t, err, n)
		r := plan.NewRunner()
		h := sha256.New()
		use := some
		switch {
		case n == "decode":
			use = images
		case i >= len(preset.Names()):
			use = []string{some[i%len(some)], some[(i+4)%len(some)], some[(i+9)%len(some)]}
		}
		for _, f := range use {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			out, err := r.Run(tensor.FromBytes(b))
			if err != nil {
				fmt.Fprintf(h, "%s: %v\n", filepath.Base(f), err) // errors must be the same too
				continue
			}
			for _, o := range out {
				fmt.Fprintf(h, "%s: %v\n", filepath.Base(f), o.Desc)
				writeSum(t, h, o)
			}
		}
		sum := h.Sum(nil)
		t.Logf("%x %s", sum, n)
		all.Write(sum)
	}
	// These digests are separate, so that "all tensors" stays comparable with
	// older versions.
	t.Logf("extremes: %x", extremes(t))
	t.Logf("sounds: %x", sounds(t))
	sum := training(t)
	t.Logf("%x training", sum)
	all.Write(sum)
	t.Logf("all tensors: %x", all.Sum(nil))
}

// writeSum writes the sum of a tensor's bytes to h, in the byte order of files.
func writeSum(t *testing.T, h io.Writer, x *tensor.Tensor) {
	t.Helper()
	var s summer
	require.NoError(t, tensor.WriteRaw(&s, x))
	_, err := fmt.Fprintf(h, "%016x\n", s.sum())
	require.NoError(t, err)
}

// summer computes a sum of 64 bits in a fraction of the time of SHA-256, which
// took most of this test's time on emulated platforms. Each step is a bijection
// of the state, so that sums of data that differ in one word differ.
type summer struct {
	state  uint64
	length uint64
	part   [8]byte // of which length%8 bytes are used
}

func (s *summer) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		n := int(s.length % 8)
		if whole := len(p) &^ 7; n == 0 && whole > 0 {
			state := s.state
			for i := 0; i < whole; i += 8 {
				state = mix(state, binary.LittleEndian.Uint64(p[i:]))
			}
			s.state = state
			s.length += uint64(whole)
			p = p[whole:]
		}
		n = copy(s.part[n:], p)
		s.length += uint64(n)
		p = p[n:]
		if n > 0 && s.length%8 == 0 {
			s.word(binary.LittleEndian.Uint64(s.part[:]))
		}
	}
	return size, nil
}

func (s *summer) word(w uint64) { s.state = mix(s.state, w) }

func mix(state, w uint64) uint64 {
	x := (state ^ w) * 0x9E3779B97F4A7C15
	return x ^ x>>32
}

// sum ends the sum.
func (s *summer) sum() uint64 {
	clear(s.part[s.length%8:])
	s.word(binary.LittleEndian.Uint64(s.part[:]))
	s.word(s.length)
	return s.state
}

func TestSummer(t *testing.T) {
	b := make([]byte, 100)
	for i := range b {
		b[i] = byte(i * i)
	}
	of := func(parts ...[]byte) uint64 {
		var s summer
		for _, p := range parts {
			n, err := s.Write(p)
			require.NoError(t, err)
			require.Len(t, p, n)
		}
		return s.sum()
	}
	seen := map[uint64]bool{}
	for n := range len(b) + 1 {
		want := of(b[:n])
		require.False(t, seen[want], "%d bytes", n)
		seen[want] = true
		for k := range n + 1 {
			require.Equal(t, want, of(b[:k], b[k:n]), "%d and %d bytes", k, n-k)
		}
		for k := range n {
			b[k] ^= 16
			require.NotEqual(t, want, of(b[:n]), "byte %d of %d", k, n)
			b[k] ^= 16
		}
	}
}

// extremes returns a digest of the decoded files of testdata/extremes.
func extremes(t *testing.T) []byte {
	files, err := filepath.Glob("../../testdata/extremes/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		out, err := codec.Decode(b, nil)
		require.NoError(t, err, f)
		fmt.Fprintf(h, "%s: %v\n", filepath.Base(f), out.Desc)
		writeSum(t, h, out)
	}
	return h.Sum(nil)
}

// training returns a digest of two epochs of a training: the samples, their
// order and their tensors.
func training(t *testing.T) []byte {
	files := &memory{}
	for _, n := range []string{"jpeg_base_420.jpg", "jpeg_exif_mm_6.jpg", "jpeg_large.jpg", "jpeg_exif_mm_3.jpg"} {
		b, err := os.ReadFile("../../testdata/images/" + n)
		require.NoError(t, err)
		files.files = append(files.files, b)
	}
	g := datagraph.New(x.NewRandomCropDecodeResize(48, 40), x.NewRandomHorizontalFlip(), x.NewRandomColorAdjust(0.4, 0.4, 0.4, 0.1),
		x.NewRandomApply(0.3, x.NewRandomGrayscale(), x.NewRandomVerticalFlip()), x.NewToTensor(), x.NewRandomErasing(),
		x.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))
	b, err := dataset.Build(t.Context(), dataset.From(files).Repeat(5).Shuffle().Map(g).ShuffleBuffer(5).Batch(3), dataset.Options{Seed: 7})
	require.NoError(t, err)
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	h := sha256.New()
	for range 2 {
		for s, err := range p.All(context.Background()) {
			require.NoError(t, err)
			for i := range s.Values {
				fmt.Fprintf(h, "%v\n", s.Values[i].Desc)
				writeSum(t, h, &s.Values[i].Tensor)
			}
		}
		require.NoError(t, p.NextEpoch())
	}
	require.NoError(t, p.Close())
	return h.Sum(nil)
}

// memory is a dataset source of encoded images.
type memory struct{ files [][]byte }

func (m *memory) Validate() error                                          { return nil }
func (m *memory) Open(context.Context, store.Opener) (dataset.Data, error) { return m, nil }
func (m *memory) Close() error                                             { return nil }
func (m *memory) Len() int64                                               { return int64(len(m.files)) }

func (m *memory) Columns() []dataset.Column {
	return []dataset.Column{{Name: "image", Desc: tensor.Encoded()}, {Name: "label", Desc: tensor.Desc{DType: tensor.Int32}}}
}

func (m *memory) Read(_ context.Context, i int64, s *dataset.Sample) error {
	s.Column("image").ShareBytes(m.files[i])
	return s.Column("label").SetInt32(int32(i))
}
