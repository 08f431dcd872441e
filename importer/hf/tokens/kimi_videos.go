package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"Kimi_K25"}, build: kimiVideos}, "Kimi_K25")
}

// kimiVideos writes the time of the first of temporal_patch_size frames, as on
// a clock, and the tokens of one frame.
func kimiVideos(k *keys, _ *video.Processor) videoRule {
	token := k.token("video_token", "<|kimi_k25_video_placeholder|>")
	patches, merge := kimiPatches(k, func(string) *importer.Object { return k.video }, 4096)
	const maxTemporal = 1024
	temporal := k.int(k.video, "temporal_patch_size", 4, 1, maxTemporal)
	return func(t *text, videos []Video, index int) error {
		v := videos[index].assumed(24)
		n, err := patches(v.Height, v.Width)
		if err != nil {
			return err
		}
		l, err := v.Timestamps()
		if err != nil {
			return err
		}
		for i := 0; i < len(l); i += temporal {
			whole := int64(l[i])
			t.plain(fmt.Sprintf("%02d:%02d:%02d.%03d", whole/3600%24, whole/60%60, whole%60, int((l[i]-float64(whole))*1000)))
			t.mark("<|media_begin|>")
			t.plain("video")
			t.mark("<|media_content|>")
			t.image(token, n/(merge*merge))
			t.mark("<|media_end|>")
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
