package tokens

import "github.com/infer-prep/infer-prep/importer/hf/video"

func init() {
	defineVideos(videoClass{videos: []string{"MiniMaxM3VL"}, build: miniMaxVideos, options: `{"do_resize": false}`}, "MiniMaxM3VL")
}

// miniMaxVideos takes a token for each square of patches of a group of frames,
// after the time of its first frame if fps is known. The class does not resize.
func miniMaxVideos(_ *keys, p *video.Processor) videoRule {
	return func(t *text, videos []Video, index int) error {
		v := videos[index]
		g, err := gridOf(p, v)
		if err != nil {
			return err
		}
		for i := range g.Time {
			if v.FPS > 0 {
				first := v.Indices[min(i*g.Temporal, len(v.Indices)-1)]
				t.plain("]<]" + seconds(float64(first)/v.FPS) + " seconds[>[")
			}
			t.mark("]<]start of image[>[")
			t.image("]<]video[>[", g.Tokens())
			t.mark("]<]end of image[>[")
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}
