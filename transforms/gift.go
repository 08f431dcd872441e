package transforms

import "github.com/infer-prep/infer-prep/tensor"

// The ops gift_* are filters of github.com/disintegration/gift 1.2.1. The
// prefix names the reference, because other libraries' filters of the same
// names take other parameters and return other pixels. gift itself allocates
// for every image, and its sums fuse on some platforms. The ops compute the
// bytes of gift on amd64 (GOAMD64=v1) with kernels of their own.

const giftReference = "gift 1.2.1 (amd64)"

// wantGift rejects images that gift's ops do not support. One channel is an
// image.Gray, four are an image.NRGBA, and three are an opaque one.
func wantGift(d tensor.Desc) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	return wantChannels(d, 1, 3, 4)
}

// checkWindow wants the side of a window.
func checkWindow(name string, n int) error {
	if n < 1 || n > maxWindow || n%2 == 0 {
		return paramErr("%s is %d, want an odd number of 1 to %d", name, n, maxWindow)
	}
	return nil
}

// maxWindow bounds windows and square kernels, in pixels.
const maxWindow = 255
