package pixels_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/pixels"
)

// noise repeats that of testdata/gen/codecs/yuv.py.
func noise(n int, seed uint32) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = byte(seed >> 24)
	}
	return b
}

type yuvGoldens struct {
	Libyuv, Cube string
	Cases        []struct {
		Layout             string
		Width, Height, Pad int
		Seed               uint32
		Crop               []int
		Rotation           int
		SHA256             string
	}
}

func readYUV(t *testing.T) (g yuvGoldens) {
	b, err := os.ReadFile("../../testdata/golden/yuv.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &g))
	require.Greater(t, len(g.Cases), 800)
	return g
}

// planes makes the planes of a frame as testdata/gen/codecs/yuv.py does.
func planes(layout string, w, h, pad int, seed uint32) []pixels.Plane {
	cw, ch := (w+1)/2, (h+1)/2
	y := pixels.Plane{Data: noise((w+pad)*h, seed), RowStride: w + pad}
	stride, step := 2*cw+pad, 2
	if layout == "I420" {
		stride, step = cw+pad, 1
	}
	u, v := noise(stride*ch, seed+1), noise(stride*ch, seed+2)
	switch layout {
	case "NV12":
		v = u[1:]
	case "NV21":
		u, v = u[1:], u
	}
	return []pixels.Plane{y, {u, stride, step}, {v, stride, step}}
}

func digest(t *testing.T, f *pixels.Frame) string {
	b, err := f.Append(nil)
	require.NoError(t, err)
	out, err := codec.Decode(b, nil)
	require.NoError(t, err)
	require.Equal(t, b[pixels.HeaderSize:], out.Data)
	d := sha256.Sum256(out.Data)
	return hex.EncodeToString(d[:])
}

// TestLibyuv compares frames of all layouts, crops and rotations with libyuv.
func TestLibyuv(t *testing.T) {
	for _, c := range readYUV(t).Cases {
		f := &pixels.Frame{Width: c.Width, Height: c.Height, Planes: planes(c.Layout, c.Width, c.Height, c.Pad, c.Seed), Rotation: c.Rotation}
		if c.Crop != nil {
			f.Crop = image.Rect(c.Crop[0], c.Crop[1], c.Crop[2], c.Crop[3])
		}
		require.Equal(t, c.SHA256, digest(t, f), "%+v", c)
	}
}

// TestLibyuvCube compares the colours of every triple of Y, U and V.
func TestLibyuvCube(t *testing.T) {
	y, u, v := make([]byte, 512*256), make([]byte, 256*128), make([]byte, 256*128)
	for i := range y {
		y[i] = byte(i / 512)
	}
	for i := range u {
		u[i] = byte(i)
	}
	d := sha256.New()
	var b []byte
	half := make([]byte, 256*256*3)
	for c := range 256 {
		for i := range v {
			v[i] = byte(c)
		}
		f := pixels.Frame{Width: 512, Height: 256, Planes: []pixels.Plane{{Data: y}, {Data: u}, {Data: v}}}
		var err error
		b, err = f.Append(b[:0])
		require.NoError(t, err)
		for i := range 256 * 256 {
			copy(half[3*i:3*i+3], b[pixels.HeaderSize+6*i:])
		}
		d.Write(half)
	}
	require.Equal(t, readYUV(t).Cube, hex.EncodeToString(d.Sum(nil)))
}

// TestFrameRGBA turns and cuts pixels one by one, and compares.
func TestFrameRGBA(t *testing.T) {
	const w, h, stride = 37, 35, 37*4 + 12
	data := noise(stride*h, 7)[:stride*(h-1)+4*w] // the last row has no padding
	for _, crop := range []image.Rectangle{{}, image.Rect(3, 1, 36, 35), image.Rect(5, 6, 6, 7)} {
		for _, rotation := range []int{0, 90, 180, 270} {
			f := pixels.Frame{Width: w, Height: h, Planes: []pixels.Plane{{Data: data, RowStride: stride}}, Crop: crop, Rotation: rotation}
			b, err := f.Append(nil)
			require.NoError(t, err)
			r := crop
			if r.Empty() {
				r = image.Rect(0, 0, w, h)
			}
			ow, oh := r.Dx(), r.Dy()
			if rotation%180 != 0 {
				ow, oh = oh, ow
			}
			want := pixels.Header{Width: ow, Height: oh, Mode: codec.RGBA}.Append(nil)
			for y := range oh {
				for x := range ow {
					sx, sy := x, y
					switch rotation {
					case 90:
						sx, sy = y, r.Dy()-1-x
					case 180:
						sx, sy = ow-1-x, oh-1-y
					case 270:
						sx, sy = r.Dx()-1-y, x
					}
					at := (r.Min.Y+sy)*stride + 4*(r.Min.X+sx)
					want = append(want, data[at:at+4]...)
				}
			}
			require.Equal(t, want, b, "%v %d", crop, rotation)
		}
	}
}

func TestFrameErrors(t *testing.T) {
	yuv := func(change func(*pixels.Frame)) *pixels.Frame {
		f := &pixels.Frame{Width: 6, Height: 4, Planes: planes("NV12", 6, 4, 0, 1)}
		change(f)
		return f
	}
	_, err := yuv(func(*pixels.Frame) {}).Append(nil)
	require.NoError(t, err)
	for want, f := range map[string]*pixels.Frame{
		"0x0 pixels":          {},
		"want 1 to 16777216":  yuv(func(f *pixels.Frame) { f.Width = 1<<24 + 1 }),
		"-1x4 pixels":         yuv(func(f *pixels.Frame) { f.Width = -1 }),
		"2 planes":            yuv(func(f *pixels.Frame) { f.Planes = f.Planes[:2] }),
		"rotation of 45":      yuv(func(f *pixels.Frame) { f.Rotation = 45 }),
		"rotation of -90":     yuv(func(f *pixels.Frame) { f.Rotation = -90 }),
		"(0,0)-(7,4)":         yuv(func(f *pixels.Frame) { f.Crop = image.Rect(0, 0, 7, 4) }),
		"(-1,0)-(3,3)":        yuv(func(f *pixels.Frame) { f.Crop = image.Rect(-1, 0, 3, 3) }),
		"(2,2)-(2,3)":         yuv(func(f *pixels.Frame) { f.Crop = image.Rect(2, 2, 2, 3) }),
		"plane 0 has 23":      yuv(func(f *pixels.Frame) { f.Planes[0].Data = f.Planes[0].Data[:23] }),
		"plane 2 has 10":      yuv(func(f *pixels.Frame) { f.Planes[2].Data = f.Planes[2].Data[:10] }),
		"plane 0 has a pixel": yuv(func(f *pixels.Frame) { f.Planes[0].PixelStride = 2 }),
		"stride of 3":         yuv(func(f *pixels.Frame) { f.Planes[1].PixelStride = 3 }),
		"stride of -1":        yuv(func(f *pixels.Frame) { f.Planes[1].RowStride = -1 }),
		"equal ones":          yuv(func(f *pixels.Frame) { f.Planes[1].PixelStride = 1 }),
		"want 5 to":           yuv(func(f *pixels.Frame) { f.Planes[1].RowStride = 4 }),
		"want 67108864":       {Width: 1 << 24, Height: 1, Planes: []pixels.Plane{{Data: make([]byte, 8)}}},
	} {
		b, err := f.Append([]byte("kept"))
		require.ErrorIs(t, err, codec.ErrFormat, want)
		require.ErrorContains(t, err, want)
		require.Equal(t, "kept", string(b))
	}
}

func TestFrameAllocatesNothing(t *testing.T) {
	const w, h = 131, 67 // tiles of all sizes
	yuv := planes("NV21", w, h, 4, 1)
	for _, p := range [][]pixels.Plane{yuv, {{Data: make([]byte, 4*w*h)}}} {
		for _, crop := range []image.Rectangle{{}, image.Rect(1, 0, w, h)} {
			for _, rotation := range []int{0, 90, 180, 270} {
				f := &pixels.Frame{Width: w, Height: h, Planes: p, Crop: crop, Rotation: rotation}
				b := make([]byte, 0, pixels.HeaderSize+4*w*h)
				var err error
				require.Zero(t, testing.AllocsPerRun(10, func() { b, err = f.Append(b[:0]) }), "%d planes, %d degrees", len(p), rotation)
				require.NoError(t, err)
			}
		}
	}
}

// TestFrameTiles compares turned frames, whose pixels are copied in tiles, with
// the turned pixels of the frame that is not. The tiles are of all kinds.
func TestFrameTiles(t *testing.T) {
	for _, side := range []image.Point{{300, 70}, {129, 33}, {128, 32}, {1, 100}, {260, 1}} {
		for left := range min(3, side.X) {
			f := &pixels.Frame{Width: side.X, Height: side.Y, Planes: planes("NV12", side.X, side.Y, 3, 9)}
			f.Crop = image.Rect(left, 0, side.X, side.Y)
			flat, err := f.Append(nil)
			require.NoError(t, err)
			w, h := f.Crop.Dx(), f.Crop.Dy()
			flat = flat[pixels.HeaderSize:]
			for _, rotation := range []int{90, 270} {
				f.Rotation = rotation
				b, err := f.Append(nil)
				require.NoError(t, err)
				var want []byte
				for y := range w {
					for x := range h {
						at := (h-1-x)*w + y
						if rotation == 270 {
							at = x*w + w - 1 - y
						}
						want = append(want, flat[3*at:3*at+3]...)
					}
				}
				require.True(t, string(want) == string(b[pixels.HeaderSize:]), "%v, crop from %d, %d degrees", side, left, rotation)
			}
		}
	}
}

// TestFrameWide turns one row of many pixels: that must not take memory.
func TestFrameWide(t *testing.T) {
	const w = 1 << 20
	f := &pixels.Frame{Width: w, Height: 1, Planes: []pixels.Plane{{Data: make([]byte, 4*w)}}, Rotation: 90}
	b := make([]byte, 0, pixels.HeaderSize+4*w)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := f.Append(b)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, b, cap(b))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(w/8))
}

func FuzzFrame(f *testing.F) {
	f.Add(6, 4, 8, 8, 2, 1, 1, 5, 4, 90, []byte("012345678901234567890123456789012345678901234567890123456789"), 32, 16)
	f.Add(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, []byte{1, 2, 3}, 1, 1)
	f.Fuzz(func(t *testing.T, w, h, yStride, uvStride, step, left, top, right, bottom, rotation int, data []byte, ny, nu int) {
		ny = max(0, min(ny, len(data)))
		nu = max(0, min(nu, len(data)-ny))
		frames := []*pixels.Frame{
			{Planes: []pixels.Plane{{Data: data, RowStride: yStride, PixelStride: step}}},
			{Planes: []pixels.Plane{{Data: data[:ny], RowStride: yStride}, {data[ny:][:nu], uvStride, step}, {data[ny+nu:], uvStride, step}}},
		}
		for _, fr := range frames {
			fr.Width, fr.Height, fr.Crop, fr.Rotation = w, h, image.Rectangle{Min: image.Pt(left, top), Max: image.Pt(right, bottom)}, rotation
			b, err := fr.Append(nil)
			if err != nil {
				require.ErrorIs(t, err, codec.ErrFormat)
				continue
			}
			require.LessOrEqual(t, len(b), pixels.HeaderSize+4*len(data))
			_, err = codec.Decode(b, nil)
			require.NoError(t, err)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	for _, layout := range []string{"I420", "NV21"} {
		for _, rotation := range []string{"0", "90"} {
			b.Run(layout+"/"+rotation, func(b *testing.B) {
				f := &pixels.Frame{Width: 640, Height: 480, Planes: planes(layout, 640, 480, 0, 1)}
				if rotation == "90" {
					f.Rotation = 90
				}
				var buf []byte
				for b.Loop() {
					buf, _ = f.Append(buf[:0])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(640*480), "ns/pixel")
			})
		}
	}
}
