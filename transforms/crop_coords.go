package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Keep is the rule by which a crop keeps boxes.
type Keep uint8

// The rules. A box that is not kept becomes zeros, so that the number of boxes
// does not change: ValidBoxes and SelectRows remove it.
const (
	KeepAll     Keep = iota // keep all boxes
	KeepCenter              // those whose centre is inside the window, not on its edge
	KeepCovered             // those of whose area a larger share than Coverage is inside the window
	KeepOverlap             // covered by the areas before the crop; for relative boxes only
)

var keepNames = []string{"all", "center", "covered", "overlap"}

func (k Keep) String() string { return enum.String("keep", keepNames, k) }

// MarshalText returns the name.
func (k Keep) MarshalText() ([]byte, error) { return enum.Format("keep", keepNames, k) }

// UnmarshalText parses the name.
func (k *Keep) UnmarshalText(t []byte) error { return enum.Parse(k, "keep", keepNames, t) }

// check checks the rule, which is one of names, and its coverage.
func (k Keep) check(coverage float64, names []string) error {
	if err := checkEnum("keep", k, names); err != nil {
		return err
	}
	if most := float64(boolByte(k >= KeepCovered)); !(coverage >= 0 && coverage <= most) {
		return paramErr("coverage is %v, want 0 to %v with keep %v", coverage, most, k)
	}
	return nil
}

// CropCoords moves points or boxes as Crop moves the pixels: it subtracts Left
// and Top in float32. Boxes are then clamped to Height x Width as by
// ClampCoords. Points are never clamped. A negative Top or Left is a padding.
// At a Top or Left of 0, -0 stays; torchvision's pad by 0 makes 0 of it.
//
// Corners xyxyxyxy move as torchvision's pad moves them. Its crop makes
// rectangles of them before it clamps: so does Crop as a Mover, by
// ResizeCoords.
//
// Keep selects boxes by their place before the crop. The values of the others
// become 0, except further values. The centre and the areas are float32.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: crop_bounding_boxes, pad_bounding_boxes, crop_keypoints and
// pad_keypoints of torchvision 0.29.2 (transforms.v2) with torch 2.15.0.
type CropCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes, or xy; default xyxy
	Top      int         `json:"top"`      // first row of the window, -2^24 to 2^24
	Left     int         `json:"left"`     // first column of the window, -2^24 to 2^24
	Height   int         `json:"height"`   // height of the window in pixels, 1 to 2^24
	Width    int         `json:"width"`    // width of the window in pixels, 1 to 2^24
	Clamping Clamping    `json:"clamping"` // of boxes: soft, hard or none; default soft
	Keep     Keep        `json:"keep"`     // which boxes to keep: all, center or covered; all for points and rotated boxes; default all
	Coverage float64     `json:"coverage"` // for covered: 0 to 1; else 0
}

//msgp:tuple CropCoords

// NewCropCoords returns the op for a window of height x width pixels that
// starts at row top and column left, with soft clamping.
func NewCropCoords(format CoordFormat, top, left, height, width int) *CropCoords {
	return &CropCoords{Format: format, Top: top, Left: left, Height: height, Width: width}
}

// Info describes the op.
func (*CropCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "crop_coords", Version: 1, New: func() Op { return NewCropCoords(CoordXYXY, 0, 0, 224, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 crop_bounding_boxes, crop_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the names, the position and the size.
func (o *CropCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	if o.Format == CoordXY && o.Keep != KeepAll {
		return paramErr("keep is %v with format xy, want all", o.Keep)
	}
	if o.Format.rotated() && o.Keep != KeepAll {
		return paramErr("keep is %v with format %v, a rotated box, want all", o.Keep, o.Format)
	}
	if err := o.Keep.check(o.Coverage, keepNames[:KeepOverlap]); err != nil {
		return err
	}
	return checkPlace(o.Top, o.Left, o.Height, o.Width)
}

// Infer keeps the shape.
func (o *CropCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply moves the boxes.
func (o *CropCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	x, y := float32(o.Left), float32(o.Top)
	h, w := float32(o.Height), float32(o.Width)
	n := o.Format.positions()
	if o.Format.rotated() {
		return eachRotated(c, dst, src, o.Format, func(row []float32) {
			for i := 0; i < n; i += 2 {
				row[i] -= x
				row[i+1] -= y
			}
			clampRotated(row, o.Format, o.Clamping, h, w)
		})
	}
	return eachCoords(c, dst, src, func(row []float32) {
		if o.Keep != KeepAll && !o.keeps(xyxyOf(row, o.Format)) {
			clear(row[:4])
			return
		}
		for i := 0; i < n; i += 2 {
			row[i] -= x
			row[i+1] -= y
		}
		if o.Format != CoordXY && o.Clamping != ClampNone {
			clampBox(row, o.Format, h, w)
		}
	})
}

// clip clips a box xyxy to the window.
func (o *CropCoords) clip(b [4]float32) [4]float32 {
	x, y := float32(o.Left), float32(o.Top)
	right, bottom := float32(o.Left+o.Width), float32(o.Top+o.Height)
	return clipBox(b, [4]float32{x, y, right, bottom})
}

// clipBox clips a box xyxy to another one.
func clipBox(b, to [4]float32) [4]float32 {
	return [4]float32{max(b[0], to[0]), max(b[1], to[1]), min(b[2], to[2]), min(b[3], to[3])}
}

// keeps reports whether a rule other than KeepAll keeps the box xyxy.
func (o *CropCoords) keeps(b [4]float32) bool {
	if o.Keep == KeepCenter {
		x, y := float32(0.5*(b[0]+b[2])), float32(0.5*(b[1]+b[3]))
		return float32(o.Left) < x && x < float32(o.Left+o.Width) && float32(o.Top) < y && y < float32(o.Top+o.Height)
	}
	in := boxArea(o.clip(b))
	return in > 0 && float64(in) > float64(o.Coverage*float64(boxArea(b)))
}

// boxArea returns the area of a box xyxy, 0 if it has none.
func boxArea(b [4]float32) float32 { return float32(max(b[2]-b[0], 0) * max(b[3]-b[1], 0)) }
