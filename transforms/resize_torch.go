package transforms

import "github.com/infer-prep/infer-prep/tensor"

func (r *resampler) torch(c *Context, how sampling, dst, src *tensor.Tensor) {}
