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
	l := &sized{height: 1024, width: 1024}
	if o.Has("size") {
		switch v, _ := o.Get("size"); v := v.(type) {
		case *importer.Object:
			d := o.Object("size")
			l.height, l.width = d.Side("height", 0), d.Side("width", 0)
			if !d.Has("height") || !d.Has("width") {
				d.InertAll()
				o.Bad("size", "height and width, which the outputs have")
			}
		case []any:
			n, ok := importer.Ints(v, 2, 1, importer.MaxSide)
			if !ok {
				o.Bad("size", "height and width, which the outputs have")
				return nil, nil
			}
			l.height, l.width = n[0], n[1]
		default:
			n, ok := importer.Int(v, 1, importer.MaxSide)
			if !ok || !o.Bool("default_to_square", true) {
				o.Bad("size", "height and width, which the outputs have")
			}
			l.height, l.width = n, n
		}
	}
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
