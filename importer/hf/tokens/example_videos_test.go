package tokens_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer/hf/tokens"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// The files are those of Qwen3-VL, shortened.
func ExampleProcessor_Videos() {
	file := []byte(`{
		"processor_class": "Qwen3VLProcessor", "image_processor": {"image_processor_type": "Qwen2VLImageProcessorFast"},
		"video_processor": {"video_processor_type": "Qwen3VLVideoProcessor", "size": {"shortest_edge": 4096, "longest_edge": 16384}}
	}`)
	p, err := tokens.Parse(tokens.Files{Processor: file, Tokenizer: []byte(`{"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := video.ImportSampling(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := s.Sample(video.Metadata{Frames: 60, FPS: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	videos, err := p.Videos(tokens.Video{Sampled: chosen, Height: 480, Width: 640})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(chosen.Indices, videos[0].Tokens)
	fmt.Println(videos[0].Text)
	// Output:
	// [0 20 39 59] 4
	// <0.3 seconds><|vision_start|><|video_pad|><|video_pad|><|vision_end|><1.6 seconds><|vision_start|><|video_pad|><|video_pad|><|vision_end|>
}
