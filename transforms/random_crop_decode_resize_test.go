package transforms

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomCropDecodeResize(t *testing.T) {
	refusesParam(t, "width", NewRandomCropDecodeResize(1, 0))
	op := NewRandomCropDecodeResize(1, 1)
	op.Color = 99
	require.ErrorIs(t, op.Validate(), ErrParam)
	refusesInput(t, "want bytes", NewRandomCropDecodeResize(1, 1), rgb8)

	// The boxes are those of RandomResizedCrop for the decoded image, also if
	// ops differ in their policies.
	b, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	require.NoError(t, err)
	src := []*tensor.Tensor{tensor.FromBytes(b)}
	size := make([]tensor.Desc, 1)
	require.NoError(t, NewDecode().InferData(newContext(), size, src))
	d := NewDraw(newContext())
	for o := range uint64(50) {
		op := NewRandomCropDecodeResize(32, 24)
		op.Color = codec.Color(o % 2 * uint64(codec.ToGray))
		d.Begin()
		in := []tensor.Desc{src[0].Desc}
		got, err := d.Run(op, rng.Key{1, 2}.At(o), in, src)
		require.NoError(t, err)
		require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, 32, 24, op.Color.Channels()), in[0])
		want, err := d.Run(NewRandomResizedCrop(32, 24), rng.Key{1, 2}.At(o), []tensor.Desc{size[0]}, nil)
		require.NoError(t, err)
		require.Equal(t, append([]Op{&Decode{Color: op.Color}}, want...), got)
	}
	_, err = d.Run(op, rng.Key{}.At(0), []tensor.Desc{src[0].Desc}, []*tensor.Tensor{tensor.FromBytes([]byte("no image"))})
	require.Error(t, err)
	// The file is not computed yet, so its size is unknown.
	_, err = d.Run(NewRandomCropDecodeResize(1, 1), rng.Key{}.At(0), []tensor.Desc{src[0].Desc}, nil)
	require.ErrorIs(t, err, ErrInput)
}

func ExampleRandomCropDecodeResize() {
	b, err := os.ReadFile("../testdata/images/jpeg_large.jpg")
	if err != nil {
		panic(err)
	}
	d := NewDraw(newContext())
	src := []*tensor.Tensor{tensor.FromBytes(b)}
	ops, err := d.Run(NewRandomCropDecodeResize(224, 224), rng.NewKey(1, 0, "example").At(0), []tensor.Desc{src[0].Desc}, src)
	if err != nil {
		panic(err)
	}
	for _, op := range ops {
		fmt.Printf("%T %+[1]v\n", op)
	}
	// Output:
	// *transforms.Decode &{Color:rgb Alpha:drop Gray16:clip Refuse: Orientation:ignore Damage:pillow Scale:full}
	// *transforms.ResizedCrop &{Top:5 Left:43 Height:270 Width:261 OutHeight:224 OutWidth:224 Interpolation:bilinear Backend:pillow NoAntialias:false}
}
