package jpeg

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
)

const testdata = "../../testdata"

// goldenFile is what testdata/gen/codecs/jpeg.py found; nil where Pillow
// refuses.
type goldenFile struct {
	Width, Height, Orientation int
	Mode, Native, RGB          string
	OpenCV                     *string
	OpenCVGray                 *string `json:"opencv_gray"`
	Pixels                     []byte  // of a few small images
}

type goldens struct{ Images, Damaged map[string]*goldenFile }

func readGoldens(t testing.TB) (g goldens) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, "golden", "jpeg.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g.Images)
	require.NotEmpty(t, g.Damaged)
	return g
}

func names(m map[string]*goldenFile) []string {
	var s []string
	for n := range m {
		s = append(s, n)
	}
	sort.Strings(s)
	return s
}

func read(t testing.TB, kind, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testdata, kind, name))
	require.NoError(t, err)
	return b
}

func sha(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// toRGB is Pillow's convert("RGB").
func toRGB(r *codec.Raster) []byte {
	out := make([]byte, 0, r.Width*r.Height*3)
	for i := 0; i < len(r.Pix); i += r.Mode.Size() {
		p := r.Pix[i:]
		switch r.Mode {
		case codec.L:
			out = append(out, p[0], p[0], p[0])
		case codec.RGB:
			out = append(out, p[0], p[1], p[2])
		case codec.CMYK:
			k := 255 - int(p[3])
			for c := range 3 {
				// ImagingConvert's cmyk2rgb: MULDIV255 of the ink and of black.
				t := int(p[c])*k + 128
				out = append(out, byte(max(0, k-(t+t>>8)>>8)))
			}
		}
	}
	return out
}

// requirePixels says where r differs from want.
func requirePixels(t *testing.T, want []byte, r *codec.Raster) {
	t.Helper()
	require.Len(t, r.Pix, len(want))
	n := r.Mode.Size()
	for i := 0; i < len(want); i += n {
		x, y := i/n%r.Width, i/n/r.Width
		require.Equal(t, want[i:i+n], r.Pix[i:i+n], "at (%d, %d): got %v, want %v", x, y, r.Pix[i:i+n], want[i:i+n])
	}
}

// requireGolden compares an image that Pillow reads with Pillow, in its own
// mode and as RGB, and, where the golden file has OpenCV's digests, with OpenCV
// in colour and in gray.
func requireGolden(t *testing.T, d *decoder, data []byte, want *goldenFile) {
	t.Helper()
	o := codec.Options{}
	c, err := d.openData(data, &o)
	require.NoError(t, err)
	require.Equal(t, []any{want.Width, want.Height, want.Mode, want.Orientation}, []any{c.Width, c.Height, c.Mode.String(), c.Orientation})
	var r codec.Raster
	require.NoError(t, d.decodeData(&r, data, &o))
	require.Equal(t, c.Mode, r.Mode)
	if want.Pixels != nil {
		requirePixels(t, want.Pixels, &r)
	}
	require.Equal(t, want.Native, sha(r.Pix), "pixels differ from Pillow's")
	require.Equal(t, want.RGB, sha(toRGB(&r)), "pixels differ from Pillow's convert(\"RGB\")")
	if want.OpenCV != nil && r.Mode != codec.CMYK {
		// OpenCV converts CMYK by a formula of its own.
		require.Equal(t, *want.OpenCV, sha(toRGB(&r)), "pixels differ from OpenCV's")
	}

	o.Color = codec.ToLuma
	c, err = d.openData(data, &o)
	require.NoError(t, err)
	require.NoError(t, d.decodeData(&r, data, &o))
	require.Equal(t, c.Mode, r.Mode)
	if r.Mode == codec.CMYK {
		require.Equal(t, want.Native, sha(r.Pix))
	} else if want.OpenCVGray != nil {
		require.Equal(t, *want.OpenCVGray, sha(r.Pix), "pixels differ from OpenCV's gray")
	}
}

// TestGoldenImages compares every whole file with the references.
func TestGoldenImages(t *testing.T) {
	g := readGoldens(t)
	d := newDecoder() // one for all: nothing may leak from file to file
	shown := 0
	for _, f := range g.Images {
		if f.Pixels != nil {
			shown++
		}
	}
	require.Equal(t, 7, shown, "images with pixels in the golden file")
	for _, name := range names(g.Images) {
		t.Run(name, func(t *testing.T) { requireGolden(t, d, read(t, "images", name), g.Images[name]) })
	}
}

// TestGoldenDamaged compares damaged files with Pillow: refused or accepted,
// and the pixels.
func TestGoldenDamaged(t *testing.T) {
	g := readGoldens(t)
	d := newDecoder()
	o := codec.Options{}
	for _, name := range names(g.Damaged) {
		t.Run(name, func(t *testing.T) {
			data, want := read(t, "damaged", name), g.Damaged[name]
			var r codec.Raster
			err := d.decodeData(&r, data, &o)
			if want == nil {
				var e *codec.Error
				require.ErrorAs(t, err, &e, "Pillow refuses the file")
				require.Equal(t, "jpeg", e.Format)
				require.False(t, errors.Is(err, codec.ErrLimit))
				return
			}
			require.NoError(t, err, "Pillow accepts the file")
			requireGolden(t, d, data, want)
		})
	}
}

// scaledGolden is what testdata/gen/codecs/jpeg_scaled.py found of a file at
// one scale; nil where Pillow refuses.
type scaledGolden struct {
	Width, Height int
	Native        string
	Luma          string // of whole files of three components
	OpenCV        string // of some files
	OpenCVGray    string `json:"opencv_gray"`
}

// TestGoldenScaled compares whole and damaged files with the references at
// every smaller scale.
func TestGoldenScaled(t *testing.T) {
	var g struct {
		Images, Damaged map[string]map[codec.Scale]*scaledGolden
	}
	b, err := os.ReadFile(filepath.Join(testdata, "golden", "jpeg_scaled.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	all := readGoldens(t)
	require.Equal(t, []int{len(all.Images), len(all.Damaged)}, []int{len(g.Images), len(g.Damaged)}, "files with goldens")
	d := newDecoder()
	counts := map[string]int{}
	for _, kind := range []struct {
		name  string
		files map[string]map[codec.Scale]*scaledGolden
	}{{"images", g.Images}, {"damaged", g.Damaged}} {
		for name, scales := range kind.files {
			t.Run(name, func(t *testing.T) {
				data := read(t, kind.name, name)
				require.Len(t, scales, 3)
				for scale, want := range scales {
					var r codec.Raster
					o := codec.Options{}
					o.Scale = scale
					err := d.decodeData(&r, data, &o)
					if want == nil {
						var e *codec.Error
						require.ErrorAs(t, err, &e, "%v: Pillow refuses the file", scale)
						counts["refused"]++
						continue
					}
					require.NoError(t, err, "%v: Pillow accepts the file", scale)
					require.Equal(t, [2]int{want.Width, want.Height}, [2]int{r.Width, r.Height}, scale)
					require.Equal(t, want.Native, sha(r.Pix), "%v: pixels differ from Pillow's", scale)
					counts["native"]++
					if want.OpenCV != "" {
						require.Equal(t, want.OpenCV, sha(toRGB(&r)), "%v: pixels differ from OpenCV's", scale)
						counts["opencv"]++
					}
					o.Color = codec.ToLuma
					require.NoError(t, d.decodeData(&r, data, &o))
					if want.Luma != "" {
						require.Equal(t, want.Luma, sha(r.Pix), "%v: pixels differ from Pillow's draft(\"L\")", scale)
						counts["luma"]++
					}
					if want.OpenCVGray != "" {
						require.Equal(t, want.OpenCVGray, sha(r.Pix), "%v: pixels differ from OpenCV's gray", scale)
					}
				}
			})
		}
	}
	require.Equal(t, map[string]int{"refused": 3 * (14 + 101), "native": 3 * (168 + 162), "opencv": 3 * 18, "luma": 3 * 155}, counts)
}

// TestScaledLossless: a lossless file has no blocks to reduce.
func TestScaledLossless(t *testing.T) {
	d := newDecoder()
	for _, s := range []codec.Scale{codec.ScaleHalf, codec.ScaleQuarter, codec.ScaleEighth} {
		o := codec.Options{}
		o.Scale = s
		data := read(t, "images", "jpeg_lossless_gray.jpg")
		_, err := d.openData(data, &o)
		require.ErrorIs(t, err, codec.ErrUnsupported)
		require.ErrorContains(t, err, "lossless")
		var r codec.Raster
		require.ErrorIs(t, d.decodeData(&r, data, &o), codec.ErrUnsupported)
	}
}

// TestStrict: whole files decode to the same pixels; damage is an error.
func TestStrict(t *testing.T) {
	g := readGoldens(t)
	d := newDecoder()
	o := codec.Options{}
	o.Damage = codec.DamageStrict
	for _, name := range names(g.Images) {
		t.Run(name, func(t *testing.T) {
			var r codec.Raster
			require.NoError(t, d.decodeData(&r, read(t, "images", name), &o))
			require.NoError(t, r.Damaged)
			require.Equal(t, g.Images[name].Native, sha(r.Pix))
		})
	}
	for _, c := range []struct{ name, msg string }{
		{"base_no_eoi", "ends in the middle"},
		{"base_half_with_eoi", "ends too early"},
		{"base_marker_0", "ends too early"},
		{"rst_lost_1", ""},
		{"rst_wrong_1_1", "restart marker"},
		{"rst_junk_0", "more entropy-coded data"},
		{"prst_lost_0", ""},
		{"prog_half_with_eoi", "ends too early"},
		{"tail_junk", "before a marker"},
		{"tail_sof", "second frame"},
		{"space_adobe9", "Adobe colour transform"},
		{"ycck_odd_transform", "Adobe colour transform"},
		{"junk_before_marker", "before a marker"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := read(t, "damaged", "jpeg_"+c.name+".jpg")
			var r codec.Raster
			err := d.decodeData(&r, data, &o)
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, codec.ErrFormat)
			require.ErrorContains(t, err, c.msg)
			require.GreaterOrEqual(t, e.Offset, int64(0))
			require.LessOrEqual(t, e.Offset, int64(len(data)))
		})
	}
}

// TestLenient: what Pillow accepts gives the same pixels; of the rest, what is
// there is decoded and the damage reported.
func TestLenient(t *testing.T) {
	g := readGoldens(t)
	d := newDecoder()
	o := codec.Options{}
	o.Damage = codec.DamageLenient
	for _, name := range names(g.Images) {
		var r codec.Raster
		require.NoError(t, d.decodeData(&r, read(t, "images", name), &o), name)
		require.Equal(t, g.Images[name].Native, sha(r.Pix), name)
		require.NoError(t, r.Damaged, name)
	}
	for _, name := range names(g.Damaged) {
		want := g.Damaged[name]
		if want == nil || strings.HasPrefix(name, "jpeg_ff_ff_00") {
			continue // the latter is an accident of libjpeg's fast path
		}
		var r codec.Raster
		require.NoError(t, d.decodeData(&r, read(t, "damaged", name), &o), name)
		require.Equal(t, want.Native, sha(r.Pix), name)
	}

	// A file cut in the middle: the upper rows are right, the rest is there.
	whole := read(t, "images", "jpeg_large.jpg")
	var a, b codec.Raster
	require.NoError(t, d.decodeData(&a, whole, &o))
	require.NoError(t, d.decodeData(&b, whole[:len(whole)/2], &o))
	require.ErrorIs(t, b.Damaged, codec.ErrFormat)
	n := a.Stride * 100
	require.Equal(t, a.Pix[:n], b.Pix[:n])
	last := b.Pix[(b.Height-1)*b.Stride:]
	for x, v := range last {
		require.Equal(t, last[0], v, "at (%d, %d)", x/3, b.Height-1)
	}
	for _, name := range []string{"base_half", "prog_half", "rst_half", "arith_half", "base_no_eoi", "arith_beyond_64k", "second_scan"} {
		var r codec.Raster
		require.NoError(t, d.decodeData(&r, read(t, "damaged", "jpeg_"+name+".jpg"), &o), name)
		if name != "arith_beyond_64k" {
			require.Error(t, r.Damaged, name)
		}
	}
	// Without a frame there is nothing to decode.
	for _, name := range []string{"frame_width_0", "frame_5_components", "base_without_c0"} {
		var r codec.Raster
		require.Error(t, d.decodeData(&r, read(t, "damaged", "jpeg_"+name+".jpg"), &o), name)
	}
}
