package video

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{name: "SmolVLM", sampler: readSmolVLM, layout: smolVLMLayout})
}

// twice is the layout of SmolVLM, which resizes each frame to size and then to
// a square. The output pixel_attention_mask, int64 T, H, W, is 1: frames of one
// video have no padding. do_pad false leaves it out.
type twice struct {
	*stack
	settings      map[string]json.RawMessage
	class         class
	longest       int // of size, or
	height, width int
	resizes, mask bool
}

// smolSize returns the key and the object that hold the size: video_sampling
// has one for files without size.
func smolSize(o *importer.Object) *importer.Object {
	if v := o.Object("video_sampling"); v != nil && !o.Has("size") {
		return v.Object("video_size")
	}
	return o.Object("size")
}

func smolVLMLayout(c class, o *importer.Object, data []byte) (layout, error) {
	settings, err := pixelSettings(o, halves+`"resample": 1`, data)
	if err != nil {
		return nil, err
	}
	if err := ownKeys(o, data, settings); err != nil {
		return nil, err
	}
	l := &twice{settings: settings, class: c, resizes: o.Bool("do_resize", true), mask: o.Bool("do_pad", true)}
	if v := o.Object("video_sampling"); v != nil { // the sampler reads it if it runs
		v.Inert("fps", "max_frames", "video_size")
	}
	square := 364
	if o.Has("max_image_size") {
		if v := o.Object("max_image_size"); v != nil {
			square = v.Side("longest_edge", 0)
			if !v.Has("longest_edge") {
				v.Bad("longest_edge", "a number of pixels")
			}
		} else {
			o.Bad("max_image_size", "an object with longest_edge")
		}
	}
	l.longest = 4 * 364
	if o.Has("size") || o.Object("video_sampling") != nil {
		const want = "longest_edge, or height and width"
		v := smolSize(o)
		switch {
		case v == nil:
			o.Bad("size", want)
		case v.Has("longest_edge") && len(v.Keys()) == 1:
			l.longest = v.Side("longest_edge", 0)
		case v.Has("height") && v.Has("width") && len(v.Keys()) == 2:
			l.longest, l.height, l.width = 0, v.Side("height", 0), v.Side("width", 0)
		default:
			v.InertAll()
			o.Bad("size", want)
		}
	}
	settings["size"] = json.RawMessage(fmt.Sprintf(`{"height": %d, "width": %d}`, square, square))
	g, err := frameGraph(c, settings)
	l.stack = &stack{"pixel_values", g}
	return l, err
}

func (l *twice) outputs() []Output {
	o := l.stack.outputs()
	if l.mask {
		o = append(o, Output{Name: "pixel_attention_mask"})
	}
	return o
}

// size returns the size of the first resize.
func (l *twice) size(height, width int) (int, int) {
	if l.longest == 0 {
		return l.height, l.width
	}
	const most = 4096
	side := min(most, l.longest)
	ratio := float64(width) / float64(height)
	even := func(n int) int { return max(n+n%2, 1) }
	if width >= height {
		return even(trunc(float64(side) / ratio)), side
	}
	return side, even(trunc(float64(side) * ratio))
}

func (l *twice) graph(frames, height, width int) (*datagraph.Graph, error) {
	if frames == 0 || !l.resizes {
		return l.stack.g, nil
	}
	g, err := frameGraph(l.class, maps.Clone(l.settings))
	if err != nil {
		return nil, err
	}
	for i, s := range g.Steps {
		r, ok := s.Op.(*transforms.Resize)
		if !ok {
			continue
		}
		first := *r
		first.Height, first.Width = l.size(height, width)
		g.Steps = append(g.Steps[:i:i], append([]datagraph.Step{{Op: &first, In: []string{datagraph.Image}, Out: []string{datagraph.Image}}}, g.Steps[i:]...)...)
		return g, nil
	}
	return nil, fmt.Errorf("video: frames of %s: the graph does not resize", l.class.name)
}

func (l *twice) more(v filled) ([]*tensor.Tensor, error) {
	if !l.mask {
		return nil, nil
	}
	s := v.last[0].Shape
	ones := make([]int, v.frames*s.At(1)*s.At(2))
	for i := range ones {
		ones[i] = 1
	}
	return []*tensor.Tensor{numbers(ones, v.frames, s.At(1), s.At(2))}, nil
}

// batch pads frames and sides with zeros. As in the reference, the mask of a
// frame that is added is 1 where the video's own frames are.
func (l *twice) batch(videos [][]*tensor.Tensor, limits codec.Limits) ([][]*tensor.Tensor, []Output, []*tensor.Tensor, error) {
	if !l.mask {
		return videos, nil, nil, nil
	}
	videos = copies(videos)
	for k := range videos[0] {
		if err := padded(videos, k, true, limits); err != nil {
			return nil, nil, nil, err
		}
	}
	for _, v := range videos {
		if t := v[1]; t.Shape.At(0) > 0 {
			frame := t.Data[:len(t.Data)/t.Shape.At(0)] // an own one
			for at := 0; at < len(t.Data); at += len(frame) {
				copy(t.Data[at:], frame)
			}
		}
	}
	return videos, nil, nil, nil
}
