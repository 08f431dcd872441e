package tokens

import (
	"fmt"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	const name = "NemotronH_Omni_Reasoning_V3"
	defineVideos(videoClass{videos: []string{name}, build: nemotronVideos}, name)
}

// nemotronVideos numbers the frames of each group of video_temporal_patch_dim,
// with their times if fps is known, and writes the tokens of one frame. A
// frame's time counts whole milliseconds. The reference numbers the frames of
// the call's metadata, before it samples.
func nemotronVideos(k *keys, p *video.Processor) videoRule {
	const maxMerge, maxTemporal = 1 << 12, 1024
	token, start, end := k.token("image_token", "<image>"), k.token("image_start_token", "<img>"), k.token("image_end_token", "</img>")
	temporal := k.int(k.file, "video_temporal_patch_dim", 2, 1, maxTemporal)
	patch := k.side(k.video, "patch_size", 16)
	merge := max(int(math.RoundToEven(1/k.float(k.video, "downsample_ratio", 0.5, 1.0/maxMerge, 1.5))), 1)
	if k.bool(k.video, "do_sample_frames", false) {
		k.bad(k.video, "do_sample_frames", "false: the times are those of frames that are already chosen")
	}
	return func(t *text, videos []Video, index int) error {
		if len(videos) > 1 {
			return fmt.Errorf("%d videos, want one in a prompt", len(videos))
		}
		v := videos[index]
		h, w, err := frameOf(p, v)
		if err != nil {
			return err
		}
		for i := 0; i < len(v.Indices); i += temporal {
			if i > 0 {
				t.plain("\n")
			}
			var labels []string
			for j := i; j < min(i+temporal, len(v.Indices)); j++ {
				label := fmt.Sprintf("frame %d", j+1)
				if j == i {
					label = fmt.Sprintf("Frame %d", j+1)
				}
				if v.FPS > 0 {
					label += fmt.Sprintf(" sampled at %.2f seconds", float64(v.Indices[j])*math.Trunc(1000/v.FPS)/1000)
				}
				labels = append(labels, label)
			}
			t.plain(strings.Join(labels, " and ") + ": ")
			t.mark(start)
			t.image(token, (h/patch)*(w/patch)/(merge*merge))
			t.mark(end)
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
