package tokens

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"VideoLlama3"}, build: llama3Videos}, "VideoLlama3")
}

// llama3Videos writes the time of each frame and a token for each square of
// patches that the mask keeps.
func llama3Videos(k *keys, p *video.Processor) videoRule {
	token := k.token("video_token", "<|video_pad|>")
	compress := k.bool(k.video, "use_token_compression", true)
	return func(t *text, videos []Video, index int) error {
		v := videos[index].assumed(1)
		g, err := gridOf(p, v)
		if err != nil {
			return err
		}
		l, err := v.Timestamps()
		if err != nil {
			return err
		}
		n := times(g.Time, g.Rows*g.Columns) / (g.Merge * g.Merge)
		kept := func(from, to int) int { return to - from }
		if compress {
			if len(v.Mask) != n {
				return fmt.Errorf("a mask of %d values, want the %d of video_compression_mask: use_token_compression lets the text depend on pixels", len(v.Mask), n)
			}
			kept = func(from, to int) (sum int) {
				for _, b := range v.Mask[from:to] {
					if b {
						sum++
					}
				}
				return sum
			}
		}
		size := n / len(l)
		if size == 0 {
			return errors.New("more frames than squares of patches")
		}
		for i, s := range l {
			if i*size >= n {
				break
			}
			if i > 0 {
				t.plain(",")
			}
			t.plain("Time " + seconds(s) + "s:")
			t.image(token, kept(i*size, min((i+1)*size, n)))
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
