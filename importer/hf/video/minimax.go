package video

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{name: "MiniMaxM3VL", sampler: byDefault(0, 1), layout: miniMax})
}

// segments is the layout of MiniMax M3: the output video_grid_thw has a row for
// each segment of at most most places in time, int64 (segments, 3), and
// num_chunks_per_video, int64, counts them.
type segments struct {
	*patcher
	most int // 0 for one segment
}

func miniMax(c class, o *importer.Object, data []byte) (layout, error) {
	s := &segments{most: whole(o, "vision_segment_max_frames", 0)}
	if !o.Has("vision_segment_max_frames") {
		s.most = 4
	}
	var err error
	s.patcher, err = patches{
		defaults: clip + bicubic[:len(bicubic)-2], least: 4 * 28 * 28, most: 768 * 28 * 28, patch: 14, temporal: 2, merge: 2,
		perFrame: true, onlyPixels: true, ignored: []string{"total_pixels"},
	}.read(c, o, data)
	return s, err
}

func (s *segments) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "video_grid_thw", Joined: true}, {Name: "num_chunks_per_video"}}
}

func (s *segments) more(v filled) ([]*tensor.Tensor, error) {
	t, h, w := s.grid(v)
	most := s.most
	if most == 0 {
		most = t
	}
	var rows []int
	for at := 0; at < t; at += most {
		rows = append(rows, min(most, t-at), h, w)
	}
	return []*tensor.Tensor{numbers(rows, len(rows)/3, 3), numbers([]int{len(rows) / 3})}, nil
}
