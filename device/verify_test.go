package device_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// picture returns a PNG of many different pixels.
func picture(t *testing.T) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 37, 29))
	for y := range 29 {
		for x := range 37 {
			m.Set(x, y, color.RGBA{uint8(x * 7), uint8(y * 9), uint8(x*y + 3), 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func plan(t *testing.T, g *datagraph.Graph) *datagraph.Plan {
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	return p
}

// classifier returns a graph with a float output and a uint8 output, and with
// pointwise and other steps.
func classifier() *datagraph.Graph {
	g := datagraph.New(transforms.NewDecode(), transforms.NewResize(16, 20))
	g.Then(transforms.NewToTensor(), []string{"image"}, []string{"float"})
	g.Then(transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}), []string{"float"}, []string{"pixel_values"})
	g.Outputs = []string{"pixel_values", "image"}
	return g
}

func golden(t *testing.T, p *datagraph.Plan, name string, input []byte) modelbundle.Golden {
	out, err := p.NewRunner().Run(tensor.FromBytes(input))
	require.NoError(t, err)
	g := modelbundle.Golden{Name: name, Input: input}
	for i, c := range p.Outputs() {
		var b bytes.Buffer
		require.NoError(t, tensor.WriteRaw(&b, out[i]))
		g.Outputs = append(g.Outputs, modelbundle.Expected{Name: c.Name, Desc: out[i].Desc, SHA256: sha256.Sum256(b.Bytes())})
	}
	return g
}

// crooked is the CPU device with altered tensors.
type crooked struct {
	device.Device
	claim device.Class
	spoil func(out []*tensor.Tensor)
}

func (d *crooked) Place(p *datagraph.Plan) (device.Placement, error) {
	l, err := d.Device.Place(p)
	for i := range l {
		l[i].Class = d.claim
	}
	return l, err
}

func (d *crooked) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	l, err := d.Place(p)
	if err != nil {
		return nil, err
	}
	s, err := d.Device.Open(p, o)
	return &crookedSession{s, d, l}, err
}

type crookedSession struct {
	device.Session
	d *crooked
	l device.Placement
}

func (s *crookedSession) Placement() device.Placement { return s.l }

func (s *crookedSession) Preprocess(ctx context.Context, in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	out, err := s.Session.Preprocess(ctx, in...)
	if err == nil {
		s.d.spoil(out)
	}
	return out, err
}

func TestVerify(t *testing.T) {
	p := plan(t, classifier())
	goldens := []modelbundle.Golden{golden(t, p, "a", picture(t))}
	// step is 1/255 divided by the smallest std: one step of the uint8 image.
	const step = 1 / 255. / 0.224
	for _, c := range []struct {
		name         string
		claim, least device.Class
		spoil        func(out []*tensor.Tensor)
		err          error
		text         string
		class        device.Class
		differ       int64
	}{
		{"equal", device.Exact, device.Exact, func([]*tensor.Tensor) {}, nil, "", device.Exact, 0},
		{"equal, though nothing was claimed", device.Approximate, device.Exact, func([]*tensor.Tensor) {}, nil, "", device.Exact, 0},
		{"a byte off by one", device.Within1, device.Within1, func(o []*tensor.Tensor) { o[1].Data[3*(20*2+5)+1] ^= 1 }, nil, "", device.Within1, 1},
		{"a byte off by one, exact was claimed", device.Exact, device.Within1, func(o []*tensor.Tensor) { o[1].Data[3*(20*2+5)+1] ^= 1 },
			device.ErrDiffers, "claims exact: a: image uint8 HWC (16, 20, 3): within1: 1 of 960 differ, by 1 at most; at (2, 5, 1)", device.Within1, 1},
		{"a byte off by one, exact was wanted", device.Within1, device.Exact, func(o []*tensor.Tensor) { o[1].Data[7] ^= 1 }, device.ErrClass, "want exact", device.Within1, 1},
		{"a byte off by two", device.Within1, device.Approximate, func(o []*tensor.Tensor) { o[1].Data[7] ^= 2 }, device.ErrDiffers, "by 2 at most", device.Approximate, 1},
		{"floats off by less than a step", device.Within1, device.Within1, func(o []*tensor.Tensor) {
			f := tensor.View[float32](o[0])
			for i := range f {
				f[i] += step * 0.98
			}
		}, nil, "", device.Within1, 960},
		{"a float off by more than a step", device.Approximate, device.Within1, func(o []*tensor.Tensor) { tensor.View[float32](o[0])[500] += step * 1.1 },
			device.ErrClass, "at (1, 9, 0)", device.Approximate, 1},
		{"no number", device.Within1, device.Approximate, func(o []*tensor.Tensor) { tensor.View[float32](o[0])[0] = float32(math.NaN()) }, device.ErrDiffers, "got NaN", device.Approximate, 1},
		{"another sign", device.Exact, device.Approximate, func(o []*tensor.Tensor) {
			o[0].Data[3] ^= 0x80
		}, device.ErrDiffers, "at (0, 0, 0)", device.Approximate, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := device.Verify(t.Context(), &crooked{cpu.New(), c.claim, c.spoil}, p, goldens, c.least)
			require.ErrorIs(t, err, c.err)
			if c.err != nil {
				require.ErrorContains(t, err, c.text)
			}
			require.Equal(t, c.class, r.Class)
			require.Equal(t, c.claim, r.Claimed)
			require.Len(t, r.Outputs, 2)
			require.Equal(t, c.differ, r.Outputs[0].Differ+r.Outputs[1].Differ)
		})
	}
}

func TestReportJSON(t *testing.T) {
	b, err := json.Marshal(device.OutputReport{Golden: "a", Desc: tensor.Desc{DType: tensor.Uint8}, Class: device.Approximate, Differ: 1, Of: 2, Largest: math.NaN(), Got: math.Inf(1), Want: 0.5, Bound: -1})
	require.NoError(t, err)
	require.JSONEq(t, `{"golden":"a","output":"","desc":{"dtype":"uint8","layout":"none","shape":[]},"class":"approximate","differ":1,"of":2,
		"bound":-1,"first":0,"largest":null,"got":null,"want":0.5}`, string(b))
}

func TestVerifyHost(t *testing.T) {
	p := plan(t, classifier())
	g := golden(t, p, "a", picture(t))
	g.Outputs[0].SHA256[5] ^= 1
	g.Outputs[0].Values = []modelbundle.Element{{At: 501, Value: 1e9}}
	_, err := device.Verify(t.Context(), cpu.New(), p, []modelbundle.Golden{g}, device.Exact)
	require.ErrorIs(t, err, device.ErrDiffers)
	require.ErrorContains(t, err, "golden a: output pixel_values of the host does not match its digest; at (1, 9, 1): got")

	g = golden(t, p, "a", picture(t))
	g.Outputs[1].Name = "mask"
	_, err = device.Verify(t.Context(), cpu.New(), p, []modelbundle.Golden{g}, device.Exact)
	require.ErrorContains(t, err, `the run has no output "mask"`)

	_, err = device.Verify(t.Context(), cpu.New(), p, nil, device.Exact)
	require.ErrorContains(t, err, "no golden samples: want at least one")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = device.Verify(ctx, cpu.New(), p, []modelbundle.Golden{g}, device.Exact)
	require.ErrorIs(t, err, context.Canceled)

	g.Input = []byte("no image")
	_, err = device.Verify(t.Context(), cpu.New(), p, []modelbundle.Golden{g}, device.Exact)
	require.ErrorIs(t, err, codec.ErrFormat)
}

func TestCPU(t *testing.T) {
	d, err := device.Open("cpu")
	require.NoError(t, err)
	p := plan(t, classifier())
	l, err := d.Place(p)
	require.NoError(t, err)
	require.Equal(t, device.Exact, l.Least())
	require.Len(t, l, 4)
	require.Equal(t, device.Place{Step: 2, Op: "to_tensor", Where: "cpu", Class: device.Exact}, l[2])
	s, err := d.Open(p, device.Options{Least: device.Exact})
	require.NoError(t, err)
	out, err := s.Preprocess(t.Context(), tensor.FromBytes(picture(t)))
	require.NoError(t, err)
	require.Equal(t, "float32 CHW (3, 16, 20)", out[0].Desc.String())
	_, err = s.Infer(t.Context(), tensor.FromBytes(picture(t)))
	require.ErrorContains(t, err, "cpu runs only graphs")
	require.NoError(t, s.Close())
	_, err = d.Open(p, device.Options{Model: []byte{1}})
	require.ErrorIs(t, err, device.ErrUnavailable)
	require.ErrorContains(t, err, "use ort:cpu")
	_, err = device.Open("cpu,threads=3")
	require.ErrorContains(t, err, "[threads]")
	_, err = device.Open("npu")
	require.ErrorIs(t, err, device.ErrUnknown)
	_, err = device.Open("cpu,a")
	require.ErrorContains(t, err, `option "a"`)
}

func TestAccept(t *testing.T) {
	l := device.Placement{{Step: 0, Op: "decode", Where: "cpu", Class: device.Exact}, {Step: 1, Op: "resize", Where: "npu", Class: device.Within1, Why: "Resize"}, {Step: 2, Op: "pad", Where: "npu"}}
	require.NoError(t, l[:2].Accept(device.Within1))
	require.NoError(t, l[:2].Accept(device.Unsupported))
	err := l[:2].Accept(device.Exact)
	require.ErrorIs(t, err, device.ErrClass)
	require.ErrorContains(t, err, "want exact: step 1 (resize) on npu is within1 (Resize)")
	require.ErrorIs(t, l.Accept(device.Unsupported), device.ErrClass)
}

func TestClassText(t *testing.T) {
	for c := device.Unsupported; c <= device.Exact; c++ {
		b, err := c.MarshalText()
		require.NoError(t, err)
		var d device.Class
		require.NoError(t, d.UnmarshalText(b))
		require.Equal(t, c, d)
	}
	// Bundles use the same names for the classes.
	require.Equal(t, []string{modelbundle.Exact, modelbundle.Within1, modelbundle.Approximate},
		[]string{device.Exact.String(), device.Within1.String(), device.Approximate.String()})
	_, err := device.Class(9).MarshalText()
	require.Error(t, err)
	var d device.Class
	require.Error(t, d.UnmarshalText([]byte("best")))
}
