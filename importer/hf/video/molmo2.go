package video

import (
	"encoding/json"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{name: "Molmo2", sampler: readMolmo2, samples: true, layout: molmo2Layout})
}

// pooled is the layout of Molmo 2: T, patches, patch_size² · 3, whose values
// have the order y, x, C. The output video_token_pooling, int64 (T · windows,
// values of pooling_size), has the patches of the video that are pooled, or -1
// outside a frame; video_grids, int64 (3), has T and the lines and columns of a
// frame's windows.
type pooled struct {
	*stack
	side          int // patches along a side of a frame
	height, width int // of a window
}

// molmo2Layout reads the settings. The class ignores do_resize, but requires
// resample with it; without resample it is bilinear.
func molmo2Layout(c class, o *importer.Object, data []byte) (layout, error) {
	settings, err := pixelSettings(o, halves+bilinear+`"do_resize": null, "do_rescale": null, "do_normalize": null`, data)
	if err != nil {
		return nil, err
	}
	if err := ownKeys(o, data, settings); err != nil {
		return nil, err
	}
	if v, ok := o.Get("resample"); ok && v == nil {
		if o.Bool("do_resize", false) {
			o.Bad("resample", "a resampling filter, or do_resize false")
		}
		settings["resample"] = json.RawMessage("2")
	}
	const maxWindow = 64
	patch, window := o.Int("patch_size", 14, 1, importer.MaxSide), []int{3, 3}
	if v, ok := o.Get("pooling_size"); ok {
		l, isList := v.([]any)
		if window, ok = importer.Ints(l, 2, 1, maxWindow); !isList || !ok {
			o.Bad("pooling_size", fmt.Sprintf("two whole numbers of 1 to %d", maxWindow))
			return nil, nil
		}
	}
	const want = "equal height and width, a multiple of patch_size"
	side, width, ok := heightWidth(o, 378, want)
	if !ok {
		return nil, nil
	}
	if side != width || side%patch != 0 {
		o.Bad("size", want)
		return nil, nil
	}
	settings["do_resize"] = json.RawMessage("true")
	settings["size"] = json.RawMessage(fmt.Sprintf(`{"height": %d, "width": %d}`, side, side))
	g, err := frameGraph(c, settings)
	if err != nil {
		return nil, err
	}
	for _, s := range g.Steps {
		if r, ok := s.Op.(*transforms.Resize); ok { // bytes become floats, and bytes again
			r.Backend, r.NoAntialias = transforms.Torch, true
			if r.Interpolation == transforms.Lanczos {
				o.Bad("resample", "0, 2 or 3: the class does not antialias, which torchvision's lanczos requires")
				return nil, nil
			}
		}
	}
	n := side / patch
	g.Steps, g.Outputs = g.Steps[:len(g.Steps)-1], []string{datagraph.Image} // the channels stay last
	for _, op := range []transforms.Op{
		transforms.NewReshape(n, patch, n, patch*3), transforms.NewTranspose(0, 2, 1, 3), transforms.NewReshape(n*n, patch*patch*3),
	} {
		g.Add(op)
	}
	return &pooled{&stack{"pixel_values_videos", g}, n, window[0], window[1]}, nil
}

func (l *pooled) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "video_token_pooling", Joined: true}, {Name: "video_grids"}}
}

// batch counts the patches of all videos in the pooling; -1 is no patch.
func (l *pooled) batch(videos [][]*tensor.Tensor, _ codec.Limits) ([][]*tensor.Tensor, []Output, []*tensor.Tensor, error) {
	videos = copies(videos)
	before := 0
	for _, v := range videos {
		for i, n := range tensor.Cast[int64](v[1].Data) {
			if n >= 0 {
				tensor.Cast[int64](v[1].Data)[i] = n + int64(before)
			}
		}
		before += v[0].Shape.At(0) * v[0].Shape.At(1)
	}
	return videos, nil, nil, nil
}

func (l *pooled) more(v filled) ([]*tensor.Tensor, error) {
	down, across := (l.side-1)/l.height+1, (l.side-1)/l.width+1
	values := int64(down*l.height) * int64(across*l.width)
	if size := float64(v.frames) * float64(values) * 8; size > float64(v.limit) {
		return nil, fmt.Errorf("%w: video_token_pooling has %v bytes, want at most %d", codec.ErrLimit, size, v.limit)
	}
	all := make([]int, 0, int64(v.frames)*values)
	top, left := (down*l.height-l.side)/2, (across*l.width-l.side)/2
	for t := range v.frames {
		for window := range down * across {
			for i := range l.height * l.width {
				y, x := window/across*l.height+i/l.width-top, window%across*l.width+i%l.width-left
				at := -1
				if min(y, x) >= 0 && max(y, x) < l.side {
					at = (t*l.side+y)*l.side + x
				}
				all = append(all, at)
			}
		}
	}
	return []*tensor.Tensor{numbers(all, v.frames*down*across, l.height*l.width), numbers([]int{v.frames, down, across}, 3)}, nil
}
