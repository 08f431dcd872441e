package all

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
)

const testdata = "../../testdata/"

// golden is what testdata/gen/codecs/formats.py wrote of one image. Kind is
// that of the error which a damaged one gives, empty where Pillow reads it and
// so must we.
type golden struct {
	Width, Height, UprightWidth, UprightHeight      int
	Mode, RGB, Gray, RGBA, White, KeyWhite, Upright string
	Kind                                            string
}

func goldens(t *testing.T) (g struct{ Images, Damaged map[string]golden }) {
	b, err := os.ReadFile(testdata + "golden/codecs.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g.Images)
	require.NotEmpty(t, g.Damaged)
	return g
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(testdata + folder + "/" + name)
	require.NoError(t, err)
	return b
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// requireGolden compares every policy with Pillow's and transformers' bytes.
func requireGolden(t *testing.T, d *codec.Decoder, data []byte, want golden) {
	t.Helper()
	decode := func(o codec.Options) (codec.Info, []byte) {
		info, err := codectest.Config(d, data, &o)
		require.NoError(t, err)
		dst := make([]byte, info.Size())
		got, err := codectest.Decode(d, dst, data, &o)
		require.NoError(t, err)
		require.Equal(t, info, got)
		return info, dst
	}
	info, rgb := decode(codec.Options{})
	require.Equal(t, [2]int{want.Width, want.Height}, [2]int{info.OutWidth, info.OutHeight})
	require.Equal(t, want.RGB, digest(rgb), "RGB")
	for _, c := range []struct {
		name, want string
		o          codec.Options
	}{
		{"gray", want.Gray, codec.Options{Color: codec.ToGray}},
		{"rgba", want.RGBA, codec.Options{Color: codec.ToRGBA}},
		{"white", want.White, codec.Options{Alpha: codec.AlphaWhite}},
		{"key_white", want.KeyWhite, codec.Options{Alpha: codec.AlphaKeyWhite}},
	} {
		_, got := decode(c.o)
		require.Equal(t, c.want, digest(got), c.name)
	}
	up, got := decode(codec.Options{Orientation: codec.OrientationApply})
	require.Equal(t, [2]int{want.UprightWidth, want.UprightHeight}, [2]int{up.OutWidth, up.OutHeight})
	require.Equal(t, want.Upright, digest(got), "upright")

	_, bgr := decode(codec.Options{Color: codec.ToBGR})
	for i := 0; i < len(bgr); i += 3 {
		require.Equal(t, [3]byte{rgb[i+2], rgb[i+1], rgb[i]}, [3]byte(bgr[i:i+3]))
	}
}

func TestImages(t *testing.T) {
	var d codec.Decoder // one for all: buffers are reused from image to image
	for name, want := range goldens(t).Images {
		t.Run(name, func(t *testing.T) { requireGolden(t, &d, read(t, "images", name), want) })
	}
}

func TestDamaged(t *testing.T) {
	var d codec.Decoder
	kinds := map[string]error{"format": codec.ErrFormat, "unsupported": codec.ErrUnsupported, "limit": codec.ErrLimit}
	for name, want := range goldens(t).Damaged {
		t.Run(name, func(t *testing.T) {
			data := read(t, "damaged", name)
			if want.Kind == "" {
				requireGolden(t, &d, data, want)
				return
			}
			_, err := codec.Decode(data, nil)
			require.ErrorIs(t, err, kinds[want.Kind])
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Msg)
		})
	}
}

// TestWhole: testdata/images holds whole images only, of every format. JPEG and
// PNG have a strict mode that says so; for the others it is the scripts' word.
func TestWhole(t *testing.T) {
	files, err := filepath.Glob(testdata + "images/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, p := range files {
		name := filepath.Base(p)
		data := read(t, "images", name)
		o := codec.Options{}
		_, err = codec.Decode(data, &o)
		require.NoError(t, err, name)
		if format, _, _ := strings.Cut(name, "_"); format == "jpeg" || format == "png" {
			o.Damage = codec.DamageStrict
			_, err = codec.Decode(data, &o)
			require.NoError(t, err, "%s is damaged", name)
		}
	}
}

// TestScale: files that are not JPEG are refused at another scale than full, at
// the header and in every way of decoding.
func TestScale(t *testing.T) {
	var d codec.Decoder
	for _, name := range []string{"png_rgb8.png", "gif_8bit.gif", "bmp_24.bmp", "tiff_gray8_le.tif", "webp_lossy_37x23.webp"} {
		data := read(t, "images", name)
		for s := codec.ScaleHalf; s <= codec.ScaleEighth; s++ {
			o := codec.Options{}
			o.Scale = s
			_, err := codectest.Config(&d, data, &o)
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
			require.ErrorContains(t, err, s.String(), name)
			_, err = codectest.Decode(&d, nil, data, &o)
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
			_, err = codectest.DecodeRows(&d, &collector{t: t}, codec.Region{Width: 1, Height: 1}, data, &o)
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
		}
	}
	_, err := codectest.Config(&d, read(t, "images", "jpeg_gray.jpg"), &codec.Options{Scale: codec.ScaleEighth + 1})
	require.ErrorContains(t, err, "invalid scale 4")
}

// TestScaledLimits: bytes are counted of what is made, pixels of what is
// stored.
func TestScaledLimits(t *testing.T) {
	data := read(t, "images", "jpeg_large.jpg") // 420 x 310, baseline
	var d codec.Decoder
	for _, c := range []struct {
		scale  codec.Scale
		limits codec.Limits
		ok     bool
	}{
		{codec.ScaleFull, codec.Limits{Pixels: 420 * 310}, true},
		{codec.ScaleFull, codec.Limits{Pixels: 420*310 - 1}, false},
		{codec.ScaleEighth, codec.Limits{Pixels: 420 * 310}, true},
		{codec.ScaleEighth, codec.Limits{Pixels: 420*310 - 1}, false},
		{codec.ScaleFull, codec.Limits{Bytes: 420*310*3 - 1}, false},
		{codec.ScaleEighth, codec.Limits{Bytes: 53*39*3 - 1}, false},
		{codec.ScaleEighth, codec.Limits{Bytes: 53 * 39 * 3}, true},
	} {
		_, err := codectest.Config(&d, data, &codec.Options{Scale: c.scale, Limits: c.limits})
		if c.ok {
			require.NoError(t, err, "%+v", c)
		} else {
			require.ErrorIs(t, err, codec.ErrLimit, "%+v", c)
		}
	}
	info, err := codectest.Config(&d, data, &codec.Options{Scale: codec.ScaleEighth})
	require.NoError(t, err)
	// With the buffers, a quarter of what the whole image's pixels take is
	// enough.
	o := codec.Options{Scale: codec.ScaleEighth, Limits: codec.Limits{Bytes: 420 * 310 * 3 / 4}}
	_, err = codectest.Decode(&d, make([]byte, info.Size()), data, &o)
	require.NoError(t, err)
}

// TestTruncated cuts every image at some places: an error or a picture, no
// panic.
func TestTruncated(t *testing.T) {
	var d codec.Decoder
	for name := range goldens(t).Images {
		data := read(t, "images", name)
		for n := 0; n < len(data); n += 1 + len(data)/97 {
			info, err := codectest.Config(&d, data[:n], nil)
			if err == nil {
				dst := make([]byte, info.Size())
				_, err = codectest.Decode(&d, dst, data[:n], nil)
			}
			if err != nil {
				var e *codec.Error
				require.ErrorAs(t, err, &e, "%s cut to %d bytes", name, n)
			}
		}
	}
}

func TestFilesAreListed(t *testing.T) {
	g := goldens(t)
	for _, f := range []string{"png", "gif", "bmp", "tiff", "webp"} {
		for folder, listed := range map[string]map[string]golden{"images": g.Images, "damaged": g.Damaged} {
			files, err := filepath.Glob(testdata + folder + "/" + f + "_*")
			require.NoError(t, err)
			for _, p := range files {
				require.Contains(t, listed, filepath.Base(p))
			}
		}
	}
}
