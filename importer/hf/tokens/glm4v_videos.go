package tokens

import (
	"strconv"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	whole := func(s float64) string { return strconv.Itoa(int(s)) }
	defineVideos(videoClass{videos: []string{"Glm4v"}, build: glmVideos(whole)}, "Glm4v")
	tenths := func(s float64) string { return seconds(s) + " seconds" }
	defineVideos(videoClass{videos: []string{"Glm46V"}, build: glmVideos(tenths)}, "Glm46V")
}

// glmVideos takes image tokens for each group of frames, and the time of every
// second frame. The last time is repeated if they are too few.
func glmVideos(format func(s float64) string) func(*keys, *video.Processor) videoRule {
	return func(k *keys, p *video.Processor) videoRule {
		token := k.token("image_token", "<|image|>")
		return func(t *text, videos []Video, index int) error {
			v := videos[index].assumed(24)
			g, err := gridOf(p, v)
			if err != nil {
				return err
			}
			l, err := v.Timestamps()
			if err != nil {
				return err
			}
			for i := range g.Time {
				t.mark("<|begin_of_image|>")
				t.image(token, g.Tokens())
				t.mark("<|end_of_image|>")
				t.plain(format(l[min(2*i, (len(l)-1)/2*2)]))
				if t.err != nil {
					return nil
				}
			}
			return nil
		}
	}
}
