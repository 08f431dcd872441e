package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAugMix(t *testing.T) {
	for name, set := range map[string]func(*AugMix){
		"severity":      func(o *AugMix) { o.Severity = 11 },
		"mixture_width": func(o *AugMix) { o.MixtureWidth = 0 },
		"chain_depth":   func(o *AugMix) { o.ChainDepth = -1 },
		"alpha":         func(o *AugMix) { o.Alpha = 0 },
	} {
		op := NewAugMix()
		set(op)
		refusesParam(t, name, op)
	}
}

func TestMixChains(t *testing.T) {
	refusesParam(t, "chains has 0 lists", NewMixChains(0.5))
	refusesParam(t, "own", NewMixChains(2).Chain(0, NewInvert()))
	refusesParam(t, "weights", NewMixChains(0).Chain(2, NewInvert()))
	refusesParam(t, "weights has 0 numbers", &MixChains{Chains: []OpList{{NewInvert()}}})
	refusesParam(t, "chains[0][1] is random_horizontal_flip", NewMixChains(0).Chain(1, NewInvert(), NewRandomHorizontalFlip()))
	refusesParam(t, "list 1: ", NewMixChains(0).Chain(1, NewInvert()).Chain(0))
	refusesInput(t, "want uint8", NewMixChains(0).Chain(1, NewInvert()), tensor.Image(tensor.Float32, tensor.HWC, 5, 6, 3))
	refusesInput(t, "list 0: op 0, crop", NewMixChains(0).Chain(1, NewCrop(0, 0, 1, 1)), rgb8)
}

func ExampleMixChains() {
	op := NewMixChains(0.5).Chain(0.25, NewInvert()).Chain(0.25, NewInvert(), NewInvert())
	out, _ := run(newContext(), op, exampleBytes(1, 2, 1, 0, 200))
	fmt.Println(out[0].Data)
	// Output: [63 163]
}

func ExampleAugMix() {
	op := exampleDraw(NewAugMix(), 0)[0].(*MixChains)
	for _, l := range op.Chains {
		names := []string{}
		for _, op := range l {
			names = append(names, InfoOf(op).Name)
		}
		fmt.Println(names)
	}
	// Output:
	// [adjust_brightness]
	// [affine posterize adjust_contrast]
	// [affine]
}
