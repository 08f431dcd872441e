package codec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/codectest"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/tensor"
)

// fake is a format for tests: "fake", a Mode, width, height and orientation,
// then the pixels.
type fake struct{ data []byte }

// opened counts the headers that fake has read.
var opened int

func init() {
	codec.Register(codec.Format{Name: "fake", Magic: []string{"fake"}, New: func() codec.FormatDecoder { return &fake{} }})
}

func (f *fake) Open(data []byte, _ *codec.Options) (codec.Config, error) {
	f.data = data
	opened++
	return codec.Config{
		Format: "fake", Mode: codec.Mode(data[4]), Width: int(data[5]), Height: int(data[6]), Orientation: int(data[7]),
		Depth: 8, Frames: 1, HasAlpha: codec.Mode(data[4]) == codec.RGBA,
	}, nil
}

func (f *fake) Decode(dst *codec.Raster) error {
	dst.Reset(codec.Mode(f.data[4]), int(f.data[5]), int(f.data[6]))
	copy(dst.Pix, f.data[8:])
	f.data = nil
	return nil
}

func image(m codec.Mode, w, h, orientation int, pix ...byte) []byte {
	return append([]byte{'f', 'a', 'k', 'e', byte(m), byte(w), byte(h), byte(orientation)}, pix...)
}

func TestConversions(t *testing.T) {
	type o = codec.Options
	for _, c := range []struct {
		name string
		in   []byte
		o    o
		want []byte
	}{
		{"gray to RGB", image(codec.L, 2, 1, 1, 7, 255), o{}, []byte{7, 7, 7, 255, 255, 255}},
		{"gray as it is", image(codec.L, 2, 1, 1, 7, 255), o{Color: codec.ToGray}, []byte{7, 255}},
		{"gray to RGBA", image(codec.L, 1, 1, 1, 7), o{Color: codec.ToRGBA}, []byte{7, 7, 7, 255}},
		{"RGB to BGR", image(codec.RGB, 1, 2, 1, 1, 2, 3, 4, 5, 6), o{Color: codec.ToBGR}, []byte{3, 2, 1, 6, 5, 4}},
		{"RGB to gray", image(codec.RGB, 2, 1, 1, 255, 0, 0, 0, 0, 255), o{Color: codec.ToGray}, []byte{76, 29}},
		{"RGB to luma", image(codec.RGB, 1, 1, 1, 0, 255, 0), o{Color: codec.ToLuma}, []byte{150}},
		{"RGBA dropped", image(codec.RGBA, 1, 1, 1, 10, 20, 30, 0), o{}, []byte{10, 20, 30}},
		{"RGBA on white", image(codec.RGBA, 3, 1, 1, 10, 20, 30, 0, 10, 20, 30, 255, 10, 20, 30, 128), o{Alpha: codec.AlphaWhite},
			[]byte{255, 255, 255, 10, 20, 30, 132, 137, 142}},
		{"LA on white", image(codec.LA, 2, 1, 1, 0, 0, 0, 255), o{Alpha: codec.AlphaWhite, Color: codec.ToGray}, []byte{255, 0}},
		{"CMYK", image(codec.CMYK, 2, 1, 1, 0, 128, 255, 0, 100, 100, 100, 100), o{}, []byte{255, 127, 0, 94, 94, 94}},
		{"16-bit gray clipped", image(codec.I16, 3, 1, 1, 255, 0, 0, 1, 52, 18), o{Color: codec.ToGray}, []byte{255, 255, 255}},
		{"16-bit gray, high byte", image(codec.I16, 3, 1, 1, 255, 0, 0, 1, 52, 18), o{Color: codec.ToGray, Gray16: codec.Gray16High}, []byte{0, 1, 18}},
	} {
		got, err := codec.Decode(c.in, &c.o)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got.Data, c.name)
	}
}

func TestOrientation(t *testing.T) {
	pix := []byte{1, 2, 3, 4, 5, 6} // 3 wide, 2 high
	for i, want := range [][]byte{
		1: {1, 2, 3, 4, 5, 6}, 2: {3, 2, 1, 6, 5, 4}, 3: {6, 5, 4, 3, 2, 1}, 4: {4, 5, 6, 1, 2, 3},
		5: {1, 4, 2, 5, 3, 6}, 6: {4, 1, 5, 2, 6, 3}, 7: {6, 3, 5, 2, 4, 1}, 8: {3, 6, 2, 5, 1, 4},
	} {
		if i == 0 {
			continue
		}
		in := image(codec.L, 3, 2, i, pix...)
		o := codec.Options{Color: codec.ToGray, Orientation: codec.OrientationApply}
		got, err := codec.Decode(in, &o)
		require.NoError(t, err)
		require.Equal(t, want, got.Data, "orientation %d", i)
		if i >= 5 {
			require.Equal(t, tensor.Dims(3, 2, 1), got.Shape)
		}
		o.Orientation = codec.OrientationIgnore
		got, err = codec.Decode(in, &o)
		require.NoError(t, err)
		require.Equal(t, pix, got.Data)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, m := range []codec.Mode{codec.L, codec.LA, codec.P, codec.RGB, codec.RGBA, codec.CMYK, codec.I16} {
		for c := codec.ToRGB; c <= codec.ToRGBA; c++ {
			in := image(m, 7, 5, 6, make([]byte, 7*5*m.Size())...)
			for _, o := range []codec.Options{{Color: c}, {Color: c, Alpha: codec.AlphaWhite, Orientation: codec.OrientationApply}} {
				var d codec.Decoder
				dst := make([]byte, 7*5*c.Channels())
				var err error
				n := testing.AllocsPerRun(10, func() { _, err = codectest.Decode(&d, dst, in, &o) })
				require.NoError(t, err)
				require.Zero(t, n, "%v to %v", m, c)
			}
		}
	}
}

func TestUnknownInput(t *testing.T) {
	linked := "want one of the linked formats: " + strings.Join(codec.Formats(), ", ")
	for _, c := range []struct {
		name, in, msg string
		kind          error
	}{
		{"empty", "", "empty input: want an encoded image", codec.ErrFormat},
		{"text", "hello, world", `unknown format, first bytes "hello, world": ` + linked, codec.ErrFormat},
		{"not linked", "RIFF\x10\x00\x00\x00WEBPVP8 ", "import github.com/infer-prep/infer-prep/codec/webp", codec.ErrUnsupported},
		{"never decoded", "8BPS", "PSD (Photoshop): " + linked, codec.ErrUnsupported},
		{"a sound", "RIFF\x10\x00\x00\x00WAVE", "a WAV sound: " + linked, codec.ErrUnsupported},
		{"half a signature", "\x89PNG", "unknown format", codec.ErrFormat},
	} {
		_, err := codec.DecodeConfig([]byte(c.in), nil)
		require.ErrorIs(t, err, c.kind, c.name)
		require.ErrorContains(t, err, c.msg, c.name)
	}
}

func TestDestination(t *testing.T) {
	var d codec.Decoder
	in := image(codec.RGB, 2, 2, 1, make([]byte, 12)...)
	for _, n := range []int{0, 11, 13} {
		_, err := codectest.Decode(&d, make([]byte, n), in, nil)
		require.ErrorContains(t, err, "want 12 for 2x2 pixels of 3 channels")
	}
	_, err := codectest.Decode(&d, make([]byte, 12), in, &codec.Options{Color: 9})
	require.ErrorContains(t, err, "invalid color 9")
}

func TestLimits(t *testing.T) {
	in := image(codec.RGB, 200, 200, 1, make([]byte, 120000)...)
	for _, l := range []codec.Limits{{Pixels: 39999}, {Bytes: 119999}} {
		_, err := codec.DecodeConfig(in, &codec.Options{Limits: l})
		require.ErrorIs(t, err, codec.ErrLimit)
	}
	_, err := codec.Decode(in, &codec.Options{Limits: codec.Limits{Pixels: 40000, Bytes: 120000}})
	require.NoError(t, err)
	_, err = codec.Decode(image(codec.RGB, 0, 5, 1), nil)
	require.ErrorIs(t, err, codec.ErrFormat)
}

func TestRefuse(t *testing.T) {
	gray, rgba, cmyk := image(codec.L, 1, 1, 1, 0), image(codec.RGBA, 1, 1, 1, 0, 0, 0, 0), image(codec.CMYK, 1, 1, 1, 0, 0, 0, 0)
	wide, err := os.ReadFile("../testdata/images/png_gray16.png")
	require.NoError(t, err)
	moving, err := os.ReadFile("../testdata/images/png_apng.png")
	require.NoError(t, err)
	bilevel, err := os.ReadFile("../testdata/images/png_gray1.png")
	require.NoError(t, err)
	for _, c := range []struct {
		in   []byte
		r    codec.Refuse
		want string
	}{
		{gray, codec.RefuseGray, "gray"},
		{rgba, codec.RefuseAlpha, "has transparency"},
		{cmyk, codec.RefuseCMYK, "CMYK"},
		{image(codec.P, 1, 1, 1, 0), codec.RefusePalette, "has a palette"},
		{wide, codec.RefuseDepth16, "more than 8 bits"},
		{moving, codec.RefuseAnimation, "more than one frame"},
		{bilevel, codec.RefuseBilevel, "1 bit per sample"},
	} {
		_, err := codec.Decode(c.in, &codec.Options{Refuse: c.r})
		require.ErrorIs(t, err, codec.ErrUnsupported)
		require.ErrorContains(t, err, c.want)
		_, err = codec.Decode(c.in, &codec.Options{Refuse: ^c.r &^ codec.RefuseGray})
		require.NoError(t, err, c.want)
	}
	_, err = codec.Decode(gray, &codec.Options{Refuse: codec.RefuseGray, Color: codec.ToGray})
	require.NoError(t, err)
}

func TestNames(t *testing.T) {
	type policies struct {
		Color       codec.Color
		Alpha       codec.Alpha
		Gray16      codec.Gray16
		Orientation codec.Orientation
		Damage      codec.Damage
		Refuse      codec.Refuse
	}
	for _, c := range []struct {
		p    policies
		want string
	}{
		{policies{}, `{"Color":"rgb","Alpha":"drop","Gray16":"clip","Orientation":"ignore","Damage":"pillow","Refuse":[]}`},
		{policies{codec.ToRGBA, codec.AlphaKeyWhite, codec.Gray16High, codec.OrientationApply, codec.DamageLenient, codec.RefuseGray | codec.RefuseAnimation},
			`{"Color":"rgba","Alpha":"key_white","Gray16":"high","Orientation":"apply","Damage":"lenient","Refuse":["gray","animation"]}`},
		{policies{Color: codec.ToLuma, Alpha: codec.AlphaWhite, Damage: codec.DamageStrict, Refuse: 255},
			`{"Color":"luma","Alpha":"white","Gray16":"clip","Orientation":"ignore","Damage":"strict","Refuse":["gray","alpha","depth16","cmyk","palette","animation","canvas","bilevel"]}`},
	} {
		b, err := json.Marshal(c.p)
		require.NoError(t, err)
		require.Equal(t, c.want, string(b))
		var back policies
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, c.p, back)
	}
	var p policies
	require.ErrorContains(t, json.Unmarshal([]byte(`{"Color":"pink"}`), &p), `unknown color "pink", want one of rgb, bgr, gray, luma, rgba`)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"Refuse":["pink"]}`), &p), `unknown refused kind "pink"`)
	_, err := json.Marshal(policies{Color: 9})
	require.Error(t, err)
	require.Equal(t, "color(9)", fmt.Sprint(codec.Color(9)))
	require.Equal(t, "gray,cmyk", (codec.RefuseGray | codec.RefuseCMYK).String())
}

// TestNamesOfOtherFormats checks that an error names the format of a file that
// is not decoded.
func TestNamesOfOtherFormats(t *testing.T) {
	for name, head := range map[string]string{
		"SVG": "<svg xmlns='http://www.w3.org/2000/svg'/>", " SVG": "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- a -->\n<svg>",
		"MP4": "\x00\x00\x00\x18ftypisom", " MP4": "\x00\x00\x00\x18ftypmp42", "QuickTime": "\x00\x00\x00\x18ftypqt  ", "Matroska or WebM": "\x1a\x45\xdf\xa3",
		"ICO": "\x00\x00\x01\x00\x01\x00", "CUR": "\x00\x00\x02\x00",
		"PPM": "P6 3 2 255\n", " PPM": "P3\n# a comment\n", "PGM": "P5\n3 2", "PBM": "P4\n3 2", "PAM": "P7\nWIDTH 3", "PFM": "PF\n3 2",
		"HEIF": "\x00\x00\x00\x18ftypheic", "AVIF": "\x00\x00\x00\x18ftypavif", "Canon CR3": "\x00\x00\x00\x18ftypcrx ",
		"JPEG XL": "\xff\x0a", "JPEG 2000": "\xff\x4f\xff\x51", "JPEG XR": "II\xbc\x01",
		"PSD": "8BPS", "PDF": "%PDF-1.7", "EPS": "\xc5\xd0\xd3\xc6", "OpenEXR": "v/1\x01", "Radiance HDR": "#?RADIANCE\n", "DDS": "DDS ", "QOI": "qoif", "XCF": "gimp xcf file",
		"an HTML page": "<!DOCTYPE html><html>", "a ZIP archive": "PK\x03\x04", "gzip data": "\x1f\x8b\x08", "a pointer of Git LFS": "version https://git-lfs.github.com/spec/v1\n",
	} {
		_, err := codec.Decode([]byte(head), nil)
		require.ErrorIs(t, err, codec.ErrUnsupported, name)
		require.ErrorContains(t, err, "unsupported: "+strings.TrimSpace(name), name)
	}
	for _, text := range []string{"P", "P6", "P8 1 1", "hello", "<a>", "ftyp", "\x00\x00\x03\x00"} {
		_, err := codec.Decode([]byte(text), nil)
		require.ErrorIs(t, err, codec.ErrFormat, text)
	}
}

// TestNewEncoder checks the errors for formats without an encoder.
func TestNewEncoder(t *testing.T) {
	_, err := codec.NewEncoder("webp")
	require.ErrorIs(t, err, codec.ErrUnsupported)
	require.ErrorContains(t, err, "webp is not linked: import github.com/infer-prep/infer-prep/codec/webp")
	_, err = codec.NewEncoder("png")
	require.EqualError(t, err, "png: unsupported: no encoder")
}

// TestKindsOfLimits checks that the error of a limit says which one it was.
func TestKindsOfLimits(t *testing.T) {
	pixels := codec.Limits{Pixels: 5}.CheckSize("x", 2, 3, 1)
	size := codec.Limits{Bytes: 5}.CheckSize("x", 2, 3, 1)
	for _, err := range []error{pixels, size} {
		require.ErrorIs(t, err, codec.ErrLimit)
	}
	require.ErrorIs(t, pixels, codec.ErrPixels)
	require.NotErrorIs(t, pixels, codec.ErrBytes)
	require.ErrorIs(t, size, codec.ErrBytes)
	require.NotErrorIs(t, size, codec.ErrPixels)
}
