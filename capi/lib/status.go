package main

// #include "infer_prep.h"
import "C"

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
	status C.ip_status
}

// statuses is searched in order: an ErrUnknownOp within an ErrGraph is the
// former.
var statuses = []kind{
	{errInternal, C.IP_INTERNAL},
	{codec.ErrInternal, C.IP_INTERNAL},
	{errHandle, C.IP_HANDLE},
	{errCapacity, C.IP_CAPACITY},
	{errInput, C.IP_INPUT},
	{codec.ErrFormat, C.IP_FORMAT},
	{codec.ErrUnsupported, C.IP_UNSUPPORTED},
	{codec.ErrLimit, C.IP_LIMIT},
	{fs.ErrNotExist, C.IP_IO},
	{fs.ErrPermission, C.IP_IO},
	{preset.ErrUnknown, C.IP_PARAM},
	{transforms.ErrUnknownOp, C.IP_UNKNOWN_OP},
	{datagraph.ErrGraph, C.IP_GRAPH},
	{transforms.ErrParam, C.IP_PARAM},
	{transforms.ErrInput, C.IP_INPUT},
	{tensor.ErrDesc, C.IP_INPUT},
}

// statusOf returns the kind of an error.
func statusOf(err error) C.ip_status {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return C.IP_IO
	}
	if errors.As(err, new(fileError)) {
		return C.IP_GRAPH
	}
	return C.IP_INPUT
}

// fileError is an error of a file that describes a graph or tokens. It is
// IP_GRAPH unless it has another kind.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }
