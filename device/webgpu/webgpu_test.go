//go:build !(js && wasm)

package webgpu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gogpu/gputypes"
	"github.com/gogpu/wgpu"
	"github.com/gogpu/wgpu/core"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/device/internal/devicetest"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/gpu"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const lavapipe = "llvmpipe"

// onGPU reports whether the tests use a real GPU: device/gpu/test.sh sets the
// variable.
func onGPU() bool { return os.Getenv("INFER_PREP_WEBGPU") == "gpu" }

// testDevice opens lavapipe. lavapipe.sh installs it, and .ci/run calls that
// script, so that CI skips no test. With INFER_PREP_WEBGPU=gpu it opens the
// first discrete or integrated GPU and fails without one.
func testDevice(t testing.TB) *Device {
	o := Options{Adapter: lavapipe, Software: true}
	l, err := Adapters()
	require.NoError(t, err)
	if onGPU() {
		o = Options{Adapter: realGPU(t)}
	} else if _, err := choose(l, o); err != nil {
		t.Skipf("no Vulkan driver that needs no GPU: run ./lavapipe.sh (Debian: apt-get install mesa-vulkan-drivers): %v", err)
	}
	d, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestReopen opens and closes a device more often than NVIDIA's driver makes
// instances of Vulkan.
func TestReopen(t *testing.T) {
	o := Options{Adapter: testDevice(t).Adapter().Name, Software: true}
	for range 35 {
		d, err := Open(o)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

// realGPU returns the number of the first adapter whose driver says that it is
// a discrete or integrated GPU.
func realGPU(t testing.TB) string {
	l, ids, err := adapters()
	require.NoError(t, err)
	var all []string
	for i, a := range l {
		info, err := core.GetAdapterInfo(ids[i])
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%v, type %v", a, info.DeviceType))
		if hardware := info.DeviceType == gputypes.DeviceTypeDiscreteGPU || info.DeviceType == gputypes.DeviceTypeIntegratedGPU; hardware && !a.Software {
			t.Logf("adapter: %v, type %v, driver %s", a, info.DeviceType, info.Driver)
			return fmt.Sprint(i)
		}
	}
	t.Fatalf("no adapter is a discrete or integrated GPU; there are: %s", strings.Join(all, "; "))
	return ""
}

func compile(t testing.TB, g *datagraph.Graph) *datagraph.Plan {
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(t, err)
	return p
}

func session(t testing.TB, d *Device, p *datagraph.Plan) *Session {
	s, err := d.NewSession(p, device.Options{Least: device.Exact})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// onImage returns a graph whose input is an image of this description.
func onImage(d tensor.Desc, ops ...transforms.Op) *datagraph.Graph {
	g := datagraph.New(ops...)
	g.Inputs[0].Desc = d
	return g
}

// noise returns an image of random values from the seed.
func noise(t testing.TB, d tensor.Desc, seed uint64) *tensor.Tensor {
	x, err := tensor.New(d)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range x.Data {
		x.Data[i] = uint8(r.Uint32())
	}
	return x
}

// differ counts the differing bytes and describes the first one.
func differ(t testing.TB, got, want []*tensor.Tensor) (n, of int, where string) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Desc, got[i].Desc)
		of += len(want[i].Data)
		if bytes.Equal(got[i].Data, want[i].Data) {
			continue
		}
		for j := range want[i].Data {
			if got[i].Data[j] != want[i].Data[j] {
				if n == 0 {
					where = fmt.Sprintf("output %d: at byte %d: got %d want %d", i, j, got[i].Data[j], want[i].Data[j])
				}
				n++
			}
		}
	}
	return n, of, where
}

// equal runs a graph on the device and on the CPU and compares the results.
func equal(t testing.TB, d *Device, g *datagraph.Graph, in *tensor.Tensor) device.Placement {
	p := compile(t, g)
	s := session(t, d, p)
	want, wantErr := p.NewRunner().Run(in)
	got, err := s.Preprocess(context.Background(), in)
	require.Equal(t, wantErr, err)
	if err == nil {
		n, of, where := differ(t, got, want)
		require.Zero(t, n, "%d of %d bytes differ: %s", n, of, where)
	}
	return s.Placement()
}

func places1(p device.Placement) string {
	var l []string
	for _, s := range p {
		l = append(l, s.Where)
	}
	return strings.Join(l, " ")
}

var everyFilter = []transforms.Interpolation{
	transforms.Nearest, transforms.NearestExact, transforms.Box, transforms.Bilinear, transforms.Hamming, transforms.Bicubic, transforms.Lanczos,
}

func TestResize(t *testing.T) {
	d := testDevice(t)
	bytes, bad := 0, 0
	for i, c := range []struct{ h, w, oh, ow int }{
		{97, 131, 24, 33}, {64, 64, 32, 32}, {33, 47, 66, 94}, {17, 19, 224, 224}, {1, 1, 7, 5}, {7, 5, 1, 1}, {1, 50, 1, 9},
		{50, 1, 9, 1}, {1, 9, 50, 3}, {9, 1, 3, 50}, {100, 3, 10, 3}, {3, 100, 3, 10}, {256, 341, 224, 224}, {300, 40, 7, 38},
		{40, 300, 38, 7}, {61, 67, 59, 71}, {23, 29, 24, 29}, {23, 29, 23, 30}, {255, 257, 2, 3}, {480, 641, 256, 341},
	} {
		for k, f := range everyFilter {
			for _, ch := range []int{1, 3, 4, 5} {
				op := transforms.NewResize(c.oh, c.ow)
				op.Interpolation = f
				if ch == 4 { // torch has no alpha
					op.Backend, op.NoAntialias = transforms.TorchUint8, (i+k)%2 == 0
					if op.Validate() != nil {
						continue
					}
				}
				in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, ch), uint64(i))
				p := compile(t, onImage(in.Desc, op))
				s := session(t, d, p)
				require.Equal(t, "webgpu", places1(s.Placement()))
				want, err := p.NewRunner().Run(in)
				require.NoError(t, err)
				got, err := s.Preprocess(t.Context(), in)
				require.NoError(t, err)
				n, of, where := differ(t, got, want)
				require.Zero(t, n, "%v %v x %d: %s", c, f, ch, where)
				bad, bytes = bad+n, bytes+of
				require.NoError(t, s.Close())
			}
		}
	}
	t.Logf("20 sizes, %d filters, 4 numbers of channels: %d of %d bytes differ", len(everyFilter), bad, bytes)
}

// images returns the files of testdata/images.
func images(t testing.TB) map[string][]byte { return files(t, "images") }

func files(t testing.TB, folder string) map[string][]byte {
	l, err := filepath.Glob("../../testdata/" + folder + "/*")
	require.NoError(t, err)
	require.NotEmpty(t, l)
	all := map[string][]byte{}
	for _, f := range l {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		all[filepath.Base(f)] = b
	}
	return all
}

func imported(t testing.TB, name, file string) *datagraph.Graph {
	i, err := importer.Lookup(name)
	require.NoError(t, err)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	g, err := i.Import(b)
	require.NoError(t, err)
	return g
}

// TestGraphs runs the most important graphs over the images, and one of them
// over all images and the damaged ones. On software, which is slow, each other
// graph takes one image in five, and the next graph others.
func TestGraphs(t *testing.T) {
	d := testDevice(t)
	all := images(t)
	graphs := map[string]*datagraph.Graph{}
	for _, name := range preset.Names() {
		g, err := preset.Graph(name)
		require.NoError(t, err)
		graphs["preset "+name] = g
	}
	hf := func(name string) *datagraph.Graph {
		return imported(t, "hf", "../../testdata/configs/hf/"+name+".json")
	}
	graphs["ViT"] = hf("vit-base-patch16-224")
	graphs["CLIP"] = hf("clip-vit-base-patch32")
	graphs["ResNet"] = imported(t, "hf", "testdata/resnet-50.json")
	for k, name := range slices.Sorted(maps.Keys(graphs)) {
		g := graphs[name]
		t.Run(name, func(t *testing.T) {
			all := all
			if name == "ViT" {
				all = maps.Clone(all)
				maps.Copy(all, files(t, "damaged"))
			}
			p := compile(t, g)
			s := session(t, d, p)
			r := p.NewRunner()
			step := 1
			switch {
			case name == "preset yolo" || name == "preset decode":
				step = 20 // large tensors, which are mostly work for the host
			case name != "ViT" && !onGPU():
				step = 5
			}
			done, refused, total := 0, 0, 0
			for i, file := range slices.Sorted(maps.Keys(all)) {
				b := all[file]
				if i%step != k%step {
					continue
				}
				want, wantErr := r.Run(tensor.FromBytes(b))
				got, err := s.Preprocess(t.Context(), tensor.FromBytes(b))
				require.Equal(t, wantErr, err, file)
				if err != nil {
					refused++
					continue
				}
				n, of, where := differ(t, got, want)
				require.Zero(t, n, "%s: %s", file, where)
				done, total = done+1, total+of
			}
			t.Logf("%s: 0 of %d bytes differ, %d images, %d refused by both", places1(s.Placement()), total, done, refused)
		})
	}
}

// TestConfigs runs every importer's configurations on a large and a small
// image.
func TestConfigs(t *testing.T) {
	d := testDevice(t)
	all := images(t)
	n := 0
	for _, name := range []string{"hf", "timm", "torchvision", "ultralytics"} {
		l, err := filepath.Glob("../../testdata/configs/" + name + "/*")
		require.NoError(t, err)
		i, err := importer.Lookup(name)
		require.NoError(t, err)
		for _, file := range l {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			g, err := i.Import(b)
			if err != nil || g.Random() {
				continue // a configuration that importers must reject
			}
			n++
			t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
				for _, image := range []string{"jpeg_large.jpg", "jpeg_size_2x2_5x4.jpg"} {
					require.Contains(t, all, image)
					equal(t, d, g, tensor.FromBytes(all[image]))
				}
			})
		}
	}
	require.Greater(t, n, 20)
}

// anyOp returns a random op that may appear anywhere in a graph over a uint8
// image. Some combinations are errors.
func anyOp(r *rand.Rand) transforms.Op {
	n := func(most int) int { return r.IntN(most) + 1 }
	resize := transforms.NewResize(n(40), n(40))
	resize.Interpolation = everyFilter[r.IntN(len(everyFilter))]
	torch := transforms.NewResize(n(40), n(40))
	torch.Backend, torch.Interpolation = transforms.TorchUint8, []transforms.Interpolation{transforms.NearestExact, transforms.Bilinear, transforms.Bicubic}[r.IntN(3)]
	torch.NoAntialias = r.IntN(2) == 0
	shortest := transforms.NewResizeShortest(n(30))
	shortest.Interpolation = everyFilter[r.IntN(len(everyFilter))]
	cropped := transforms.NewResizedCrop(r.IntN(5), r.IntN(5), n(12), n(12), n(30), n(30))
	cropped.Interpolation = everyFilter[r.IntN(len(everyFilter))]
	letterbox := transforms.NewLetterbox(n(40), n(40))
	letterbox.Backend = transforms.Pillow
	letterbox.Fill = []float64{float64(r.IntN(256))}
	pad := transforms.NewPad(r.IntN(9), r.IntN(9), r.IntN(9), r.IntN(9))
	pad.Mode = transforms.PadMode(r.IntN(4))
	pad.Fill = []float64{float64(r.IntN(128))}
	toSize := transforms.NewPadToSize(40+n(9), 40+n(9))
	toSize.Mode = transforms.PadMode(r.IntN(4))
	toSize.Position = transforms.Position(r.IntN(3))
	opencv := transforms.NewResize(n(20), n(20))
	opencv.Backend = transforms.OpenCV
	l := []transforms.Op{
		resize, torch, shortest, cropped, letterbox, pad, toSize, opencv,
		transforms.NewCrop(r.IntN(9)-4, r.IntN(9)-4, n(30), n(30)), transforms.NewCenterCrop(n(30), n(30)),
		transforms.NewHorizontalFlip(), transforms.NewVerticalFlip(), transforms.NewInvert(), transforms.NewAdjustBrightness(1.5),
		transforms.NewToTensor(), transforms.NewRescale(1.0 / 255), transforms.NewNormalize([]float64{0.5}, []float64{0.25}),
		transforms.NewHWC2CHW(), transforms.NewCHW2HWC(), transforms.NewToType(tensor.Float16), transforms.NewToType(tensor.Int32),
		transforms.NewToType(tensor.Float64), transforms.NewToType(tensor.Uint8), transforms.NewQuantize([]float64{0.02}, []int{3}, tensor.Int8),
	}
	return l[r.IntN(len(l))]
}

// TestRandomGraphs checks that random graphs return the same results and errors
// on both devices.
func TestRandomGraphs(t *testing.T) {
	d := testDevice(t)
	r := rand.New(rand.NewPCG(7, 11))
	ran, refused, steps, there := 0, 0, 0, 0
	for ran < 400 {
		in := tensor.Image(tensor.Uint8, tensor.HWC, r.IntN(40)+1, r.IntN(40)+1, []int{1, 2, 3, 3, 4}[r.IntN(5)])
		var ops []transforms.Op
		for range r.IntN(6) + 1 {
			ops = append(ops, anyOp(r))
		}
		g := onImage(in, ops...)
		if r.IntN(2) == 0 { // sizes that only a run determines
			g.Inputs[0].Desc = in.WithSize(tensor.Unknown, tensor.Unknown)
		}
		if r.IntN(3) == 0 { // an intermediate image is an output, too
			g.Steps[len(ops)/2].Out[0] = "middle"
			if m := len(ops)/2 + 1; m < len(ops) {
				g.Steps[m].In[0] = "middle"
			} else {
				g.Outputs[0] = "middle"
			}
			g.SideOutputs = append(g.SideOutputs, "middle")
		}
		if _, err := datagraph.Compile(g, datagraph.CompileOptions{}); err != nil {
			refused++
			continue
		}
		text, err := json.Marshal(g)
		require.NoError(t, err)
		d.band = int64(r.IntN(2) * 200)
		ok := t.Run(fmt.Sprint(ran), func(t *testing.T) {
			for _, p := range equal(t, d, g, noise(t, in, uint64(ran))) {
				steps++
				if p.Where == "webgpu" {
					there++
				}
			}
		})
		require.True(t, ok, "%v %s", in, text)
		ran++
	}
	t.Logf("%d graphs (%d more do not compile): %d of %d steps on the device", ran, refused, there, steps)
}

func TestPlacement(t *testing.T) {
	d := testDevice(t)
	lanczos := transforms.NewResize(20, 20)
	lanczos.Interpolation = transforms.Lanczos
	opencv := transforms.NewResize(20, 20)
	opencv.Backend = transforms.OpenCV
	rgb := tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
	for _, c := range []struct {
		name string
		g    *datagraph.Graph
		want string
		why  string
	}{
		{"usual", datagraph.New(transforms.NewDecode(), transforms.NewResize(9, 9), transforms.NewCenterCrop(5, 5), transforms.NewToTensor()), "cpu webgpu webgpu webgpu", ""},
		{"opencv", onImage(rgb, opencv, transforms.NewToTensor()), "cpu webgpu", "backend opencv, want pillow"},
		{"alpha", onImage(rgb.WithChannels(4), lanczos), "cpu", "4 channels, the last of which is alpha"},
		{"float resize", onImage(rgb, transforms.NewToTensor(), lanczos), "webgpu cpu", "want uint8 HWC of known channels"},
		{"after floats", onImage(rgb, transforms.NewToTensor(), transforms.NewHorizontalFlip(), transforms.NewNormalize([]float64{1}, []float64{2})), "webgpu webgpu cpu", "does not follow value by value"},
		{"float64", onImage(rgb, transforms.NewToType(tensor.Float64)), "cpu", "elements of float64"},
		{"rotate", onImage(rgb, transforms.NewRotate90(1)), "cpu", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := d.Place(compile(t, c.g))
			require.NoError(t, err)
			require.Equal(t, c.want, places1(p))
			require.Equal(t, device.Exact, p.Least())
			var why []string
			for i, s := range p {
				require.Equal(t, i, s.Step)
				require.Equal(t, transforms.InfoOf(c.g.Steps[i].Op).Name, s.Op)
				if s.Why != "" {
					why = append(why, s.Why)
				}
			}
			require.Contains(t, strings.Join(why, "; "), c.why)
		})
	}
}

// TestBands checks every way of uploading an image in pieces.
func TestBands(t *testing.T) {
	d := testDevice(t)
	for _, c := range []struct {
		name          string
		h, w, oh, ow  int
		band          int64
		where, reason string
	}{
		{"width first", 101, 67, 20, 21, 5 * 67 * 3, "webgpu", ""},
		{"width alone", 101, 67, 101, 21, 9 * 67 * 3, "webgpu", ""},
		{"height first", 301, 20, 37, 19, 100 * 20 * 3, "webgpu", ""},
		{"height alone", 301, 20, 37, 20, 100 * 20 * 3, "webgpu", ""},
		{"height first up to the end", 303, 21, 39, 20, 100 * 21 * 3, "webgpu", ""},
		{"less than four rows", 101, 67, 20, 21, 3 * 67 * 3, "cpu", "4 rows of 201 bytes, the most at a time are 603"},
		{"less than an output's rows", 301, 20, 4, 19, 60 * 20 * 3, "cpu", "rows of 60 bytes at a time"},
	} {
		for _, f := range []transforms.Interpolation{transforms.Bilinear, transforms.Lanczos} {
			t.Run(fmt.Sprint(c.name, " ", f), func(t *testing.T) {
				op := transforms.NewResize(c.oh, c.ow)
				op.Interpolation = f
				d.band = c.band
				defer func() { d.band = 0 }()
				p := equal(t, d, onImage(tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, 3), op, transforms.NewInvert()), noise(t, tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, 3), 3))
				require.Equal(t, c.where+" "+c.where, places1(p))
				require.Contains(t, p[0].Why, c.reason)
			})
		}
	}
}

// TestLimits checks that the host runs exactly the steps that exceed the
// adapter's or the plan's limits.
func TestLimits(t *testing.T) {
	d := testDevice(t)
	limits := d.limits
	defer func() { d.limits = limits }()
	g := onImage(tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3),
		transforms.NewHorizontalFlip(), transforms.NewResize(20, 20), transforms.NewToTensor())
	p := compile(t, g)
	s := session(t, d, p)
	run := func(h, w int) string {
		in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, h, w, 3), 5)
		want, err := p.NewRunner().Run(in)
		require.NoError(t, err)
		got, err := s.Preprocess(t.Context(), in)
		require.NoError(t, err)
		n, _, where := differ(t, got, want)
		require.Zero(t, n, where)
		return places1(s.Placement())
	}
	d.limits.MaxStorageBufferBindingSize = 5000
	require.Equal(t, "webgpu webgpu webgpu", run(30, 40))
	require.Equal(t, "cpu cpu cpu", run(50, 40))
	require.Contains(t, s.Placement()[0].Why, "the most of one buffer is 5000")
	require.Equal(t, "webgpu webgpu webgpu", run(30, 40), "the next run begins anew")
	d.strict = true
	_, err := s.Preprocess(t.Context(), noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 50, 40, 3), 5))
	require.ErrorIs(t, err, device.ErrFellBack)
	require.ErrorContains(t, err, "step 0 (horizontal_flip)")
	require.Equal(t, "webgpu webgpu webgpu", run(30, 40))
	d.strict = false
	d.limits.MaxStorageBufferBindingSize = 4000
	require.Equal(t, "webgpu webgpu cpu", run(30, 40))
	d.limits = limits
	d.limits.MaxComputeWorkgroupsPerDimension = 5
	require.Equal(t, "webgpu webgpu webgpu", run(30, 30), "in two dimensions")
	require.Equal(t, "cpu cpu cpu", run(50, 60))
	require.Contains(t, s.Placement()[0].Why, "workgroups, the most are 25")
	d.limits = limits

	// The plan's limit bounds all buffers together, including those kept
	// between runs.
	small := codec.DefaultLimits()
	small.Bytes = 20000
	p, err = datagraph.Compile(g, datagraph.CompileOptions{Limits: small})
	require.NoError(t, err)
	s = session(t, d, p)
	for _, n := range []int{10, 20, 30, 35, 30, 12} {
		run(n, n)
		require.LessOrEqual(t, s.mem.total, small.Bytes)
	}
	require.Equal(t, "webgpu webgpu webgpu", run(10, 10))
	require.Equal(t, "cpu cpu cpu", run(75, 75))
}

// TestMemory checks that running the same images again allocates no more
// memory.
func TestMemory(t *testing.T) {
	d := testDevice(t)
	g, err := preset.Graph("imagenet")
	require.NoError(t, err)
	s := session(t, d, compile(t, g))
	all := images(t)
	var sizes [4]int64
	for i := range sizes {
		for _, name := range []string{"jpeg_base_420.jpg", "jpeg_large.jpg", "png_rgb8.png", "tiff_lx.tif"} {
			_, err := s.Preprocess(t.Context(), tensor.FromBytes(all[name]))
			require.NoError(t, err, name)
		}
		sizes[i] = s.mem.total
	}
	require.Equal(t, sizes[1], sizes[3])
	require.Less(t, sizes[3], int64(100<<20))
}

// TestOnDevice checks that results on the device equal those read back, and
// that other GPU work can use them.
func TestOnDevice(t *testing.T) {
	d := testDevice(t)
	in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 30, 41, 3), 9)
	letterbox := transforms.NewLetterbox(19, 23)
	letterbox.Backend = transforms.Pillow
	p := compile(t, onImage(in.Desc, letterbox, transforms.NewToTensor()))
	want, err := p.NewRunner().Run(in)
	require.NoError(t, err)
	s := session(t, d, p)
	for range 3 {
		got, err := s.PreprocessOnDevice(t.Context(), in)
		require.NoError(t, err)
		require.Len(t, got, 3)
		for i, b := range got {
			require.Equal(t, p.Outputs()[i].Name, b.Name)
			require.Equal(t, want[i].Desc, b.Desc)
			follower := &memory{d: d}
			back := make([]byte, len(want[i].Data))
			require.NoError(t, follower.Read([]gpu.Fetch{{From: &buffer{gpu: b.GPU}, To: back}}))
			require.NoError(t, follower.close())
			require.Equal(t, want[i].Data, back, b.Name)
		}
	}
	// An encoded image stays on the host.
	g := datagraph.New(transforms.NewDecode())
	g.Steps[0].Out[0] = "pixels"
	g.Outputs = []string{"pixels", "image"}
	_, err = session(t, d, compile(t, g)).PreprocessOnDevice(t.Context(), tensor.FromBytes(images(t)["png_rgb8.png"]))
	require.ErrorContains(t, err, `output "image" is a byte string`)
}

// TestPipelines compares training pipelines on the device with those of the
// host.
func TestPipelines(t *testing.T) {
	devicetest.SameSamples(t, testDevice(t), filepath.Join("..", "..", "testdata", "images"))
}

// TestStrided checks that inputs may be views and are not changed.
func TestStrided(t *testing.T) {
	d := testDevice(t)
	in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 20, 30, 3), 2)
	view, err := in.Slice(1, 3, 20)
	require.NoError(t, err)
	before := in.Clone()
	equal(t, d, onImage(view.Desc, transforms.NewResize(9, 8)), view)
	equal(t, d, onImage(view.Desc, transforms.NewHorizontalFlip()), view)
	d.band = 60 * 4
	defer func() { d.band = 0 }()
	equal(t, d, onImage(view.Desc, transforms.NewResize(9, 8)), view)
	require.Equal(t, before.Data, in.Data)
}

// TestSessions runs several sessions of one device at once.
func TestSessions(t *testing.T) {
	d := testDevice(t)
	in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 60, 41, 3), 9)
	var wg sync.WaitGroup
	for n := range 4 {
		p := compile(t, onImage(in.Desc, transforms.NewResize(20+n, 30), transforms.NewToTensor()))
		s := session(t, d, p)
		want, err := p.NewRunner().Run(in)
		require.NoError(t, err)
		wg.Go(func() {
			for range 10 {
				got, err := s.Preprocess(t.Context(), in)
				if err != nil || !bytes.Equal(got[0].Data, want[0].Data) {
					t.Errorf("session %d: other bytes, or %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestChoose(t *testing.T) {
	info := func(name string, k gputypes.DeviceType) Adapter {
		return adapterOf(gputypes.AdapterInfo{Name: name, DeviceType: k})
	}
	cpu, odd := info("llvmpipe (LLVM 15)", gputypes.DeviceTypeCPU), info("Microsoft Basic Render Driver", gputypes.DeviceTypeOther)
	a, b := info("GPU Alpha 3", gputypes.DeviceTypeDiscreteGPU), info("GPU Beta", gputypes.DeviceTypeIntegratedGPU)
	require.True(t, cpu.Software && odd.Software)
	require.False(t, a.Software || b.Software)
	for _, c := range []struct {
		name string
		l    []Adapter
		o    Options
		want int
		err  error
	}{
		{"the first GPU", []Adapter{cpu, a, b}, Options{}, 1, nil},
		{"a GPU although software would do", []Adapter{cpu, a, b}, Options{Software: true}, 1, nil},
		{"by number", []Adapter{cpu, a, b}, Options{Adapter: "2"}, 2, nil},
		{"by name", []Adapter{cpu, a, b}, Options{Adapter: "beta"}, 2, nil},
		{"by a name with a number", []Adapter{a, b}, Options{Adapter: "3"}, 0, nil},
		{"no such number", []Adapter{b}, Options{Adapter: "7"}, 0, device.ErrUnavailable},
		{"software by number", []Adapter{cpu, a}, Options{Adapter: "0"}, 0, ErrSoftware},
		{"software by number, accepted", []Adapter{cpu, a}, Options{Adapter: "0", Software: true}, 0, nil},
		{"software only", []Adapter{odd, cpu}, Options{}, 0, ErrSoftware},
		{"software only, accepted", []Adapter{odd, cpu}, Options{Software: true}, 0, nil},
		{"nothing", nil, Options{Software: true}, 0, device.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := choose(c.l, c.o)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, got)
		})
	}
	require.ErrorIs(t, ErrSoftware, device.ErrUnavailable)
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ spec, text string }{
		{"webgpu,speed=1", `invalid option "speed", want one of adapter, software, strict`},
		{"webgpu,software=perhaps", `software="perhaps", want true or false`},
		{"webgpu,strict=", `strict="", want true or false`},
		{"webgpu,adapter=", "adapter is empty"},
	} {
		_, err := device.Open(c.spec)
		require.ErrorIs(t, err, ErrOption)
		require.ErrorContains(t, err, c.text)
	}
	_, err := device.Open("webgpu,software=true,adapter=none of this name")
	require.ErrorIs(t, err, device.ErrUnavailable)

	d := testDevice(t)
	require.Equal(t, "webgpu", d.Name())
	require.Equal(t, !onGPU(), d.Adapter().Software)
	if !onGPU() {
		_, err = device.Open("webgpu,adapter=" + lavapipe)
		require.ErrorIs(t, err, ErrSoftware)
	}

	in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 8, 8, 3), 1)
	p := compile(t, onImage(in.Desc, transforms.NewResize(4, 4)))
	_, err = d.Open(p, device.Options{Model: []byte{}})
	require.ErrorIs(t, err, ErrModel)
	require.ErrorIs(t, err, device.ErrUnavailable)
	_, err = d.Open(p, device.Options{Least: device.Exact + 1})
	require.ErrorIs(t, err, device.ErrClass)
	random := compile(t, onImage(in.Desc, transforms.NewRandomHorizontalFlip()))
	_, err = d.Place(random)
	require.ErrorIs(t, err, ErrRandom)
	_, err = d.Open(random, device.Options{})
	require.ErrorIs(t, err, ErrRandom)

	s := session(t, d, p)
	_, err = s.Infer(t.Context(), in)
	require.ErrorIs(t, err, ErrModel)
	_, err = s.Preprocess(t.Context())
	require.ErrorContains(t, err, "0 inputs, want 1")
	_, err = s.Preprocess(t.Context(), nil)
	require.ErrorIs(t, err, transforms.ErrInput)
	_, err = s.Preprocess(t.Context(), tensor.FromBytes([]byte{1}))
	require.ErrorIs(t, err, transforms.ErrInput)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Preprocess(ctx, in)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Preprocess(t.Context(), in)
	require.NoError(t, err, "a session goes on after an error")

	// Errors of steps equal the CPU's and have the graph's step numbers.
	p = compile(t, datagraph.New(transforms.NewDecode(), transforms.NewResizeShortest(20), transforms.NewPadToSize(21, 21), transforms.NewToTensor()))
	steps := session(t, d, p)
	for step, b := range map[int][]byte{0: []byte("no image"), 2: images(t)["jpeg_large.jpg"]} {
		_, want := p.NewRunner().Run(tensor.FromBytes(b))
		var se *datagraph.StepError
		require.ErrorAs(t, want, &se)
		require.Equal(t, step, se.Step)
		_, err := steps.Preprocess(t.Context(), tensor.FromBytes(b))
		require.Equal(t, want, err)
	}

	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Preprocess(t.Context(), in)
	require.ErrorIs(t, err, ErrClosed)
	s = session(t, d, p)
	require.NoError(t, d.Close())
	_, err = s.Preprocess(t.Context(), in)
	require.ErrorIs(t, err, ErrClosed)
}

// TestLost checks that a lost device stays lost and that a panic of the library
// becomes an error.
func TestLost(t *testing.T) {
	d := testDevice(t)
	in := noise(t, tensor.Image(tensor.Uint8, tensor.HWC, 8, 8, 3), 1)
	s := session(t, d, compile(t, onImage(in.Desc, transforms.NewResize(4, 4))))
	var e *Error
	err := s.locked(func() error { panic("of the library") })
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "webgpu: running: panic: of the library")
	_, err = s.Preprocess(t.Context(), in)
	require.NoError(t, err)
	err = s.locked(func() error { return failed(wgpu.ErrDeviceLost, "submitting") })
	require.ErrorIs(t, err, ErrLost)
	require.ErrorAs(t, err, &e)
	_, err = s.Preprocess(t.Context(), in)
	require.ErrorIs(t, err, ErrLost)
	require.False(t, errors.Is(failed(wgpu.ErrTimeout, "waiting"), ErrLost))
}
