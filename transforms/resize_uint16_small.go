//go:build small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// The small build of the npm package resizes no uint16 images.

func (s sampling) wantDeep(d tensor.Desc) error { return s.want(d) }

func (s sampling) applyDeep(c *Context, dst, src *tensor.Tensor) error { return s.apply(c, dst, src) }
