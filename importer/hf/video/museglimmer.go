package video

import (
	"encoding/json"
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{name: "MuseGlimmer", sampler: readMuseGlimmer, samples: true, layout: muse})
}

// framesFirst is the layout of MuseGlimmer, whose frames are MuseGlimmer's
// images of one frame. A row has the patches of temporal_patch_size frames at
// one place, one after the other. The output video_grid_thw is int64 (3).
type framesFirst struct {
	*stack
	temporal int
}

func muse(c class, o *importer.Object, data []byte) (layout, error) {
	settings, err := pixelSettings(o, halves+`"resample": 1, "image_processor_type": "MuseGlimmerImageProcessor", "patch_size": 14, "merge_size": 2`, data)
	if err != nil {
		return nil, err
	}
	if err := ownKeys(o, data, settings, "patch_size", "merge_size", "frame_timestamp_format"); err != nil {
		return nil, err
	}
	delete(settings, "frame_timestamp_format") // of texts
	delete(settings, "size")                   // which the class ignores
	number := func(n int) json.RawMessage { b, _ := json.Marshal(n); return b }
	settings["max_image_tokens"] = number(count(o, "max_video_frame_tokens", 144))
	settings["temporal_patch_size"] = number(1)
	l := &framesFirst{temporal: o.Int("temporal_patch_size", 2, 1, maxTemporal)}
	g, err := frameGraph(c, settings)
	l.stack = &stack{"pixel_values_videos", g}
	return l, err
}

func (s *framesFirst) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "video_grid_thw"}}
}

func (s *framesFirst) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	slots := (frames + s.temporal - 1) / s.temporal
	rows, columns := float64(slots)*float64(d.Shape.At(0)), float64(s.temporal)*float64(d.Shape.At(1))
	if max(rows, columns) > math.MaxInt32 {
		return d, 0, tooMany(rows, columns)
	}
	return tensor.Desc{DType: d.DType, Shape: tensor.Dims(int(rows), int(columns))}, slots * s.temporal, nil
}

func (s *framesFirst) place(dst []byte, frame *tensor.Tensor, t int) {
	rows := frame.Shape.At(0)
	size := len(frame.Data) / rows
	for i := range rows {
		to := ((t/s.temporal*rows+i)*s.temporal + t%s.temporal) * size
		copy(dst[to:], frame.Data[i*size:(i+1)*size])
	}
}

func (s *framesFirst) more(v filled) ([]*tensor.Tensor, error) {
	grid := tensor.View[int64](v.last[1].Clone())
	return []*tensor.Tensor{numbers([]int{v.places / s.temporal, int(grid[1]), int(grid[2])}, 3)}, nil
}
