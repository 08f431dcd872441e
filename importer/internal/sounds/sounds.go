//go:build !small

package sounds

import (
	"fmt"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The columns of a graph of features.
const (
	Samples  = "samples"
	Features = "features"
)

// Input sets the graph's input and puts the steps that decode it first. With
// decode the input is a sound file of rate samples a second, whose channels are
// averaged, else the column Samples, float32 (samples) of one channel.
func Input(g *datagraph.Graph, rate int, decode bool) {
	if !decode {
		g.Inputs = []datagraph.Column{{Name: Samples, Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)}}}
		return
	}
	g.Inputs = []datagraph.Column{{Name: datagraph.Image, Desc: tensor.Encoded()}}
	g.Steps = append([]datagraph.Step{
		{Op: transforms.NewDecodeSound(rate), In: []string{datagraph.Image}, Out: []string{"channels"}},
		{Op: transforms.NewMixMono(), In: []string{"channels"}, Out: []string{Samples}},
	}, g.Steps...)
}

// WinLength reads win_length, by default the length of the transform. ok is
// false after a problem; win is then that length.
func WinLength(o *importer.Object, size int) (win int, ok bool) {
	win = size
	if !o.Null("win_length") {
		win = o.Int("win_length", size, 1, 1<<16)
	}
	o.Inert("win_length")
	if win > size || (size-win)%2 != 0 {
		o.Bad("win_length", "at most n_fft, and both even or odd")
		return size, false
	}
	return win, true
}

// Power reads power, which is 1 or 2, by default 2.
func Power(o *importer.Object) int {
	power := o.Number("power", 2, 1, 2)
	if power != 1 && power != 2 {
		o.Bad("power", "1 or 2")
	}
	return int(power)
}

// Around puts n zeros at each end of the samples, or cuts off -n samples.
func Around(g *datagraph.Graph, n int) {
	in := []string{Samples}
	switch {
	case n > 0:
		g.Then(&transforms.FitSequence{Multiple: 1, Left: n, Right: n}, in, []string{Samples, "mask"})
	case n < 0:
		g.Then(transforms.NewSlice(fmt.Sprintf("%d:%d", -n, n)), in, in)
	}
}
