package mobile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

var (
	errClosed   = errors.New("is closed")
	errZero     = errors.New("is empty")
	errInput    = errors.New("invalid argument")
	errCanceled = errors.New("canceled")
	errInternal = errors.New("internal error")
)

func errNull(what string) error { return fmt.Errorf("mobile: %s is null: %w", what, errInput) }

// codes is searched in order: an unknown op within an invalid graph has the
// former's code.
var codes = []struct {
	err  error
	code string
}{
	{errInternal, "internal"},
	{codec.ErrInternal, "internal"},
	{errCanceled, "canceled"},
	{context.Canceled, "canceled"},
	{errClosed, "closed"},
	{modelbundle.ErrClosed, "closed"},
	{errZero, "closed"},
	{errInput, "input"},
	{dataset.ErrState, "state"},
	{dataset.ErrClosed, "closed"},
	{modelbundle.ErrGolden, "golden"},
	{modelbundle.ErrDigest, "digest"},
	{modelbundle.ErrVersion, "version"},
	{modelbundle.ErrUnsigned, "signature"},
	{modelbundle.ErrSignature, "signature"},
	{modelbundle.ErrKey, "signature"},
	{modelbundle.ErrNoSection, "input"},
	{modelbundle.ErrLimit, "limit"},
	{modelbundle.ErrFormat, "bundle"},
	{codec.ErrFormat, "format"},
	{codec.ErrUnsupported, "unsupported"},
	{datagraph.ErrStream, "unsupported"},
	{codec.ErrLimit, "limit"},
	{transforms.ErrUnknownOp, "op"},
	{datagraph.ErrGraph, "graph"},
	{transforms.ErrParam, "param"},
	{transforms.ErrInput, "input"},
	{tensor.ErrDesc, "input"},
	{dataset.ErrParam, "input"},
	{dataset.ErrDefinition, "input"},
	{fs.ErrNotExist, "io"},
	{fs.ErrPermission, "io"},
}

// Code returns the kind of an error of this package:
//
//	"bundle"       the file is not a bundle, or is truncated
//	"version"      the bundle's format is newer than this build
//	"digest"       the bundle is corrupt
//	"signature"    the bundle is not signed by the key
//	"golden"       a golden sample has other tensors than in training
//	"graph"        the graph is invalid
//	"op"           the graph has an op that this build does not know
//	"param"        an op has a parameter that it does not allow
//	"format"       the image is damaged, or no image
//	"unsupported"  the image is valid, but of a kind that is not decoded
//	"limit"        the image, or what it takes to decode it, is too large
//	"input"        an argument is invalid
//	"closed"       the object is closed, or was not made by this package
//	"state"        the state is damaged, or of another Pipe or other images
//	"canceled"     the Listener ended the work
//	"io"           a file cannot be read
//	"internal"     a bug in this module; please report it
//
// It returns "" for nil and "io" for other errors.
func Code(err error) (code string) {
	defer func() {
		if recover() != nil { // err's own method panicked
			code = "internal"
		}
	}()
	if err == nil {
		return ""
	}
	if p := (*dataset.PanicError)(nil); errors.As(err, &p) {
		return "internal"
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return "io"
}

// guard turns a panic into an error. Every exported function that can fail
// defers it.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("mobile: %w: %v\n%s", errInternal, p, debug.Stack())
	}
}

// guardValue is guard for functions without an error: they return zero values.
func guardValue() { _ = recover() }
