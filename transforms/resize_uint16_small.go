//go:build small

package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// wantDeep is want, and refuses uint16 images: small builds leave out their
// resize.
func (s sampling) wantDeep(d tensor.Desc) error {
	if d.IsImage() && d.DType == tensor.Uint16 {
		return errfmt.Errorf("%w: resize of uint16 is not in the small build", codec.ErrUnsupported)
	}
	return s.want(d)
}

func (s sampling) applyDeep(c *Context, dst, src *tensor.Tensor) error { return s.apply(c, dst, src) }
