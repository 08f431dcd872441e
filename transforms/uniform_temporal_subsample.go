package transforms

import "github.com/infer-prep/infer-prep/tensor"

// UniformTemporalSubsample returns Samples equally spaced frames of a video,
// from the first to the last one. A video shorter than that repeats frames. It
// takes tensors of fixed-size elements whose fourth axis from the end is the
// time: (time, channels, height, width) or (time, height, width, channels),
// also with axes before. It keeps dtype and other sizes.
//
// Frame i is element i of torch.linspace(0, frames-1, Samples), truncated.
//
// Reference: torchvision 0.29.2 with torch 2.15.0, on CPUs with fused
// multiply-add. Without it, torch truncates a number just below an integer for
// 0.6% of 18,348 pairs of sizes.
type UniformTemporalSubsample struct {
	Samples int `json:"samples"` // number of frames of the output, 1 to 2^24
}

//msgp:tuple UniformTemporalSubsample

// NewUniformTemporalSubsample returns the op.
func NewUniformTemporalSubsample(samples int) *UniformTemporalSubsample {
	return &UniformTemporalSubsample{Samples: samples}
}

// Info describes the op.
func (*UniformTemporalSubsample) Info() Info {
	video := []string{"video"}
	return Info{
		Name: "uniform_temporal_subsample", Version: 1, New: func() Op { return NewUniformTemporalSubsample(8) }, In: video, Out: video,
		Reference: "torchvision 0.29.2 v2.UniformTemporalSubsample", Exactness: "0",
	}
}

// Validate checks the number of frames.
func (o *UniformTemporalSubsample) Validate() error { return checkSide("samples", o.Samples) }

// Infer sets the number of frames.
func (o *UniformTemporalSubsample) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	t := d.Shape.Rank() - 4
	if t < 0 || d.Shape.At(t) == 0 || d.Shape.At(t) > maxSide {
		return inputErr("%v, want a video of at least four axes and 1 to %d frames", d, maxSide)
	}
	dst[0] = d
	dst[0].Shape = d.Shape.With(t, o.Samples)
	return inferred(dst[0])
}

// Apply copies the frames.
func (o *UniformTemporalSubsample) Apply(c *Context, dst, src []*tensor.Tensor) error {
	t := src[0].Shape.Rank() - 4
	var at [tensor.MaxRank][]int64
	for i := range t + 1 {
		at[i] = tensor.Cast[int64](c.Scratch(8 * dst[0].Shape.At(i)))
		for k := range at[i] {
			at[i][k] = int64(k)
		}
	}
	last := float64(src[0].Shape.At(t) - 1)
	for k := range at[t] {
		if at[t][k] = 0; o.Samples > 1 {
			at[t][k] = int64(linspace(0, last, k, o.Samples))
		}
	}
	gather(dst[0].Data, src[0], &at, t+1)
	return nil
}
