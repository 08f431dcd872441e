package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"Molmo2"}, build: molmo2Videos}, "Molmo2")
}

// molmo2Videos writes the time of each frame and a token for each window of
// pooling_size patches. An fps that is unknown is max_fps.
func molmo2Videos(k *keys, _ *video.Processor) videoRule {
	start, end := "<frame_start>", "<frame_end>"
	if !k.bool(k.file, "use_frame_special_tokens", true) {
		start, end = "<im_start>", "<im_end>"
	}
	lines := k.bool(k.file, "video_use_col_tokens", false)
	side := k.size(k.video, "size", size{height: 378, width: 378}, true).height
	patches := side / k.side(k.video, "patch_size", 14)
	window := []int{3, 3} // package video checks the values
	if k.video.Has("pooling_size") {
		window, _ = importer.Ints(k.video.Peek("pooling_size"), 2, 1, importer.MaxSide)
	}
	if patches < 1 || len(window) != 2 {
		k.bad(k.video, "size", "height and width, a multiple of patch_size")
		return nil
	}
	rows, columns := (patches-1)/window[0]+1, (patches-1)/window[1]+1
	fps := 0.0
	if !k.video.Has("max_fps") || k.video.Peek("max_fps") != nil {
		fps = k.float(k.video, "max_fps", 2, 0, 1e9)
	}
	return func(t *text, videos []Video, index int) error {
		if len(videos) > 1 {
			return fmt.Errorf("%d videos, want one in a prompt", len(videos))
		}
		v := videos[index].assumed(fps)
		l, err := v.Timestamps()
		if err != nil {
			return err
		}
		for i, s := range l {
			if i > 0 {
				t.plain(" ")
			}
			t.plain(seconds(s) + " ")
			t.mark(start)
			for range rows {
				t.image("<im_patch>", columns)
				if lines {
					t.mark("<im_col>")
				}
			}
			t.mark(end)
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
