package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"Gemma4"}, build: gemma4Videos}, "Gemma4")
	defineVideos(videoClass{videos: []string{"Gemma4Unified"}, build: gemma4Videos}, "Gemma4Unified")
}

// gemma4Videos writes the minutes and seconds of each frame and its tokens,
// which are those of an image.
func gemma4Videos(k *keys, _ *video.Processor) videoRule {
	start, end := k.token("boi_token", ""), k.token("eoi_token", "")
	g := newGemma4(k, func(string) *importer.Object { return k.video }, 70)
	return func(t *text, videos []Video, index int) error {
		v := videos[index].assumed(24)
		n, err := g.soft([2]int{videos[0].Height, videos[0].Width}, [2]int{v.Height, v.Width})
		if err != nil {
			return err
		}
		l, err := v.Timestamps()
		if err != nil {
			return err
		}
		for i, s := range l {
			if i > 0 {
				t.plain(" ")
			}
			t.plain(fmt.Sprintf("%02d:%02d ", int(s)/60, int(s)%60))
			t.mark(start)
			t.image("<|video|>", n)
			t.mark(end)
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
