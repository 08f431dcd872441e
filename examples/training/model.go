package main

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlcontext "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers/cosineschedule"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// The model is a fixed extractor and two dense layers, which are trained.
// GoMLX's pure-Go backend has no gradient for pooling and for strided
// convolutions, so this program computes the extractor itself, in the workers
// of the pipeline. It measures edges in eight directions: a convolution of each
// colour with eight filters, the absolute value, the sum over the colours, the
// mean over 2 x 2, and the square root.
const (
	side       = 32 // of the model's input, in pixels
	directions = 8
	kernel     = 5 // of the filters, with stride 2 and padding 2
	grid       = side / 4
	features   = directions * grid * grid
	hidden     = 64
)

// edges has the filters: derivatives of a Gaussian of 1.2 pixels. They are
// multiples of 1/256, so that all platforms have equal ones.
var edges = func() (l [directions][kernel * kernel]float32) {
	for k := range l {
		sin, cos := math.Sincos(float64(k) * math.Pi / directions)
		for i := range l[k] {
			x, y := float64(i%kernel-2), float64(i/kernel-2)
			l[k][i] = float32(math.Round(64*(x*cos+y*sin)*math.Exp(-(x*x+y*y)/2.88)) / 256)
		}
	}
	return l
}()

// extract returns the features of an image (3, side, side): (directions, grid,
// grid). Equal images have equal bits.
func extract(image []float32) []float32 {
	const half = side / 2
	energy := make([]float32, directions*half*half)
	var window [kernel * kernel]float32
	for c := range 3 {
		plane := image[c*side*side : (c+1)*side*side]
		for y := range half {
			for x := range half {
				for i := range window {
					iy, ix := 2*y+i/kernel-2, 2*x+i%kernel-2
					window[i] = 0
					if iy >= 0 && iy < side && ix >= 0 && ix < side {
						window[i] = plane[iy*side+ix]
					}
				}
				for k := range edges {
					var sum float32
					for i, w := range &edges[k] {
						sum += float32(w * window[i])
					}
					energy[(k*half+y)*half+x] += max(sum, -sum)
				}
			}
		}
	}
	out := make([]float32, features)
	for i := range out {
		k, y, x := i/(grid*grid), i/grid%grid, i%grid
		at := (k*half+2*y)*half + 2*x
		mean := (energy[at] + energy[at+1] + energy[at+half] + energy[at+half+1]) / 4
		out[i] = float32(math.Sqrt(float64(mean)))
	}
	return out
}

// extractor is extract as a function of a dataset.
func extractor(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
	if err := dst[0].Reset(featureColumn.Desc); err != nil {
		return err
	}
	copy(tensor.View[float32](&dst[0].Tensor), extract(tensor.View[float32](src[0])))
	return nil
}

var featureColumn = dataset.Column{Name: "features", Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(features)}}

// head has the trained weights: dense layers with their biases.
type head struct {
	steps          int       // of the whole training
	w1, b1, w2, b2 []float32 // (features, hidden), (hidden), (hidden, classes), (classes)
}

// newHead returns the weights at the start of a training.
func newHead(seed uint64, steps, classes int) *head {
	layer := func(name string, in, out int) []float32 {
		s, w := rng.NewKey(seed, 0, name).At(0), make([]float32, in*out)
		for i := range w {
			w[i] = float32(s.Normal() * math.Sqrt(2/float64(in)))
		}
		return w
	}
	return &head{steps, layer("w1", features, hidden), make([]float32, hidden), layer("w2", hidden, classes), make([]float32, classes)}
}

// part is a variable of GoMLX's context.
type part struct {
	name   string
	values *[]float32
	shape  []int
}

// parts returns the weights as variables.
func (h *head) parts() []part {
	return []part{
		{"w1", &h.w1, []int{features, hidden}}, {"b1", &h.b1, []int{hidden}},
		{"w2", &h.w2, []int{hidden, len(h.b2)}}, {"b2", &h.b2, []int{len(h.b2)}},
	}
}

// graph is the head as a train.ModelFn that starts with h's weights. The
// learning rate falls along a cosine from 0.002 over all steps.
func (h *head) graph(ctx *mlcontext.Context, _ any, inputs []*graph.Node) []*graph.Node {
	x := inputs[0]
	cosineschedule.New(ctx, x.Graph(), x.DType()).LearningRate(0.002).PeriodInSteps(h.steps).Done()
	ctx = ctx.In("head")
	var v []*graph.Node
	for _, p := range h.parts() {
		v = append(v, ctx.VariableWithValue(p.name, tensors.FromFlatDataAndDimensions(*p.values, p.shape...)).ValueGraph(x.Graph()))
	}
	row := func(b *graph.Node) *graph.Node { return graph.InsertAxes(b, 0) }
	x = graph.Max(graph.Add(graph.Dot(x, v[0]), row(v[1])), graph.ScalarZero(x.Graph(), x.DType()))
	return []*graph.Node{graph.Add(graph.Dot(x, v[2]), row(v[3]))}
}

// read sets h to the weights of a context.
func (h *head) read(ctx *mlcontext.Context) error {
	for _, p := range h.parts() {
		v := ctx.GetVariableByScopeAndName("/head", p.name)
		if v == nil {
			continue // before the first step
		}
		t, err := v.Value()
		if err != nil {
			return err
		}
		if *p.values, err = tensors.CopyFlatData[float32](t); err != nil {
			return err
		}
	}
	return nil
}

// scores returns the logits of an image's features.
func (h *head) scores(x []float32) []float32 {
	dense := func(x, w, b []float32) []float32 {
		y := make([]float32, len(b))
		for o := range y {
			for i, v := range x {
				y[o] += float32(v * w[i*len(b)+o])
			}
			y[o] += b[o]
		}
		return y
	}
	x = dense(x, h.w1, h.b1)
	for i := range x {
		x[i] = max(0, x[i])
	}
	return dense(x, h.w2, h.b2)
}

// best returns the class with the highest score.
func best(scores []float32) (class int) {
	for i, s := range scores {
		if s > scores[class] {
			class = i
		}
	}
	return class
}

// crossEntropy returns the loss of an image of a class.
func crossEntropy(scores []float32, class int) float64 {
	var sum float64
	for _, s := range scores {
		sum += math.Exp(float64(s - scores[class]))
	}
	return math.Log(sum)
}
