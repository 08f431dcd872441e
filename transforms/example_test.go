package transforms

import (
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// exampleRun runs an op as an engine does: infer, allocate, apply.
func exampleRun(op Op, in ...*tensor.Tensor) []*tensor.Tensor {
	if err := op.Validate(); err != nil {
		panic(err)
	}
	c := NewContext(codec.DefaultLimits())
	out := make([]tensor.Desc, len(InfoOf(op).Out))
	if err := op.Infer(out, descs(in)); err != nil {
		panic(err)
	}
	if d, ok := op.(DataShaped); ok {
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

// exampleDraw returns the ops that a random op draws for an 8 x 6 image, or for
// a matrix of that size if it is one of sounds.
func exampleDraw(op Random, ordinal uint64) OpList {
	d := NewDraw(NewContext(codec.DefaultLimits()))
	in := []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 6, 8, 3)}
	if InfoOf(op).In[0] == soundColumn[0] {
		in[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(6, 8)}
	}
	ops, err := d.Run(op, rng.NewKey(1, 0, "example").At(ordinal), in, nil)
	if err != nil {
		panic(err)
	}
	return ops
}

// exampleBytes returns a uint8 HWC image.
func exampleBytes(h, w, c int, v ...uint8) *tensor.Tensor {
	t, err := tensor.Wrap(tensor.Image(tensor.Uint8, tensor.HWC, h, w, c), v)
	if err != nil {
		panic(err)
	}
	return t
}

// exampleFloats returns a float32 HWC image.
func exampleFloats(h, w, c int, v ...float32) *tensor.Tensor {
	t, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, h, w, c))
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float32](t), v)
	return t
}

func ExampleAlphaComposite() {
	half := exampleBytes(1, 1, 4, 200, 100, 0, 128)
	fmt.Println(exampleRun(NewAlphaComposite(), half)[0].Data)
	// Output: [227 177 127]
}

func ExampleCenterCrop() {
	row := exampleBytes(1, 5, 1, 1, 2, 3, 4, 5)
	torchvision := NewCenterCrop(1, 2)
	huggingface := &CenterCrop{Height: 1, Width: 2, CropRounding: CropFloor, Fill: []float64{0}}
	fmt.Println(exampleRun(torchvision, row)[0].Data, exampleRun(huggingface, row)[0].Data)
	// Output: [3 4] [2 3]
}

func ExampleCenterCropFraction() {
	page := exampleBytes(2, 5, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	fmt.Println(exampleRun(NewCenterCropFraction(1, 0.5), page)[0].Data)
	// Output: [3 8]
}

func ExampleCHW2HWC() {
	planes := exampleRun(NewHWC2CHW(), exampleBytes(1, 2, 3, 1, 2, 3, 4, 5, 6))[0]
	out := exampleRun(NewCHW2HWC(), planes)[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 HWC (1, 2, 3) [1 2 3 4 5 6]
}

func ExampleClamp() {
	out := exampleRun(NewClamp(0, 1), exampleFloats(1, 3, 1, -0.25, 0.5, 1.25))[0]
	fmt.Println(tensor.View[float32](out))
	// Output: [0 0.5 1]
}

func ExampleConvertColor() {
	orange := exampleBytes(1, 1, 3, 200, 100, 50)
	fmt.Println(exampleRun(NewConvertColor(RGB, BGR), orange)[0].Data)
	fmt.Println(exampleRun(NewConvertColor(RGB, HSV), orange)[0].Data)
	// Output:
	// [50 100 200]
	// [10 191 200]
}

func ExampleCrop() {
	image := exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6)
	fmt.Println(exampleRun(NewCrop(1, 1, 2, 2), image)[0].Data)
	// Output: [5 6 0 0]
}

func ExampleDecode() {
	// A 24-bit BMP of 2x1 pixels: red and blue.
	file := append([]byte("BM\x3e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00"+
		"\x01\x00\x18\x00\x00\x00\x00\x00\x08\x00\x00\x00"), make([]byte, 16)...)
	file = append(file, 0, 0, 255, 255, 0, 0, 0, 0)
	image := exampleRun(NewDecode(), tensor.FromBytes(file))[0]
	fmt.Println(image.Desc, image.Data)
	// Output: uint8 HWC (1, 2, 3) [255 0 0 0 0 255]
}

func ExampleExpandDims() {
	fmt.Println(exampleRun(NewExpandDims(0), exampleBytes(1, 2, 3, 1, 2, 3, 4, 5, 6))[0].Desc)
	// Output: uint8 (1, 1, 2, 3)
}

func ExampleGrayscale() {
	fmt.Println(exampleRun(NewGrayscale(), exampleBytes(1, 2, 3, 255, 0, 0, 0, 255, 0))[0].Data)
	// Output: [76 150]
}

func ExampleHWC2CHW() {
	out := exampleRun(NewHWC2CHW(), exampleBytes(1, 2, 3, 1, 2, 3, 4, 5, 6))[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 CHW (3, 1, 2) [1 4 2 5 3 6]
}

func ExampleHorizontalFlip() {
	fmt.Println(exampleRun(NewHorizontalFlip(), exampleBytes(1, 3, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1]
}

func ExampleImageSize() {
	y := exampleRun(NewImageSize(), exampleBytes(2, 3, 1, make([]uint8, 6)...))
	fmt.Println(tensor.View[int64](y[0]))
	// Output: [2 3]
}

func ExampleInvert() {
	fmt.Println(exampleRun(NewInvert(), exampleBytes(1, 3, 1, 0, 100, 255))[0].Data)
	// Output: [255 155 0]
}

func ExampleLetterbox() {
	out := exampleRun(NewLetterbox(640, 640), exampleBytes(1, 2, 3, 9, 9, 9, 9, 9, 9))
	image, scale, pad := out[0], out[1], out[2]
	fmt.Println(image.Desc, tensor.View[float32](scale), tensor.View[int32](pad), image.Data[0])
	// Output: uint8 HWC (640, 640, 3) [320 320] [160 160 0 0] 114
}

func ExampleNormalize() {
	op := NewNormalize([]float64{0.5, 0.5, 0}, []float64{0.5, 0.25, 1})
	fmt.Println(tensor.View[float32](exampleRun(op, exampleFloats(1, 1, 3, 0, 1, 0.25))[0]))
	// Output: [-1 2 0.25]
}

func ExampleNormalizePad() {
	op := NewNormalizePad([]float64{100}, []float64{50})
	fmt.Println(tensor.View[float32](exampleRun(op, exampleBytes(1, 1, 3, 0, 100, 200))[0]))
	// Output: [-2 0 2 0]
}

func ExampleMultiply() {
	out := exampleRun(NewMultiply(2, 10), exampleFloats(1, 1, 2, 1.5, 3))[0]
	fmt.Println(tensor.View[float32](out))
	// Output: [3 30]
}

func ExampleBlobCrop() {
	fmt.Println(exampleRun(NewBlobCrop(1, 1), exampleBytes(1, 3, 1, 10, 20, 30))[0].Data)
	// Output: [20]
}

func ExamplePad() {
	op := NewPad(0, 0, 2, 1)
	op.Mode = PadReflect
	fmt.Println(exampleRun(op, exampleBytes(1, 3, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1 2 3 2]
}

func ExamplePadSqrt() {
	column := exampleBytes(8, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8)
	fmt.Println(exampleRun(NewPadSqrt(1), column)[0].Data)
	// Output: [3 2 1 2 3 4 5 6 7 8 7 6]
}

func ExamplePadToMultiple_next() {
	op := NewPadToMultiple(2)
	op.Position, op.Mode, op.Next = TopLeft, PadSymmetric, true
	out := exampleRun(op, exampleBytes(1, 2, 1, 1, 2))[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 HWC (2, 4, 1) [1 2 2 1 1 2 2 1]
}

func ExamplePadToSize() {
	op := NewPadToSize(1, 4)
	op.Fill = []float64{9}
	fmt.Println(exampleRun(op, exampleBytes(1, 1, 1, 5))[0].Data)
	// Output: [9 5 9 9]
}

func ExamplePadToMultiple() {
	op := NewPadToMultiple(4)
	op.Position = TopLeft
	y := exampleRun(op, exampleBytes(2, 5, 3, make([]uint8, 30)...))[0]
	fmt.Println(y.Height(), y.Width())
	// Output: 4 8
}

func ExamplePadToSquare() {
	row := exampleBytes(1, 3, 1, 1, 2, 3)
	fmt.Println(exampleRun(NewPadToSquare([]float64{9}), row)[0].Data)
	// Output: [9 9 9 1 2 3 9 9 9]
}

func ExamplePadWithMask() {
	y := exampleRun(NewPadWithMask(1, 4), exampleBytes(1, 2, 1, 7, 8))
	fmt.Println(y[0].Data, tensor.View[int64](y[1]))
	// Output: [7 8 0 0] [1 1 0 0]
}

func ExampleQuantize() {
	op := NewQuantize([]float64{0.5}, []int{10}, tensor.Uint8)
	fmt.Println(exampleRun(op, exampleFloats(1, 1, 3, 0.25, 0.75, -100))[0].Data)
	// Output: [10 12 0]
}

func ExampleRescale() {
	fmt.Println(tensor.View[float32](exampleRun(NewRescale(1.0/255), exampleBytes(1, 1, 3, 0, 51, 255))[0]))
	// Output: [0 0.2 1]
}

func ExampleResize() {
	fmt.Println(exampleRun(NewResize(1, 2), exampleBytes(1, 4, 1, 0, 0, 100, 100))[0].Data)
	// Output: [14 86]
}

func ExampleResizeLibyuv() {
	fmt.Println(exampleRun(NewResizeLibyuv(1, 2), exampleBytes(1, 4, 1, 0, 0, 100, 100))[0].Data)
	// Output: [0 99]
}

func ExampleResizeAlignCorners() {
	out := exampleRun(NewResizeAlignCorners(1, 5), exampleFloats(1, 3, 1, 0, 1, 4))[0]
	fmt.Println(tensor.View[float32](out))
	// Output: [0 0.5 1 2.5 4]
}

func ExampleResizedCrop() {
	fmt.Println(exampleRun(NewResizedCrop(0, 1, 1, 2, 1, 1), exampleBytes(1, 4, 1, 0, 10, 20, 30))[0].Data)
	// Output: [15]
}

func ExampleRotate90() {
	out := exampleRun(NewRotate90(1), exampleBytes(1, 3, 1, 1, 2, 3))[0]
	fmt.Println(out.Desc, out.Data)
	// Output: uint8 HWC (3, 1, 1) [3 2 1]
}

func ExampleToTensor() {
	out := exampleRun(NewToTensor(), exampleBytes(1, 1, 3, 0, 51, 255))[0]
	fmt.Println(out.Desc, tensor.View[float32](out))
	// Output: float32 CHW (3, 1, 1) [0 0.2 1]
}

func ExampleToType() {
	truncated := exampleRun(NewToType(tensor.Uint8), exampleFloats(1, 1, 2, 1.5, 300))[0]
	saturated := exampleRun(&ToType{DType: tensor.Uint8, Rule: CastSaturate}, exampleFloats(1, 1, 2, 1.5, 300))[0]
	fmt.Println(truncated.Data, saturated.Data)
	// Output: [1 255] [2 255]
}

func ExampleVerticalFlip() {
	fmt.Println(exampleRun(NewVerticalFlip(), exampleBytes(3, 1, 1, 1, 2, 3))[0].Data)
	// Output: [3 2 1]
}
