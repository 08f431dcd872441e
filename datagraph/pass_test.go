package datagraph_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// describe lists a plan's steps with the first letters of their passes.
func describe(p *datagraph.Plan) string {
	var l []string
	for _, s := range p.Steps() {
		t := s.Op
		for _, q := range s.Passes {
			t += " " + q.String()[:1]
		}
		l = append(l, fmt.Sprintf("%d-%d %s", s.First, s.First+s.N-1, t))
	}
	return strings.Join(l, "; ")
}

// TestPasses checks the result of every pass on the presets and on other
// graphs, with and without the other passes.
func TestPasses(t *testing.T) {
	named := func(n string) *datagraph.Graph {
		g, err := preset.Graph(n)
		require.NoError(t, err)
		return g
	}
	only := func(on ...datagraph.Pass) []datagraph.Pass {
		return slices.DeleteFunc(datagraph.Passes(), func(p datagraph.Pass) bool { return slices.Contains(on, p) })
	}
	geometry, table, region, rows := datagraph.FoldGeometry, datagraph.PointwiseTable, datagraph.RegionDecode, datagraph.RowStep
	torch := resize(9, 9, transforms.Bilinear, transforms.Torch)
	sized := datagraph.New(transforms.NewDecode()).Add(transforms.NewImageSize()).Add(transforms.NewResize(5, 5)).Add(transforms.NewToTensor()).
		Then(transforms.NewImageSize(), []string{"image"}, []string{"after"})
	sized.SideOutputs = append(sized.SideOutputs, "after")
	for _, c := range []struct {
		name  string
		graph *datagraph.Graph
		off   []datagraph.Pass
		want  string
	}{
		{"imagenet", named("imagenet"), nil, "0-4 decode+resize+center_crop+to_tensor+normalize f p r r"},
		{"clip", named("clip"), nil, "0-5 decode+resize+center_crop+rescale+normalize+hwc2chw f p r r"},
		{"decode", named("decode"), nil, "0-0 decode"},
		{"yolo", named("yolo"), nil, "0-2 decode+letterbox+to_tensor p r"},
		{"all off", named("imagenet"), datagraph.Passes(), "0-0 decode; 1-1 resize; 2-2 center_crop; 3-3 to_tensor; 4-4 normalize"},
		{"geometry alone", named("imagenet"), only(geometry), "0-0 decode; 1-2 resize+center_crop f; 3-3 to_tensor; 4-4 normalize"},
		{"table alone", named("imagenet"), only(table), "0-0 decode; 1-1 resize; 2-2 center_crop; 3-4 to_tensor+normalize p"},
		{"region alone finds nothing", named("imagenet"), only(region), "0-0 decode; 1-1 resize; 2-2 center_crop; 3-3 to_tensor; 4-4 normalize"},
		{"rows alone", named("imagenet"), only(rows), "0-1 decode+resize r; 2-2 center_crop; 3-3 to_tensor; 4-4 normalize"},
		{"region of geometry", named("imagenet"), only(geometry, region), "0-2 decode+resize+center_crop f r; 3-3 to_tensor; 4-4 normalize"},
		{"region of a crop", datagraph.New(transforms.NewDecode(), transforms.NewCrop(1, 1, 5, 5)), only(region), "0-1 decode+crop r"},
		{"region of a resized crop", datagraph.New(transforms.NewDecode(), transforms.NewResizedCrop(1, 1, 5, 5, 7, 7)), only(region), "0-1 decode+resized_crop r"},
		{"flips cut nothing", datagraph.New(transforms.NewDecode(), transforms.NewHorizontalFlip()), only(region), "0-0 decode; 1-1 horizontal_flip"},
		{"one resize a step", datagraph.New(transforms.NewDecode(), transforms.NewResize(5, 5), transforms.NewResize(6, 6), transforms.NewToTensor()), nil, "0-1 decode+resize r; 2-3 resize+to_tensor p r"},
		{"torch", datagraph.New(transforms.NewDecode(), torch, transforms.NewCenterCrop(5, 5), transforms.NewToTensor()), nil, "0-0 decode; 1-1 resize; 2-3 center_crop+to_tensor p r"},
		{"sizes on the way", sized, nil, "0-3 decode+image_size+resize+to_tensor p r; 4-4 image_size"},
		{"a pad is no frame", datagraph.New(transforms.NewDecode(), transforms.NewPad(1, 1, 1, 1), transforms.NewToTensor()), nil, "0-0 decode; 1-1 pad; 2-2 to_tensor p"},
	} {
		p, err := datagraph.Compile(c.graph, datagraph.CompileOptions{Disable: c.off})
		require.NoError(t, err)
		require.Equal(t, c.want, describe(p), c.name)
		require.Len(t, p.Unfused().Steps(), len(c.graph.Steps))
	}

	for _, p := range datagraph.Passes() {
		require.NotEmpty(t, p.Doc())
		q, err := datagraph.ParsePass(p.String())
		require.NoError(t, err)
		require.Equal(t, p, q)
	}
	_, err := datagraph.ParsePass("x")
	require.ErrorIs(t, err, datagraph.ErrPass)
	require.Equal(t, "pass 99", datagraph.Pass(99).String())
	require.Empty(t, datagraph.Pass(99).Doc())
}

// halve is a user-defined pointwise op.
type halve struct{ fail bool }

func (o *halve) Info() transforms.Info {
	return transforms.Info{Name: "halve"}
}
func (o *halve) Validate() error { return nil }
func (o *halve) Pointwise()      {}
func (o *halve) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}
func (o *halve) Apply(_ *transforms.Context, dst, src []*tensor.Tensor) error {
	if o.fail {
		return transforms.ErrInput
	}
	for i, v := range src[0].Data {
		dst[0].Data[i] = v / 2
	}
	return nil
}

// TestUsersOpsFuse checks that an op of another package can be fused, and that
// an op that fails on the table's image stays a step of its own.
func TestUsersOpsFuse(t *testing.T) {
	p, err := datagraph.Compile(datagraph.New(transforms.NewDecode(), &halve{}, transforms.NewInvert()), datagraph.CompileOptions{})
	require.NoError(t, err)
	require.Equal(t, "0-2 decode+halve+invert p r", describe(p))
	p, err = datagraph.Compile(datagraph.New(transforms.NewDecode(), &halve{true}, transforms.NewInvert()), datagraph.CompileOptions{})
	require.NoError(t, err)
	_, err = p.NewRunner().Run(testImage(t, "jpeg_large.jpg"))
	var s *datagraph.StepError
	require.ErrorAs(t, err, &s)
	require.Equal(t, 1, s.Step)
}

// TestOnStepSeesEveryStep also runs a plan of one step.
func TestOnStepSeesEveryStep(t *testing.T) {
	p := presetPlan(t, "imagenet")
	require.Len(t, p.Steps(), 1)
	r := p.NewRunner()
	in := testImage(t, "jpeg_large.jpg")
	want, err := r.Run(in)
	require.NoError(t, err)
	first := want[0].Clone()
	var seen []int
	r.OnStep = func(i int, out []*tensor.Tensor) error {
		seen = append(seen, i)
		return nil
	}
	got, err := r.Run(in)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 4}, seen)
	require.Equal(t, first.Data, got[0].Data)
	r.OnStep = nil
	_, err = r.Run(in)
	require.NoError(t, err)
	require.Len(t, seen, 5)
}

// TestLimitsWithPasses checks that a plan with passes runs within every limit
// in which the plan without passes runs.
func TestLimitsWithPasses(t *testing.T) {
	in := []*tensor.Tensor{testImage(t, "jpeg_large.jpg"), testImage(t, "jpeg_base_420.jpg"), testImage(t, "png_rgb8.png")}
	graphs := append(knownGraphs(t)[:6], wirings()...)
	accepted, more := 0, 0
	step := short.Step(t, 4)
	factor := int64(7)
	if short.On() {
		factor = 10
	}
	for k := 0; k < len(graphs); k += step {
		g := graphs[k]
		for limit := int64(3000); limit < 9_000_000; limit = limit * factor / 4 {
			l := codec.DefaultLimits()
			l.Bytes = limit
			plain, plainErr := datagraph.Compile(g.graph, datagraph.CompileOptions{Limits: l, Disable: datagraph.Passes()})
			fused, err := datagraph.Compile(g.graph, datagraph.CompileOptions{Limits: l})
			if plainErr != nil {
				continue
			}
			require.NoError(t, err, g.name)
			a, b := plain.NewRunner(), fused.NewRunner()
			for _, x := range in {
				want, wantErr := a.Run(x)
				got, err := b.Run(x)
				if wantErr != nil {
					a = plain.NewRunner() // without the memory of the failed run
					more += bool2int(err == nil)
					continue
				}
				accepted++
				require.NoError(t, err, "%s with %d bytes", g.name, limit)
				for i := range want {
					require.Equal(t, want[i].Data, got[i].Data, "%s with %d bytes", g.name, limit)
				}
			}
		}
	}
	t.Logf("%d runs accepted by both, %d by the plan with passes alone", accepted, more)
	require.Positive(t, accepted)
	require.Positive(t, more)
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestHugeImageTakesLittleMemory checks that the rows of an image of 50
// megapixels pass through the step in a few megabytes, including output and
// decoder.
func TestHugeImageTakesLittleMemory(t *testing.T) {
	height := short.Rounds(t, 5780, 578)
	m := image.NewYCbCr(image.Rect(0, 0, 8660, height), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = uint8(i >> 9)
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 50}))
	in := tensor.FromBytes(b.Bytes())
	for _, name := range []string{"imagenet", "clip"} {
		r := presetPlan(t, name).NewRunner()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := r.Run(in)
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes", name, took)
		require.Less(t, took, uint64(5<<20), name)
		c, err := r.Costs(in)
		require.NoError(t, err)
		require.False(t, c.Unknown || c.Declined)
		require.Less(t, c.Steps[0].Window, int64(300_000))
		require.Equal(t, int64(3*224*224*4), c.Buffers[0])
	}
}

// TestCosts compares the costs with values computed by hand.
func TestCosts(t *testing.T) {
	g := datagraph.New(transforms.NewDecode(), transforms.NewCenterCrop(100, 60), transforms.NewToTensor())
	in := testImage(t, "jpeg_large.jpg") // 420 x 310
	p, err := datagraph.Compile(g, datagraph.CompileOptions{Disable: []datagraph.Pass{datagraph.RowStep}})
	require.NoError(t, err)
	c, err := p.NewRunner().Costs(in)
	require.NoError(t, err)
	require.Equal(t, []datagraph.StepCost{
		{Read: int64(len(in.Data)), Written: 100 * 60 * 3, Window: 100 * 60 * 3},
		{Read: 100 * 60 * 3, Written: 100 * 60 * 12},
	}, c.Steps)
	require.False(t, c.Unknown)
	c, err = p.NewRunner().Costs()
	require.NoError(t, err)
	require.True(t, c.Unknown)
	c, err = p.Unfused().NewRunner().Costs(in)
	require.NoError(t, err)
	require.Equal(t, int64(420*310*3), c.Steps[0].Written)
	require.Equal(t, []int64{420 * 310 * 3, 100 * 60 * 3}, c.Buffers)

	outside := datagraph.New(transforms.NewDecode(), transforms.NewCrop(5000, 0, 2, 2))
	p, err = datagraph.Compile(outside, datagraph.CompileOptions{})
	require.NoError(t, err)
	c, err = p.NewRunner().Costs(in)
	require.NoError(t, err)
	require.True(t, c.Declined)
	require.Len(t, c.Steps, 2)
	_, err = p.NewRunner().Costs(tensor.FromBytes([]byte("x")))
	require.Error(t, err)
}
