package tokens

import (
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	named := plainVideos("<|video_pad|>")
	defineVideos(videoClass{videos: []string{"Qwen2VL"}, build: named}, "Qwen2VL", "Qwen2_5_VL", "Exaone4_5_")
	defineVideos(videoClass{videos: []string{"Qwen3VL"}, build: timedGroups("<|video_pad|>")}, "Qwen3VL")
}

// gridOf returns the patches of a video.
func gridOf(p *video.Processor, v Video) (video.Grid, error) {
	g, _, err := p.Grid(len(v.Indices), v.Height, v.Width)
	return g, err
}

// plainVideos takes a token for each square of patches of a group of frames. def
// is the default of video_token; "" is none.
func plainVideos(def string) func(*keys, *video.Processor) videoRule {
	return func(k *keys, p *video.Processor) videoRule {
		token := k.token("video_token", def)
		return func(t *text, videos []Video, index int) error {
			g, err := gridOf(p, videos[index])
			if err != nil {
				return err
			}
			t.image(token, times(g.Time, g.Rows*g.Columns)/(g.Merge*g.Merge))
			return nil
		}
	}
}

// timedGroups writes the mean time of the first and last frame of each group of
// frames, and its tokens between two others. The last frame is repeated to fill
// the group.
func timedGroups(def string) func(*keys, *video.Processor) videoRule {
	return func(k *keys, p *video.Processor) videoRule {
		token, start, end := k.token("video_token", def), k.token("vision_start_token", "<|vision_start|>"), k.token("vision_end_token", "<|vision_end|>")
		return func(t *text, videos []Video, index int) error {
			v := videos[index].assumed(24)
			g, err := gridOf(p, v)
			if err != nil {
				return err
			}
			at := func(i int) float64 { return float64(v.Indices[min(i, len(v.Indices)-1)]) / v.FPS }
			for i := range g.Time {
				t.plain("<" + seconds((at(i*g.Temporal)+at((i+1)*g.Temporal-1))/2) + " seconds>")
				t.mark(start)
				t.image(token, g.Tokens())
				t.mark(end)
				if t.err != nil {
					return nil
				}
			}
			return nil
		}
	}
}
