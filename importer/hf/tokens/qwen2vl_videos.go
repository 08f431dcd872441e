package tokens

import (
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	qwen2, qwen3 := []string{"Qwen2VL"}, []string{"Qwen3VL"}
	defineVideos(videoClass{videos: qwen2, build: plainVideos("<|video_pad|>", 1)}, "Qwen2VL", "Qwen2_5_VL", "Exaone4_5_")
	defineVideos(videoClass{videos: qwen2, build: plainVideos("", 1), options: omni(128*28*28, 768*28*28)}, "Qwen2_5Omni")
	defineVideos(videoClass{videos: qwen2, build: plainVideos("", 1), options: omni(128*32*32, 768*32*32)}, "Qwen3OmniMoe")
	defineVideos(videoClass{videos: []string{"Ernie4_5_VLMoe"}, build: plainVideos("", 2)}, "Ernie4_5_VLMoe")
	defineVideos(videoClass{videos: qwen3, build: timedGroups("<|video_pad|>", "")}, "Qwen3VL")
	defineVideos(videoClass{videos: []string{"Cosmos3Edge"}, build: timedGroups("<|video_pad|>", "")}, "Cosmos3Edge")
	defineVideos(videoClass{videos: []string{"CohereCompass"}, build: timedGroups("<|VIDEO_PAD|>", "<|VISION_START|> <|VISION_END|>")}, "CohereCompass")
}

// omni returns the videos_kwargs of Qwen's omni models, whose size takes
// precedence over the file's and over its min_pixels and max_pixels.
func omni(least, most int) string {
	return fmt.Sprintf(`{"size": {"shortest_edge": %d, "longest_edge": %d}, "min_pixels": null, "max_pixels": null}`, least, most)
}

// gridOf returns the patches of a video.
func gridOf(p *video.Processor, v Video) (video.Grid, error) {
	g, _, err := p.Grid(len(v.Indices), v.Height, v.Width)
	return g, err
}

// plainVideos takes a token for each square of patches of some groups of
// frames. def is the default of video_token; "" is none.
func plainVideos(def string, groups int) func(*keys, *video.Processor) videoRule {
	return func(k *keys, p *video.Processor) videoRule {
		token := k.token("video_token", def)
		return func(t *text, videos []Video, index int) error {
			g, err := gridOf(p, videos[index])
			if err != nil {
				return err
			}
			t.image(token, times(g.Time, g.Rows*g.Columns)/(g.Merge*g.Merge*groups))
			return nil
		}
	}
}

// timedGroups writes the mean time of the first and last frame of each group of
// frames, and its tokens between two others. The last frame is repeated to fill
// the group. def is the default of video_token; fixed are the other two tokens
// if the tokenizer has no influence on any of them, else "".
func timedGroups(def, fixed string) func(*keys, *video.Processor) videoRule {
	return func(k *keys, p *video.Processor) videoRule {
		token := def
		start, end, ok := strings.Cut(fixed, " ")
		if !ok {
			token, start, end = k.token("video_token", def), k.token("vision_start_token", "<|vision_start|>"), k.token("vision_end_token", "<|vision_end|>")
		}
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
