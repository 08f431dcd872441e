//go:build cgo || wasip1

package main

import (
	"errors"
	"io/fs"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// kind is the status of an error.
type kind struct {
	err    error
	status int32
}

// statuses is searched in order: an ErrUnknownOp within an ErrGraph is the
// former.
var statuses = []kind{
	{errInternal, ipInternal},
	{codec.ErrInternal, ipInternal},
	{errHandle, ipHandle},
	{errCapacity, ipCapacity},
	{errInput, ipInvalid},
	{codec.ErrFormat, ipFormat},
	{codec.ErrUnsupported, ipUnsupported},
	{codec.ErrLimit, ipLimit},
	{fs.ErrNotExist, ipIO},
	{fs.ErrPermission, ipIO},
	{preset.ErrUnknown, ipParam},
	{transforms.ErrUnknownOp, ipUnknownOp},
	{datagraph.ErrGraph, ipGraph},
	{transforms.ErrParam, ipParam},
	{transforms.ErrInput, ipInvalid},
	{tensor.ErrDesc, ipInvalid},
}

// statusOf returns the kind of an error.
func statusOf(err error) int32 {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return ipIO
	}
	if errors.As(err, new(fileError)) {
		return ipGraph
	}
	return ipInvalid
}

// fileError is an error of a file that describes a graph or tokens. It is
// IP_GRAPH unless it has another kind.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }
