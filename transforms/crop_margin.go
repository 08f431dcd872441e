package transforms

import "github.com/infer-prep/infer-prep/tensor"

// CropMargin crops an RGB image to the smallest box that holds all pixels
// darker than the threshold. The gray values are first stretched from their own
// range to 0 to 255, so the darkest pixel is always within the box. An image
// with a single gray value does not change. It takes uint8 with three channels,
// HWC or CHW, and keeps both. No value changes.
//
// A pixel of gray value g is dark if (g - min) / (max - min) * 255 is less than
// Threshold. With backend pillow, g is Image.convert("L")'s and the arithmetic
// is float64. With backend torch, g is the fused and truncated one of Luma, and
// the arithmetic is float32.
//
// Reference: transformers 5.23.0, crop_margin of NougatImageProcessorPil
// (pillow) and NougatImageProcessor (torch).
type CropMargin struct {
	Threshold int     `json:"threshold"` // of the stretched gray values, 1 to 255; default 200
	Backend   Backend `json:"backend"`   // pillow or torch; default pillow
}

//msgp:tuple CropMargin
//sheet:crop_margin {"threshold": 90}

// NewCropMargin returns the op with a threshold of 200 and Pillow's gray.
func NewCropMargin() *CropMargin { return &CropMargin{Threshold: 200, Backend: Pillow} }

// Info describes the op.
func (*CropMargin) Info() Info {
	return Info{
		Name: "crop_margin", Version: 1, New: func() Op { return NewCropMargin() },
		Reference: "transformers 5.23.0 NougatImageProcessor.crop_margin", Exactness: "0",
	}
}

// Validate checks the threshold and the backend.
func (o *CropMargin) Validate() error {
	if o.Threshold < 1 || o.Threshold > 255 {
		return paramErr("threshold is %d, want 1 to 255", o.Threshold)
	}
	if o.Backend != Pillow && o.Backend != Torch {
		return paramErr("backend is %v, want pillow or torch", o.Backend)
	}
	return nil
}

// Infer leaves the size unknown: it depends on the pixels.
func (o *CropMargin) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return wantChannels(in[0], 3)
}

// InferData finds the size of the box.
func (o *CropMargin) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b := o.box(c, s)
	dst[0] = s.Desc.WithSize(b.bottom-b.top, b.right-b.left)
	return nil
}

// Apply copies the box.
func (o *CropMargin) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b := o.box(c, s)
	in, out := gridOf(s.Desc), gridOf(dst[0].Desc)
	for p := range in.planes {
		for y := range out.height {
			copy(out.row(dst[0].Data, p, y), in.row(s.Data, p, b.top+y)[b.left*in.pixel:])
		}
	}
	return nil
}

// margins is a box of pixels, without its last row and column.
type margins struct{ top, left, bottom, right int }

// box returns the box of the dark pixels of a dense image.
func (o *CropMargin) box(c *Context, s *tensor.Tensor) margins {
	h, w := s.Height(), s.Width()
	values := c.Scratch(h * w)
	grayValues(c, values, s, grayOf(o.Backend))
	least, most := uint8(255), uint8(0)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	if least == most {
		return margins{0, 0, h, w}
	}
	// Darkness does not increase with the gray value.
	limit := least
	for limit < most && o.dark(limit+1-least, most-least) {
		limit++
	}
	b := margins{h, w, 0, 0}
	for y := range h {
		row := values[y*w:][:w]
		for x, v := range row {
			if v <= limit {
				b.top, b.bottom = min(b.top, y), y+1
				b.left, b.right = min(b.left, x), max(b.right, x+1)
			}
		}
	}
	return b
}

// dark reports whether a gray value is dark that is v above the darkest, in an
// image with the given range of gray values.
func (o *CropMargin) dark(v, span uint8) bool {
	if o.Backend == Torch {
		return float32(float32(v)/float32(span))*255 < float32(o.Threshold)
	}
	return float64(float64(v)/float64(span))*255 < float64(o.Threshold)
}
