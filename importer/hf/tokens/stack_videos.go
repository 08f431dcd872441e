package tokens

import (
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/importer/hf/video"
)

func init() {
	defineVideos(videoClass{videos: []string{"LlavaOnevision"}, build: onevisionVideos}, "LlavaOnevision")
	defineVideos(videoClass{videos: []string{"LlavaNextVideo"}, build: llavaNextVideos}, "LlavaNextVideo")
	defineVideos(videoClass{videos: []string{"PerceptionLM"}, build: perceptionVideos}, "PerceptionLM")
	defineVideos(videoClass{videos: []string{"InternVL"}, build: internVLVideos}, "InternVL")
}

// frameOf returns the height and width of the frames that the model gets.
func frameOf(p *video.Processor, v Video) (h, w int, err error) {
	h, w, _, err = p.FrameSize(len(v.Indices), v.Height, v.Width)
	return h, w, err
}

// onevisionVideos halves the sides of the square of num_image_tokens, rounded
// up, and takes one token more for the video.
func onevisionVideos(k *keys, p *video.Processor) videoRule {
	token := k.token("video_token", k.string(k.file, "video_token", "<video>"))
	if k.file.Peek("num_image_tokens") == nil {
		k.fail("num_image_tokens", "missing: the class has no default, and processor_config.json has it")
		return nil
	}
	side := (int(math.Sqrt(float64(k.int(k.file, "num_image_tokens", 0, 1, maxLength)))) + 1) / 2
	return func(t *text, videos []Video, index int) error {
		_, _, err := frameOf(p, videos[index])
		t.image(token, times(len(videos[index].Indices), side*side)+1)
		return err
	}
}

// llavaNextVideos takes a token for four patches of each frame. The frames of
// several videos are stacked.
func llavaNextVideos(k *keys, p *video.Processor) videoRule {
	token, patch := k.token("video_token", k.string(k.file, "video_token", "<video>")), patchSize(k)
	return func(t *text, videos []Video, index int) error {
		if err := stacked(p, videos, index); err != nil {
			return err
		}
		h, w, err := frameOf(p, videos[index])
		t.image(token, times((h/patch)*(w/patch)/4, len(videos[index].Indices)))
		return err
	}
}

// perceptionVideos takes a token for each square of pooling_ratio x
// pooling_ratio patches of each frame.
func perceptionVideos(k *keys, p *video.Processor) videoRule {
	token, patch, pool := k.token("video_token", ""), patchSize(k), k.side(k.file, "pooling_ratio", 2)
	return func(t *text, videos []Video, index int) error {
		h, w, err := frameOf(p, videos[index])
		t.image(token, times(times(h/patch/pool, w/patch/pool), len(videos[index].Indices)))
		return err
	}
}

// internVLVideos numbers the frames, which have image_seq_length tokens each.
// The frames of several videos are stacked.
func internVLVideos(k *keys, p *video.Processor) videoRule {
	token, start, end := k.token("context_image_token", ""), k.token("start_image_token", ""), k.token("end_image_token", "")
	length := k.int(k.file, "image_seq_length", 256, 0, maxLength)
	return func(t *text, videos []Video, index int) error {
		if err := stacked(p, videos, index); err != nil {
			return err
		}
		for i := range videos[index].Indices {
			if i > 0 {
				t.plain("\n")
			}
			t.plain("Frame" + strconv.Itoa(i+1) + ": ")
			t.mark(start)
			t.image(token, length)
			t.mark(end)
			if t.err != nil {
				return nil
			}
		}
		return nil
	}
}

// stacked returns an error if the frames of a video do not have the numbers and
// sizes of those of the first video, as a tensor of all requires.
func stacked(p *video.Processor, videos []Video, index int) error {
	h, w, err := frameOf(p, videos[index])
	if err != nil || index == 0 {
		return err
	}
	h0, w0, err := frameOf(p, videos[0])
	n, n0 := len(videos[index].Indices), len(videos[0].Indices)
	if err == nil && (n != n0 || h != h0 || w != w0) {
		return fmt.Errorf("%w: %d frames become %d x %d (height x width), and %d of video 0 %d x %d: the class stacks the videos of a call", video.ErrFrames, n, h, w, n0, h0, w0)
	}
	return err
}
