package jpeg

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
)

func TestRegistered(t *testing.T) {
	require.Contains(t, codec.Formats(), "jpeg")
	require.Equal(t, "jpeg", codec.Sniff([]byte("\xff\xd8\xff\xe0")))
	require.Empty(t, codec.Sniff([]byte("\xff\xd8")))
	require.Empty(t, codec.Sniff([]byte("\xff\xd8\x00")))
}

func TestConfig(t *testing.T) {
	d := newDecoder()
	for _, c := range []struct {
		file string
		luma bool
		want codec.Config
	}{
		{"base_420", false, codec.Config{Width: 75, Height: 53, Mode: codec.RGB, Variant: "baseline 4:2:0"}},
		{"base_420", true, codec.Config{Width: 75, Height: 53, Mode: codec.L, Variant: "baseline 4:2:0"}},
		{"prog_444", false, codec.Config{Width: 75, Height: 53, Mode: codec.RGB, Variant: "progressive 4:4:4"}},
		{"base_440", false, codec.Config{Width: 75, Height: 53, Mode: codec.RGB, Variant: "baseline 4:4:0"}},
		{"base_chroma_larger", false, codec.Config{Width: 75, Height: 53, Mode: codec.RGB, Variant: "baseline 1x1,2x2,1x1"}},
		{"arith", false, codec.Config{Width: 83, Height: 61, Mode: codec.RGB, Variant: "arithmetic sequential 4:2:0"}},
		{"arith_prog", false, codec.Config{Width: 83, Height: 61, Mode: codec.RGB, Variant: "arithmetic progressive 4:2:0"}},
		{"gray", false, codec.Config{Width: 45, Height: 37, Mode: codec.L, Variant: "baseline gray"}},
		{"rgb", true, codec.Config{Width: 45, Height: 37, Mode: codec.L, Variant: "baseline RGB 4:4:4"}},
		{"ycck_420", true, codec.Config{Width: 45, Height: 33, Mode: codec.CMYK, Variant: "baseline YCCK 4:2:0"}},
		{"lossless_psv1", false, codec.Config{Width: 29, Height: 23, Mode: codec.RGB, Variant: "lossless RGB 4:4:4"}},
		{"exif_mm_6", false, codec.Config{Width: 12, Height: 8, Mode: codec.RGB, Orientation: 6, Variant: "baseline 4:2:0"}},
	} {
		o := codec.Options{}
		if c.luma {
			o.Color = codec.ToLuma
		}
		got, err := d.openData(read(t, "images", "jpeg_"+c.file+".jpg"), &o)
		require.NoError(t, err, c.file)
		c.want.Format, c.want.Depth, c.want.Frames = "jpeg", 8, 1
		if c.want.Orientation == 0 {
			c.want.Orientation = 1
		}
		require.Equal(t, c.want, got, c.file)
	}
}

// TestHeaderIsWalkedOnce: Pillow's reader of the header is given the markers
// that libjpeg's finds, so both stand at the first scan without a walk of its
// own. Pillow's reader walks on in a header that libjpeg refuses, and its error
// is the one reported.
func TestHeaderIsWalkedOnce(t *testing.T) {
	d := newDecoder()
	g := readGoldens(t)
	for _, name := range names(g.Images) {
		_, err := d.openData(read(t, "images", name), &codec.Options{})
		require.NoError(t, err, name)
		require.True(t, d.head.plugin.done, name)
		require.Equal(t, d.in.pos, d.head.plugin.next, name)
	}
	// libjpeg refuses the empty DRI segment; Pillow refuses the end of the file
	// after it.
	whole := read(t, "images", "jpeg_base_420.jpg")
	head := append([]byte("\xff\xd8\xff\xdd\x00\x02"), whole[2:]...)
	_, err := d.openData(head, &codec.Options{})
	require.ErrorContains(t, err, "DRI segment of 2 bytes")
	_, err = d.openData(head[:40], &codec.Options{})
	require.ErrorIs(t, err, codec.ErrFormat)
	require.NotContains(t, err.Error(), "DRI")
}

func TestErrorKinds(t *testing.T) {
	d := newDecoder()
	for _, c := range []struct {
		file string
		kind error
	}{
		{"frame_12bit", codec.ErrUnsupported},
		{"frame_5_components", codec.ErrUnsupported},
		{"two_components", codec.ErrUnsupported},
		{"frame_hierarchical", codec.ErrUnsupported},
		{"frame_lossless_arith", codec.ErrUnsupported},
		{"fraction", codec.ErrUnsupported},
		{"lossless_ycc", codec.ErrUnsupported},
		{"frame_sampling_0", codec.ErrFormat},
		{"frame_width_0", codec.ErrFormat},
		{"many_blocks", codec.ErrFormat},
		{"base_cut_20", codec.ErrFormat},
		{"prog_no_eoi", codec.ErrFormat},
		{"second_scan", codec.ErrFormat},
		{"arith_beyond_64k", codec.ErrFormat},
		{"huffman_symbol", codec.ErrFormat},
	} {
		var r codec.Raster
		o := codec.Options{}
		err := d.decodeData(&r, read(t, "damaged", "jpeg_"+c.file+".jpg"), &o)
		var e *codec.Error
		require.ErrorAs(t, err, &e, c.file)
		require.ErrorIs(t, err, c.kind, c.file)
	}
	for _, data := range [][]byte{nil, {}, {0xFF}, {0xFF, 0xD8}, {0xFF, 0xD8, 0xFF}, []byte("GIF89a"), bytes.Repeat([]byte{0xFF}, 100)} {
		for _, m := range []codec.Damage{codec.DamagePillow, codec.DamageStrict, codec.DamageLenient} {
			var r codec.Raster
			o := codec.Options{Damage: m}
			require.ErrorIs(t, d.decodeData(&r, data, &o), codec.ErrFormat)
			_, err := d.openData(data, &o)
			require.ErrorIs(t, err, codec.ErrFormat)
		}
	}
}

// patchSize gives a file another size in its frame header.
func patchSize(t testing.TB, data []byte, w, h int) []byte {
	data = bytes.Clone(data)
	for _, m := range []byte{0xC0, 0xC2, 0xC3, 0xC9, 0xCA} {
		if i := bytes.Index(data, []byte{0xFF, m, 0x00}); i > 0 {
			binary.BigEndian.PutUint16(data[i+5:], uint16(h))
			binary.BigEndian.PutUint16(data[i+7:], uint16(w))
			return data
		}
	}
	require.Fail(t, "no frame header")
	return nil
}

// allocated is the memory that f allocates, in bytes.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// TestLimits: a small file that claims a large image fails at its header.
func TestLimits(t *testing.T) {
	for _, file := range []string{"gray", "gray_prog", "base_420", "prog_420", "arith_prog", "multiscan", "lossless_gray", "lossless_multiscan"} {
		data := patchSize(t, read(t, "images", "jpeg_"+file+".jpg"), 65500, 65500)
		for _, m := range []codec.Damage{codec.DamagePillow, codec.DamageStrict, codec.DamageLenient} {
			d := newDecoder()
			o := codec.Options{}
			o.Damage = m
			var r codec.Raster
			start := time.Now()
			n := allocated(func() { require.ErrorIs(t, d.decodeData(&r, data, &o), codec.ErrLimit, file) })
			require.Less(t, n, uint64(100<<10), file)
			// Decoding 4 gigapixels takes longer on every machine.
			require.Less(t, time.Since(start), 10*time.Second, file)

			o.Limits.Pixels = -1
			n = allocated(func() { require.ErrorIs(t, d.decodeData(&r, data, &o), codec.ErrLimit, file) })
			require.Less(t, n, uint64(100<<10), file)
		}
		// The sides that libjpeg does not take.
		data = patchSize(t, data, 65535, 65535)
		o := codec.Options{}
		var r codec.Raster
		d := newDecoder()
		n := allocated(func() { require.ErrorIs(t, d.decodeData(&r, data, &o), codec.ErrUnsupported, file) })
		require.Less(t, n, uint64(100<<10), file)
	}

	// Just enough, and one byte less.
	data := read(t, "images", "jpeg_prog_420.jpg")
	o := codec.Options{}
	var r codec.Raster
	lo, hi := int64(1), int64(1<<20)
	for lo < hi {
		o.Limits.Bytes = (lo + hi) / 2
		if newDecoder().decodeData(&r, data, &o) == nil {
			hi = o.Limits.Bytes
		} else {
			lo = o.Limits.Bytes + 1
		}
	}
	require.Greater(t, lo, int64(75*53*3+(10*8+2*5*4)*128), "pixels and coefficients")
	// A scaled image needs fewer, but its pixels are those stored.
	o.Limits = codec.Limits{Bytes: lo - 75*53*3 + 10*7*3, Pixels: 75 * 53}
	require.ErrorIs(t, newDecoder().decodeData(&r, data, &o), codec.ErrLimit)
	o.Scale = codec.ScaleEighth
	require.NoError(t, newDecoder().decodeData(&r, data, &o))
	o.Limits.Pixels--
	require.ErrorIs(t, newDecoder().decodeData(&r, data, &o), codec.ErrLimit)
	o.Scale = codec.ScaleFull
	o.Limits = codec.Limits{Pixels: 75 * 53}
	require.NoError(t, newDecoder().decodeData(&r, data, &o))
	o.Limits = codec.Limits{Pixels: 75*53 - 1}
	require.ErrorIs(t, newDecoder().decodeData(&r, data, &o), codec.ErrLimit)
	o.Limits = codec.Limits{Scans: 3}
	require.ErrorIs(t, newDecoder().decodeData(&r, data, &o), codec.ErrLimit)
	o.Damage = codec.DamageLenient
	require.ErrorIs(t, newDecoder().decodeData(&r, data, &o), codec.ErrLimit, "limits are not damage")
}

// TestLazyCoefficients: under raised limits, coefficient memory comes with the
// data that fills it.
func TestLazyCoefficients(t *testing.T) {
	const w, h = 4000, 4000
	for _, file := range []string{"gray_prog", "partial_gray_dc"} {
		data := patchSize(t, read(t, "images", "jpeg_"+file+".jpg"), w, h)
		o := codec.Options{}
		var r codec.Raster
		r.Reset(codec.L, w, h)
		d := newDecoder()
		n := allocated(func() { require.NoError(t, d.decodeData(&r, data, &o)) })
		// All coefficients would take 32 MB.
		require.Less(t, n, uint64(2<<20), file)
	}
}

// TestReuse: a decoder gives the same pixels whatever it decoded before, into
// memory of any former content, and allocates nothing the second time.
func TestReuse(t *testing.T) {
	g := readGoldens(t)
	d := newDecoder()
	o := codec.Options{}
	var r codec.Raster
	list := names(g.Images)
	for range 2 {
		for _, name := range list {
			require.NoError(t, d.decodeData(&r, read(t, "images", name), &o), name)
			require.Equal(t, g.Images[name].Native, sha(r.Pix), name)
			for i := range r.Pix {
				r.Pix[i] = 0xA5
			}
		}
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	for _, name := range []string{"large", "large_prog", "arith", "restart_1", "multiscan", "cmyk", "lossless_psv4", "partial_dc_only_2x2", "exif_mm_6"} {
		data := read(t, "images", "jpeg_"+name+".jpg")
		d := newDecoder()
		for range 3 {
			require.NoError(t, d.decodeData(&r, data, &o))
		}
		require.Zero(t, testing.AllocsPerRun(5, func() { _ = d.decodeData(&r, data, &o) }), name)
	}
}

// FuzzDecode decodes anything in all modes: no panic, errors of the right type,
// memory within the limits, and the same result twice.
func FuzzDecode(f *testing.F) {
	step := short.Step(f, 4)
	for _, kind := range []string{"images", "damaged"} {
		files, err := filepath.Glob(filepath.Join(testdata, kind, "jpeg_*"))
		require.NoError(f, err)
		for i, name := range files {
			if i%(3*step) != 0 {
				continue
			}
			b, err := os.ReadFile(name)
			require.NoError(f, err)
			if len(b) < 8000 {
				f.Add(b, byte(i/3))
			}
		}
	}
	// Half of the extremes; FuzzExtremes mutates them all.
	files, err := filepath.Glob(filepath.Join(testdata, "extremes", "*"))
	require.NoError(f, err)
	for i := 0; i < len(files); i += 2 * step {
		b, err := os.ReadFile(files[i])
		require.NoError(f, err)
		if len(b) < 8000 {
			f.Add(b, byte(i/2))
		}
	}
	limits := codec.Limits{Pixels: 1 << 18, Bytes: 4 << 20, Scans: 30}
	f.Fuzz(func(t *testing.T, data []byte, scale byte) {
		shared := newDecoder()
		for _, m := range []codec.Damage{codec.DamagePillow, codec.DamageStrict, codec.DamageLenient} {
			for _, c := range []codec.Color{codec.ToRGB, codec.ToLuma} {
				o := codec.Options{Damage: m, Limits: limits, Color: c, Scale: codec.Scale(scale % 4)}
				var a, b codec.Raster
				cfg, cfgErr := shared.openData(data, &o)
				err := shared.decodeData(&a, data, &o)
				if err != nil {
					var e *codec.Error
					require.ErrorAs(t, err, &e)
				} else {
					require.NoError(t, cfgErr)
					require.Equal(t, []any{o.Scale.Of(cfg.Width), o.Scale.Of(cfg.Height), cfg.Mode}, []any{a.Width, a.Height, a.Mode})
					require.Len(t, a.Pix, a.Width*a.Height*a.Mode.Size())
				}
				fresh := newDecoder()
				var err2 error
				n := allocated(func() { err2 = fresh.decodeData(&b, data, &o) })
				require.Less(t, n, uint64(limits.Bytes)*2+1<<20)
				require.Equal(t, err, err2)
				if err == nil {
					require.True(t, bytes.Equal(a.Pix, b.Pix), "decoded twice, different pixels")
				}
				o.Workers = 3
				require.Equal(t, err, fresh.decodeData(&b, data, &o))
				if err == nil {
					require.True(t, bytes.Equal(a.Pix, b.Pix), "other pixels of several goroutines")
				}
			}
		}
	})
}

func benchmark(b *testing.B, file string) {
	data := read(b, "images", "jpeg_"+file+".jpg")
	d := newDecoder()
	o := codec.Options{}
	var r codec.Raster
	require.NoError(b, d.decodeData(&r, data, &o))
	b.ReportAllocs()
	b.SetBytes(int64(len(r.Pix)))
	for b.Loop() {
		if err := d.decodeData(&r, data, &o); err != nil {
			b.Fatal(err)
		}
	}
}

// The benchmarks count bytes of pixels.
func BenchmarkDecodeBaseline(b *testing.B)    { benchmark(b, "large") }
func BenchmarkDecodeProgressive(b *testing.B) { benchmark(b, "large_prog") }
func BenchmarkDecodeRestart(b *testing.B)     { benchmark(b, "large_restart") }
func BenchmarkDecodeArithmetic(b *testing.B)  { benchmark(b, "arith") }
func BenchmarkDecodeLossless(b *testing.B)    { benchmark(b, "lossless_psv4") }
