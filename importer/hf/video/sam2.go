package video

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{name: "Sam2Video", sampler: byDefault(0, 0), layout: sam2})
}

// sized is a stack with the outputs original_sizes and reshaped_input_sizes,
// int64 (2): height and width of a frame, and those of size.
type sized struct {
	*stack
	height, width int
}

func sam2(c class, o *importer.Object, data []byte) (layout, error) {
	height, width, ok := heightWidth(o, 1024, "height and width, which the outputs have")
	if !ok {
		return nil, nil
	}
	l := &sized{height: height, width: width}
	s, err := frames{output: "pixel_values_videos", defaults: imagenet + bilinear + `"size": {"height": 1024, "width": 1024}`}.layout(c, o, data)
	if err != nil {
		return nil, err
	}
	l.stack, _ = s.(*stack)
	return l, nil
}

func (s *sized) outputs() []Output {
	return append(s.stack.outputs(), Output{Name: "original_sizes"}, Output{Name: "reshaped_input_sizes"})
}

func (s *sized) more(v filled) ([]*tensor.Tensor, error) {
	return []*tensor.Tensor{numbers([]int{v.height, v.width}, 2), numbers([]int{s.height, s.width}, 2)}, nil
}

// heightWidth reads a size of height and width, or its default side. ok is
// false if o has the problem, for which want describes the value.
func heightWidth(o *importer.Object, side int, want string) (height, width int, ok bool) {
	if !o.Has("size") {
		return side, side, true
	}
	switch v, _ := o.Get("size"); v := v.(type) {
	case *importer.Object:
		d := o.Object("size")
		height, width = d.Side("height", 0), d.Side("width", 0)
		if ok = d.Has("height") && d.Has("width"); !ok {
			d.InertAll()
		}
	case []any:
		var n []int
		if n, ok = importer.Ints(v, 2, 1, importer.MaxSide); ok {
			height, width = n[0], n[1]
		}
	default:
		height, ok = importer.Int(v, 1, importer.MaxSide)
		ok = ok && o.Bool("default_to_square", true)
		width = height
	}
	if !ok {
		o.Bad("size", want)
	}
	return height, width, ok
}
