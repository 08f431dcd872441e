package dataset

import (
	"github.com/infer-prep/infer-prep/transforms"
)

// NamedReplacement is a usual Replacement of some ops.
type NamedReplacement struct {
	Name string
	For  []string // the random ops that it may replace
	Doc  string
	With Replacement
}

// Replacements lists the usual evaluations of models trained with random crops.
// InferenceOptions.Replace selects them; none is used by default.
func Replacements() []NamedReplacement {
	return []NamedReplacement{
		{
			Name: "center_crop", For: []string{"random_crop"},
			Doc: "the centre of the image, in the same size",
			With: func(op transforms.Op) ([]transforms.Op, error) {
				o, ok := op.(*transforms.RandomCrop)
				if !ok {
					return nil, notFor("center_crop", op)
				}
				return []transforms.Op{transforms.NewCenterCrop(o.Height, o.Width)}, nil
			},
		},
		{
			Name: "resize_center_crop", For: []string{"random_resized_crop", "random_crop_decode_resize"},
			Doc: "the image scaled to cover 8/7 of the size (256 for 224), then its centre",
			With: resized("resize_center_crop", func(h, w int) []transforms.Op {
				r := &transforms.Resize{Fit: transforms.FitCover, Height: h * 8 / 7, Width: w * 8 / 7}
				if h == w {
					r = &transforms.Resize{Fit: transforms.FitShortest, Edge: h * 8 / 7}
				}
				return []transforms.Op{r, transforms.NewCenterCrop(h, w)}
			}),
		},
		{
			Name: "squash", For: []string{"random_resized_crop", "random_crop_decode_resize"},
			Doc: "the whole image scaled to the size, without keeping its aspect ratio",
			With: resized("squash", func(h, w int) []transforms.Op {
				return []transforms.Op{&transforms.Resize{Fit: transforms.FitExact, Height: h, Width: w}}
			}),
		},
	}
}

// resized returns a Replacement of a random resized crop by the ops of with.
// The first of them is a Resize, which gets the crop's interpolation and
// backend.
func resized(name string, with func(h, w int) []transforms.Op) Replacement {
	return func(op transforms.Op) ([]transforms.Op, error) {
		var before []transforms.Op
		var c transforms.RandomResizedCrop
		switch o := op.(type) {
		case *transforms.RandomResizedCrop:
			c = *o
		case *transforms.RandomCropDecodeResize:
			before = []transforms.Op{&transforms.Decode{
				Color: o.Color, Alpha: o.Alpha, Gray16: o.Gray16, Refuse: o.Refuse, Orientation: o.Orientation, Damage: o.Damage,
			}}
			c = transforms.RandomResizedCrop{
				Height: o.Height, Width: o.Width, Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
			}
		default:
			return nil, notFor(name, op)
		}
		ops := with(c.Height, c.Width)
		r := ops[0].(*transforms.Resize)
		r.Interpolation, r.Backend, r.NoAntialias = c.Interpolation, c.Backend, c.NoAntialias
		return append(before, ops...), nil
	}
}

func notFor(name string, op transforms.Op) error {
	return paramErr("the replacement %s is not for %s", name, transforms.InfoOf(op).Name)
}
