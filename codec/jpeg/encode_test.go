package jpeg

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// goldenNoise is noise() of testdata/gen/codecs/jpeg_encode.py.
func goldenNoise(n uint32) uint32 {
	n *= 2654435761
	n ^= n >> 15
	n *= 2246822519
	return n ^ n>>13
}

// encodeImage returns the pixels of testdata/gen/codecs/jpeg_encode.py.
func encodeImage(t testing.TB, w, h, ch, kind int) *tensor.Tensor {
	m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, ch))
	require.NoError(t, err)
	triangle := func(n, period int) int {
		n = n%(2*period) - period
		return max(n, -n)
	}
	for i := range m.Data {
		c, x, y := i%ch, i/ch%w, i/ch/w
		n := goldenNoise(uint32(i))
		var v int
		switch kind {
		case 0:
			v = int(n & 255)
		case 1:
			v = int(n&1) * 255
		case 2:
			v = 3*x + 5*y*(c+1)
		case 3:
			v = triangle(x+9*c, 63) + triangle(y+x/3, 97) + 30*c + int(n%7)
		case 4:
			v = 200 - 60*c
		default:
			if goldenNoise(uint32(y/24*w+x/40))%16 == 0 {
				v = int(n % 64)
			}
			v += 90 + 10*c
		}
		m.Data[i] = byte(v)
	}
	return m
}

type encodeCase struct {
	w, h, ch, kind int
	o              EncodeOptions
	sum            string
}

func readEncodeCases(t testing.TB) []encodeCase {
	b, err := os.ReadFile(filepath.Join(testdata, "golden", "encode.json"))
	require.NoError(t, err)
	var rows [][]any
	require.NoError(t, json.Unmarshal(b, &rows))
	var l []encodeCase
	for _, r := range rows {
		require.Len(t, r, 12)
		var n [11]int
		for i := range n {
			n[i] = int(r[i].(float64))
		}
		l = append(l, encodeCase{n[0], n[1], n[2], n[3], EncodeOptions{
			Dialect: Dialect(n[4]), Quality: n[5], ChromaQuality: n[6], Chroma: Chroma(n[7]),
			Optimize: n[8]&1 != 0, Progressive: n[8]&2 != 0, RestartBlocks: n[9], RestartRows: n[10],
		}, r[11].(string)})
	}
	return l
}

// TestEncodeGoldens compares files with those of Pillow and OpenCV.
func TestEncodeGoldens(t *testing.T) {
	cases := readEncodeCases(t)
	require.Greater(t, len(cases), 2800)
	images := map[[4]int]*tensor.Tensor{}
	var e Encoder
	var b []byte
	bad, step := 0, short.Step(t, 8)
	for i, c := range cases {
		if i%step != 0 {
			continue
		}
		key := [4]int{c.w, c.h, c.ch, c.kind}
		m := images[key]
		if m == nil {
			m = encodeImage(t, c.w, c.h, c.ch, c.kind)
			images[key] = m
		}
		var err error
		b, err = e.Encode(b[:0], m, c.o)
		require.NoError(t, err)
		if sha(b)[:16] != c.sum {
			bad++
			t.Logf("case %d: %d x %d, %d channels, pixels %d, %+v", i, c.w, c.h, c.ch, c.kind, c.o)
		}
	}
	require.Zero(t, bad, "files that differ")
}

// TestEncodeRows encodes views whose rows or pixels are not dense.
func TestEncodeRows(t *testing.T) {
	for _, ch := range []int{1, 3, 4} {
		m := encodeImage(t, 40, 30, ch, 3)
		rows, err := m.Slice(0, 3, 20)
		require.NoError(t, err)
		part, err := rows.Slice(1, 5, 38)
		require.NoError(t, err)
		want, err := Encode(nil, part.Clone(), EncodeOptions{})
		require.NoError(t, err)
		got, err := Encode(nil, part, EncodeOptions{})
		require.NoError(t, err)
		require.Equal(t, want, got)

		planar, err := tensor.New(tensor.Image(tensor.Uint8, tensor.CHW, 30, 40, ch))
		require.NoError(t, err)
		turned, err := planar.Transposed()
		require.NoError(t, err)
		for i := range planar.Data {
			c, at := i/(30*40), i%(30*40)
			planar.Data[i] = m.Data[at*ch+c]
		}
		want, err = Encode(nil, m, EncodeOptions{})
		require.NoError(t, err)
		got, err = Encode(nil, turned, EncodeOptions{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestEncodeErrors(t *testing.T) {
	image := func(w, h, ch int) *tensor.Tensor {
		m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, ch))
		require.NoError(t, err)
		return m
	}
	floats, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 2, 2, 3))
	require.NoError(t, err)
	planar, err := tensor.New(tensor.Image(tensor.Uint8, tensor.CHW, 2, 2, 3))
	require.NoError(t, err)
	for _, c := range []struct {
		m    *tensor.Tensor
		o    EncodeOptions
		kind error
		text string
	}{
		{image(0, 3, 3), EncodeOptions{}, codec.ErrLimit, "jpeg: limit exceeded: encode 0 x 3 pixels: want sides of 1 to 65500"},
		{image(65501, 1, 1), EncodeOptions{}, codec.ErrLimit, "jpeg: limit exceeded: encode 65501 x 1 pixels: want sides of 1 to 65500"},
		{image(2, 2, 2), EncodeOptions{}, codec.ErrUnsupported, "want a uint8 HWC image of 1, 3 or 4 channels"},
		{floats, EncodeOptions{}, codec.ErrUnsupported, "want a uint8 HWC image"},
		{planar, EncodeOptions{}, codec.ErrUnsupported, "want a uint8 HWC image"},
		{tensor.FromBytes([]byte("x")), EncodeOptions{}, codec.ErrUnsupported, "want a uint8 HWC image"},
		{image(2, 2, 3), EncodeOptions{Quality: 101}, ErrOptions, "jpeg: invalid encode options: quality 101, of chroma 0: want 1 to 100, or 0 for the default"},
		{image(2, 2, 3), EncodeOptions{Quality: -1}, ErrOptions, "quality -1"},
		{image(2, 2, 3), EncodeOptions{ChromaQuality: 101, Dialect: OpenCV}, ErrOptions, "of chroma 101"},
		{image(2, 2, 3), EncodeOptions{ChromaQuality: 50}, ErrOptions, "needs the dialect opencv"},
		{image(2, 2, 3), EncodeOptions{Chroma: 6}, ErrOptions, "unknown value"},
		{image(2, 2, 3), EncodeOptions{Dialect: 2}, ErrOptions, "unknown value"},
		{image(2, 2, 3), EncodeOptions{RestartBlocks: 65536}, ErrOptions, "every 65536 blocks or 0 rows: want 0 to 65535"},
		{image(2, 2, 3), EncodeOptions{RestartRows: -1}, ErrOptions, "want 0 to 65535"},
	} {
		b, err := Encode([]byte("before"), c.m, c.o)
		require.ErrorIs(t, err, c.kind)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, "before", string(b))
	}
}

// TestEncodeSides encodes images with the largest sides.
func TestEncodeSides(t *testing.T) {
	for _, o := range []EncodeOptions{{}, {Chroma: Chroma411}, {Optimize: true, RestartRows: 1}, {Progressive: true}} {
		for _, c := range [][2]int{{MaxSide, 1}, {1, MaxSide}} {
			b, err := Encode(nil, encodeImage(t, c[0], c[1], 3, 2), o)
			require.NoError(t, err)
			checkDecodes(t, b, c[0], c[1])
		}
	}
}

// checkDecodes decodes a file strictly.
func checkDecodes(t testing.TB, b []byte, w, h int) []byte {
	t.Helper()
	m, err := codec.Decode(b, &codec.Options{Damage: codec.DamageStrict})
	require.NoError(t, err)
	require.Equal(t, [2]int{w, h}, [2]int{m.Width(), m.Height()})
	return m.Data
}

// TestEncodeFidelity checks that quality 100 without subsampling keeps every
// pixel within 6.
func TestEncodeFidelity(t *testing.T) {
	for _, o := range []EncodeOptions{{}, {Optimize: true}, {Progressive: true}, {RestartBlocks: 2}} {
		o.Quality, o.Chroma = 100, Chroma444
		m := encodeImage(t, 75, 53, 3, 0)
		b, err := Encode(nil, m, o)
		require.NoError(t, err)
		got := checkDecodes(t, b, 75, 53)
		for i, v := range m.Data {
			require.InDelta(t, int(v), int(got[i]), 6)
		}
	}
}

func TestEncodeMemory(t *testing.T) {
	m := encodeImage(t, 161, 113, 3, 3)
	small := encodeImage(t, 40, 30, 3, 3)
	for _, o := range []EncodeOptions{{}, {Optimize: true, RestartRows: 2}, {Progressive: true}, {Chroma: Chroma411}} {
		var e Encoder
		var b []byte
		n := testing.AllocsPerRun(3, func() {
			for _, m := range []*tensor.Tensor{m, small} {
				var err error
				b, err = e.Encode(b[:0], m, o)
				require.NoError(t, err)
			}
		})
		require.Zero(t, n, "%+v", o)
	}
}

// TestEncodeConcurrent uses the shared encoders from several goroutines.
// TestEncodeThroughCodec compares the encoder that package codec returns with
// Encode.
func TestEncodeThroughCodec(t *testing.T) {
	e, err := codec.NewEncoder("jpeg")
	require.NoError(t, err)
	m := encodeImage(t, 17, 9, 3, 3)
	for _, o := range []codec.EncodeOptions{{}, {Quality: 20, Chroma: codec.Chroma444}} {
		want, err := Encode(nil, m, EncodeOptions{Quality: o.Quality, Chroma: o.Chroma})
		require.NoError(t, err)
		got, err := e.Encode([]byte("x"), m, o)
		require.NoError(t, err)
		require.Equal(t, append([]byte("x"), want...), got)
	}
	_, err = e.Encode(nil, m, codec.EncodeOptions{Quality: 101})
	require.ErrorIs(t, err, ErrOptions)
}

func TestEncodeConcurrent(t *testing.T) {
	m := encodeImage(t, 161, 113, 3, 3)
	want, err := Encode(nil, m, EncodeOptions{Optimize: true})
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			for range 5 {
				if b, err := Encode(nil, m, EncodeOptions{Optimize: true}); err != nil || string(b) != string(want) {
					errs[i] = errors.New("a different file")
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

func TestEncodeNames(t *testing.T) {
	var c Chroma
	require.NoError(t, c.UnmarshalText([]byte("411")))
	require.Equal(t, Chroma411, c)
	require.Equal(t, "420", Chroma420.String())
	require.Error(t, c.UnmarshalText([]byte("421")))
	require.Equal(t, "opencv", OpenCV.String())
}

// FuzzEncode encodes any pixels with any options. The file must decode to an
// image of the same size.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("pixels"), uint16(5), uint8(0), uint8(75), uint8(0), uint8(0), uint16(0), uint16(0))
	f.Add([]byte{0, 255, 0, 0, 255}, uint16(33), uint8(1), uint8(100), uint8(3), uint8(3), uint16(1), uint16(0))
	f.Add([]byte{1, 2, 3, 250}, uint16(17), uint8(2), uint8(1), uint8(5), uint8(6), uint16(0), uint16(2))
	var e Encoder
	f.Fuzz(func(t *testing.T, data []byte, width uint16, channels, quality, chroma, flags uint8, blocks, rows uint16) {
		ch := []int{1, 3, 4}[channels%3]
		w := int(width)%300 + 1
		h := min(len(data)*5/(w*ch)+1, 300)
		m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, ch))
		require.NoError(t, err)
		for i := range m.Data {
			if len(data) > 0 {
				m.Data[i] = data[i%len(data)] + byte(i/len(data))*byte(flags>>4)
			}
		}
		o := EncodeOptions{
			Quality: int(quality % 101), Chroma: Chroma(chroma % 6), Optimize: flags&1 != 0, Progressive: flags&2 != 0,
			RestartBlocks: int(blocks), RestartRows: int(rows), Dialect: Dialect(flags >> 2 & 1),
		}
		if o.Dialect == OpenCV {
			o.ChromaQuality = int(quality>>1) % 101
		}
		b, err := e.Encode(nil, m, o)
		require.NoError(t, err)
		checkDecodes(t, b, w, h)
	})
}

func ExampleEncode() {
	m, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 16, 16, 3))
	if err != nil {
		panic(err)
	}
	b, err := Encode(nil, m, EncodeOptions{Quality: 90, Chroma: Chroma444})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(b), "bytes")
	// Output: 634 bytes
}

func BenchmarkEncode(b *testing.B) {
	m := encodeImage(b, 1024, 768, 3, 3)
	for _, c := range []struct {
		name string
		o    EncodeOptions
	}{
		{"75", EncodeOptions{}},
		{"95", EncodeOptions{Quality: 95}},
		{"444", EncodeOptions{Quality: 95, Chroma: Chroma444}},
		{"optimize", EncodeOptions{Optimize: true}},
		{"progressive", EncodeOptions{Progressive: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(m.Data)))
			b.ReportAllocs()
			var e Encoder
			var f []byte
			for b.Loop() {
				var err error
				if f, err = e.Encode(f[:0], m, c.o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
