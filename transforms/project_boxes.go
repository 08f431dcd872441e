package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ProjectBoxes moves boxes that are fractions of an image's width and height to
// those of a window of the image, of a padded image or of a mirrored one. Each
// x becomes (x*ScaleX + OffsetX) / SizeX, and each y accordingly; all steps are
// float32. A negative scale mirrors: the edges then change places. Clamp raises
// left and top edges to at least 0, and lowers right and bottom edges to at
// most 1.
//
// Keep selects boxes by the window that is SizeX wide and starts at -OffsetX,
// and accordingly for y. It needs a scale of 1. The values of the other boxes
// become 0, except further values.
//
//   - center: the box's centre, half of the edges' sum, is in the window or on
//     its left or top edge.
//   - covered: a larger share than Coverage of the box's area is in the window,
//     by the area after the move times SizeX times SizeY.
//   - overlap: the same by the area before the move, of the intersection.
//
// It takes a float32 tensor without layout, with left, top, right and bottom
// first on the last axis, and keeps its shape. Further values do not change.
// There may be no boxes.
//
// Reference: MXNet 1.9.1, the labels of mx.image.DetRandomCropAug,
// DetRandomPadAug and DetHorizontalFlipAug; of ImageDetRecordIter for overlap
// and center.
type ProjectBoxes struct {
	ScaleX   float64 `json:"scale_x"`  // finite in float32; default 1
	ScaleY   float64 `json:"scale_y"`  // finite in float32; default 1
	OffsetX  float64 `json:"offset_x"` // finite in float32; default 0
	OffsetY  float64 `json:"offset_y"` // finite in float32; default 0
	SizeX    float64 `json:"size_x"`   // finite and more than 0 in float32; default 1
	SizeY    float64 `json:"size_y"`   // finite and more than 0 in float32; default 1
	Clamp    bool    `json:"clamp"`    // clamp to 0 and 1; default false
	Keep     Keep    `json:"keep"`     // which boxes to keep: all, center, covered or overlap; default all
	Coverage float64 `json:"coverage"` // for covered and overlap: 0 to 1; else 0
}

//msgp:tuple ProjectBoxes

// NewProjectBoxes returns the op that changes no box.
func NewProjectBoxes() *ProjectBoxes { return &ProjectBoxes{ScaleX: 1, ScaleY: 1, SizeX: 1, SizeY: 1} }

// Info describes the op.
func (*ProjectBoxes) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "project_boxes", Version: 1, New: func() Op { return NewProjectBoxes() },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "MXNet 1.9.1 mx.image.DetRandomCropAug, DetRandomPadAug and DetHorizontalFlipAug; ImageDetRecordIter", Exactness: "0",
	}
}

// Validate checks the numbers and the rule.
func (o *ProjectBoxes) Validate() error {
	sizes := []float64{o.SizeX, o.SizeY}
	if err := checkValues("scale and offset", []float64{o.ScaleX, o.ScaleY, o.OffsetX, o.OffsetY}); err != nil {
		return err
	}
	if err := checkValues("size", sizes); err != nil {
		return err
	}
	for _, v := range sizes {
		if !(float32(v) > 0) {
			return paramErr("size is %v, want more than 0", v)
		}
	}
	if o.Keep != KeepAll && (o.ScaleX != 1 || o.ScaleY != 1) {
		return paramErr("scale is %v and %v with keep %v, want 1", o.ScaleX, o.ScaleY, o.Keep)
	}
	return o.Keep.check(o.Coverage, keepNames)
}

// Infer keeps the shape.
func (o *ProjectBoxes) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, CoordRelative) }

// Apply moves the boxes.
func (o *ProjectBoxes) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return eachCoords(c, dst, src, func(row []float32) {
		b := [4]float32(row)
		if p := o.project(b); o.keeps(b, p) {
			copy(row, p[:])
		} else {
			clear(row[:4])
		}
	})
}

// project moves a box.
func (o *ProjectBoxes) project(b [4]float32) (p [4]float32) {
	for i, v := range b {
		scale, offset, size := o.ScaleX, o.OffsetX, o.SizeX
		if i&1 == 1 {
			scale, offset, size = o.ScaleY, o.OffsetY, o.SizeY
		}
		if scale < 0 {
			i ^= 2
		}
		p[i] = (float32(v*float32(scale)) + float32(offset)) / float32(size)
	}
	if o.Clamp {
		p = [4]float32{max(0, p[0]), max(0, p[1]), min(1, p[2]), min(1, p[3])}
	}
	return p
}

// keeps reports whether the rule keeps the box b, which moves to p.
func (o *ProjectBoxes) keeps(b, p [4]float32) bool {
	x, y, w, h := -float32(o.OffsetX), -float32(o.OffsetY), float32(o.SizeX), float32(o.SizeY)
	switch o.Keep {
	case KeepCenter:
		cx, cy := float32((b[0]+b[2])*0.5), float32((b[1]+b[3])*0.5)
		return x <= cx && cx < x+w && y <= cy && cy < y+h
	case KeepCovered:
		return p[2] > p[0] && p[3] > p[1] && float32(float32(boxArea(p)*w)*h)/boxArea(b) > float32(o.Coverage)
	case KeepOverlap:
		bw, bh := b[2]-b[0], b[3]-b[1]
		return intersection(b, x, y, w, h)/float32(bw*bh) > float32(o.Coverage)
	}
	return true
}

// intersection returns the area that a box has in common with the window at x
// and y, as OpenCV's rectangles compute it: both by corner and size.
func intersection(b [4]float32, x, y, w, h float32) float32 {
	left, top := max(b[0], x), max(b[1], y)
	in := [2]float32{min(b[0]+(b[2]-b[0]), x+w) - left, min(b[1]+(b[3]-b[1]), y+h) - top}
	return float32(max(in[0], 0) * max(in[1], 0))
}

// windowProjection returns the projection to the window of ch x cw pixels in an
// image of h x w.
func windowProjection(top, left, ch, cw, h, w int) ProjectBoxes {
	share := func(n, of int) float64 { return float64(float32(float64(n) / float64(of))) }
	return ProjectBoxes{
		ScaleX: 1, ScaleY: 1, OffsetX: -share(left, w), OffsetY: -share(top, h), SizeX: share(cw, w), SizeY: share(ch, h), Clamp: true,
	}
}

// relativeWindow returns the projection to the window of size to. If that
// contains the image, the boxes are first scaled to pixels: the rule of MXNet's
// padding.
func relativeWindow(r Role, top, left int, from, to tensor.Desc) ProjectBoxes {
	h, w, th, tw := from.Height(), from.Width(), to.Height(), to.Width()
	p := windowProjection(top, left, th, tw, h, w)
	if top <= 0 && left <= 0 && top+th >= h && left+tw >= w {
		p = ProjectBoxes{ScaleX: float64(w), ScaleY: float64(h), OffsetX: -float64(left), OffsetY: -float64(top), SizeX: float64(tw), SizeY: float64(th)}
	}
	p.Clamp = r.Clamping != ClampNone
	return p
}

// mirrorProjection returns the projection to the mirrored image.
func mirrorProjection(vertical bool) ProjectBoxes {
	p := *NewProjectBoxes()
	if vertical {
		p.ScaleY, p.OffsetY = -1, 1
	} else {
		p.ScaleX, p.OffsetX = -1, 1
	}
	return p
}
