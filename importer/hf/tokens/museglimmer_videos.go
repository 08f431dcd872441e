package tokens

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"MuseGlimmer"}, build: museVideos}, "MuseGlimmer")
}

// museFormat is a frame_timestamp_format that has rules here.
var museFormat = regexp.MustCompile(`^([^{}]*)\{timestamp:\.([0-9])f\}([^{}]*)$`)

// museVideos writes the time of the first of temporal_patch_size frames and the
// tokens of one frame.
func museVideos(k *keys, _ *video.Processor) videoRule {
	const maxTemporal = 1024
	temporal := k.int(k.video, "temporal_patch_size", 2, 1, maxTemporal)
	_, number := museTokens(k, func(string) *importer.Object { return k.video }, k.video, "max_video_frame_tokens", 144)
	m := museFormat.FindStringSubmatch(k.string(k.video, "frame_timestamp_format", "Time: {timestamp:.1f}s"))
	if m == nil {
		k.bad(k.video, "frame_timestamp_format", `one time with a number of digits, such as "Time: {timestamp:.1f}s"`)
		return nil
	}
	digits := int(m[2][0] - '0')
	return func(t *text, videos []Video, index int) error {
		v := videos[index].assumed(24)
		n, err := number(v.Height, v.Width)
		if err != nil {
			return err
		}
		l, err := v.Timestamps()
		if err != nil {
			return err
		}
		t.mark("<|vid_start|>")
		for i := 0; i < len(l); i += temporal {
			if i > 0 {
				t.mark("<|vid_frame_separator|>")
			}
			t.plain(strings.Join([]string{m[1], strconv.FormatFloat(l[i], 'f', digits, 64), m[3]}, ""))
			t.image("<|video|>", n)
			if t.err != nil {
				return nil
			}
		}
		t.mark("<|vid_end|>")
		return nil
	}
}
