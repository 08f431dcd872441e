// Package transforms is the op set: every step that an image can take on its
// way to a model, each with a named reference whose bytes it gives.
//
// An op is a plain struct whose fields are all of its parameters. Zero means
// zero; the usual values come from the constructors (NewResize, NewCenterCrop,
// …). The same struct is printed as JSON, written into bundles as msgp, and run
// by the engines, so there is one description of what is done to an image.
//
// Ops are not changed by running: one op value may be used by many goroutines,
// each with a Context of its own. Most programs do not call Apply themselves
// but use package eager (one image) or datagraph (a compiled graph).
package transforms

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
)

// Op is one step. Implementations are pointers to structs; see Register.
type Op interface {
	// Validate checks the parameters alone. Its error wraps ErrParam.
	Validate() error
	// Infer gives the outputs' descriptions for the inputs'; sizes may be
	// tensor.Unknown on both sides. len(dst) and len(in) are the op's numbers of
	// outputs and inputs. Inputs that the op does not take give an error that
	// wraps ErrInput. It is called on a valid op only.
	Infer(dst, in []tensor.Desc) error
	// Apply computes dst from src. The dst are dense, have the descriptions that
	// Infer gives for src's, and share no memory with src, unless the op is
	// registered as InPlace. The src may be strided views and must not be
	// written. In a Context's second use with the same sizes it allocates nothing.
	Apply(c *Context, dst, src []*tensor.Tensor) error
}

// DataShaped is an Op whose output sizes depend on the input's data, as a
// decoder's do: Infer leaves them Unknown and InferData reads them from the data.
type DataShaped interface {
	Op
	InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error
}

// The kinds of error, for errors.Is.
var (
	ErrParam = errors.New("invalid parameter")
	ErrInput = errors.New("invalid input")
)

// paramErr is an error of kind ErrParam.
func paramErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParam, fmt.Sprintf(format, args...))
}

// inputErr is an error of kind ErrInput.
func inputErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}
