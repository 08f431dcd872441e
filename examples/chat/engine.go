package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/infer-prep/infer-prep/tensor"
)

// Input is what an engine needs of a request.
type Input struct {
	// Prompt is the text of all messages in the model's chat template. The
	// placeholder of each image is replaced by the text of its tokens, so that
	// a tokenizer's output has the length that the model wants.
	Prompt string
	// Tensors holds the model's inputs of all images in the order of Prompt, by
	// name: pixel_values float32 (patches, 1176), and image_grid_thw int64
	// (images, 3), whose rows are the patches along time, height and width. It
	// is nil without images.
	Tensors map[string]*tensor.Tensor
	// MaxTokens is the largest number of tokens to generate, 0 if the request
	// does not limit it.
	MaxTokens int
}

// Engine answers prompts. It is safe for concurrent use.
type Engine interface {
	// Generate returns the answer to a prompt. It returns early if ctx ends.
	// The engine owns the tensors of in.
	Generate(ctx context.Context, in Input) (string, error)
}

// Colors is an Engine without a language model. Its weights are fixed: a patch
// embedding into three numbers, the averages of red, green and blue, and a mean
// over the patches of an image.
type Colors struct{}

// The sizes of Qwen2-VL's patches, and CLIP's mean and deviation, with which
// its images are normalized.
const (
	channels   = 3
	perChannel = 2 * 14 * 14 // two equal frames of 14 x 14 pixels
)

var (
	mean = [channels]float64{0.48145466, 0.4578275, 0.40821073}
	std  = [channels]float64{0.26862954, 0.26130258, 0.27577711}
)

// Generate implements Engine.
func (Colors) Generate(ctx context.Context, in Input) (string, error) {
	if in.Tensors == nil {
		return "no images", nil
	}
	x, grid := in.Tensors["pixel_values"], in.Tensors["image_grid_thw"]
	if x == nil || grid == nil || x.DType != tensor.Float32 || grid.DType != tensor.Int64 ||
		x.Shape.Rank() != 2 || x.Shape.At(1) != channels*perChannel || grid.Shape.Rank() != 2 || grid.Shape.At(1) != 3 {
		return "", fmt.Errorf("colors: tensors %v and %v: want pixel_values float32 (patches, %d) and image_grid_thw int64 (images, 3)", x, grid, channels*perChannel)
	}
	values, sizes := tensor.View[float32](x), tensor.View[int64](grid)
	var answer []string
	for i := 0; i < len(sizes); i += 3 {
		n := int64(channels * perChannel)
		for _, d := range sizes[i : i+3] {
			if d <= 0 || d > int64(len(values))/n {
				n = 0
				break
			}
			n *= d
		}
		if n == 0 {
			return "", fmt.Errorf("colors: image %d has a grid of %v, but %d values are left", i/3, sizes[i:i+3], len(values))
		}
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		c := color(values[:n])
		answer = append(answer, fmt.Sprintf("image %d: %d x %d patches, average color #%02x%02x%02x", i/3+1, sizes[i+1], sizes[i+2], c[0], c[1], c[2]))
		values = values[n:]
	}
	if len(values) != 0 {
		return "", fmt.Errorf("colors: %d values behind the last image", len(values))
	}
	return strings.Join(answer, "\n"), nil
}

// color embeds patches, pools them, and returns the color of the result.
func color(patches []float32) (c [channels]uint8) {
	var pooled [channels]float64
	for p := patches; len(p) > 0; p = p[channels*perChannel:] {
		for i := range pooled {
			sum := 0.0
			for _, v := range p[i*perChannel : (i+1)*perChannel] {
				sum += float64(v)
			}
			pooled[i] += sum / perChannel
		}
	}
	n := float64(len(patches) / (channels * perChannel))
	for i, v := range pooled {
		c[i] = uint8(math.RoundToEven(min(max(255*(float64(v/n*std[i])+mean[i]), 0), 255)))
	}
	return c
}
