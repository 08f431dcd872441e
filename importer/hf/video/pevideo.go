package video

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	pe := frames{output: "pixel_values_videos",
		defaults: bilinear + `"do_resize": null, "do_rescale": null, "do_normalize": null, "do_center_crop": null, "image_mean": null, "image_std": null, "size": null`,
	}
	define(class{name: "PeVideo", sampler: readPeVideo, layout: func(c class, o *importer.Object, data []byte) (layout, error) {
		l, err := pe.layout(c, o, data)
		if err != nil {
			return nil, err
		}
		return lengths{l.(*stack)}, nil
	}})
}

// lengths is the layout of PeVideo. A batch of videos with different numbers of
// frames is padded with zeros, and has the output padding_mask_videos, bool
// (videos, frames), which is true for frames of a video.
type lengths struct{ *stack }

func (l lengths) batch(videos [][]*tensor.Tensor, limits codec.Limits) ([][]*tensor.Tensor, []Output, []*tensor.Tensor, error) {
	own := make([]int, len(videos))
	most, differ := 0, false
	for i, v := range videos {
		own[i] = v[0].Shape.At(0)
		differ = differ || own[i] != own[0]
		most = max(most, own[i])
	}
	if !differ {
		return videos, nil, nil, nil
	}
	videos = copies(videos)
	if err := padded(videos, 0, false, limits); err != nil {
		return nil, nil, nil, err
	}
	mask := make([]byte, len(videos)*most)
	for i, n := range own {
		for t := range n {
			mask[i*most+t] = 1
		}
	}
	return videos, []Output{{Name: "padding_mask_videos"}}, []*tensor.Tensor{dense(tensor.Bool, mask, len(videos), most)}, nil
}
