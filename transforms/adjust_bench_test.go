package transforms

import (
	"math/rand/v2"
	"testing"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func BenchmarkAdjust(b *testing.B) {
	x, _ := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 224, 224, 3))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x.Data {
		x.Data[i] = byte(r.Uint32())
	}
	y, _ := tensor.New(x.Desc)
	for _, k := range []Backend{Pillow, OpenCV, Torch} {
		for name, op := range map[string]Op{
			"brightness": &AdjustBrightness{1.3, k}, "contrast": &AdjustContrast{1.3, k},
			"saturation": &AdjustSaturation{1.3, k}, "hue": &AdjustHue{0.1, k},
		} {
			b.Run(k.String()+"/"+name, func(b *testing.B) {
				c := newContext()
				b.SetBytes(int64(len(x.Data)))
				for b.Loop() {
					c.Begin()
					if err := op.Apply(c, []*tensor.Tensor{y}, []*tensor.Tensor{x}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for name, op := range map[string]Random{
		"random_resized_crop": NewRandomResizedCrop(224, 224), "random_color_adjust": NewRandomColorAdjust(0.4, 0.4, 0.4, 0.1),
	} {
		b.Run(name, func(b *testing.B) {
			d := NewDraw(newContext())
			in := make([]tensor.Desc, 1)
			k := rng.NewKey(1, 2, "")
			n := uint64(0)
			for b.Loop() {
				d.Begin()
				in[0] = tensor.Image(tensor.Uint8, tensor.HWC, 375, 500, 3)
				n++
				if _, err := d.Run(op, k.At(n), in, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
