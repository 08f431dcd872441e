package jpeg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
)

// extremes are the files of testdata/extremes with what
// testdata/gen/codecs/jpeg_extremes.py found: noise at quality 1 and 95 to 100.
func extremes(t testing.TB) map[string]*extremeGolden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, "golden", "jpeg_extremes.json"))
	require.NoError(t, err)
	var g struct{ Files map[string]*extremeGolden }
	require.NoError(t, json.Unmarshal(b, &g))
	files, err := filepath.Glob(filepath.Join(testdata, "extremes", "*"))
	require.NoError(t, err)
	require.Len(t, g.Files, len(files))
	require.Len(t, files, 171)
	return g.Files
}

type extremeGolden struct {
	goldenFile
	Half, Quarter, Eighth string
}

// TestGoldenExtremes compares the files with Pillow and OpenCV at every scale,
// and the quick decoder with the careful one in every mode and with several
// workers.
func TestGoldenExtremes(t *testing.T) {
	d, careful := newDecoder(), newDecoder()
	careful.ent.quick.off = true
	modes := []codec.Damage{codec.DamagePillow, codec.DamageStrict, codec.DamageLenient}
	for name, want := range extremes(t) {
		t.Run(name, func(t *testing.T) {
			data := read(t, "extremes", name)
			requireGolden(t, d, data, &want.goldenFile)
			var r codec.Raster
			for scale, digest := range []string{want.Native, want.Half, want.Quarter, want.Eighth} {
				for _, damage := range modes[:short.Rounds(t, len(modes), 1)] {
					o := codec.Options{}
					o.Scale, o.Damage = codec.Scale(scale), damage
					require.NoError(t, d.decodeData(&r, data, &o))
					require.NoError(t, r.Damaged)
					require.Equal(t, digest, sha(r.Pix), "%v, %v", o.Scale, damage)
					o.Workers = 3
					require.NoError(t, d.decodeData(&r, data, &o))
					require.Equal(t, digest, sha(r.Pix), "%v, %v with workers", o.Scale, damage)
					require.NoError(t, careful.decodeData(&r, data, &o))
					require.Equal(t, digest, sha(r.Pix), "%v, %v, the careful decoder", o.Scale, damage)
				}
			}
		})
	}
}

// A comparer decodes with and without the quick decoder.
type comparer struct {
	quick, careful *decoder
	got, want      codec.Raster
}

func newComparer() *comparer {
	p := &comparer{quick: newDecoder(), careful: newDecoder()}
	p.careful.ent.quick.off = true
	return p
}

// requireEqual requires the same pixels or the same error of both.
func (p *comparer) requireEqual(t *testing.T, data []byte, o codec.Options) {
	t.Helper()
	err := p.careful.decodeData(&p.want, data, &o)
	require.Equal(t, fmt.Sprint(err), fmt.Sprint(p.quick.decodeData(&p.got, data, &o)))
	if err == nil {
		require.True(t, bytes.Equal(p.want.Pix, p.got.Pix), "other pixels")
	}
}

// FuzzExtremes mutates files of quality 1 and 95 to 100 that are valid: it
// flips bits of one byte and cuts the end. The quick decoder must equal the
// careful one.
func FuzzExtremes(f *testing.F) {
	for name := range extremes(f) {
		if data := read(f, "extremes", name); len(data) < 8000 {
			f.Add(data, uint(0), byte(0), uint(0))
			f.Add(data, uint(len(data)-3), byte(1), uint(0))
			f.Add(data, uint(len(data)*3/4), byte(0x80), uint(2))
		}
	}
	p := newComparer()
	f.Fuzz(func(t *testing.T, data []byte, at uint, flip byte, cut uint) {
		if len(data) == 0 {
			return
		}
		data = bytes.Clone(data)
		data[at%uint(len(data))] ^= flip
		data = data[:len(data)-int(cut%uint(len(data)))]
		p.requireEqual(t, data, codec.Options{Limits: codec.Limits{Pixels: 1 << 18, Bytes: 4 << 20, Scans: 30}})
	})
}

// FuzzEncoded encodes pixels with the standard library at quality 95 to 100, so
// that every input is a valid file, and compares the quick decoder with the
// careful one.
func FuzzEncoded(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, byte(seed*3), byte(seed*5), byte(seed), seed%2 == 0, []byte(nil))
	}
	f.Add(uint64(1), byte(16), byte(8), byte(5), true, bytes.Repeat([]byte{0, 255}, 64))
	p := newComparer()
	f.Fuzz(func(t *testing.T, seed uint64, width, height, quality byte, gray bool, pixels []byte) {
		data := encodeNoise(t, newNoise(seed, pixels), 1+int(width)%64, 1+int(height)%64, 95+int(quality)%6, gray)
		p.requireEqual(t, data, codec.Options{})
	})
}
