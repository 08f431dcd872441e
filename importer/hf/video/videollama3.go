package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	define(class{name: "VideoLlama3", sampler: readStepped(1, 180), layout: videoLlama3})
}

// compressed is the layout of VideoLLaMA 3. The output video_merge_sizes,
// int64, is merge_size, and video_compression_mask, bool, says which squares of
// patches differ from those of the frame before.
type compressed struct {
	*patcher
	compress bool
}

func videoLlama3(c class, o *importer.Object, data []byte) (layout, error) {
	s := &compressed{compress: o.Bool("use_token_compression", true)}
	var err error
	s.patcher, err = patches{
		defaults: halves + bicubic[:len(bicubic)-2], least: 128 * 28 * 28, most: 28 * 28 * 768, patch: 14, temporal: 1, merge: 2,
		perFrame: true, shared: true,
	}.read(c, o, data)
	return s, err
}

func (s *compressed) outputs() []Output {
	return append(s.patcher.outputs(), Output{Name: "video_merge_sizes"}, Output{Name: "video_compression_mask", Joined: true})
}

func (s *compressed) more(v filled) ([]*tensor.Tensor, error) {
	t, h, w := s.grid(v)
	squares := h / s.merge * (w / s.merge)
	mask := make([]byte, t*squares)
	for i := range mask {
		mask[i] = 1
	}
	if s.compress && t > 1 {
		if v.last[0].DType != tensor.Float32 {
			return nil, fmt.Errorf("%w: use_token_compression needs floats: want do_rescale or do_normalize", ErrFrames)
		}
		if err := s.differ(mask[squares:], tensor.Cast[float32](v.values), squares); err != nil {
			return nil, err
		}
	}
	grid, err := s.patcher.more(v)
	return append(grid, numbers([]int{s.merge}), dense(tensor.Bool, mask, len(mask))), err
}

// differ sets the mask of the squares behind the first frame's. The reference
// compares a mean of float32 with a threshold. The mean here is exact up to
// doubles, and a mean that is so close to the threshold that the rounding of
// the reference's sum would decide is an error.
func (s *compressed) differ(mask []byte, values []float32, squares int) error {
	const threshold, unsure = 0.1, 1e-5
	size := len(values) / (len(mask) + squares) // of a square
	for i := range mask {
		before, now := values[i*size:(i+1)*size], values[(i+squares)*size:(i+squares+1)*size]
		sum := 0.0
		for j, x := range now {
			sum += math.Abs(float64(x - before[j]))
		}
		mean := sum / float64(size) * 255
		if math.Abs(mean-threshold) < unsure {
			return fmt.Errorf("%w: square %d of the patches changes by %v, so close to %v that rounding decides: want use_token_compression false", ErrFrames, i+squares, mean, threshold)
		}
		mask[i] = 0
		if mean > threshold {
			mask[i] = 1
		}
	}
	for at := 0; at < len(mask); at += squares { // at least one of a frame
		any := byte(0)
		for _, m := range mask[at : at+squares] {
			any |= m
		}
		if any == 0 {
			mask[at] = 1
		}
	}
	return nil
}
