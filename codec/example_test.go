package codec_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg" // codec/all links every format
	_ "github.com/infer-prep/infer-prep/codec/png"
)

// One image becomes a tensor of shape (height, width, 3).
func Example() {
	data, err := os.ReadFile("../testdata/images/jpeg_base_420.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	image, err := codec.Decode(data, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(image.Desc)

	// The error of a file without its second half states the kind and the
	// offset.
	_, err = codec.Decode(data[:len(data)/2], nil)
	fmt.Println(errors.Is(err, codec.ErrFormat), err)
	// Output:
	// uint8 HWC (53, 75, 3)
	// true jpeg: offset 1266: invalid format: the file ends in the middle of the image
}

// A Decoder reuses its memory from image to image. Open reads only the header,
// so that the caller can check the size before it decodes.
func ExampleDecoder() {
	var d codec.Decoder
	opt := &codec.Options{Color: codec.ToGray, Limits: codec.Limits{Pixels: 1e6}}
	var pix []byte
	for _, name := range []string{"jpeg_base_420.jpg", "png_gray16.png"} {
		data, err := os.ReadFile("../testdata/images/" + name)
		if err != nil {
			fmt.Println(err)
			return
		}
		image, err := d.Open(data, opt)
		if err != nil {
			fmt.Println(err)
			return
		}
		info := image.Info()
		if cap(pix) < info.Size() {
			pix = make([]byte, info.Size())
		}
		if err := image.Decode(pix[:info.Size()]); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Format, info.Width, info.Height, info.Channels)
	}
	// Output:
	// jpeg 75 53 1
	// png 37 23 1
}
