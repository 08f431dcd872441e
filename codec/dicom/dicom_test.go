package dicom_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/dicom"
	"github.com/infer-prep/infer-prep/codec/jp2"
	_ "github.com/infer-prep/infer-prep/codec/tiff" // whose first bytes DICOM files may have
	"github.com/infer-prep/infer-prep/internal/clib/clibtest"
	"github.com/infer-prep/infer-prep/tensor"
)

// golden is a file of testdata, which testdata/gen/codecs/dicom.py describes.
type golden struct {
	DType                   string
	Channels, Width, Height int
	Frames                  []string
	Windows                 [][]any
}

func goldens(t testing.TB) map[string]golden {
	b, err := os.ReadFile("testdata/golden.json")
	require.NoError(t, err)
	var g map[string]golden
	require.NoError(t, json.Unmarshal(b, &g))
	require.NotEmpty(t, g)
	return g
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

// digest returns the first digits of the SHA-256 of samples of a size in bytes,
// in little-endian order.
func digest(b []byte, size int) string {
	b = bytes.Clone(b)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		for i := 0; i < len(b); i += size {
			slices.Reverse(b[i : i+size])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:16]
}

// region decodes a region of a frame.
func region(d *codec.Decoder, data []byte, frame int, r codec.Region, limits codec.Limits) ([]byte, codec.Native, error) {
	i, err := d.OpenNative(data, &codec.Options{Frame: frame, Limits: limits})
	if err != nil {
		return nil, codec.Native{}, err
	}
	n := i.Info()
	if r.Width == 0 {
		r = codec.Region{Width: n.Width, Height: n.Height}
	}
	out := make([]byte, r.Width*r.Height*n.Channels*n.DType.Size())
	return out, n, i.Decode(out, r)
}

// need skips a test of a file of JPEG 2000 where OpenJPEG is missing.
func need(t testing.TB, name string) {
	if strings.HasPrefix(name, "jpeg2000_") {
		b, err := os.ReadFile("../jp2/testdata/l_53.jp2")
		require.NoError(t, err)
		_, err = codec.Decode(b, nil)
		clibtest.Needs(t, jp2.Environment, err)
	}
}

// TestFrames compares all frames, and windows of the first one, with pydicom's.
func TestFrames(t *testing.T) {
	var d codec.Decoder // one for all: buffers are reused from file to file
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			data := read(t, name)
			require.Equal(t, "dicom", codec.Sniff(data))
			for i, want := range g.Frames {
				pix, n, err := region(&d, data, i, codec.Region{}, codec.Limits{})
				require.NoError(t, err)
				require.Equal(t, codec.Native{Format: "dicom", Width: g.Width, Height: g.Height, Channels: g.Channels, DType: n.DType}, n)
				require.Equal(t, g.DType, n.DType.String())
				require.Equal(t, want, digest(pix, n.DType.Size()), "frame %d", i)
			}
			for _, w := range g.Windows {
				v := func(i int) int { return int(w[i].(float64)) }
				pix, n, err := region(&d, data, 0, codec.Region{Left: v(0), Top: v(1), Width: v(2), Height: v(3)}, codec.Limits{})
				require.NoError(t, err)
				require.Equal(t, w[4], digest(pix, n.DType.Size()), "window %v", w[:4])
			}
			_, _, err := region(&d, data, len(g.Frames), codec.Region{}, codec.Limits{})
			require.ErrorIs(t, err, codec.ErrUnsupported)
			require.ErrorContains(t, err, "Number of Frames (0028,0008) is")
		})
	}
}

// TestShown decodes to 8 bits the files whose samples are the picture.
func TestShown(t *testing.T) {
	shown := 0
	for name, g := range goldens(t) {
		if strings.HasPrefix(name, "jpeg2000_") {
			continue // TestFrames has them
		}
		x, err := codec.Decode(read(t, name), nil)
		if err != nil {
			require.ErrorIs(t, err, codec.ErrUnsupported, name)
			require.ErrorContains(t, err, "decode_native gives the samples", name)
			require.False(t, g.DType == "uint8" && g.Channels == 3, name)
			continue
		}
		shown++
		require.Equal(t, "uint8", g.DType, name)
		pix := x.Data
		if g.Channels == 1 {
			pix = nil
			for i := 0; i < len(x.Data); i += 3 {
				pix = append(pix, x.Data[i])
			}
		}
		require.Equal(t, g.Frames[0], digest(pix, 1), name)
	}
	require.Greater(t, shown, 20)
}

// element returns an element of explicit VR, little-endian.
func element(tag uint32, vr, value string) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag>>16))
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	b = append(b, vr...)
	if strings.Contains("OB OW SQ UN", vr) {
		b = binary.LittleEndian.AppendUint32(append(b, 0, 0), uint32(len(value)))
	} else {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	}
	return string(b) + value
}

func us(v int) string { return string(binary.LittleEndian.AppendUint16(nil, uint16(v))) }

// file returns a file of 2x1 pixels, or one with other elements in place of its
// own, or without those that are "-".
func file(syntax string, other map[uint32]string) []byte {
	elements := map[uint32]string{
		0x00280002: element(0x00280002, "US", us(1)), 0x00280004: element(0x00280004, "CS", "MONOCHROME2 "),
		0x00280010: element(0x00280010, "US", us(1)), 0x00280011: element(0x00280011, "US", us(2)),
		0x00280100: element(0x00280100, "US", us(8)), 0x00280101: element(0x00280101, "US", us(8)), 0x00280103: element(0x00280103, "US", us(0)),
		0x7FE00010: element(0x7FE00010, "OB", "\x05\x06"),
	}
	for tag, e := range other {
		if elements[tag] = e; e == "-" {
			delete(elements, tag)
		}
	}
	tags := []uint32{}
	for tag := range elements {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	s := strings.Repeat("\x00", 128) + "DICM" + element(0x00020010, "UI", syntax)
	for _, tag := range tags {
		s += elements[tag]
	}
	return []byte(s)
}

const explicit = "1.2.840.10008.1.2.1\x00"

func TestElements(t *testing.T) {
	var d codec.Decoder
	pix, n, err := region(&d, file(explicit, nil), 0, codec.Region{}, codec.Limits{})
	require.NoError(t, err)
	require.Equal(t, codec.Native{Format: "dicom", Width: 2, Height: 1, Channels: 1, DType: tensor.Uint8}, n)
	require.Equal(t, []byte{5, 6}, pix)
	x, err := codec.Decode(file(explicit, nil), nil)
	require.NoError(t, err)
	require.Equal(t, []byte{5, 5, 5, 6, 6, 6}, x.Data)

	sequence := func(depth int) string {
		s := ""
		for range depth {
			s = "\x08\x00\x12\x11SQ\x00\x00\xff\xff\xff\xff" + "\xfe\xff\x00\xe0\xff\xff\xff\xff" + s + "\xfe\xff\x0d\xe0\x00\x00\x00\x00" + "\xfe\xff\xdd\xe0\x00\x00\x00\x00"
		}
		return s
	}
	type m = map[uint32]string
	bytes16 := element(0x00280100, "US", us(16))
	for _, c := range []struct {
		syntax string
		other  m
		kind   error
		text   string
	}{
		{"", m{0x00020010: "-"}, codec.ErrUnsupported, `transfer syntax , an unknown transfer syntax`},
		{"1.2.840.10008.1.2.4.80", nil, codec.ErrUnsupported, "transfer syntax 1.2.840.10008.1.2.4.80, JPEG-LS Lossless: want"},
		{"1.2.840.10008.1.2.4.93", nil, codec.ErrUnsupported, "JPEG 2000 Part 2"},
		{"1.2.840.10008.1.2.4.91", nil, codec.ErrFormat, "encapsulated pixels without items"},
		{"1.2.840.10008.1.2.4.102", nil, codec.ErrUnsupported, "H.264 video"},
		{"1.2.3", nil, codec.ErrUnsupported, "transfer syntax 1.2.3, an unknown transfer syntax"},
		{explicit, m{0x7FE00010: "-"}, codec.ErrFormat, "the file has no Pixel Data (7FE0,0010)"},
		{explicit, m{0x00280010: "-"}, codec.ErrFormat, "the file has no Rows (0028,0010)"},
		{explicit, m{0x00280101: "-"}, codec.ErrFormat, "the file has no Bits Stored (0028,0101)"},
		{explicit, m{0x00280004: "-"}, codec.ErrFormat, "the file has no Photometric Interpretation (0028,0004)"},
		{explicit, m{0x00280004: element(0x00280004, "CS", "YBR_ICT ")}, codec.ErrUnsupported, `"YBR_ICT" with 1 samples`},
		{explicit, m{0x00280002: element(0x00280002, "US", us(3))}, codec.ErrFormat, "the file has no Planar Configuration (0028,0006)"},
		{explicit, m{0x00280002: element(0x00280002, "US", us(2))}, codec.ErrUnsupported, "Samples per Pixel (0028,0002) 2: want 1 or 3"},
		{explicit, m{0x00280010: element(0x00280010, "US", "\x01")}, codec.ErrFormat, "Rows (0028,0010) has 1 bytes, want 2"},
		{explicit, m{0x00280010: element(0x00280010, "US", us(0))}, codec.ErrFormat, "2x0 pixels"},
		{explicit, m{0x00280100: bytes16}, codec.ErrFormat, "of 2 bytes: want 4 for 1 frames"},
		{explicit, m{0x00280100: element(0x00280100, "US", us(12))}, codec.ErrUnsupported, "Bits Allocated (0028,0100) 12"},
		{explicit, m{0x00280100: element(0x00280100, "US", us(32))}, codec.ErrUnsupported, "uint32 pixels, which tensors do not have"},
		{explicit, m{0x00280101: element(0x00280101, "US", us(9))}, codec.ErrFormat, "Bits Stored (0028,0101) 9"},
		{explicit, m{0x00280008: element(0x00280008, "IS", "3 ")}, codec.ErrFormat, "want 6 for 3 frames"},
		{explicit, m{0x00280008: element(0x00280008, "IS", "x ")}, codec.ErrFormat, `Number of Frames (0028,0008) "x ": want a whole number`},
		{explicit, m{0x00081112: sequence(40)}, codec.ErrLimit, "more than 32 sequences"},
		{explicit, m{0x00081112: sequence(3)[:70]}, codec.ErrFormat, "want an item of a sequence"},
		{"1.2.840.10008.1.2.5\x00", nil, codec.ErrFormat, "encapsulated pixels without items"},
		{"1.2.840.10008.1.2.1.99", nil, codec.ErrFormat, "deflated elements"},
	} {
		_, _, err := region(&d, file(c.syntax, c.other), 0, codec.Region{}, codec.Limits{})
		require.ErrorIs(t, err, c.kind, c.text)
		require.ErrorContains(t, err, c.text)
		_, err = codec.Decode(file(c.syntax, c.other), nil)
		require.Error(t, err, c.text)
	}
	_, _, err = region(&d, file(explicit, m{0x00081112: sequence(20)}), 0, codec.Region{}, codec.Limits{})
	require.NoError(t, err)
	_, _, err = region(&d, file(explicit, nil), 0, codec.Region{}, codec.Limits{Pixels: 1})
	require.ErrorIs(t, err, codec.ErrPixels)
	_, _, err = region(&d, read(t, "deflated_u8.dcm"), 0, codec.Region{}, codec.Limits{Bytes: 300})
	require.ErrorIs(t, err, codec.ErrBytes)

	// Pictures of 8 bits are shown as they are stored.
	for text, other := range map[string]m{
		"MONOCHROME1":                 {0x00280004: element(0x00280004, "CS", "MONOCHROME1 ")},
		"a window or a VOI LUT":       {0x00281050: element(0x00281050, "DS", "40")},
		"a rescale or a modality LUT": {0x00281053: element(0x00281053, "DS", "2 ")},
		"a presentation LUT":          {0x20500020: element(0x20500020, "CS", "INVERSE ")},
		"samples other than unsigned": {0x00280101: element(0x00280101, "US", us(7))},
	} {
		_, err := codec.Decode(file(explicit, other), nil)
		require.ErrorIs(t, err, codec.ErrUnsupported)
		require.ErrorContains(t, err, text)
	}
	_, err = codec.Decode(file(explicit, m{0x00281053: element(0x00281053, "DS", "1.0 "), 0x00281052: element(0x00281052, "DS", "0 "), 0x20500020: element(0x20500020, "CS", "IDENTITY")}), nil)
	require.NoError(t, err)

	// Scanners write the first bytes of TIFF.
	require.Equal(t, "dicom", codec.Sniff(append([]byte("II*\x00"), file(explicit, nil)[4:]...)))
}

// TestJPEG2000 refuses what pydicom's plugins read differently, and damage.
func TestJPEG2000(t *testing.T) {
	need(t, "jpeg2000_")
	var d codec.Decoder
	signed, boxed := read(t, "jpeg2000_i2_13.dcm"), read(t, "jpeg2000_rgb_jp2.dcm")
	replaced := func(b []byte, old, with string) []byte {
		require.Equal(t, 1, bytes.Count(b, []byte(old)), "%q", old)
		return bytes.Replace(b, []byte(old), []byte(with), 1)
	}
	siz := "\xff\x4f\xff\x51"
	at := bytes.Index(signed, []byte(siz))
	wide := bytes.Clone(signed)
	wide[at+42] = 16 // 17 bits
	for _, c := range []struct {
		data []byte
		kind error
		text string
	}{
		{replaced(signed, element(0x00280103, "US", us(1)), element(0x00280103, "US", us(0))), codec.ErrUnsupported, "signed JPEG 2000 samples in a file of unsigned ones"},
		{wide, codec.ErrUnsupported, "JPEG 2000 samples of 17 bits"},
		{replaced(signed, siz, "\xff\x4f\xff\x52"), codec.ErrFormat, "a frame without a JPEG 2000 codestream"},
		{replaced(signed, element(0x00280010, "US", us(13)), element(0x00280010, "US", us(12))), codec.ErrUnsupported, "want JPEG 2000 of 22x12, 1"},
		{replaced(boxed, "colr\x01\x00\x00\x00\x00\x00\x10", "colr\x01\x00\x00\x00\x00\x00\x12"), codec.ErrUnsupported, "a JP2 file of colour space 18"},
		{replaced(boxed, "jp2c", "jp2d"), codec.ErrFormat, "a frame that is a JP2 file"},
		{signed[:at+60], codec.ErrFormat, ""},
	} {
		_, _, err := region(&d, c.data, 0, codec.Region{}, codec.Limits{})
		require.ErrorIs(t, err, c.kind, c.text)
		require.ErrorContains(t, err, c.text)
	}
	_, _, err := region(&d, signed, 0, codec.Region{}, codec.Limits{Bytes: 1000})
	require.ErrorIs(t, err, codec.ErrBytes)
	x, err := codec.Decode(read(t, "jpeg2000_ybr_rct.dcm"), nil)
	require.NoError(t, err)
	require.Equal(t, goldens(t)["jpeg2000_ybr_rct.dcm"].Frames[0], digest(x.Data, 1))
}

func TestReadValues(t *testing.T) {
	v, err := dicom.ReadValues(file(explicit, map[uint32]string{
		0x00281050: element(0x00281050, "DS", `40\-600.5`), 0x00281051: element(0x00281051, "DS", `400\1e3 `), 0x00281053: element(0x00281053, "DS", "2 "),
		0x00281056: element(0x00281056, "CS", "sigmoid "),
	}), codec.Limits{})
	require.NoError(t, err)
	two := 2.0
	require.Equal(t, &dicom.Values{
		Photometric: "MONOCHROME2", Bits: 8, Slope: &two, Centers: []float64{40, -600.5}, Widths: []float64{400, 1000}, Function: "SIGMOID",
	}, v)
	for text, e := range map[string]string{
		`element (0028,1053) "x "`:                   element(0x00281053, "DS", "x "),
		"element (0028,1053) has 2 values":           element(0x00281053, "DS", `1\2`),
		"the LUT descriptor (0028,3002) has 0 bytes": element(0x00283000, "SQ", "\xfe\xff\x00\xe0\x00\x00\x00\x00"),
		"entries of 9 bits":                          element(0x00283000, "SQ", item(element(0x00283002, "US", us(1)+us(0)+us(9)))),
		"LUT Data (0028,3006) has 2 bytes":           element(0x00283000, "SQ", item(element(0x00283002, "US", us(2)+us(0)+us(16))+element(0x00283006, "OW", us(1)))),
		"entry 0 is 256, of 8 bits":                  element(0x00283000, "SQ", item(element(0x00283002, "US", us(1)+us(0)+us(8))+element(0x00283006, "OW", us(256)))),
	} {
		_, err := dicom.ReadValues(file(explicit, map[uint32]string{binary.LittleEndian.Uint32([]byte{e[2], e[3], e[0], e[1]}): e}), codec.Limits{})
		require.ErrorContains(t, err, text)
		var typed *codec.Error
		require.ErrorAs(t, err, &typed)
	}
}

func item(s string) string {
	return "\xfe\xff\x00\xe0" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// check decodes data, which may be damaged, in every way.
func check(t testing.TB, used *codec.Decoder, data []byte) {
	limits := codec.Limits{Pixels: 1 << 16, Bytes: 1 << 20}
	typed := func(err error) {
		if err != nil {
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotErrorIs(t, err, codec.ErrInternal)
		}
	}
	for _, frame := range []int{0, 1} {
		var d codec.Decoder
		a, _, err := region(&d, data, frame, codec.Region{}, limits)
		typed(err)
		b, _, err2 := region(used, data, frame, codec.Region{}, limits)
		require.Equal(t, err, err2)
		if err == nil {
			require.Equal(t, a, b)
		}
	}
	_, err := codec.Decode(data, &codec.Options{Limits: limits})
	typed(err)
	_, err = dicom.ReadValues(data, limits)
	if codec.Sniff(data) == "dicom" {
		typed(err)
	}
	_, err = dicom.ReadPalette(data, limits)
	typed(err)
}

// TestDamage truncates files and changes bytes, most of those of the elements
// and some of those of the pixels.
func TestDamage(t *testing.T) {
	var used codec.Decoder
	for _, name := range []string{"explicit_u16_12.dcm", "implicit_u8.dcm", "nested.dcm", "rle_rgb16.dcm", "jpeg_fragments_no_table.dcm", "lossless_u2_12_1.dcm", "deflated_u8.dcm", "jpeg2000_u1_8.dcm", "jpeg2000_rgb_jp2.dcm"} {
		data := read(t, name)
		for n := 128; n < len(data); n += 1 + n/64 {
			check(t, &used, data[:n])
		}
		for i := 132; i < len(data); i += 1 + i/64 {
			for _, v := range []byte{0, 0xFF, data[i] ^ 1} {
				b := bytes.Clone(data)
				b[i] = v
				check(t, &used, b)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/*.dcm")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, n := range names {
		b, err := os.ReadFile(n)
		require.NoError(f, err)
		f.Add(b)
	}
	var used codec.Decoder
	f.Fuzz(func(t *testing.T, data []byte) { check(t, &used, data) })
}
