package video

import (
	"encoding/json"
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{name: "Kimi_K25", sampler: byDefault(0, 2), samples: true, layout: kimi})
}

// chunks is the layout of Kimi K2.5, whose frames are Kimi's images: the first
// output has the patches of all frames, 3, patch_size, patch_size. The output
// video_grid_thw has a row for each chunk of at most size frames, int64
// (chunks, 3), and num_chunks_per_video, int64, counts them.
type chunks struct {
	*stack
	size int
}

func kimi(c class, o *importer.Object, data []byte) (layout, error) {
	settings, err := pixelSettings(o, halves+bicubic+
		`"image_processor_type": "Kimi_K25ImageProcessor", "size": {"max_height": 512, "max_width": 512}, "patch_size": 14, "merge_size": 2, "max_patches": 4096`, data)
	if err != nil {
		return nil, err
	}
	if err := ownKeys(o, data, settings, "patch_size", "merge_size", "max_patches"); err != nil {
		return nil, err
	}
	l := &chunks{size: o.Int("temporal_patch_size", 4, 1, maxTemporal)}
	g, err := frameGraph(c, settings)
	l.stack = &stack{"pixel_values_videos", g}
	return l, err
}

// ownKeys copies settings that the class of the frames has, too. The class does
// not crop.
func ownKeys(o *importer.Object, data []byte, settings map[string]json.RawMessage, keys ...string) error {
	given, err := rawKeys(data)
	for _, key := range keys {
		if v, ok := given[key]; ok {
			settings[key] = v
		}
		o.Inert(key)
	}
	if o.Bool("do_center_crop", false) {
		o.Bad("do_center_crop", "false: the class does not crop")
	}
	settings["do_center_crop"], settings["crop_size"] = json.RawMessage("false"), json.RawMessage("null")
	return err
}

func (s *chunks) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "video_grid_thw", Joined: true}, {Name: "num_chunks_per_video"}}
}

func (s *chunks) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	axes := d.Shape.Slice()
	if rows := float64(axes[0]) * float64(frames); rows > math.MaxInt32 {
		return d, 0, tooMany(rows, float64(d.Len())/float64(axes[0]))
	}
	axes[0] *= frames
	return tensor.Desc{DType: d.DType, Shape: tensor.Dims(axes...)}, frames, nil
}

func (s *chunks) more(v filled) ([]*tensor.Tensor, error) {
	grid := tensor.View[int64](v.last[1].Clone())
	var rows []int
	for at := 0; at < v.frames; at += s.size {
		rows = append(rows, min(s.size, v.frames-at), int(grid[1]), int(grid[2]))
	}
	return []*tensor.Tensor{numbers(rows, len(rows)/3, 3), numbers([]int{len(rows) / 3})}, nil
}
