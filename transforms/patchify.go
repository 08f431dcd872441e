package transforms

import "github.com/infer-prep/infer-prep/tensor"

//msgp:shim tensor.Layout as:uint8 using:uint8/tensor.Layout

// Patchify cuts an image into square patches and returns each patch as a row.
// Models that accept images of any size take this form. It takes any dtype of
// fixed size, HWC or CHW. No value changes. A side that is not a multiple of
// Patch times Merge is an ErrInput.
//
// Patches are in raster order. With a Merge m above 1 and without Raster,
// squares of m x m patches are in raster order, and so are the patches in each
// square. Layout orders the values of a row: CHW is channel, frame, line,
// column; HWC is line, column, channel, frame; with FramesFirst the frame comes
// first. Temporal repeats the image as the frames of a video; 0 omits the axis
// of frames.
//
// Outputs: image, (patches, values per patch), without a layout, or with Planes
// (patches, channels times frames, Patch, Patch), for HWC (patches, frames,
// Patch, Patch, channels); grid, int64: the numbers of lines and columns of
// patches. With a Temporal above 0, grid starts with a 1.
//
// Reference: transformers 5.23.0, patchify of Qwen2-VL (CHW, Temporal 2, Merge
// 2), PaddleOCR-VL (Planes), HunYuan-VL (Raster), Muse Glimmer (FramesFirst)
// and Cosmos 3 Edge (HWC, Temporal 1), Inkling (HWC, Planes),
// convert_image_to_patches of SigLIP2 (HWC), and extract_flattened_patches of
// Pix2Struct (HWC, Numbered).
type Patchify struct {
	Patch    int           `json:"patch"`    // side of a patch in pixels, 1 to 2^24; 14 and 16 are common
	Temporal int           `json:"temporal"` // frames of a patch, 0 to 2^24; default 0, Qwen2-VL: 2
	Merge    int           `json:"merge"`    // side of a square of patches, 1 to 2^24; default 1, Qwen2-VL: 2
	Layout   tensor.Layout `json:"layout"`   // of a patch: CHW or HWC; default HWC
	// FramesFirst puts the frames before the other axes. It requires a Temporal
	// above 0. Default false.
	FramesFirst bool `json:"frames_first"`
	Raster      bool `json:"raster"` // all patches are in raster order, whatever Merge is; default false
	Planes      bool `json:"planes"` // the output keeps the axes of a patch; not for HWC without FramesFirst; default false
	// Numbered puts two values before those of each row: the line and the
	// column of the patch, counted from 1. It requires float32 and no Planes.
	// Default false.
	Numbered bool `json:"numbered"`
}

//msgp:tuple Patchify
//sheet:patchify {"patch": 14}

// NewPatchify returns the op for patches of patch x patch pixels: HWC, no
// video, no merging.
func NewPatchify(patch int) *Patchify { return &Patchify{Patch: patch, Merge: 1, Layout: tensor.HWC} }

// Info describes the op.
func (*Patchify) Info() Info {
	return Info{
		Name: "patchify", Version: 1, New: func() Op { return NewPatchify(16) },
		Out:       []string{"image", "grid"},
		Reference: "transformers 5.23.0 patchify of Qwen2VLImageProcessorPil and others, Siglip2 convert_image_to_patches", Exactness: "0",
	}
}

// Validate checks the sizes and the layout.
func (o *Patchify) Validate() error {
	if err := checkSide("patch", o.Patch); err != nil {
		return err
	}
	if err := checkSide("merge", o.Merge); err != nil {
		return err
	}
	if o.Temporal < 0 || o.Temporal > maxSide {
		return paramErr("temporal is %d, want 0 to %d", o.Temporal, maxSide)
	}
	if o.Layout != tensor.CHW && o.Layout != tensor.HWC {
		return paramErr("layout is %v, want HWC or CHW", o.Layout)
	}
	if o.FramesFirst && o.Temporal == 0 {
		return paramErr("frames_first is true with temporal 0, want at least 1")
	}
	if o.Planes && o.Layout == tensor.HWC && !o.FramesFirst {
		return paramErr("planes is true with layout HWC, want CHW, or frames_first")
	}
	if o.Planes && o.Numbered {
		return paramErr("numbered is true with planes, want one of them")
	}
	return nil
}

// rowNumbers is how many values Numbered puts before each row.
const rowNumbers = 2

// Infer describes the patches and the grid.
func (o *Patchify) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	if o.Numbered && d.DType != tensor.Float32 {
		return inputErr("%v, want float32 for numbered", d)
	}
	// The products of two sides do not overflow an int64. Larger products are
	// rejected first.
	square := int64(o.Patch) * int64(o.Merge)
	count := int64(1)
	for _, n := range [2]int{d.Height(), d.Width()} {
		switch {
		case n == tensor.Unknown:
			count = tensor.Unknown
		case int64(n)%square != 0:
			return inputErr("%v, want sides that are multiples of %d", d, square)
		case count != tensor.Unknown:
			count *= int64(n) / int64(o.Patch)
		}
	}
	values := int64(tensor.Unknown)
	if c := d.Channels(); c != tensor.Unknown {
		values = int64(o.Patch) * int64(o.Patch)
		for _, n := range [2]int64{int64(c), int64(max(o.Temporal, 1))} {
			if values > maxPixels/n {
				return inputErr("%v: a patch would have more than 2^48 values", d)
			}
			values *= n
		}
	}
	if o.Numbered && values != tensor.Unknown {
		values += rowNumbers
	}
	if int64(int(count)) != count || int64(int(values)) != values {
		return inputErr("%v: %d patches of %d values are too many to count", d, count, values)
	}
	dst[0] = tensor.Desc{DType: d.DType, Shape: tensor.Dims(int(count), int(values))}
	if o.Planes {
		planes := values
		if values != tensor.Unknown {
			planes /= int64(o.Patch) * int64(o.Patch)
		}
		dst[0].Shape = tensor.Dims(int(count), int(planes), o.Patch, o.Patch)
		if o.Layout == tensor.HWC {
			dst[0].Shape = tensor.Dims(int(count), o.Temporal, o.Patch, o.Patch, d.Channels())
		}
	}
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)}
	if o.Temporal > 0 {
		dst[1].Shape = tensor.Dims(3)
	}
	return inferred(dst[0])
}

// Apply copies the patches.
func (o *Patchify) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	rows, columns, channels := s.Height()/o.Patch, s.Width()/o.Patch, s.Channels()
	o.Report(dst, []tensor.Desc{s.Desc})
	size, merge := s.DType.Size(), o.Merge
	if o.Raster {
		merge = 1
	}
	at := dst[0].Data
	for y := 0; y < rows; y += merge {
		for x := 0; x < columns; x += merge {
			for i := range merge {
				for j := range merge {
					if o.Numbered {
						f := tensor.Cast[float32](at[:rowNumbers*size])
						f[0], f[1] = float32(y+i+1), float32(x+j+1)
						at = at[rowNumbers*size:]
					}
					o.patch(at, s, (y+i)*o.Patch, (x+j)*o.Patch, size)
					at = at[max(o.Temporal, 1)*channels*o.Patch*o.Patch*size:]
				}
			}
		}
	}
	return nil
}

// Reported returns 1, the index of the grid.
func (o *Patchify) Reported() int { return 1 }

// Report writes the grid.
func (o *Patchify) Report(dst []*tensor.Tensor, in []tensor.Desc) {
	grid := tensor.View[int64](dst[1])
	grid[0], grid[len(grid)-2], grid[len(grid)-1] = 1, int64(in[0].Height()/o.Patch), int64(in[0].Width()/o.Patch)
}

// Blocks returns where the pixels of a CHW image go, if patches are CHW and not
// numbered.
func (o *Patchify) Blocks(d tensor.Desc) (Blocks, bool) {
	plane, frames := o.Patch*o.Patch, max(o.Temporal, 1)
	b := Blocks{Height: o.Patch, Width: o.Patch, Merge: o.Merge, Size: frames * d.Channels() * plane, Plane: frames * plane, Copies: frames, Step: plane}
	if o.FramesFirst {
		b.Plane, b.Step = plane, d.Channels()*plane
	}
	if o.Raster {
		b.Merge = 1
	}
	return b, o.Layout == tensor.CHW && d.Layout == tensor.CHW && !o.Numbered
}

// patch writes the patch whose first pixel is at row top and column left.
func (o *Patchify) patch(to []byte, s *tensor.Tensor, top, left, size int) {
	h, w, channels := s.Height(), s.Width(), s.Channels()
	line := o.Patch * size // of one channel
	if o.FramesFirst {
		one := Patchify{Patch: o.Patch, Temporal: 1, Layout: o.Layout}
		one.patch(to, s, top, left, size)
		frame := to[:o.Patch*line*channels]
		for range o.Temporal - 1 {
			to = to[len(frame):]
			copy(to, frame)
		}
		return
	}
	switch {
	case o.Layout == tensor.HWC && o.Temporal > 1:
		// Each value is repeated.
		yStep, xStep, cStep := w*channels, channels, 1
		if s.Layout == tensor.CHW {
			yStep, xStep, cStep = w, 1, h*w
		}
		for y := range o.Patch {
			for x := range o.Patch {
				for c := range channels {
					v := s.Data[((top+y)*yStep+(left+x)*xStep+c*cStep)*size:][:size]
					for range o.Temporal {
						to = to[copy(to, v):]
					}
				}
			}
		}
	case o.Layout == tensor.HWC && s.Layout == tensor.HWC:
		line *= channels
		for y := range o.Patch {
			copy(to[y*line:][:line], s.Data[((top+y)*w+left)*channels*size:])
		}
	case o.Layout == tensor.HWC: // from CHW
		for c := range channels {
			for y := range o.Patch {
				from := s.Data[((c*h+top+y)*w+left)*size:][:line]
				scatterGather(to[(y*o.Patch*channels+c)*size:], from, o.Patch, size, channels*size, size)
			}
		}
	default: // CHW
		plane := o.Patch * line
		for c := range channels {
			first := to[:plane]
			for y := range o.Patch {
				if s.Layout == tensor.CHW {
					copy(first[y*line:][:line], s.Data[((c*h+top+y)*w+left)*size:])
					continue
				}
				scatterGather(first[y*line:][:line], s.Data[(((top+y)*w+left)*channels+c)*size:], o.Patch, size, size, channels*size)
			}
			to = to[plane:]
			for range o.Temporal - 1 {
				copy(to[:plane], first)
				to = to[plane:]
			}
		}
	}
}

// scatterGather copies n elements of size bytes. They are toStep bytes apart in
// to and fromStep bytes apart in from.
func scatterGather(to, from []byte, n, size, toStep, fromStep int) {
	switch size {
	case 1:
		for i := range n {
			to[i*toStep] = from[i*fromStep]
		}
	case 4:
		for i := range n {
			copy(to[i*toStep:][:4], from[i*fromStep:][:4])
		}
	default:
		for i := range n {
			copy(to[i*toStep:][:size], from[i*fromStep:])
		}
	}
}
