package datagraph_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

type namedGraph struct {
	name  string
	graph *datagraph.Graph
}

type namedImage struct {
	name string
	t    *tensor.Tensor
}

// knownGraphs returns the presets and all importer configurations.
func knownGraphs(t testing.TB) (l []namedGraph) {
	for _, n := range preset.Names() {
		g, err := preset.Graph(n)
		require.NoError(t, err)
		l = append(l, namedGraph{n, g})
	}
	for _, n := range importer.Names() {
		switch n {
		case "onnx": // it reads a graph embedded in a model
			continue
		case "kaldi", "librosa", "torchaudio": // of sounds
			continue
		}
		files, err := filepath.Glob("../testdata/configs/" + n + "/*")
		require.NoError(t, err)
		require.NotEmpty(t, files, n)
		i, _ := importer.Lookup(n)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			g, err := i.Import(b)
			require.NoError(t, err, f)
			l = append(l, namedGraph{n + "/" + filepath.Base(f), g})
		}
	}
	return l
}

func resize(h, w int, i transforms.Interpolation, b transforms.Backend) *transforms.Resize {
	r := transforms.NewResize(h, w)
	r.Interpolation, r.Backend = i, b
	return r
}

// scalings returns resizing ops of every filter and backend, which enlarge and
// reduce images with sides of about 4 to 400.
func scalings() (l []transforms.Op) {
	sizes := [][2]int{{20, 30}, {61, 47}, {300, 11}, {9, 250}, {3, 3}, {150, 150}}
	add := func(i transforms.Interpolation, b transforms.Backend) {
		for _, s := range sizes {
			l = append(l, resize(s[0], s[1], i, b))
		}
		short := transforms.NewResizeShortest(40)
		short.Interpolation, short.Backend = i, b
		l = append(l, short)
		cut := transforms.NewResizedCrop(2, 3, 9, 7, 20, 5)
		cut.Interpolation, cut.Backend = i, b
		l = append(l, cut)
		box := transforms.NewLetterbox(70, 50)
		box.Interpolation, box.Backend, box.Fill = i, b, []float64{77}
		l = append(l, box)
	}
	for _, i := range []transforms.Interpolation{
		transforms.Nearest, transforms.NearestExact, transforms.Box, transforms.Bilinear, transforms.Hamming, transforms.Bicubic, transforms.Lanczos,
	} {
		add(i, transforms.Pillow)
	}
	for _, i := range []transforms.Interpolation{transforms.Nearest, transforms.NearestExact, transforms.Bilinear, transforms.Bicubic, transforms.Area} {
		add(i, transforms.OpenCV)
	}
	for _, i := range []transforms.Interpolation{transforms.Nearest, transforms.NearestExact, transforms.Bilinear, transforms.Bicubic, transforms.Lanczos} {
		add(i, transforms.TorchUint8)
	}
	plain := resize(9, 90, transforms.Bicubic, transforms.TorchUint8)
	plain.NoAntialias = true
	add(transforms.Bilinear, transforms.Torch)
	return append(l, plain)
}

// heads returns ops to put before a resize, and tails ops to put after it, for
// ch channels.
func heads() [][]transforms.Op {
	return [][]transforms.Op{
		nil, nil,
		{transforms.NewCrop(1, 2, 12, 14)},
		{transforms.NewHorizontalFlip()},
		{transforms.NewVerticalFlip(), transforms.NewHorizontalFlip()},
		{transforms.NewCenterCrop(13, 12), transforms.NewVerticalFlip()},
		{transforms.NewCrop(-1, 0, 30, 20)},
		{transforms.NewInvert()},
	}
}

func tails(ch int) [][]transforms.Op {
	mean, std := []float64{0.4, 0.5, 0.6, 0.7}[:ch], []float64{0.2, 0.3, 0.4, 0.5}[:ch]
	filled := transforms.NewCenterCrop(333, 55)
	filled.Fill = []float64{10, 20, 30, 40}[:ch]
	refilled := transforms.NewCenterCrop(360, 80)
	refilled.Fill = []float64{9}
	return [][]transforms.Op{
		nil,
		{transforms.NewCenterCrop(16, 18), transforms.NewToTensor(), transforms.NewNormalize(mean, std)},
		{transforms.NewHorizontalFlip(), transforms.NewCrop(1, 0, 2, 3), transforms.NewRescale(1.0 / 255), transforms.NewHWC2CHW()},
		{transforms.NewVerticalFlip(), transforms.NewToType(tensor.Float16)},
		{transforms.NewCrop(-4, -3, 80, 90), transforms.NewToTensor()},
		{filled, transforms.NewHWC2CHW(), transforms.NewRescale(1.0 / 255), transforms.NewQuantize([]float64{0.01}, []int{-3}, tensor.Int8)},
		{filled, transforms.NewHorizontalFlip(), refilled, transforms.NewToType(tensor.BFloat16)},
		{transforms.NewCenterCrop(30, 500), transforms.NewVerticalFlip(), transforms.NewCrop(2, 1, 7, 300), transforms.NewInvert()},
		{transforms.NewToTensor(), transforms.NewCenterCrop(8, 9)},
		{transforms.NewCrop(1, 1, 60, 40), transforms.NewRescale(2), transforms.NewNormalize(mean, std), transforms.NewToType(tensor.Float64)},
		{transforms.NewCrop(900, 900, 4, 4)},
		{transforms.NewHWC2CHW(), transforms.NewInvert(), transforms.NewCHW2HWC(), transforms.NewToType(tensor.Int64)},
	}
}

// madeGraphs returns n graphs that combine heads, scalings and tails for images
// of ch channels. first, if any, produces the image.
func madeGraphs(n, ch int, first ...transforms.Op) (l []namedGraph) {
	h, s, t := heads(), append(scalings(), nil), tails(ch)
	for i := range n {
		ops := slices.Clone(first)
		ops = append(ops, h[(i/7+i)%len(h)]...)
		if o := s[i%len(s)]; o != nil {
			ops = append(ops, o)
		}
		ops = append(ops, t[(i/len(s)*5+i)%len(t)]...)
		var names []string
		for _, o := range ops {
			names = append(names, fmt.Sprintf("%s%+v", transforms.InfoOf(o).Name, o))
		}
		g := datagraph.New(ops...)
		if len(first) == 0 {
			g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, -1, -1, ch)
		}
		l = append(l, namedGraph{strings.Join(names, " "), g})
	}
	return l
}

// wirings returns graphs that read columns twice, rebind them, and output
// intermediate columns.
func wirings() (l []namedGraph) {
	add := func(name string, edit func(g *datagraph.Graph)) {
		g := datagraph.New(transforms.NewDecode())
		edit(g)
		l = append(l, namedGraph{name, g})
	}
	one, two := []string{"one"}, []string{"two"}
	img := []string{"image"}
	crop, table, small := transforms.NewCenterCrop(9, 11), transforms.NewToTensor(), transforms.NewResizeShortest(20)
	add("the decoded image is an output too", func(g *datagraph.Graph) {
		g.Then(small, img, one).Then(crop, one, one).Then(table, one, one)
		g.Outputs = []string{"one", "image"}
	})
	add("the resized image is a side output", func(g *datagraph.Graph) {
		g.Then(small, img, one).Then(crop, one, two).Then(table, two, two)
		g.Outputs, g.SideOutputs = two, one
	})
	add("the cropped image is read twice", func(g *datagraph.Graph) {
		g.Then(small, img, one).Then(crop, one, one).Then(table, one, two).Then(transforms.NewInvert(), one, one)
		g.Outputs = []string{"two", "one"}
	})
	add("the decoded image is read twice", func(g *datagraph.Graph) {
		g.Then(crop, img, one).Then(table, one, one).Then(small, img, two).Then(crop, two, two).Then(table, two, two)
		g.Outputs = []string{"two", "one"}
	})
	add("rebound", func(g *datagraph.Graph) {
		g.Then(small, img, img).Then(transforms.NewHorizontalFlip(), img, one).Then(crop, one, img).Then(table, img, one)
		g.Outputs = []string{"one", "image"}
	})
	add("the values between are an output", func(g *datagraph.Graph) {
		g.Then(small, img, img).Then(crop, img, img).Then(table, img, one).Then(transforms.NewNormalize([]float64{1}, []float64{2}), one, two)
		g.Outputs = []string{"two", "one"}
	})
	box := transforms.NewLetterbox(40, 30)
	add("letterbox with side outputs and a crop", func(g *datagraph.Graph) {
		g.Add(box).Add(transforms.NewHorizontalFlip()).Add(transforms.NewCenterCrop(30, 60)).Add(table)
	})
	add("two letterboxes", func(g *datagraph.Graph) {
		g.Add(box).Then(box, img, []string{"image", "scale2", "pad2"}).Add(table)
		g.SideOutputs = append(g.SideOutputs, "scale2", "pad2")
	})
	add("the letterbox's scale is read", func(g *datagraph.Graph) {
		g.Add(box).Add(crop).Then(transforms.NewToType(tensor.Float64), []string{"scale"}, one)
		g.Outputs = []string{"image", "one"}
	})
	size := func(g *datagraph.Graph, name string) {
		g.Then(transforms.NewImageSize(), img, []string{name})
		g.SideOutputs = append(g.SideOutputs, name)
	}
	add("sizes before and after a resize", func(g *datagraph.Graph) {
		size(g, "a")
		g.Add(small)
		size(g, "b")
		size(g, "c")
		g.Add(table)
		size(g, "d")
	})
	add("sizes around a letterbox", func(g *datagraph.Graph) {
		size(g, "a")
		g.Add(box)
		size(g, "b")
		g.Add(crop).Add(table)
		size(g, "c")
	})
	add("the size of an image that is read twice", func(g *datagraph.Graph) {
		size(g, "a")
		g.Then(crop, img, one).Then(table, one, one).Add(small).Add(table)
		g.Outputs = []string{"image", "one"}
	})
	add("the size of an output", func(g *datagraph.Graph) {
		size(g, "a")
		g.Then(small, img, one).Then(table, one, one)
		g.Outputs = []string{"one", "image"}
	})
	add("the size alone", func(g *datagraph.Graph) { size(g, "a") })
	add("nothing but a table", func(g *datagraph.Graph) { g.Add(table) })
	add("two resizes", func(g *datagraph.Graph) { g.Add(small).Add(crop).Add(transforms.NewResize(30, 7)).Add(crop).Add(table) })
	add("a padding before a resize", func(g *datagraph.Graph) { g.Add(transforms.NewCenterCrop(600, 600)).Add(small).Add(table) })
	for _, c := range []codec.Color{codec.ToRGBA, codec.ToGray, codec.ToBGR, codec.ToLuma} {
		d := *transforms.NewDecode()
		d.Color, d.Orientation = c, codec.OrientationApply
		l = append(l, namedGraph{fmt.Sprint(c), datagraph.New(&d, small, crop, table)})
		l = append(l, namedGraph{fmt.Sprint(c, " crop"), datagraph.New(&d, transforms.NewCrop(2, 1, 5, 4), table)})
		l = append(l, namedGraph{fmt.Sprint(c, " tall"), datagraph.New(&d, transforms.NewResize(4, 200), transforms.NewVerticalFlip())})
	}
	colored := transforms.NewCenterCrop(25, 60)
	colored.Fill = []float64{1, 2, 3}
	swap, back := transforms.NewConvertColor(transforms.RGB, transforms.BGR), transforms.NewConvertColor(transforms.BGR, transforms.RGB)
	white := *transforms.NewDecode()
	white.Alpha = codec.AlphaWhite
	l = append(l, namedGraph{"bgr at the end", datagraph.New(&white, small, colored, swap)},
		namedGraph{"bgr", datagraph.New(&white, small, colored, swap, table, transforms.NewNormalize([]float64{1, 2, 3}, []float64{4, 5, 6}))},
		namedGraph{"bgr, then a crop", datagraph.New(&white, swap, colored, table)},
		namedGraph{"there and back", datagraph.New(&white, swap, back, table)})
	for _, c := range []codec.Damage{codec.DamageLenient, codec.DamageStrict} {
		d := *transforms.NewDecode()
		d.Damage = c
		l = append(l, namedGraph{fmt.Sprint(c), datagraph.New(&d, small, crop, table)})
	}
	return l
}

// files returns all test images, the damaged ones, and some of odd sizes.
func files(t testing.TB) (l []namedImage) {
	for _, dir := range []string{"images", "damaged"} {
		names, err := filepath.Glob("../testdata/" + dir + "/*")
		require.NoError(t, err)
		require.NotEmpty(t, names)
		for _, n := range names {
			b, err := os.ReadFile(n)
			require.NoError(t, err)
			l = append(l, namedImage{dir + "/" + filepath.Base(n), tensor.FromBytes(b)})
		}
	}
	for i, s := range oddSizes {
		m := image.NewNRGBA(image.Rect(0, 0, s[1], s[0]))
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for y := range s[0] {
			for x := range s[1] {
				m.SetNRGBA(x, y, color.NRGBA{uint8(r.Uint32()), uint8(x*5 + y), uint8(y * 3), uint8(r.Uint32() | 0x80)})
			}
		}
		var a, b bytes.Buffer
		require.NoError(t, jpeg.Encode(&a, m, &jpeg.Options{Quality: 80}))
		require.NoError(t, png.Encode(&b, m))
		name := fmt.Sprintf("%d x %d", s[0], s[1])
		l = append(l, namedImage{"jpeg " + name, tensor.FromBytes(a.Bytes())}, namedImage{"png " + name, tensor.FromBytes(b.Bytes())})
	}
	return l
}

// oddSizes are heights and widths: one pixel, lines, and shapes that Pillow
// scales vertically first.
var oddSizes = [][2]int{{1, 1}, {1, 9}, {9, 1}, {2, 3}, {37, 53}, {300, 20}, {20, 300}, {64, 64}, {400, 90}, {30, 100}, {140, 100}}

// tensors returns images of ch channels in odd sizes, dense and as views.
func tensors(t testing.TB, ch int) (l []namedImage) {
	r := rand.New(rand.NewPCG(2, uint64(ch)))
	for i, s := range oddSizes {
		for _, view := range []bool{false, true} {
			d := tensor.Image(tensor.Uint8, tensor.HWC, s[0], s[1], ch)
			if view {
				d = d.WithSize(s[0]+2, s[1]+3)
			}
			x, err := tensor.New(d)
			require.NoError(t, err)
			for j := range x.Data {
				x.Data[j] = uint8(r.Uint32())
				if i%3 == 0 { // extreme values
					x.Data[j] = uint8(int8(x.Data[j]) >> 7)
				}
			}
			if view {
				x, err = x.Slice(0, 1, s[0]+1)
				require.NoError(t, err)
				x, err = x.Slice(1, 2, s[1]+2)
				require.NoError(t, err)
			}
			l = append(l, namedImage{fmt.Sprint(x.Desc, view), x})
		}
	}
	return l
}

// same runs one graph on images without passes and with all sets of passes.
type same struct {
	pairs, runs, declined int
}

func (s *same) check(t *testing.T, g namedGraph, images []namedImage) {
	if len(images) == 0 { // under -short
		return
	}
	limits := codec.DefaultLimits()
	plain, err := datagraph.Compile(g.graph, datagraph.CompileOptions{Limits: limits, Disable: datagraph.Passes()})
	require.NoError(t, err, g.name)
	require.Same(t, plain, plain.Unfused())
	want := plain.NewRunner()
	var runners []*datagraph.Runner
	var whole []datagraph.StepInfo // of the plan with all passes
	for off := -1; off < len(datagraph.Passes()); off++ {
		var l []datagraph.Pass
		if off >= 0 {
			l = append(l, datagraph.Pass(off))
		}
		p, err := datagraph.Compile(g.graph, datagraph.CompileOptions{Limits: limits, Disable: l})
		require.NoError(t, err, g.name)
		if off < 0 {
			whole = p.Steps()
		} else if !made(whole, datagraph.Pass(off)) {
			require.Equal(t, whole, p.Steps(), g.name)
			continue // a pass that made no step: this plan is the one with all passes
		}
		if p != p.Unfused() {
			runners = append(runners, p.NewRunner())
		}
	}
	for _, m := range images {
		out, err := want.Run(m.t)
		s.pairs++
		for i, r := range runners {
			got, gotErr := r.Run(m.t)
			s.runs++
			if err != nil {
				r.TakeDeclined()
				require.EqualError(t, gotErr, err.Error(), "%s on %s, plan %d", g.name, m.name, i)
				continue
			}
			require.NoError(t, gotErr, "%s on %s, plan %d", g.name, m.name, i)
			if r.TakeDeclined() {
				s.declined++
			}
			for j, o := range out {
				require.Equal(t, o.Desc, got[j].Desc, "%s on %s, plan %d, output %d", g.name, m.name, i, j)
				if !bytes.Equal(o.Data, got[j].Data) {
					t.Fatalf("%s on %s, plan %d, output %d: %s", g.name, m.name, i, j, firstDifference(o, got[j]))
				}
			}
		}
	}
}

// made reports whether the pass made any of the steps.
func made(steps []datagraph.StepInfo, p datagraph.Pass) bool {
	return slices.ContainsFunc(steps, func(s datagraph.StepInfo) bool { return slices.Contains(s.Passes, p) })
}

func firstDifference(want, got *tensor.Tensor) string {
	n := max(want.DType.Size(), 1)
	for i := 0; i < len(want.Data); i += n {
		if a, b := want.Data[i:i+n], got.Data[i:i+n]; !bytes.Equal(a, b) {
			i /= n
			if want.IsImage() && want.Layout == tensor.HWC {
				c, w := want.Channels(), want.Width()
				return fmt.Sprintf("at (%d, %d) channel %d: got %x want %x of %v", i/c%w, i/c/w, i%c, b, a, want.Desc)
			}
			return fmt.Sprintf("at element %d: got %x want %x of %v", i, b, a, want.Desc)
		}
	}
	return "no difference"
}

// some returns the n'th of every so many images, and fewer in shortened tests.
func some(l []namedImage, n, every int) (s []namedImage) {
	if short.On() {
		every *= 9
	}
	for i := n % every; i < len(l); i += every {
		s = append(s, l[i])
	}
	return s
}

// TestPassesChangeNothing checks the condition for every pass: over ops, graphs
// and images of all kinds, the bytes and the error texts equal those of the
// plan without passes. Every graph runs on some of the images, so that every
// image meets graphs of every kind.
func TestPassesChangeNothing(t *testing.T) {
	all := files(t)
	short.Step(t, 9) // see some
	var s same
	t.Run("known graphs", func(t *testing.T) {
		step, every := short.Step(t, 16), 201
		if short.On() {
			every = 67
		}
		for i, g := range knownGraphs(t) {
			if i%step == 0 {
				s.check(t, g, some(all, i, every))
			}
		}
	})
	t.Run("wirings", func(t *testing.T) {
		for i, g := range wirings() {
			s.check(t, g, some(all, i, 11))
		}
	})
	t.Run("files", func(t *testing.T) {
		for i, g := range madeGraphs(short.Rounds(t, 120, 20), 3, transforms.NewDecode()) {
			s.check(t, g, some(all, i, 41))
		}
		rgba := transforms.NewDecode()
		rgba.Color = codec.ToRGBA
		for i, g := range madeGraphs(short.Rounds(t, 50, 10), 4, rgba) {
			s.check(t, g, some(all, i, 61))
		}
	})
	t.Run("tensors", func(t *testing.T) {
		for ch := 1; ch <= 4; ch++ {
			images := tensors(t, ch)
			for i, g := range madeGraphs(short.Rounds(t, 150, 20), ch) {
				s.check(t, g, some(images, i, 4))
			}
		}
	})
	t.Run("one column of five channels", func(t *testing.T) { // torch repeats its first row
		for _, h := range []int{5, 9, 20} {
			g := datagraph.New(resize(h, 1, transforms.Bilinear, transforms.TorchUint8), transforms.NewInvert())
			g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, -1, -1, 5)
			s.check(t, namedGraph{fmt.Sprint(h), g}, tensors(t, 5))
		}
	})
	t.Logf("%d pairs of graph and image, %d runs of fused plans, %d of which were declined", s.pairs, s.runs, s.declined)
	require.Greater(t, s.runs, 4*s.pairs/2)
}
