package transforms_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// apply runs an op of one input as an engine does: infer, allocate, apply.
func apply(op transforms.Op, src *tensor.Tensor) []*tensor.Tensor {
	if err := op.Validate(); err != nil {
		panic(err)
	}
	c := transforms.NewContext(codec.DefaultLimits())
	in, out := []*tensor.Tensor{src}, make([]tensor.Desc, len(transforms.InfoOf(op).Out))
	if err := op.Infer(out, []tensor.Desc{src.Desc}); err != nil {
		panic(err)
	}
	if d, ok := op.(transforms.DataShaped); ok {
		c.Begin()
		if err := d.InferData(c, out, in); err != nil {
			panic(err)
		}
	}
	dst := make([]*tensor.Tensor, len(out))
	for i := range out {
		var err error
		if dst[i], err = tensor.New(out[i]); err != nil {
			panic(err)
		}
	}
	c.Begin()
	if err := op.Apply(c, dst, in); err != nil {
		panic(err)
	}
	return dst
}

// pixels is a uint8 HWC image.
func pixels(h, w, c int, v ...uint8) *tensor.Tensor {
	t, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, h, w, c), v)
	if err != nil {
		panic(err)
	}
	return t
}

// floats is a float32 HWC image.
func floats(h, w, c int, v ...float32) *tensor.Tensor {
	t, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, h, w, c))
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float32](t), v)
	return t
}

func ExampleAlphaComposite() {
	half := pixels(1, 1, 4, 200, 100, 0, 128)
	fmt.Println(apply(transforms.NewAlphaComposite(), half)[0].Data)
	// Output: [227 177 127]
}

func ExampleCenterCrop() {
	row := pixels(1, 5, 1, 1, 2, 3, 4, 5)
	torchvision := transforms.NewCenterCrop(1, 2)
	huggingface := &transforms.CenterCrop{Height: 1, Width: 2, CropRounding: transforms.CropFloor, Fill: []float64{0}}
	fmt.Println(apply(torchvision, row)[0].Data, apply(huggingface, row)[0].Data)
	// Output: [3 4] [2 3]
}

func ExampleCHW2HWC() {
	planes := apply(transforms.NewHWC2CHW(), pixels(1, 2, 3, 1, 2, 3, 4, 5, 6))[0]
	out := apply(transforms.NewCHW2HWC(), planes)[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 HWC (1, 2, 3) [1 2 3 4 5 6]
}

func ExampleConvertColor() {
	orange := pixels(1, 1, 3, 200, 100, 50)
	fmt.Println(apply(transforms.NewConvertColor(transforms.RGB, transforms.BGR), orange)[0].Data)
	fmt.Println(apply(transforms.NewConvertColor(transforms.RGB, transforms.HSV), orange)[0].Data)
	// Output:
	// [50 100 200]
	// [10 191 200]
}

func ExampleCrop() {
	image := pixels(2, 3, 1, 1, 2, 3, 4, 5, 6)
	fmt.Println(apply(transforms.NewCrop(1, 1, 2, 2), image)[0].Data)
	// Output: [5 6 0 0]
}

func ExampleDecode() {
	// A 2x1 BMP of 24 bits: a red pixel and a blue one.
	file := append([]byte("BM\x3e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00"+
		"\x01\x00\x18\x00\x00\x00\x00\x00\x08\x00\x00\x00"), make([]byte, 16)...)
	file = append(file, 0, 0, 255, 255, 0, 0, 0, 0)
	image := apply(transforms.NewDecode(), tensor.FromBytes(file))[0]
	fmt.Println(image.Desc, image.Data)
	// Output: uint8 HWC (1, 2, 3) [255 0 0 0 0 255]
}

func ExampleGrayscale() {
	fmt.Println(apply(transforms.NewGrayscale(), pixels(1, 2, 3, 255, 0, 0, 0, 255, 0))[0].Data)
	// Output: [76 150]
}

func ExampleHWC2CHW() {
	out := apply(transforms.NewHWC2CHW(), pixels(1, 2, 3, 1, 2, 3, 4, 5, 6))[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 CHW (3, 1, 2) [1 4 2 5 3 6]
}

func ExampleHorizontalFlip() {
	fmt.Println(apply(transforms.NewHorizontalFlip(), pixels(1, 3, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1]
}

func ExampleInvert() {
	fmt.Println(apply(transforms.NewInvert(), pixels(1, 3, 1, 0, 100, 255))[0].Data)
	// Output: [255 155 0]
}

func ExampleLetterbox() {
	out := apply(transforms.NewLetterbox(640, 640), pixels(1, 2, 3, 9, 9, 9, 9, 9, 9))
	image, scale, pad := out[0], out[1], out[2]
	fmt.Println(image.Desc, tensor.View[float32](scale), tensor.View[int32](pad), image.Data[0])
	// Output: uint8 HWC (640, 640, 3) [320 320] [160 160 0 0] 114
}

func ExampleNormalize() {
	op := transforms.NewNormalize([]float64{0.5, 0.5, 0}, []float64{0.5, 0.25, 1})
	fmt.Println(tensor.View[float32](apply(op, floats(1, 1, 3, 0, 1, 0.25))[0]))
	// Output: [-1 2 0.25]
}

func ExampleNormalizePad() {
	op := transforms.NewNormalizePad([]float64{100}, []float64{50})
	fmt.Println(tensor.View[float32](apply(op, pixels(1, 1, 3, 0, 100, 200))[0]))
	// Output: [-2 0 2 0]
}

func ExamplePad() {
	op := transforms.NewPad(0, 0, 2, 1)
	op.Mode = transforms.PadReflect
	fmt.Println(apply(op, pixels(1, 3, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1 2 3 2]
}

func ExamplePadToSize() {
	op := transforms.NewPadToSize(1, 4)
	op.Fill = []float64{9}
	fmt.Println(apply(op, pixels(1, 1, 1, 5))[0].Data)
	// Output: [9 5 9 9]
}

func ExampleQuantize() {
	op := transforms.NewQuantize([]float64{0.5}, []int{10}, tensor.Uint8)
	fmt.Println(apply(op, floats(1, 1, 3, 0.25, 0.75, -100))[0].Data)
	// Output: [10 12 0]
}

func ExampleRescale() {
	fmt.Println(tensor.View[float32](apply(transforms.NewRescale(1.0/255), pixels(1, 1, 3, 0, 51, 255))[0]))
	// Output: [0 0.2 1]
}

func ExampleResize() {
	fmt.Println(apply(transforms.NewResize(1, 2), pixels(1, 4, 1, 0, 0, 100, 100))[0].Data)
	// Output: [14 86]
}

func ExampleResizedCrop() {
	fmt.Println(apply(transforms.NewResizedCrop(0, 1, 1, 2, 1, 1), pixels(1, 4, 1, 0, 10, 20, 30))[0].Data)
	// Output: [15]
}

func ExampleRotate90() {
	out := apply(transforms.NewRotate90(1), pixels(1, 3, 1, 1, 2, 3))[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 HWC (3, 1, 1) [3 2 1]
}

func ExampleToTensor() {
	out := apply(transforms.NewToTensor(), pixels(1, 1, 3, 0, 51, 255))[0]
	fmt.Println(out.Desc, tensor.View[float32](out))
	// Output: float32 CHW (3, 1, 1) [0 0.2 1]
}

func ExampleToType() {
	truncated := apply(transforms.NewToType(tensor.Uint8), floats(1, 1, 2, 1.5, 300))[0]
	saturated := apply(&transforms.ToType{DType: tensor.Uint8, Rule: transforms.CastSaturate}, floats(1, 1, 2, 1.5, 300))[0]
	fmt.Println(truncated.Data, saturated.Data)
	// Output: [1 255] [2 255]
}

func ExampleVerticalFlip() {
	fmt.Println(apply(transforms.NewVerticalFlip(), pixels(3, 1, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1]
}
