// Package transforms holds the ops: the steps that turn an image into a model's
// input. Each op names a reference implementation and produces the same bytes.
//
// An op is a plain struct, and its fields are all of its parameters. A zero
// field means zero. The constructors (NewResize, NewCenterCrop, …) set the
// defaults. Graphs in JSON, bundles in msgp and the engines use the same
// struct, so each step has one description.
//
// Ops are not modified while they run: many goroutines may share an op if each
// has its own Context. Most programs do not call Apply. They use package eager
// for one image or package datagraph for a compiled graph.
package transforms

import (
	"errors"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// Op is one step. Implementations are pointers to structs; see Register.
type Op interface {
	// Info describes the op. The receiver of a registered op may be nil.
	Info() Info
	// Validate checks the parameters alone. Its error wraps ErrParam.
	Validate() error
	// Infer describes the outputs for the given inputs. Sizes may be
	// tensor.Unknown on both sides. len(dst) and len(in) are the op's numbers
	// of outputs and inputs. Unsupported inputs return an error that wraps
	// ErrInput. The op must be valid.
	Infer(dst, in []tensor.Desc) error
	// Apply computes dst from src. Each dst is dense, has the description that
	// Infer returns for src, and shares no memory with src unless the op is
	// registered as InPlace. Each src may be a strided view and must not be
	// written. From the second call with the same Context and sizes on, Apply
	// does not allocate.
	Apply(c *Context, dst, src []*tensor.Tensor) error
}

// DataShaped is an Op whose output sizes depend on the input's data, as those
// of a decoder do. Infer leaves the sizes Unknown; InferData reads them from
// the data.
type DataShaped interface {
	Op
	InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error
}

// The kinds of errors, for errors.Is.
var (
	ErrParam = errors.New("invalid parameter")
	ErrInput = errors.New("invalid input")
)

// paramErr returns an error of kind ErrParam.
func paramErr(format string, args ...any) error {
	return errfmt.Errorf("%w: %s", ErrParam, errfmt.Sprintf(format, args...))
}

// inputErr returns an error of kind ErrInput.
func inputErr(format string, args ...any) error {
	return errfmt.Errorf("%w: %s", ErrInput, errfmt.Sprintf(format, args...))
}

// limitErr returns an error of kind ErrInput, of an input for which an op needs
// more memory than Limits.Bytes. It wraps codec.ErrLimit, too.
func limitErr(format string, args ...any) error {
	return errfmt.Errorf("%w: %w: %s", ErrInput, codec.ErrLimit, errfmt.Sprintf(format, args...))
}
