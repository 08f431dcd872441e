package transforms

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// uint16TIFF is a TIFF of two pixels with two bands: 1 2, 258 65535.
const uint16TIFF = "II*\x00\x10\x00\x00\x00\x01\x00\x02\x00\x02\x01\xff\xff" + "\x08\x00" +
	"\x00\x01\x03\x00\x01\x00\x00\x00\x02\x00\x00\x00" + // width
	"\x01\x01\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00" + // height
	"\x02\x01\x03\x00\x01\x00\x00\x00\x10\x00\x00\x00" + // bits
	"\x06\x01\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00" + // photometric interpretation
	"\x11\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00" + // the strip's offset
	"\x15\x01\x03\x00\x01\x00\x00\x00\x02\x00\x00\x00" + // samples
	"\x16\x01\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00" + // rows
	"\x17\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00" + // the strip's bytes
	"\x00\x00\x00\x00"

func TestDecodeNative(t *testing.T) {
	x := tensor.FromBytes([]byte(uint16TIFF))
	y := applyOne(t, NewDecodeNative(tensor.Uint16, 2), x)
	require.Equal(t, tensor.Image(tensor.Uint16, tensor.HWC, 1, 2, 2), y.Desc)
	require.Equal(t, []uint16{1, 2, 258, 65535}, tensor.Cast[uint16](y.Data))

	refusesParam(t, "dtype is bytes", NewDecodeNative(tensor.Bytes, 1))
	refusesParam(t, "channels is 0, want 1 to 64", NewDecodeNative(tensor.Uint8, 0))
	refusesParam(t, "channels is 65", NewDecodeNative(tensor.Uint8, 65))
	refusesParam(t, "channels is 1 with expand, want 3", &DecodeNative{DType: tensor.Uint8, Channels: 1, Expand: true})
	refusesParam(t, "frame is -1, want 0 to 2147483647", &DecodeNative{DType: tensor.Uint8, Channels: 1, Frame: -1})
	refusesInput(t, "want bytes: an encoded image", NewDecodeNative(tensor.Uint8, 1), vector)

	// Files with other samples.
	read := func(name string) []byte {
		b, err := os.ReadFile("../testdata/images/" + name)
		require.NoError(t, err)
		return b
	}
	var out [1]tensor.Desc
	for _, c := range []struct {
		data []byte
		op   *DecodeNative
		text string
	}{
		{[]byte(uint16TIFF), NewDecodeNative(tensor.Uint16, 1), "2 channels of uint16, the op decode_native wants 1 of uint16"},
		{[]byte(uint16TIFF), NewDecodeNative(tensor.Uint8, 2), "wants 2 of uint8"},
		{read("png_p8.png"), NewDecodeNative(tensor.Uint8, 3), "a palette"},
		{read("png_rgb8_key.png"), NewDecodeNative(tensor.Uint8, 3), "tRNS"},
		{read("gif_animated.gif"), NewDecodeNative(tensor.Uint8, 3), "mode P"},
		{read("jpeg_ycck.jpg"), NewDecodeNative(tensor.Uint8, 4), "mode CMYK"},
		{read("png_p8.png"), &DecodeNative{DType: tensor.Uint8, Channels: 3, Frame: 1}, "frame 1: want 0, only TIFF and DICOM have others"},
		{[]byte(uint16TIFF), &DecodeNative{DType: tensor.Uint16, Channels: 2, Frame: 1}, "frame 1: the file has fewer images"},
	} {
		err := c.op.InferData(NewContext(codec.Limits{}), out[:], []*tensor.Tensor{tensor.FromBytes(c.data)})
		require.ErrorIs(t, err, codec.ErrUnsupported, c.text)
		require.ErrorContains(t, err, c.text)
	}
}

// TestDecodeNativeWorkers decodes a large file by one and by several
// goroutines.
func TestDecodeNativeWorkers(t *testing.T) {
	const side = 500
	le := binary.LittleEndian
	file := []byte("II*\x00")
	file = le.AppendUint32(file, 8+2*side*side)
	for i := range side * side {
		file = le.AppendUint16(file, uint16(i*i))
	}
	tags := [][2]uint32{{256, side}, {257, side}, {258, 16}, {259, 1}, {262, 1}, {273, 8}, {277, 1}, {278, side}, {279, 2 * side * side}}
	file = le.AppendUint16(file, uint16(len(tags)))
	for _, tag := range tags {
		file = le.AppendUint16(le.AppendUint16(file, uint16(tag[0])), 4)
		file = le.AppendUint32(le.AppendUint32(file, 1), tag[1])
	}
	file = le.AppendUint32(file, 0)
	for _, workers := range []int{0, 1, 4} {
		c := newContext()
		c.SetWorkers(workers)
		out, err := run(c, NewDecodeNative(tensor.Uint16, 1), tensor.FromBytes(file))
		require.NoError(t, err)
		for i, v := range tensor.View[uint16](out[0]) {
			require.Equal(t, uint16(i*i), v)
		}
	}
}

func ExampleDecodeNative() {
	y := exampleRun(NewDecodeNative(tensor.Uint16, 2), tensor.FromBytes([]byte(uint16TIFF)))[0]
	fmt.Println(y.Desc, tensor.Cast[uint16](y.Data))
	// Output: uint16 HWC (1, 2, 2) [1 2 258 65535]
}
