//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/cpu"
	"github.com/infer-prep/infer-prep/device/internal/devicetest"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// library skips tests that need the library if its path is unknown; make
// test-device sets it.
func library(t *testing.T) {
	if os.Getenv(Environment) == "" {
		t.Skip("ONNX Runtime is not there: make test-device installs it and sets " + Environment)
	}
}

// opened counts the devices of the running test.
var opened int

// openDevice opens a device. When the test ends, it checks that every object
// has been released.
func openDevice(t *testing.T, spec string) *ortDevice {
	library(t)
	dev, err := device.Open(spec)
	require.NoError(t, err)
	d := dev.(*ortDevice)
	opened++
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		if opened--; opened > 0 {
			return
		}
		for h := range d.a.live {
			require.Zero(t, d.a.live[h].Load(), "objects of kind %d that were not released", h)
		}
	})
	return d
}

func openSession(t *testing.T, d device.Device, p *datagraph.Plan, o device.Options) *Session {
	s, err := d.Open(p, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s.(*Session)
}

func plan(t *testing.T, g *datagraph.Graph) *datagraph.Plan {
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	return p
}

func presetPlan(t *testing.T, name string) *datagraph.Plan {
	g, err := preset.Graph(name)
	require.NoError(t, err)
	return plan(t, g)
}

func picture(t *testing.T, name string) []byte {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "images", name))
	require.NoError(t, err)
	return b
}

func model(t *testing.T, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", name+".onnx"))
	require.NoError(t, err)
	return b
}

// small returns a graph with one float output of 3 x 8 x 8.
func small() *datagraph.Graph {
	return datagraph.New(transforms.NewDecode(), transforms.NewResize(8, 8), transforms.NewToTensor(),
		transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225})).Rename("pixel_values")
}

// goldens returns samples with the CPU's digests.
func goldens(t *testing.T, p *datagraph.Plan, names ...string) []modelbundle.Golden {
	var l []modelbundle.Golden
	for _, name := range names {
		g := modelbundle.Golden{Name: name, Input: picture(t, name)}
		out, err := p.NewRunner().Run(tensor.FromBytes(g.Input))
		require.NoError(t, err)
		for i, c := range p.Outputs() {
			var b bytes.Buffer
			require.NoError(t, tensor.WriteRaw(&b, out[i]))
			g.Outputs = append(g.Outputs, modelbundle.Expected{Name: c.Name, Desc: out[i].Desc, SHA256: sha256.Sum256(b.Bytes())})
		}
		l = append(l, g)
	}
	return l
}

var images = []string{"jpeg_base_1x3.jpg", "png_rgb8.png", "jpeg_large.jpg"}

// TestForms checks that each form differs from the CPU by no more than its
// class allows.
func TestForms(t *testing.T) {
	library(t)
	graphs := map[string]*datagraph.Graph{"small": small()}
	for _, name := range preset.Names() {
		g, err := preset.Graph(name)
		require.NoError(t, err)
		graphs[name] = g
	}
	for form, class := range map[string]device.Class{"host": device.Exact, "tail": device.Exact, "exact": device.Exact, "fast": device.Within1} {
		for name, g := range graphs {
			t.Run(form+"/"+name, func(t *testing.T) {
				d := openDevice(t, "ort:cpu,form="+form)
				p := plan(t, g)
				l, err := d.Place(p)
				switch form + " " + name {
				case "exact decode", "fast decode", "exact yolo": // nothing to compute, or OpenCV's taps
					require.ErrorContains(t, err, "want form=host")
					return
				}
				require.NoError(t, err)
				require.Len(t, l, len(g.Steps))
				require.Equal(t, "cpu", l[0].Where)
				r, err := device.Verify(t.Context(), d, p, goldens(t, p, images...), class)
				require.NoError(t, err)
				require.GreaterOrEqual(t, r.Class, class)
				for _, o := range r.Outputs {
					t.Log(o)
				}
			})
		}
	}
}

func TestPlacement(t *testing.T) {
	d := openDevice(t, "ort:cpu")
	p := presetPlan(t, "imagenet")
	l, err := d.Place(p)
	require.NoError(t, err)
	for _, s := range l {
		t.Log(s)
	}
	require.Equal(t, device.Exact, l.Least())
	require.Equal(t, "cpu", l[1].Where)
	require.Equal(t, "ort:cpu", l[len(l)-1].Where)
	s := openSession(t, d, p, device.Options{Least: device.Exact})
	if d.a.has(slotSessionGetAssignment) {
		require.Contains(t, s.Placement()[len(l)-1].Why, "CPUExecutionProvider runs ")
	}
	require.Nil(t, s.Assigned())
	require.Nil(t, s.ModelOutputs())

	fast := openDevice(t, "ort:cpu,form=fast")
	_, err = fast.Open(p, device.Options{Least: device.Exact})
	require.ErrorIs(t, err, device.ErrClass)
	require.ErrorContains(t, err, "resize")

	// The other providers have not been measured, so they claim nothing unless
	// the user asks for it.
	low, err := lower(p.Graph(), formTail, "ort:cuda", device.Approximate)
	require.NoError(t, err)
	require.Equal(t, device.Approximate, low.placement.Least())
	low, err = lower(p.Graph(), formHost, "ort:cuda", device.Approximate)
	require.NoError(t, err)
	require.Equal(t, device.Exact, low.placement.Least())
}

// linear computes the same as the models in testdata.
func linear(t *testing.T, p *datagraph.Plan, image []byte) []float32 {
	out, err := p.NewRunner().Run(tensor.FromBytes(image))
	require.NoError(t, err)
	var l []float32
	for _, x := range tensor.View[float32](out[0]) {
		l = append(l, float32(x*2)+1)
	}
	return l
}

func TestInfer(t *testing.T) {
	p := plan(t, small())
	for _, form := range forms {
		for _, name := range []string{"batched", "plain", "fixed"} {
			t.Run(form+"/"+name, func(t *testing.T) {
				d := openDevice(t, "ort:cpu,threads=1,session.intra_op.allow_spinning=0,form="+form)
				s := openSession(t, d, p, device.Options{Model: model(t, name)})
				if d.a.has(slotSessionGetAssignment) {
					require.Equal(t, []string{"Mul", "Add"}, s.Assigned()["CPUExecutionProvider"][:2])
				}
				require.Equal(t, "linear", s.ModelOutputs()[0].Name)
				for _, image := range images[:2] {
					b := picture(t, image)
					out, err := s.Infer(t.Context(), tensor.FromBytes(b))
					require.NoError(t, err)
					require.Equal(t, "linear", out[0].Name)
					if form != formFast {
						require.Equal(t, linear(t, p, b), tensor.View[float32](out[0].T))
					}
					if name == "plain" {
						require.Equal(t, "float32 (3, 8, 8)", out[0].T.Desc.String())
					} else {
						require.Equal(t, "float32 (1, 3, 8, 8)", out[0].T.Desc.String())
					}
					if name == "batched" {
						require.Equal(t, "int64 (1, 8, 8)", out[1].T.Desc.String())
					}
					// Preprocess of this session returns the same as without a
					// model.
					pre, err := s.Preprocess(t.Context(), tensor.FromBytes(b))
					require.NoError(t, err)
					require.Equal(t, "float32 CHW (3, 8, 8)", pre[0].Desc.String())
				}
				_, err := s.Infer(t.Context(), tensor.FromBytes([]byte("no image")))
				require.ErrorIs(t, err, codec.ErrFormat)
			})
		}
	}
}

// TestInferNames checks how the model's inputs find the graph's outputs.
func TestInferNames(t *testing.T) {
	d := openDevice(t, "ort:cpu")
	b := picture(t, images[0])
	g := small()
	g.Then(transforms.NewNormalize([]float64{0, 0, 0}, []float64{0.5, 0.5, 0.5}), []string{"pixel_values"}, []string{"b"})
	g.Then(transforms.NewNormalize([]float64{0, 0, 0}, []float64{0.25, 0.25, 0.25}), []string{"b"}, []string{"a"})
	g.Outputs = []string{"b", "a"}
	p := plan(t, g)
	s := openSession(t, d, p, device.Options{Model: model(t, "two")})
	out, err := s.Infer(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
	want, err := p.NewRunner().Run(tensor.FromBytes(b))
	require.NoError(t, err)
	for i, x := range tensor.View[float32](out[0].T) {
		require.Equal(t, tensor.View[float32](want[0])[i]+tensor.View[float32](want[1])[i], x)
	}

	u := plan(t, datagraph.New(transforms.NewDecode(), transforms.NewResize(8, 8)))
	s = openSession(t, d, u, device.Options{Model: model(t, "bytes")})
	out, err = s.Infer(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
	want, err = u.NewRunner().Run(tensor.FromBytes(b))
	require.NoError(t, err)
	for i, x := range tensor.View[int64](out[0].T) {
		require.EqualValues(t, want[0].Data[i], x)
	}
}

func TestModelErrors(t *testing.T) {
	d := openDevice(t, "ort:cpu")
	one, bytesOut := plan(t, small()), plan(t, datagraph.New(transforms.NewDecode(), transforms.NewResize(8, 8)))
	decoded := plan(t, datagraph.New(transforms.NewDecode(), transforms.NewToTensor()).Rename("pixel_values"))
	wrong := plan(t, datagraph.New(transforms.NewDecode(), transforms.NewResize(8, 9), transforms.NewToTensor()).Rename("pixel_values"))
	broken := model(t, "plain")
	broken = broken[:len(broken)-9]
	for _, c := range []struct {
		plan  *datagraph.Plan
		model []byte
		err   string
	}{
		{one, []byte{}, "the model is empty"},
		{one, []byte("no model"), "ONNX Runtime: CreateSessionFromArray: INVALID_PROTOBUF"},
		{one, broken, "ONNX Runtime: CreateSessionFromArray: "},
		{one, model(t, "two"), "no output of the graph has the name of the input a (float32 [1 3 ? ?]); the graph's outputs are pixel_values (float32 CHW (3, 8, 8))"},
		{one, model(t, "bytes"), "the input anything (uint8 [1 ? ? 3]) takes another type than pixel_values is"},
		{bytesOut, model(t, "plain"), "takes another type than image is"},
		{wrong, model(t, "fixed"), "axis 3 of the input pixel_values (float32 [1 3 8 8]) is not that of pixel_values"},
		{one, model(t, "text"), "the model's output text: its elements are string"},
		{one, model(t, "sequence"), "the model's output list: it is no tensor"},
	} {
		_, err := d.Open(c.plan, device.Options{Model: c.model})
		require.ErrorContains(t, err, c.err)
	}
	// Here only a run determines the size.
	s := openSession(t, d, decoded, device.Options{Model: model(t, "fixed")})
	_, err := s.Infer(t.Context(), tensor.FromBytes(picture(t, images[0])))
	require.ErrorContains(t, err, "ONNX Runtime: ")
	require.ErrorContains(t, err, "pixel_values")

	s = openSession(t, d, one, device.Options{})
	_, err = s.Infer(t.Context(), tensor.FromBytes(picture(t, images[0])))
	require.ErrorContains(t, err, "no model")
	require.ErrorContains(t, d.Close(), "sessions are open")
	require.NoError(t, s.Close())
	_, err = s.Preprocess(t.Context(), tensor.FromBytes(picture(t, images[0])))
	require.ErrorIs(t, err, errClosed)
}

// TestProvider measures a provider on presets and in training pipelines:
// ort:cpu, or that of INFER_PREP_ORT_DEVICE, which device/gpu/test.sh sets.
func TestProvider(t *testing.T) {
	spec := cmp.Or(os.Getenv("INFER_PREP_ORT_DEVICE"), "ort:cpu")
	worst := device.Exact
	for _, name := range preset.Names() {
		p := presetPlan(t, name)
		r, err := device.Verify(t.Context(), openDevice(t, spec), p, goldens(t, p, "jpeg_base_420.jpg", "png_rgb8.png", "jpeg_large.jpg"), device.Approximate)
		require.NoError(t, err, name)
		largest := 0.0
		for _, o := range r.Outputs {
			// Float32 has 24 bits, and the tails are a few operations on values
			// below 10.
			require.LessOrEqual(t, o.Largest, 1e-4, "%s: %v", name, o)
			largest = max(largest, o.Largest)
		}
		worst = min(worst, r.Class)
		t.Logf("measured: %s, preset %s: %v, largest difference %g", spec, name, r.Class, largest)
	}
	t.Logf("measured: %s: %v", spec, worst)
	if worst == device.Exact {
		devicetest.SameSamples(t, openDevice(t, spec+",claim=exact"), filepath.Join("..", "..", "testdata", "images"))
		t.Logf("measured: %s: training pipelines return the host's bytes", spec)
	}
}

// TestPipelines compares training pipelines on the device with those of the
// host.
func TestPipelines(t *testing.T) {
	for _, spec := range []string{"ort:cpu", "ort:cpu,form=exact"} {
		devicetest.SameSamples(t, openDevice(t, spec), filepath.Join("..", "..", "testdata", "images"))
	}
}

// TestFellBack uses a provider that accepts no node, so that ORT runs every
// node on the CPU.
func TestFellBack(t *testing.T) {
	p := plan(t, small())
	for _, spec := range []string{"ort:azure", "ort:azure,fallback=none", "ort:azure,form=host", "ort:azure,form=host,fallback=none"} {
		d := openDevice(t, spec)
		_, err := d.Open(p, device.Options{Model: model(t, "plain")})
		require.ErrorIs(t, err, device.ErrFellBack, spec)
		require.ErrorContains(t, err, "AzureExecutionProvider")
	}
	d := openDevice(t, "ort:azure,fallback=all")
	_, err := d.Open(p, device.Options{Least: device.Exact})
	require.ErrorIs(t, err, device.ErrClass)
	s := openSession(t, d, p, device.Options{Model: model(t, "plain")})
	require.Contains(t, s.Placement()[3].Why, "the provider has not been measured; ")
	if d.a.has(slotSessionGetAssignment) {
		require.Equal(t, map[string][]string{"CPUExecutionProvider": {"Mul", "Add"}}, s.Assigned())
		require.Contains(t, s.Placement()[3].Why, "; CPUExecutionProvider runs ")
	}
	b := picture(t, images[0])
	out, err := s.Infer(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
	require.Equal(t, linear(t, p, b), tensor.View[float32](out[0].T))

	// Verify reports the measured class, not the claimed one.
	r, err := device.Verify(t.Context(), d, p, goldens(t, p, images[0]), device.Exact)
	require.NoError(t, err)
	require.Equal(t, device.Approximate, r.Claimed)
	require.Equal(t, device.Exact, r.Class)
}

func TestCancel(t *testing.T) {
	d := openDevice(t, "ort:cpu")
	s := openSession(t, d, plan(t, small()), device.Options{Model: model(t, "endless")})
	b := picture(t, images[0])
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Infer(ctx, tensor.FromBytes(b)) // the deadline may pass before or during the run
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Infer(ctx, tensor.FromBytes(b))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.Preprocess(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
}

// TestParallel uses one device from several goroutines, each with its own
// session.
func TestParallel(t *testing.T) {
	d := openDevice(t, "ort:cpu,threads=1")
	p := plan(t, small())
	b := picture(t, images[0])
	want := linear(t, p, b)
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range cap(errs) {
		wg.Go(func() {
			s, err := d.Open(p, device.Options{Model: model(t, "batched")})
			if err != nil {
				errs <- err
				return
			}
			defer s.Close()
			for range 5 {
				out, err := s.Infer(context.Background(), tensor.FromBytes(b))
				if err != nil {
					errs <- err
					return
				}
				for i, x := range tensor.View[float32](out[0].T) {
					if x != want[i] {
						errs <- fmt.Errorf("at %d: got %v want %v", i, x, want[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

// TestSideOutputs checks that sessions also return side outputs made on the
// host.
func TestSideOutputs(t *testing.T) {
	p := presetPlan(t, "yolo")
	want, err := cpu.New().Open(p, device.Options{})
	require.NoError(t, err)
	b := picture(t, images[0])
	w, err := want.Preprocess(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
	s := openSession(t, openDevice(t, "ort:cpu"), p, device.Options{})
	got, err := s.Preprocess(t.Context(), tensor.FromBytes(b))
	require.NoError(t, err)
	require.Len(t, got, len(w))
	for i := range w {
		require.Equal(t, w[i].Desc, got[i].Desc)
		require.Equal(t, w[i].Data, got[i].Data)
	}
}

func TestUnavailable(t *testing.T) {
	library(t)
	lib, err := findLibrary("")
	require.NoError(t, err)
	empty := t.TempDir()
	other := filepath.Join(empty, "other.so")
	require.NoError(t, os.WriteFile(other, []byte("no library"), 0o600))
	for _, c := range []struct{ spec, err string }{
		{"ort:cpu,lib=" + filepath.Join(empty, "none"), "lib="},
		{"ort:cpu,lib=" + empty, "the folder has no"},
		{"ort:cpu,lib=" + other, other},
		{"ort:cuda", "and not CUDAExecutionProvider; want another library, or ep_library=PATH"},
		{"ort:coreml", "and not CoreMLExecutionProvider"},
		{"ort:plugin,ep_library=" + other, "ONNX Runtime: RegisterExecutionProviderLibrary"},
		{"ort:openvino,ep_library=" + filepath.Join(empty, "none"), "ONNX Runtime: RegisterExecutionProviderLibrary"},
	} {
		_, err := device.Open(c.spec)
		require.ErrorIs(t, err, device.ErrUnavailable, c.spec)
		require.ErrorContains(t, err, c.err)
	}
	a, err := loadAPI(lib)
	require.NoError(t, err)
	for h := range a.live {
		require.Zero(t, a.live[h].Load(), "objects of kind %d that were not released", h)
	}
	closed, err := device.Open("ort:cpu")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.NoError(t, closed.Close())
	_, err = closed.Open(plan(t, small()), device.Options{})
	require.ErrorContains(t, err, "the device is closed")
	t.Setenv(Environment, filepath.Join(empty, "none"))
	_, err = device.Open("ort:cpu")
	require.ErrorIs(t, err, device.ErrUnavailable)
	require.ErrorContains(t, err, Environment)

	// The library is also found in a virtual environment and by its folder.
	t.Setenv(Environment, "")
	capi := filepath.Join(empty, "lib", "python3.11", "site-packages", "onnxruntime", "capi")
	require.NoError(t, os.MkdirAll(capi, 0o700))
	for _, n := range []string{"libonnxruntime.so.1.9.0", "libonnxruntime.so.1.31.1", "libonnxruntime_providers_shared.so"} {
		require.NoError(t, os.WriteFile(filepath.Join(capi, n), nil, 0o600))
	}
	if runtime.GOOS == "linux" {
		t.Setenv("VIRTUAL_ENV", empty)
		found, err := findLibrary("")
		require.NoError(t, err)
		require.Equal(t, filepath.Join(capi, "libonnxruntime.so.1.31.1"), found)
	}
}
