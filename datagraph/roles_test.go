package datagraph_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// mirror is a HorizontalFlip that moves masks and boxes.
type mirror struct{ t.HorizontalFlip }

func (o *mirror) Move(d *t.Draw, r t.Role, from, to tensor.Desc) error {
	if r.Kind == t.RoleImage || r.Kind == t.RoleMask {
		return d.Emit(t.NewOp[t.HorizontalFlip](d))
	}
	op := t.NewOp[t.FlipCoords](d)
	*op = t.FlipCoords{Format: r.Format, Size: from.Width()}
	return d.Emit(op)
}

// cut is a Crop that moves masks and boxes.
type cut struct{ t.Crop }

func (o *cut) Move(d *t.Draw, r t.Role, from, to tensor.Desc) error {
	if r.Kind == t.RoleImage || r.Kind == t.RoleMask {
		op := t.NewOp[t.Crop](d)
		*op = o.Crop
		return d.Emit(op)
	}
	op := t.NewOp[t.CropCoords](d)
	*op = t.CropCoords{Format: r.Format, Top: o.Top, Left: o.Left, Height: o.Height, Width: o.Width, Clamping: r.Clamping}
	return d.Emit(op)
}

// randomCut draws a crop and a mirror with odds of one half each.
type randomCut struct{ t.RandomHorizontalFlip }

func (o *randomCut) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

func (o *randomCut) Draw(d *t.Draw) error {
	if d.Coin(0.5) {
		op := t.NewOp[cut](d)
		h, w := d.In[0].Height(), d.In[0].Width()
		op.Top, op.Left = d.IntN(h/2), d.IntN(w/2)
		op.Height, op.Width = h/2, w/2
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	if d.Coin(0.5) {
		return d.Emit(t.NewOp[mirror](d))
	}
	return nil
}

func sampleGraph(op t.Op, boxes int) *datagraph.Graph {
	g := datagraph.New()
	g.Tie(datagraph.Column{Name: "mask", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 1)}, t.Role{Kind: t.RoleMask})
	g.Tie(datagraph.Column{Name: "boxes", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(boxes, 4)}}, t.Role{Kind: t.RoleBoxes, Format: t.CoordXYXY})
	g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 3)
	return g.Add(op).Add(t.NewToTensor())
}

func zeros(d tensor.Desc) *tensor.Tensor {
	t := &tensor.Tensor{}
	if err := t.Reset(d); err != nil {
		panic(err)
	}
	clear(t.Data)
	return t
}

// sample returns an image, which is one rectangle of white, its mask and box.
func sample(x0, y0, x1, y1 int) []*tensor.Tensor {
	image, mask := zeros(tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 3)), zeros(tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 1))
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			mask.Data[y*80+x] = 1
			for c := range 3 {
				image.Data[(y*80+x)*3+c] = 255
			}
		}
	}
	boxes := zeros(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 4)})
	copy(tensor.View[float32](boxes), []float32{float32(x0), float32(y0), float32(x1), float32(y1)})
	return []*tensor.Tensor{image, mask, boxes}
}

// TestMoves checks by pixels that one draw moves image, mask and boxes.
func TestMoves(test *testing.T) {
	g := sampleGraph(&randomCut{}, 1)
	require.Equal(test, []string{"mask", "boxes"}, g.Steps[0].Moves)
	require.Empty(test, g.Steps[1].Moves, "to_tensor moves no pixels")
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(test, err)
	r := p.NewRunner()
	kinds := map[string]int{}
	for i := range uint64(200) {
		r.At = rng.Point{Seed: 3, Ordinal: i}
		in := sample(int(i%60), int(i%40), int(i%60)+int(i%17)+1, int(i%40)+int(i%19)+1)
		out, err := r.Run(in...)
		require.NoError(test, err)
		image, mask, box := out[0], out[1], tensor.View[float32](out[2])
		h, w := image.Height(), image.Width()
		require.Equal(test, [2]int{h, w}, [2]int{mask.Height(), mask.Width()})
		kinds[fmt.Sprint(h, w)]++
		x0, y0, x1, y1 := w, h, 0, 0
		for y := range h {
			for x := range w {
				white := tensor.View[float32](image)[y*w+x] == 1
				if white != (mask.Data[y*w+x] == 1) {
					test.Fatalf("sample %d, row %d, column %d: image and mask differ", i, y, x)
				}
				if white {
					x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
				}
			}
		}
		if x0 < x1 {
			require.Equal(test, []float32{float32(x0), float32(y0), float32(x1), float32(y1)}, box, "sample %d", i)
		} else {
			require.True(test, box[0] == box[2] || box[1] == box[3], "sample %d: an empty mask with box %v", i, box)
		}
	}
	require.Len(test, kinds, 2)
}

// TestMovesFixed checks a graph that moves without draws, and its descriptions.
func TestMovesFixed(test *testing.T) {
	g := sampleGraph(&cut{*t.NewCrop(10, 20, 30, 40)}, tensor.Unknown)
	require.False(test, g.Random())
	require.True(test, g.Moves())
	descs, err := g.Infer()
	require.NoError(test, err)
	require.Equal(test, tensor.Image(tensor.Uint8, tensor.HWC, 30, 40, 1), g.Last(descs, "mask"))
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(test, err)
	out, err := p.NewRunner().Run(sample(25, 5, 70, 33)...)
	require.NoError(test, err)
	require.Equal(test, []float32{5, 0, 40, 23}, tensor.View[float32](out[2]))
	require.Equal(test, byte(1), out[1].Data[5])
	require.Equal(test, byte(0), out[1].Data[4])
	require.Equal(test, byte(1), out[1].Data[22*40+39])
	require.Equal(test, byte(0), out[1].Data[23*40+39])

	costs, err := p.NewRunner().Costs(sample(25, 5, 70, 33)...)
	require.NoError(test, err)
	require.Equal(test, int64(60*80*4+16), costs.Steps[0].Read)
}

// TestRolesForms checks the JSON and msgp forms.
func TestRolesForms(test *testing.T) {
	g := sampleGraph(t.NewRandomHorizontalFlip(), 5)
	g.Tie(datagraph.Column{Name: "points", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(7, 2)}}, t.Role{Kind: t.RoleKeypoints})
	g.Steps[0].Moves = append(g.Steps[0].Moves, "points")
	b, err := json.Marshal(g)
	require.NoError(test, err)
	require.Contains(test, string(b), `"roles":[{"column":"mask","image":"image","role":"mask"},{"column":"boxes","image":"image","role":"boxes","format":"xyxy","clamping":"soft"},{"column":"points","image":"image","role":"keypoints"}]`)
	require.Contains(test, string(b), `"moves":["mask","boxes","points"]`)
	var j, m datagraph.Graph
	require.NoError(test, json.Unmarshal(b, &j))
	require.Equal(test, g, &j)
	b, err = g.MarshalMsg(nil)
	require.NoError(test, err)
	_, err = m.UnmarshalMsg(b)
	require.NoError(test, err)
	require.Equal(test, g, &m)
}

// TestRolesErrors checks that a column that would not move with its image is an
// error.
func TestRolesErrors(test *testing.T) {
	for _, c := range []struct {
		change func(g *datagraph.Graph)
		text   string
	}{
		{func(g *datagraph.Graph) { g.Steps[0].Moves = []string{"mask"} }, `leaves ["boxes"] behind`},
		{func(g *datagraph.Graph) { g.Steps[0].Moves = []string{"mask", "boxes", "mask"} }, `"mask" is written twice`},
		{func(g *datagraph.Graph) { g.Steps[0].Moves = append(g.Steps[0].Moves, "image") }, `"image", which has no role`},
		{func(g *datagraph.Graph) { g.Steps[1].Moves = []string{"mask"} }, `it moves no pixels`},
		{func(g *datagraph.Graph) { g.Roles = g.Roles[:1] }, `"boxes", which has no role`},
		{func(g *datagraph.Graph) { g.Roles[0].Image = "other" }, `belongs to "other"`},
		{func(g *datagraph.Graph) { g.Roles[0].Column, g.Steps[0].Moves = "image", nil }, `moves with itself`},
		{func(g *datagraph.Graph) { g.Roles[1].Format = t.CoordXY }, `want a format of boxes`},
		{func(g *datagraph.Graph) { g.Inputs[2].Desc.DType = tensor.Uint8 }, `column "boxes": `},
		{func(g *datagraph.Graph) {
			g.Steps[0].Out = []string{"small"}
			g.Steps[1].In = []string{"small"}
			g.Then(&mirror{}, []string{"image"}, []string{"image"})
			g.Steps[2].Moves = []string{"boxes"}
		}, `"boxes", which belongs to "small" and not to "image"`},
	} {
		g := sampleGraph(&mirror{}, 1)
		c.change(g)
		_, err := g.Infer()
		require.ErrorContains(test, err, c.text)
	}
	// A random op shows only in a run that it moves pixels.
	g := sampleGraph(&randomCut{}, 1)
	g.Steps[0].Moves = nil
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(test, err)
	r := p.NewRunner()
	for r.At.Ordinal = 0; err == nil && r.At.Ordinal < 50; r.At.Ordinal++ {
		_, err = r.Run(sample(1, 1, 2, 2)...)
	}
	require.ErrorIs(test, err, datagraph.ErrGraph)
	// The sizes of image and mask differ.
	g = sampleGraph(&mirror{}, 1)
	g.Inputs[1].Desc = tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 1)
	p, err = datagraph.Compile(g, datagraph.CompileOptions{})
	require.NoError(test, err)
	in := sample(1, 1, 2, 2)
	in[1] = zeros(tensor.Image(tensor.Uint8, tensor.HWC, 30, 80, 1))
	_, err = p.NewRunner().Run(in...)
	require.ErrorIs(test, err, t.ErrInput)
	require.ErrorContains(test, err, `column "mask"`)
}

// rotatedBox returns a box xyxy as a rotated box.
func rotatedBox(test *testing.T, b []float32, f t.CoordFormat) *tensor.Tensor {
	c := zeros(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 8)})
	copy(tensor.View[float32](c), []float32{b[0], b[1], b[2], b[1], b[2], b[3], b[0], b[3]})
	return converted(test, c, t.CoordXYXYXYXY, f)
}

func cornersOf(test *testing.T, b *tensor.Tensor, f t.CoordFormat) []float32 {
	return tensor.View[float32](converted(test, b, f, t.CoordXYXYXYXY))
}

func converted(test *testing.T, b *tensor.Tensor, from, to t.CoordFormat) *tensor.Tensor {
	if from == to {
		return b
	}
	op := &t.ConvertBoxes{From: from, To: to, Chained: true}
	require.NoError(test, op.Validate())
	d := []tensor.Desc{b.Desc}
	require.NoError(test, op.Infer(d, d))
	out := zeros(d[0])
	require.NoError(test, op.Apply(t.NewContext(codec.DefaultLimits()), []*tensor.Tensor{out}, []*tensor.Tensor{b}))
	return out
}

// outside returns how far a point is outside of a box of corners, which may be
// mirrored.
func outside(c []float32, x, y float32) float32 {
	far, sign := float32(-1e9), float32(1)
	if (c[2]-c[0])*(c[5]-c[1])-(c[3]-c[1])*(c[4]-c[0]) < 0 {
		sign = -1
	}
	for i := 0; i < 8; i += 2 {
		k := (i + 2) % 8
		ux, uy := c[k]-c[i], c[k+1]-c[i+1]
		n := float32(math.Hypot(float64(ux), float64(uy)))
		far = max(far, -sign*(ux*(y-c[i+1])-uy*(x-c[i]))/max(n, 1e-3))
	}
	return far
}

// TestMovesPipelines checks by pixels, for random pipelines, that every box
// still bounds its object's mask, and that a run in steady state allocates
// nothing.
func TestMovesPipelines(test *testing.T) {
	rounds := 500
	if testing.Short() {
		rounds = 50
		test.Logf("short: pipelines: %d of 500", rounds)
	}
	s := rng.NewKey(1, 0, "pipelines").At(0)
	for round := range rounds {
		g := datagraph.New()
		g.Tie(datagraph.Column{Name: "mask", Desc: tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 1)}, t.Role{Kind: t.RoleMask})
		g.Tie(datagraph.Column{Name: "boxes", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 4)}}, t.Role{Kind: t.RoleBoxes, Format: t.CoordXYXY})
		format := []t.CoordFormat{t.CoordLTWHR, t.CoordCXCYWHR, t.CoordXYXYXYXY}[round%3]
		width := []int{5, 5, 8}[round%3]
		g.Tie(datagraph.Column{Name: "rotated", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, width)}}, t.Role{Kind: t.RoleBoxes, Format: format, Clamping: t.ClampNone})
		g.Inputs[0].Desc = tensor.Image(tensor.Uint8, tensor.HWC, 60, 80, 3)
		choices := []t.Op{
			t.NewRandomHorizontalFlip(), t.NewRandomVerticalFlip(), t.NewRandomCrop(48, 48, 8), t.NewRandomResizedCrop(50, 52),
			t.NewPad(3, 1, 4, 9), t.NewCenterCrop(49, 50), t.NewResize(70, 66), t.NewRandomRotation(20), t.NewRotate90(1),
		}
		names := []string{}
		for range 1 + s.IntN(4) {
			op := choices[s.IntN(len(choices))]
			names = append(names, t.InfoOf(op).Name)
			g.Add(op)
		}
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(test, err, names)
		r := p.NewRunner()
		r.At = rng.Point{Seed: 5, Ordinal: uint64(round)}
		x, y := s.IntN(50), s.IntN(30)
		in := sample(x, y, x+5+s.IntN(25), y+5+s.IntN(25))
		in = append(in, rotatedBox(test, tensor.View[float32](in[2]), format))
		out, err := r.Run(in...)
		require.NoError(test, err, names)
		mask, box := out[1], tensor.View[float32](out[2])
		corners := cornersOf(test, out[3], format)
		// A resize makes a parallelogram of a rotated box, which no box bounds.
		bounds := !slices.Contains(names, "random_rotation") || !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "resize") })
		h, w := mask.Height(), mask.Width()
		require.Equal(test, [2]int{out[0].Height(), out[0].Width()}, [2]int{h, w}, names)
		for i, v := range mask.Data {
			// A pixel's centre lies in the box, up to the masks' own
			// rounding: nearest moves a pixel by up to half a pixel of its
			// input, and resizing enlarges that.
			if v != 0 {
				cx, cy := float32(i%w)+0.5, float32(i/w)+0.5
				const slack = 1.5
				if cx < box[0]-slack || cx > box[2]+slack || cy < box[1]-slack || cy > box[3]+slack {
					test.Fatalf("%v: pixel %d, %d of the mask is outside the box %v", names, i%w, i/w, box)
				}
				if bounds && outside(corners, cx, cy) > slack {
					test.Fatalf("%v: pixel %d, %d of the mask is outside the rotated box %v", names, i%w, i/w, corners)
				}
			}
		}
		if round%100 == 0 {
			for range 30 { // meet the variants
				r.At.Ordinal++
				_, err = r.Run(in...)
				require.NoError(test, err, names)
			}
			first := r.At.Ordinal - 29
			k := uint64(0)
			require.Zero(test, testing.AllocsPerRun(20, func() {
				r.At.Ordinal = first + k%29
				k++
				_, err = r.Run(in...)
				require.NoError(test, err)
			}), names)
		}
	}
}

// TestMovesRead checks random ops that read boxes, which earlier steps moved:
// the box that they move bounds exactly the object's mask.
func TestMovesRead(test *testing.T) {
	for _, op := range []t.Op{t.NewRandomIoUCrop(t.CoordXYXY), t.NewRandomObjectCrop(t.CoordXYXY)} {
		g := sampleGraph(t.NewHorizontalFlip(), 1)
		g.Then(op, []string{"image", "boxes"}, []string{"image"})
		g.Steps[1], g.Steps[2] = g.Steps[2], g.Steps[1]
		g.Steps[1].Moves = []string{"mask", "boxes"}
		p, err := datagraph.Compile(g, datagraph.CompileOptions{})
		require.NoError(test, err)
		r := p.NewRunner()
		cut := 0
		for i := range 40 {
			r.At = rng.Point{Seed: 1, Ordinal: uint64(i)}
			out, err := r.Run(sample(20+i, 7, 29+i, 30)...)
			require.NoError(test, err)
			h, w := out[1].Height(), out[1].Width()
			require.Equal(test, tensor.Image(tensor.Float32, tensor.CHW, h, w, 3), out[0].Desc)
			bounds := []float32{float32(w), float32(h), 0, 0}
			for i, v := range out[1].Data {
				if x, y := float32(i%w), float32(i/w); v != 0 {
					bounds = []float32{min(bounds[0], x), min(bounds[1], y), max(bounds[2], x+1), max(bounds[3], y+1)}
				}
			}
			require.Equal(test, bounds, tensor.View[float32](out[2]))
			if h < 60 || w < 80 {
				cut++
			}
		}
		require.Greater(test, cut, 20)
	}
}
