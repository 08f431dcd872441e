package datagraph

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// pngImage returns an encoded image of w x h pixels whose pixel (x, y) is (x,
// y, 7).
func pngImage(t testing.TB, w, h int) *tensor.Tensor {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{uint8(x), uint8(y), 7, 255})
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return tensor.FromBytes(b.Bytes())
}

func compile(t testing.TB, g *Graph) *Plan {
	p, err := Compile(g, CompileOptions{})
	require.NoError(t, err)
	return p
}

// splitOp is a user-defined op with two outputs. It is not registered.
type splitOp struct{ fail bool }

// Info names the op: graphs cannot hold it.
func (*splitOp) Info() transforms.Info { return transforms.Info{Name: "split_op"} }

func (o *splitOp) Validate() error { return nil }
func (o *splitOp) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return nil
}
func (o *splitOp) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	if o.fail {
		return os.ErrClosed
	}
	return src[0].CopyTo(dst[0])
}

func TestRun(t *testing.T) {
	p := compile(t, New(transforms.NewDecode(), transforms.NewHorizontalFlip()))
	r := p.NewRunner()
	for _, size := range [][2]int{{5, 3}, {64, 40}, {1, 1}, {5, 3}} { // grows, then shrinks
		w, h := size[0], size[1]
		out, err := r.Run(pngImage(t, w, h))
		require.NoError(t, err)
		require.Len(t, out, 1)
		require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, h, w, 3), out[0].Desc)
		for y := range h {
			for x := range w {
				require.Equal(t, []byte{uint8(w - 1 - x), uint8(y), 7}, out[0].Data[(y*w+x)*3:][:3], "at (%d, %d)", x, y)
			}
		}
	}
	require.Equal(t, "uint8 HWC (?, ?, 3)", p.Outputs()[0].Desc.String())
}

// TestBuffersAreShared checks that a chain of any length needs two buffers, and
// that later steps do not overwrite an output.
func TestBuffersAreShared(t *testing.T) {
	g := New(transforms.NewDecode())
	for range 6 {
		g.Add(transforms.NewHorizontalFlip())
	}
	require.Equal(t, 2, compile(t, g).Unfused().Buffers())
	require.Equal(t, 1, compile(t, g).Buffers())

	g = New(transforms.NewDecode())
	g.Then(transforms.NewHorizontalFlip(), []string{"image"}, []string{"flipped"})
	g.Then(transforms.NewHorizontalFlip(), []string{"flipped"}, []string{"back"})
	g.Then(transforms.NewHorizontalFlip(), []string{"back"}, []string{"again"})
	g.Outputs, g.SideOutputs = []string{"again", "image"}, []string{"flipped"}
	out, err := compile(t, g).NewRunner().Run(pngImage(t, 9, 4))
	require.NoError(t, err)
	require.Equal(t, uint8(8), out[0].Data[0])
	require.Equal(t, uint8(0), out[1].Data[0], "the decoded image must survive")
	require.Equal(t, out[0].Data, out[2].Data)
}

func TestColumnsAreRebound(t *testing.T) {
	g := New(transforms.NewDecode(), transforms.NewHorizontalFlip()).Rename("pixel_values")
	require.Equal(t, []string{"pixel_values"}, g.Steps[1].Out)
	require.Equal(t, []string{"image"}, g.Steps[0].Out)
	require.NoError(t, g.Validate())
	// Steps after the one that produces the output read it by its new name.
	g = New(transforms.NewDecode()).Then(transforms.NewImageSize(), []string{"image"}, []string{"size"}).Rename("x")
	require.Equal(t, []string{"x"}, g.Steps[0].Out)
	require.Equal(t, []string{"x"}, g.Steps[1].In)
	require.NoError(t, g.Validate())
}

func TestValidate(t *testing.T) {
	flip, decode := transforms.NewHorizontalFlip(), transforms.NewDecode()
	image := []string{"image"}
	for _, c := range []struct {
		name string
		edit func(g *Graph)
		want string
	}{
		{"used before produced", func(g *Graph) {
			g.Steps = nil
			g.Then(flip, []string{"b"}, []string{"a"}).Then(flip, []string{"a"}, []string{"b"})
		}, `datagraph: step 0 (horizontal_flip): invalid graph: column "b" is used before step 1 (horizontal_flip) produces it`},
		{"never produced", func(g *Graph) { g.Then(flip, []string{"x"}, image) }, `step 2 (horizontal_flip): invalid graph: column "x" is neither an input nor produced by an earlier step`},
		{"arity", func(g *Graph) { g.Then(flip, []string{"image", "image"}, image) }, `want 1 -> 1`},
		{"no such output", func(g *Graph) { g.Outputs = []string{"y"} }, `output "y" is not produced`},
		{"no output", func(g *Graph) { g.Outputs = nil }, "0 outputs"},
		{"twice", func(g *Graph) { g.SideOutputs = image }, `output "image" is listed twice`},
		{"no input", func(g *Graph) { g.Inputs = nil }, "0 inputs"},
		{"two inputs of one name", func(g *Graph) { g.Inputs = append(g.Inputs, g.Inputs[0]) }, `two inputs are named "image"`},
		{"path as a name", func(g *Graph) { g.Then(flip, image, []string{"../x"}) }, `column name "../x"`},
		{"hidden name", func(g *Graph) { g.Inputs[0].Name = ".x" }, `column name ".x"`},
		{"bad desc", func(g *Graph) { g.Inputs[0].Desc.DType = 77 }, "invalid description"},
		{"nil op", func(g *Graph) { g.Then(nil, image, image) }, "the op is nil"},
		{"too long", func(g *Graph) { g.Steps = make([]Step, maxSteps+1) }, "steps, want at most"},
		{"bad parameter", func(g *Graph) { g.Add(&transforms.Decode{Color: 99}) }, "step 2 (decode): invalid parameter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := New(decode, flip)
			c.edit(g)
			err := g.Validate()
			require.ErrorContains(t, err, c.want)
			_, err2 := Compile(g, CompileOptions{})
			require.Equal(t, err, err2)
		})
	}
}

func TestInferRefusesDtypes(t *testing.T) {
	_, err := New(transforms.NewDecode(), transforms.NewDecode()).Infer()
	var s *StepError
	require.ErrorAs(t, err, &s)
	require.Equal(t, 1, s.Step)
	require.ErrorIs(t, err, transforms.ErrInput)
	require.ErrorContains(t, err, "want bytes")
}

func TestRunErrors(t *testing.T) {
	r := compile(t, New(transforms.NewDecode(), transforms.NewHorizontalFlip())).NewRunner()
	_, err := r.Run()
	require.ErrorContains(t, err, "datagraph: run: 0 inputs, want 1")
	_, err = r.Run(nil)
	require.ErrorIs(t, err, transforms.ErrInput)
	whole := pngImage(t, 8, 8)
	for _, b := range [][]byte{nil, []byte("not an image"), whole.Data[:40], whole.Data[:len(whole.Data)/2]} {
		_, err = r.Run(tensor.FromBytes(b))
		require.ErrorIs(t, err, codec.ErrFormat)
		require.ErrorContains(t, err, "datagraph: step 0 (decode): ")
	}
	_, err = r.Run(whole)
	require.NoError(t, err, "a Runner goes on after an error")

	r = compile(t, &Graph{
		Inputs: []Column{{Name: "image", Desc: tensor.Image(tensor.Uint8, tensor.HWC, -1, -1, 3)}}, Outputs: []string{"x"},
		Steps: []Step{{Op: &splitOp{fail: true}, In: []string{"image"}, Out: []string{"x"}}},
	}).NewRunner()
	in, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 3))
	require.NoError(t, err)
	_, err = r.Run(in)
	require.ErrorIs(t, err, os.ErrClosed)
	in, err = tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 4))
	require.NoError(t, err)
	_, err = r.Run(in)
	require.ErrorContains(t, err, "uint8 HWC (2, 2, 4), want uint8 HWC (?, ?, 3)")
}

func TestLimits(t *testing.T) {
	limits := codec.DefaultLimits()
	limits.Bytes = 100_000
	flipped := New(transforms.NewDecode(), transforms.NewHorizontalFlip())
	p, err := Compile(flipped, CompileOptions{Limits: limits, Disable: Passes()})
	require.NoError(t, err)
	r := p.NewRunner()
	_, err = r.Run(pngImage(t, 100, 100))
	require.NoError(t, err)
	_, err = r.Run(pngImage(t, 150, 140)) // 63,000 bytes twice
	require.ErrorIs(t, err, codec.ErrLimit)
	p, err = Compile(flipped, CompileOptions{Limits: limits})
	require.NoError(t, err)
	_, err = p.NewRunner().Run(pngImage(t, 150, 140)) // without an intermediate image
	require.NoError(t, err)
	limits.Pixels = 99
	p, err = Compile(New(transforms.NewDecode()), CompileOptions{Limits: limits})
	require.NoError(t, err)
	_, err = p.NewRunner().Run(pngImage(t, 10, 10))
	require.ErrorIs(t, err, codec.ErrLimit)

	g := New(transforms.NewHorizontalFlip())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 1000, 1000, 3)
	_, err = Compile(g, CompileOptions{Limits: limits})
	require.ErrorIs(t, err, codec.ErrLimit, "known sizes are checked when compiling")
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	g := New(transforms.NewHorizontalFlip(), transforms.NewHorizontalFlip())
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, -1, -1, 3)
	r := compile(t, g).NewRunner()
	in, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 20, 30, 3))
	require.NoError(t, err)
	view, err := in.Slice(1, 3, 20)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, x := range []*tensor.Tensor{in, view} {
			if _, err := r.Run(x); err != nil {
				panic(err)
			}
		}
	}))
}

func TestOnStepAndInfer(t *testing.T) {
	r := compile(t, New(transforms.NewDecode(), transforms.NewHorizontalFlip())).NewRunner()
	var seen []string
	r.OnStep = func(i int, out []*tensor.Tensor) error {
		seen = append(seen, out[0].Desc.String())
		if len(seen) > 2 {
			return os.ErrDeadlineExceeded
		}
		return nil
	}
	in := pngImage(t, 6, 2)
	_, err := r.Run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"uint8 HWC (2, 6, 3)", "uint8 HWC (2, 6, 3)"}, seen)
	d, err := r.Infer(in)
	require.NoError(t, err)
	require.Equal(t, seen[1], d[1][0].String())
	_, err = r.Run(in)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	_, err = r.Infer(tensor.FromBytes([]byte("GIF89a")))
	require.Error(t, err)
}

func TestForms(t *testing.T) {
	g := New(transforms.NewDecode(), transforms.NewHorizontalFlip()).Rename("pixel_values")
	g.Reference = "a test"
	g.SideOutputs = []string{"image"}
	j, err := json.Marshal(g)
	require.NoError(t, err)
	var fromJSON, fromMsgp Graph
	require.NoError(t, json.Unmarshal(j, &fromJSON))
	require.Equal(t, g, &fromJSON)
	m, err := g.MarshalMsg([]byte("before"))
	require.NoError(t, err)
	rest, err := fromMsgp.UnmarshalMsg(append(m[6:], "after"...))
	require.NoError(t, err)
	require.Equal(t, "after", string(rest))
	require.Equal(t, g.Steps, fromMsgp.Steps)
	again, err := fromMsgp.MarshalMsg(nil)
	require.NoError(t, err)
	require.Equal(t, m[6:], again)

	for i := range len(again) {
		var x Graph
		_, err := x.UnmarshalMsg(again[:i])
		require.Error(t, err, "cut at %d", i)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"infer_prep_graph":1`, `"infer_prep_graph":2`, "this build reads 1"},
		{`"infer_prep_graph":1`, `"x":1`, "unknown field"},
		{`"horizontal_flip"`, `"no_such_op"`, `unknown op "no_such_op"`},
		{`"horizontal_flip","version":1`, `"horizontal_flip","version":9`, "version 9"},
		{`"params":{}`, `"params":{"a":1}`, `unknown parameter "a": expected no parameters`},
		{`"color":"rgb",`, ``, `parameter "color" is missing`},
		{`"color":"rgb"`, `"color":"ultraviolet"`, "ultraviolet"},
		{`"dtype":"bytes"`, `"dtype":"string"`, `unknown dtype "string"`},
	} {
		require.Contains(t, string(j), c.old)
		var x Graph
		require.ErrorContains(t, json.Unmarshal([]byte(strings.Replace(string(j), c.old, c.new, 1)), &x), c.want)
	}
	require.ErrorContains(t, new(Graph).UnmarshalJSON(append(j, "{}"...)), "after")
}

func TestUnregisteredOpsRunButAreNotWritten(t *testing.T) {
	g := New(transforms.NewDecode(), &splitOp{})
	_, err := compile(t, g).NewRunner().Run(pngImage(t, 3, 3))
	require.NoError(t, err)
	_, err = json.Marshal(g)
	require.ErrorIs(t, err, transforms.ErrUnknownOp)
	require.ErrorContains(t, err, "splitOp")
	_, err = g.MarshalMsg(nil)
	require.ErrorIs(t, err, transforms.ErrUnknownOp)
}

func fuzzSeeds(f *testing.F) []*Graph {
	return []*Graph{
		New(transforms.NewDecode(), transforms.NewHorizontalFlip()),
		New(transforms.NewHorizontalFlip()).Rename("x"),
		{Inputs: []Column{{Name: "a", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(-1, 4)}}}, Outputs: []string{"a"}},
	}
}

func FuzzJSON(f *testing.F) {
	for _, g := range fuzzSeeds(f) {
		b, err := json.Marshal(g)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var g, again Graph
		if g.UnmarshalJSON(b) != nil {
			return
		}
		out, err := json.Marshal(&g)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(out, &again))
		twice, err := json.Marshal(&again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(twice))
		_, _ = Compile(&g, CompileOptions{})
	})
}

func FuzzMsgp(f *testing.F) {
	for _, g := range fuzzSeeds(f) {
		b, err := g.MarshalMsg(nil)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var g Graph
		if _, err := g.UnmarshalMsg(b); err != nil {
			return
		}
		out, err := g.MarshalMsg(nil)
		require.NoError(t, err)
		var again Graph
		rest, err := again.UnmarshalMsg(out)
		require.NoError(t, err)
		require.Empty(t, rest)
		_, _ = Compile(&g, CompileOptions{})
	})
}
