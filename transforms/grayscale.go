package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Grayscale converts a uint8 RGB image to one channel, or to three equal
// channels. It takes one or three channels, HWC or CHW, and returns uint8. The
// values of a gray image do not change. Values range from 0 to 255.
//
// The gray value of each backend:
//
//   - Pillow: (19595 R + 38470 G + 7471 B + 32768) >> 16, as convert("L");
//   - OpenCV: (9798 R + 19235 G + 3735 B + 16384) >> 15, as COLOR_RGB2GRAY;
//   - Torch: 0.2989 R + 0.587 G + 0.114 B in float32, with each product and sum
//     rounded and the result truncated, as torchvision's
//     functional.rgb_to_grayscale of a tensor. Its v2 namesake fuses the
//     multiplications and additions on a CPU with FMA: 21 of the 2^24 colours
//     then differ, by 1.
//
// Reference: Pillow 13.0.0, Image.convert; OpenCV 5.0.0, cvtColor; torchvision
// 0.29.2, rgb_to_grayscale.
type Grayscale struct {
	Channels int     `json:"channels"` // of the output: 1 or 3; default 1
	Backend  Backend `json:"backend"`  // pillow, opencv or torch; default pillow
}

//msgp:tuple Grayscale

// NewGrayscale returns the op for one channel with Pillow's arithmetic.
func NewGrayscale() *Grayscale { return &Grayscale{Channels: 1, Backend: Pillow} }

// Info describes the op.
func (*Grayscale) Info() Info {
	return Info{
		Name: "grayscale", Version: 1, New: func() Op { return NewGrayscale() },
		Reference: "Pillow 13.0.0 convert, OpenCV 5.0.0 cvtColor, torchvision 0.29.2 rgb_to_grayscale",
		Exactness: "0",
	}
}

// Validate checks the number of channels and the backend.
func (o *Grayscale) Validate() error {
	if o.Channels != 1 && o.Channels != 3 {
		return paramErr("channels is %d, want 1 or 3", o.Channels)
	}
	return checkLibrary(o.Backend)
}

// Infer sets the number of channels.
func (o *Grayscale) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if err := wantChannels(in[0], 1, 3); err != nil {
		return err
	}
	dst[0] = in[0].WithChannels(o.Channels)
	return inferred(dst[0])
}

func scaled(f float32) (t [256]float32) {
	for v := range t {
		t[v] = float32(float32(v) * f)
	}
	return t
}

// Apply computes the gray values.
func (o *Grayscale) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	k := grayOf(o.Backend)
	if o.Backend == Torch {
		k = &kernel.GrayTorch
	}
	n := s.Height() * s.Width()
	gray := s.Data[:n]
	if s.Channels() > 1 {
		if gray = dst[0].Data[:n]; o.Channels > 1 && s.Layout == tensor.HWC {
			gray = c.Scratch(n)
		}
		grayValues(c, gray, s, k)
	}
	setChannels(dst[0], gray)
	return nil
}

// grayValues computes the gray value of every pixel of a dense RGB image.
func grayValues(c *Context, gray []uint8, s *tensor.Tensor, k *kernel.GrayRule) {
	eachPart(c, nil, s, func(at int, _, in colorPart) {
		k.Row(gray[at:][:len(in[0])], in[0], in[1], in[2])
	})
}

// setChannels writes gray values to all channels of dst. gray may be its first
// plane.
func setChannels(dst *tensor.Tensor, gray []uint8) {
	if ch := dst.Channels(); ch > 1 && dst.Layout == tensor.HWC {
		kernel.Interleave(dst.Data, gray, 0, ch)
		return
	}
	for at := 0; at < len(dst.Data); at += len(gray) {
		copy(dst.Data[at:], gray)
	}
}
