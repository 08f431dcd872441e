package video

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(
		class{name: "Gemma4", sampler: byDefault(32, 0), samples: true, layout: gemma4("Gemma4")},
		class{name: "Gemma4Unified", sampler: byDefault(32, 0), samples: true, layout: gemma4("Gemma4Unified")},
		class{name: "EmbeddingGemma2", sampler: readEmbeddingGemma2, samples: true, layout: gemma4("Gemma4")},
	)
}

// soft is the layout of Gemma 4, whose frames are Gemma 4's images: the first
// output is T, patches, values, and video_position_ids, int64, is T, patches,
// 2. num_frames_per_video and num_soft_tokens_per_video, of a frame, are int64.
// Without do_resize, Gemma 4 unified requires whole squares of patches.
type soft struct{ *stack }

// gemma4 returns the layout of a class whose frames are images of that class.
func gemma4(image string) func(class, *importer.Object, []byte) (layout, error) {
	return func(c class, o *importer.Object, data []byte) (layout, error) {
		settings, err := pixelSettings(o, `"image_mean": [0, 0, 0], "image_std": [1, 1, 1], `+bicubic+
			`"image_processor_type": "`+image+`ImageProcessor", "patch_size": 16, "max_soft_tokens": 70, "pooling_kernel_size": 3`, data)
		if err != nil {
			return nil, err
		}
		if err := ownKeys(o, data, settings, "patch_size", "max_soft_tokens", "pooling_kernel_size"); err != nil {
			return nil, err
		}
		delete(settings, "size") // which the class ignores
		o.Inert("add_timestamps", "load_audio_from_video")
		g, err := frameGraph(c, settings)
		return soft{&stack{"pixel_values_videos", g}}, err
	}
}

func (soft) outputs() []Output {
	return []Output{
		{Name: "pixel_values_videos", Joined: true}, {Name: "video_position_ids", Joined: true},
		{Name: "num_frames_per_video"}, {Name: "num_soft_tokens_per_video"},
	}
}

func (soft) more(v filled) ([]*tensor.Tensor, error) {
	ids := v.last[1].Clone()
	var all []byte
	for range v.frames { // of one size, so that all have the same
		all = append(all, ids.Data...)
	}
	axes := append([]int{v.frames}, ids.Shape.Slice()...)
	tokens := tensor.View[int64](v.last[2].Clone())[0]
	return []*tensor.Tensor{dense(ids.DType, all, axes...), numbers([]int{v.frames}), numbers([]int{int(tokens)})}, nil
}
