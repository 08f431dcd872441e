package transforms

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// everySampling returns all combinations that the backends support.
func everySampling() []sampling {
	var l []sampling
	for b := range backendNames {
		for i := range interpolationNames {
			for _, aa := range []bool{true, false} {
				if s := (sampling{Interpolation(i), Backend(b), aa}); s.validate() == nil {
					l = append(l, s)
				}
			}
		}
	}
	return l
}

// dtypes returns the dtypes that the sampling supports.
func (s sampling) dtypes() []tensor.DType {
	if s.backend == OpenCVIPP {
		return []tensor.DType{tensor.Uint8}
	}
	return []tensor.DType{tensor.Uint8, tensor.Float32}
}

func (s sampling) String() string {
	return fmt.Sprintf("%v %v antialias=%v", s.backend, s.interp, s.antialias)
}

func (s sampling) resize(h, w int) *Resize {
	o := NewResize(h, w)
	o.Interpolation, o.Backend, o.NoAntialias = s.interp, s.backend, !s.antialias
	return o
}

func randomImage(t testing.TB, d tensor.DType, l tensor.Layout, h, w, c int) *tensor.Tensor {
	x, err := tensor.New(tensor.Image(d, l, h, w, c))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(uint64(h), uint64(w)))
	if d == tensor.Uint8 {
		for i := range x.Data {
			x.Data[i] = uint8(r.Uint32())
		}
		return x
	}
	for i, v := 0, tensor.View[float32](x); i < len(v); i++ {
		v[i] = float32(r.NormFloat64())
	}
	return x
}

// TestResizeConstant checks that an image of one colour keeps its colour at
// every size.
func TestResizeConstant(t *testing.T) {
	for _, s := range everySampling() {
		for _, size := range [][4]int{{9, 14, 5, 31}, {40, 30, 7, 7}, {3, 3, 10, 2}, {1, 1, 6, 5}} {
			x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, size[0], size[1], 3))
			require.NoError(t, err)
			for i := range x.Data {
				x.Data[i] = []uint8{255, 0, 131}[i%3]
			}
			y, err := run(newContext(), s.resize(size[2], size[3]), x)
			require.NoError(t, err)
			for i, v := range y[0].Data {
				// OpenCV's two truncated products may lose one unit.
				low := 0.0
				if s.backend == OpenCV && (s.interp == Bilinear || s.interp == Area) {
					low = 1
				}
				want := []uint8{255, 0, 131}[i%3]
				require.InDelta(t, want, v, low, "%v %v at %v", s, size, golden.Index(y[0].Shape, i))
			}
		}
	}
}

func TestResizeSameSize(t *testing.T) {
	for _, s := range everySampling() {
		for _, d := range s.dtypes() {
			x := randomImage(t, d, tensor.HWC, 7, 9, 4)
			y, err := run(newContext(), s.resize(7, 9), x)
			require.NoError(t, err)
			require.Equal(t, x.Data, y[0].Data, "%v %v", s, d)
		}
	}
}

// TestResizeLayouts checks that a planar image returns the planar form of the
// interleaved result. The exceptions depend on the number of channels in the
// reference's code: OpenCV's ratio of two to one and the tails of its vector
// loops.
func TestResizeLayouts(t *testing.T) {
	for _, s := range everySampling() {
		if (s.backend == OpenCV || s.backend == MXNet || s.backend == OpenCVIPP) && s.interp != Nearest && s.interp != NearestExact && s.interp != Bilinear {
			continue
		}
		for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32} {
			x := randomImage(t, d, tensor.HWC, 21, 17, 4)
			v, err := x.Transposed()
			require.NoError(t, err)
			a, err := run(newContext(), s.resize(13, 30), x)
			require.NoError(t, err)
			b, err := run(newContext(), s.resize(13, 30), v) // a strided input
			require.NoError(t, err)
			back, err := b[0].Transposed()
			require.NoError(t, err)
			require.Equal(t, a[0].Data, back.Clone().Data, "%v %v", s, d)
		}
	}
}

// TestResizeContext checks that one Context serves changing sizes. It returns
// the results of a new Context and does not allocate for sizes it has seen.
func TestResizeContext(t *testing.T) {
	sizes := [][2]int{{20, 30}, {31, 17}, {20, 31}, {60, 44}, {22, 22}}
	step := short.Step(t, 5)
	for i, s := range everySampling() {
		if i%step != 0 {
			continue
		}
		for _, d := range s.dtypes() {
			for _, l := range []tensor.Layout{tensor.HWC, tensor.CHW} {
				op := s.resize(22, 26)
				var src, dst []*tensor.Tensor
				for _, n := range sizes {
					x := randomImage(t, d, l, n[0], n[1], 4)
					y, err := run(newContext(), op, x)
					require.NoError(t, err)
					src, dst = append(src, x), append(dst, y[0])
				}
				c := newContext()
				out, err := tensor.New(dst[0].Desc)
				require.NoError(t, err)
				once := func() {
					for i := range src {
						c.Begin()
						require.NoError(t, op.Apply(c, []*tensor.Tensor{out}, src[i:i+1]))
						if string(out.Data) != string(dst[i].Data) {
							t.Fatalf("%v %v %v: image %d differs from a new Context's", s, d, l, i)
						}
					}
				}
				once()
				one, in := []*tensor.Tensor{out}, src
				require.Zero(t, testing.AllocsPerRun(2, func() {
					for i := range in {
						c.Begin()
						if op.Apply(c, one, in[i:i+1]) != nil {
							t.Fail()
						}
					}
				}), "allocations of %v %v %v", s, d, l)
			}
		}
	}
}

func TestResizeChannels(t *testing.T) {
	for _, s := range everySampling() {
		for _, n := range []int{5, 7} {
			x := randomImage(t, tensor.Uint8, tensor.HWC, 9, 12, n)
			y, err := run(newContext(), s.resize(6, 17), x)
			require.NoError(t, err)
			require.Equal(t, n, y[0].Channels())
		}
	}
}

func TestResizeParameters(t *testing.T) {
	good := *NewResize(10, 20)
	require.NoError(t, good.Validate())
	for name, change := range map[string]func(*Resize){
		"fit":            func(o *Resize) { o.Fit = 9 },
		"rule":           func(o *Resize) { o.SizeRule = 9 },
		"interpolation":  func(o *Resize) { o.Interpolation = 99 },
		"backend":        func(o *Resize) { o.Backend = 99 },
		"zero":           func(o *Resize) { o.Height = 0 },
		"negative":       func(o *Resize) { o.Width = -1 },
		"large":          func(o *Resize) { o.Width = 1<<24 + 1 },
		"edge unused":    func(o *Resize) { o.Edge = 3 },
		"max unused":     func(o *Resize) { o.MaxEdge = 3 },
		"multiple":       func(o *Resize) { o.Fit = FitMultiple },
		"keep aspect":    func(o *Resize) { o.KeepAspect = true },
		"detr":           func(o *Resize) { o.SizeRule = SizeCapUnrounded },
		"pillow area":    func(o *Resize) { o.Interpolation = Area },
		"pillow aa":      func(o *Resize) { o.NoAntialias = true },
		"opencv box":     func(o *Resize) { o.Backend, o.Interpolation = OpenCV, Box },
		"opencv hamming": func(o *Resize) { o.Backend, o.Interpolation = OpenCV, Hamming },
		"torch box":      func(o *Resize) { o.Backend, o.Interpolation = Torch, Box },
		"torch lanczos":  func(o *Resize) { o.Backend, o.Interpolation, o.NoAntialias = Torch, Lanczos, true },
		"max too small":  func(o *Resize) { *o = *NewResizeShortest(20); o.MaxEdge = 20 },
		"no edge":        func(o *Resize) { *o = *NewResizeShortest(0) },
	} {
		o := good
		change(&o)
		require.ErrorIs(t, o.Validate(), ErrParam, name)
	}
}

func TestResizeInputs(t *testing.T) {
	for name, d := range map[string]tensor.Desc{
		"dtype":     tensor.Image(tensor.Int16, tensor.HWC, 4, 4, 3),
		"no layout": {DType: tensor.Uint8, Shape: tensor.Dims(4, 4, 3)},
		"bytes":     tensor.Encoded(),
		"empty":     tensor.Image(tensor.Uint8, tensor.HWC, 0, 4, 3),
		"channels":  tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 0),
		"huge":      tensor.Image(tensor.Uint8, tensor.HWC, 1, 1<<24+1, 1),
	} {
		var out [3]tensor.Desc
		for _, op := range []Op{NewResize(3, 3), NewResizedCrop(0, 0, 1, 1, 2, 2), NewLetterbox(3, 3)} {
			require.ErrorIs(t, op.Infer(out[:], []tensor.Desc{d}), ErrInput, "%s %T", name, op)
		}
	}
	// A side that would become 0 is an error, as in torchvision and Pillow.
	var out [1]tensor.Desc
	long := &Resize{Fit: FitLongest, Edge: 10, Interpolation: Bilinear}
	require.NoError(t, long.Validate())
	require.ErrorIs(t, long.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 1, 100, 3)}), ErrInput)
	// A side that would become too long is an error too.
	wide := NewResizeShortest(1 << 20)
	require.ErrorIs(t, wide.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 1, 100, 3)}), ErrInput)
}

// TestResizeMemory checks that a column that becomes a row is an error. Its
// first pass would need the product of the two sides.
func TestResizeMemory(t *testing.T) {
	x := randomImage(t, tensor.Uint8, tensor.HWC, 1<<20, 1, 1)
	for _, s := range everySampling() {
		if s.backend == OpenCV || s.backend == MXNet || s.backend == OpenCVIPP || s.interp == Nearest || s.interp == NearestExact || s.interp == Area || !s.antialias {
			continue
		}
		_, err := run(newContext(), s.resize(1, 1<<20), x)
		require.ErrorIs(t, err, ErrInput, "%v", s)
	}
}

// FuzzResize checks that an op with arbitrary parameters returns an error or a
// result and does not panic.
func FuzzResize(f *testing.F) {
	f.Add(uint8(0), uint8(3), uint8(0), 10, 20, 0, uint16(30), uint16(40), uint8(3), true)
	f.Add(uint8(1), uint8(5), uint8(1), 0, 0, 16, uint16(1), uint16(300), uint8(1), false)
	f.Add(uint8(0), uint8(6), uint8(2), 1, 77, 0, uint16(5), uint16(1), uint8(4), true)
	f.Fuzz(func(t *testing.T, fit, interp, backend uint8, height, width, edge int, h, w uint16, c uint8, float bool) {
		op := &Resize{Fit: Fit(fit), Height: height, Width: width, Edge: edge, Interpolation: Interpolation(interp), Backend: Backend(backend)}
		d := tensor.Uint8
		if float {
			d = tensor.Float32
		}
		in := tensor.Image(d, tensor.HWC, int(h%512), int(w%512), int(c%6))
		var out [1]tensor.Desc
		if op.Validate() != nil || op.Infer(out[:], []tensor.Desc{in}) != nil || out[0].Size() > 1<<20 {
			return
		}
		x, err := tensor.New(in)
		require.NoError(t, err)
		_, err = run(newContext(), op, x)
		require.NoError(t, err)
	})
}

func BenchmarkResize(b *testing.B) {
	for _, s := range []sampling{
		{Bilinear, Pillow, true}, {Bicubic, Pillow, true}, {Lanczos, Pillow, true}, {Nearest, Pillow, true},
		{Bilinear, OpenCV, true}, {Bicubic, OpenCV, true}, {Area, OpenCV, true},
		{Bilinear, Torch, true}, {Bilinear, Torch, false},
	} {
		b.Run(fmt.Sprintf("%v_%v_%v", s.backend, s.interp, s.antialias), func(b *testing.B) {
			x := randomImage(b, tensor.Uint8, tensor.HWC, 375, 500, 3)
			op, c := s.resize(256, 341), newContext()
			y, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 256, 341, 3))
			require.NoError(b, err)
			src, dst := []*tensor.Tensor{x}, []*tensor.Tensor{y}
			b.SetBytes(int64(len(x.Data)))
			b.ReportAllocs()
			for b.Loop() {
				c.Begin()
				if err := op.Apply(c, dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestResizeMXNet checks that MXNet's bicubic differs from OpenCV's by at most
// 1 for uint8. The goldens of package compat/mxnet compare it with MXNet's
// bytes.
func TestResizeMXNet(t *testing.T) {
	require.ErrorIs(t, (&Resize{Height: 3, Width: 3, Interpolation: Bilinear, Backend: MXNet}).Validate(), ErrParam)
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32} {
		x := randomImage(t, d, tensor.HWC, 200, 300, 3)
		a, err := run(newContext(), &Resize{Height: 390, Width: 511, Interpolation: Bicubic, Backend: OpenCV}, x)
		require.NoError(t, err)
		b, err := run(newContext(), &Resize{Height: 390, Width: 511, Interpolation: Bicubic, Backend: MXNet}, x)
		require.NoError(t, err)
		if d == tensor.Float32 {
			require.Equal(t, a[0].Data, b[0].Data)
			continue
		}
		n := 0
		for i, v := range a[0].Data {
			diff := int(v) - int(b[0].Data[i])
			require.True(t, diff >= -1 && diff <= 1)
			n += diff * diff
		}
		require.True(t, n > 0 && n < len(a[0].Data)/1000, "%d of %d", n, len(a[0].Data))
	}
}

// TestResizeOpenCVIPP compares 600 resizes of noise with OpenCV's, by their
// checksums. testdata/gen/ops/resize_ipp.py makes the same noise.
func TestResizeOpenCVIPP(t *testing.T) {
	require.ErrorIs(t, (&Resize{Height: 3, Width: 3, Interpolation: Bilinear, Backend: OpenCVIPP}).Validate(), ErrParam)
	s := sampling{Bicubic, OpenCVIPP, true}
	var out [1]tensor.Desc
	require.ErrorIs(t, s.resize(5, 5).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Float32, tensor.HWC, 9, 9, 3)}), ErrInput)

	b, err := os.ReadFile("testdata/resize/opencv_ipp.json")
	require.NoError(t, err)
	var golden struct {
		// Height, width, output height and width, channels, CRC-32.
		Rows [][6]int64
	}
	require.NoError(t, json.Unmarshal(b, &golden))
	require.Len(t, golden.Rows, 600)
	c := newContext()
	for k, row := range golden.Rows {
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, int(row[0]), int(row[1]), int(row[4])))
		require.NoError(t, err)
		for i := range x.Data {
			v := uint8((uint64(k+i) * 0x9E3779B97F4A7C15) >> 56)
			if k%7 == 0 {
				v = v >> 7 * 255
			}
			x.Data[i] = v
		}
		y, err := run(c, s.resize(int(row[2]), int(row[3])), x)
		require.NoError(t, err)
		require.Equal(t, uint32(row[5]), crc32.ChecksumIEEE(y[0].Data), "row %d: %v", k, row)
	}
}
